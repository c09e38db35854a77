/* Sixteen floats side by side, in two registers of AVX2; integer products by vpmaddwd. */
#include <immintrin.h>

typedef struct {
    __m256 a, b;
} lanes;

#define BOTH(operation) ((lanes){operation(x.a, y.a), operation(x.b, y.b)})

INLINE lanes lanes_set(float x) { return (lanes){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
INLINE lanes lanes_load(const float *p) { return (lanes){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
INLINE void lanes_store(float *p, lanes x) { _mm256_storeu_ps(p, x.a), _mm256_storeu_ps(p + 8, x.b); }
INLINE lanes lanes_add(lanes x, lanes y) { return BOTH(_mm256_add_ps); }
INLINE lanes lanes_sub(lanes x, lanes y) { return BOTH(_mm256_sub_ps); }
INLINE lanes lanes_mul(lanes x, lanes y) { return BOTH(_mm256_mul_ps); }
INLINE lanes lanes_div(lanes x, lanes y) { return BOTH(_mm256_div_ps); }
INLINE lanes lanes_max(lanes x, lanes y) { return BOTH(_mm256_max_ps); }
INLINE lanes lanes_min(lanes x, lanes y) { return BOTH(_mm256_min_ps); }

INLINE lanes lanes_fma(lanes x, lanes y, lanes z) {
    return (lanes){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}

INLINE lanes lanes_abs(lanes y) {
    lanes x = lanes_set(-0.0f);
    return BOTH(_mm256_andnot_ps);
}

INLINE lanes lanes_sign_of(lanes a, lanes y) {
    lanes x = lanes_set(-0.0f), sign = BOTH(_mm256_and_ps);
    lanes size = lanes_abs(a);
    return (lanes){_mm256_or_ps(size.a, sign.a), _mm256_or_ps(size.b, sign.b)};
}

INLINE __m256 half_power(__m256 shifted) {
    __m256i bits = _mm256_add_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(127));
    return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 23));
}

INLINE lanes lanes_power(lanes x) { return (lanes){half_power(x.a), half_power(x.b)}; }

INLINE __m256 half_first(int count, __m256 x, __m256 y) {
    __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_blendv_ps(y, x, _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32(count), index)));
}

INLINE lanes lanes_first(int count, lanes x, lanes y) {
    return (lanes){half_first(count, x.a, y.a), half_first(count - 8, x.b, y.b)};
}

INLINE __m256 half_bytes(const int8_t *p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

INLINE lanes lanes_load_bytes(const int8_t *p) { return (lanes){half_bytes(p), half_bytes(p + 8)}; }

INLINE float lanes_sum(lanes x) {
    __m256 y = _mm256_add_ps(x.a, x.b);
    __m128 z = _mm_add_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
    z = _mm_add_ps(z, _mm_movehl_ps(z, z));
    return _mm_cvtss_f32(_mm_add_ss(z, _mm_movehdup_ps(z)));
}

INLINE float lanes_largest(lanes x) {
    __m256 y = _mm256_max_ps(x.a, x.b);
    __m128 z = _mm_max_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
    z = _mm_max_ps(z, _mm_movehl_ps(z, z));
    return _mm_cvtss_f32(_mm_max_ss(z, _mm_movehdup_ps(z)));
}

/* Eight rows become eight columns: blocks of 1, 2 and 4 lanes change places. */
INLINE void transpose_eight(__m256 x[8]) {
    __m256 y[8];
#pragma GCC unroll 4
    for (int i = 0; i < 8; i += 2) {
        y[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
        y[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        __m256d a = _mm256_castps_pd(y[i]), b = _mm256_castps_pd(y[i + 2]);
        __m256d c = _mm256_castps_pd(y[i + 4]), d = _mm256_castps_pd(y[i + 6]);
        __m256d low[2] = {_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)};
        __m256d high[2] = {_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d)};
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++) {
            x[2 * i + k] = _mm256_castpd_ps(_mm256_permute2f128_pd(low[k], high[k], 0x20));
            x[2 * i + k + 4] = _mm256_castpd_ps(_mm256_permute2f128_pd(low[k], high[k], 0x31));
        }
    }
}

/* Sixteen rows become sixteen columns. */
INLINE void lanes_transpose(lanes x[16]) {
    __m256 quarter[2][2][8];
    for (int i = 0; i < 16; i++) quarter[i / 8][0][i % 8] = x[i].a, quarter[i / 8][1][i % 8] = x[i].b;
    for (int i = 0; i < 4; i++) transpose_eight(quarter[i / 2][i % 2]);
    for (int i = 0; i < 16; i++) x[i] = (lanes){quarter[0][i / 8][i % 8], quarter[1][i / 8][i % 8]};
}

/* Sixteen sums of 32 bits; sixteen pairs of numbers of 16 bits; one such pair, eight times. */
typedef struct {
    __m256i a, b;
} integers, pairs;
typedef __m256i pair;

INLINE integers integers_zero(void) { return (integers){_mm256_setzero_si256(), _mm256_setzero_si256()}; }

INLINE pairs pairs_load(const int16_t *p) {
    return (pairs){_mm256_loadu_si256((const __m256i *)p), _mm256_loadu_si256((const __m256i *)(p + 16))};
}

INLINE pair pair_load(const int16_t *p) {
    int32_t two;
    memcpy(&two, p, 4);
    return _mm256_set1_epi32(two);
}

/* The addition itself: with the intrinsic, GCC 12 moves sums between registers and memory all the time. */
INLINE void add_products(__m256i *sum, __m256i a, __m256i w) {
    __m256i products = _mm256_madd_epi16(a, w);
    __asm__("vpaddd %1, %0, %0" : "+x"(*sum) : "x"(products));
}

INLINE void add_pairs(integers *sum, pair a, pairs b) { add_products(&sum->a, a, b.a), add_products(&sum->b, a, b.b); }
INLINE lanes lanes_of(integers x) { return (lanes){_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)}; }

/* Stores rounded numbers, with SHIFT added, in 16 bits each. */
INLINE void lanes_store_shorts(int16_t *p, lanes shifted) {
    __m256i shift = _mm256_set1_epi32(SHIFT_BITS);
    __m256i low = _mm256_sub_epi32(_mm256_castps_si256(shifted.a), shift);
    __m256i high = _mm256_sub_epi32(_mm256_castps_si256(shifted.b), shift);
    __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8); /* packs works on halves */
    _mm256_storeu_si256((__m256i *)p, packed);
}

/* Quantized rows: signed integers of 16 bits, for either precision. */
INLINE size_t row_stride(int bits, int inputs) { (void)bits; return (size_t)inputs * 2; }

INLINE void row_store(uint8_t *row, int bits, int inputs, int at, lanes shifted) {
    (void)bits, (void)inputs;
    lanes_store_shorts((int16_t *)row + at, shifted);
}

/* A chunk of products in two sums of 32 bits: 1,024 * 16,256 * 127 < 2^31. */
enum { ROWS_AT_ONCE = 32, MADD_ROWS = 4, BLOCKS_AT_ONCE = 1, MADD_CHUNK = 2048 };

/* Adds `inputs` products of `rows` rows and 8 columns: each sum of 32 bits holds half of a column's products. */
INLINE void madd_sums(const int8_t *w, int inputs, const uint8_t *row, size_t stride, int rows, __m256i sums[][2]) {
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
    for (const uint8_t *end = row + 2 * (size_t)inputs; row < end; row += 8, w += 4 * CORE_COLUMNS) {
        __m256i w0 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)w));
        __m256i w1 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(w + 16)));
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            int64_t four;
            memcpy(&four, row + r * stride, 8);
            __m256i a = _mm256_set1_epi64x(four);
            add_products(&sums[r][0], a, w0);
            add_products(&sums[r][1], a, w1);
        }
    }
}

/* The even and the odd sums of 8 columns. */
INLINE void halves(const __m256i sums[2], __m256i *even, __m256i *odd) {
    __m256 a = _mm256_castsi256_ps(sums[0]), b = _mm256_castsi256_ps(sums[1]);
    *even = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)), 0xd8);
    *odd = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xdd)), 0xd8);
}

INLINE void add_doubles(__m256d total[2], __m256i x) {
    total[0] = _mm256_add_pd(total[0], _mm256_cvtepi32_pd(_mm256_castsi256_si128(x)));
    total[1] = _mm256_add_pd(total[1], _mm256_cvtepi32_pd(_mm256_extracti128_si256(x, 1)));
}

INLINE void madd_rows(const core_matrix *m, int bits, const uint8_t *row, int rows, const int8_t *w, float *out) {
    size_t stride = row_stride(bits, m->inputs);
    __m256i sums[MADD_ROWS][2], even, odd;
    __m256d totals[MADD_ROWS][2];
    if (bits == 8) {
        madd_sums(w, m->inputs, row, stride, rows, sums);
        for (int r = 0; r < rows; r++) {
            halves(sums[r], &even, &odd);
            _mm256_storeu_ps(out + r * CORE_COLUMNS, _mm256_cvtepi32_ps(_mm256_add_epi32(even, odd)));
        }
        return;
    }
    for (int r = 0; r < rows; r++) totals[r][0] = totals[r][1] = _mm256_setzero_pd();
    for (int k = 0; k < m->inputs; k += MADD_CHUNK, w += (size_t)MADD_CHUNK * CORE_COLUMNS) {
        int count = m->inputs - k < MADD_CHUNK ? m->inputs - k : MADD_CHUNK;
        madd_sums(w, count, row + 2 * k, stride, rows, sums);
        for (int r = 0; r < rows; r++) {
            halves(sums[r], &even, &odd);
            add_doubles(totals[r], even);
            add_doubles(totals[r], odd);
        }
    }
    for (int r = 0; r < rows; r++)
        _mm256_storeu_ps(out + r * CORE_COLUMNS,
                         _mm256_set_m128(_mm256_cvtpd_ps(totals[r][1]), _mm256_cvtpd_ps(totals[r][0])));
}

/* Eight columns for all rows, then the next eight: their weights stay in the cache. */
INLINE void sum_rows(const core_matrix *m, int bits, const uint8_t *row, int rows, int block, float *sums) {
    const int8_t *w = m->weight + (size_t)block * CORE_COLUMNS * m->inputs;
    size_t stride = row_stride(bits, m->inputs);
    for (int c = 0; c < CORE_COLUMNS; c += 8, w += 32)
        for (int r = 0; r < rows; r += MADD_ROWS) {
            const uint8_t *from = row + r * stride;
            float *to = sums + r * CORE_COLUMNS + c;
            switch (rows - r) {
            case 1: madd_rows(m, bits, from, 1, w, to); break;
            case 2: madd_rows(m, bits, from, 2, w, to); break;
            case 3: madd_rows(m, bits, from, 3, w, to); break;
            default: madd_rows(m, bits, from, MADD_ROWS, w, to);
            }
        }
}
