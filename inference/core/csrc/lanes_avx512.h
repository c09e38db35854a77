/* Sixteen floats side by side, in one register of AVX-512; integer products by VNNI. */
#include <immintrin.h>

typedef __m512 lanes;

INLINE lanes lanes_set(float x) { return _mm512_set1_ps(x); }
INLINE lanes lanes_load(const float *p) { return _mm512_loadu_ps(p); }
INLINE void lanes_store(float *p, lanes x) { _mm512_storeu_ps(p, x); }
INLINE lanes lanes_add(lanes a, lanes b) { return _mm512_add_ps(a, b); }
INLINE lanes lanes_sub(lanes a, lanes b) { return _mm512_sub_ps(a, b); }
INLINE lanes lanes_mul(lanes a, lanes b) { return _mm512_mul_ps(a, b); }
INLINE lanes lanes_div(lanes a, lanes b) { return _mm512_div_ps(a, b); }
INLINE lanes lanes_fma(lanes a, lanes b, lanes c) { return _mm512_fmadd_ps(a, b, c); }
INLINE lanes lanes_max(lanes a, lanes b) { return _mm512_max_ps(a, b); }
INLINE lanes lanes_min(lanes a, lanes b) { return _mm512_min_ps(a, b); }
INLINE lanes lanes_abs(lanes a) { return _mm512_abs_ps(a); }

INLINE lanes lanes_sign_of(lanes a, lanes b) {
    __m512i sign = _mm512_set1_epi32(INT32_MIN); /* bits of b where `sign` is set, else of a */
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(sign, _mm512_castps_si512(b), _mm512_castps_si512(a), 0xca));
}

INLINE lanes lanes_power(lanes shifted) {
    __m512i bits = _mm512_add_epi32(_mm512_castps_si512(shifted), _mm512_set1_epi32(127));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 23));
}

INLINE lanes lanes_first(int count, lanes x, lanes y) {
    return _mm512_mask_mov_ps(y, (__mmask16)((1u << count) - 1), x);
}

INLINE lanes lanes_load_bytes(const int8_t *p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

/* Halves are added to halves: lane i to lane i + 8, then + 4, + 2, + 1. */
INLINE float lanes_sum(lanes x) {
    __m256 y = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    __m128 z = _mm_add_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));
    z = _mm_add_ps(z, _mm_movehl_ps(z, z));
    return _mm_cvtss_f32(_mm_add_ss(z, _mm_movehdup_ps(z)));
}

INLINE float lanes_largest(lanes x) { return _mm512_reduce_max_ps(x); }

/* Sixteen rows become sixteen columns: blocks of 1, 2, 4 and 8 lanes change places. */
INLINE void lanes_transpose(lanes x[16]) {
    lanes y[16];
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        y[i] = _mm512_unpacklo_ps(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_ps(x[i], x[i + 1]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        int from = i / 2 * 4 + i % 2; /* of each four rows, the first and third, then the second and fourth */
        __m512d a = _mm512_castps_pd(y[from]), b = _mm512_castps_pd(y[from + 2]);
        x[2 * i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
        x[2 * i + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        lanes even0 = _mm512_shuffle_f32x4(x[i], x[i + 4], 0x88), odd0 = _mm512_shuffle_f32x4(x[i], x[i + 4], 0xdd);
        lanes even1 = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0x88);
        lanes odd1 = _mm512_shuffle_f32x4(x[i + 8], x[i + 12], 0xdd);
        x[i] = _mm512_shuffle_f32x4(even0, even1, 0x88);
        x[i + 8] = _mm512_shuffle_f32x4(even0, even1, 0xdd);
        x[i + 4] = _mm512_shuffle_f32x4(odd0, odd1, 0x88);
        x[i + 12] = _mm512_shuffle_f32x4(odd0, odd1, 0xdd);
    }
}

/* Sixteen sums of 32 bits; sixteen pairs of numbers of 16 bits; one such pair, sixteen times. */
typedef __m512i integers, pairs, pair;

INLINE integers integers_zero(void) { return _mm512_setzero_si512(); }
INLINE pairs pairs_load(const int16_t *p) { return _mm512_loadu_si512(p); }

INLINE pair pair_load(const int16_t *p) {
    int32_t two;
    memcpy(&two, p, 4);
    return _mm512_set1_epi32(two);
}

INLINE void add_pairs(integers *sum, pair a, pairs b) {
    __asm__("vpdpwssd %2, %1, %0" : "+v"(*sum) : "v"(a), "v"(b));
}

INLINE lanes lanes_of(integers x) { return _mm512_cvtepi32_ps(x); }

/* Stores rounded numbers, with SHIFT added, in 16 bits each. */
INLINE void lanes_store_shorts(int16_t *p, lanes shifted) {
    __m512i value = _mm512_castps_si512(shifted); /* its low 16 bits: SHIFT_BITS has none there */
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(value));
}

/* Quantized rows. 8 bits: bytes, 128 added. 15 bits: such bytes of value >> 7, then bytes of value & 127. */
INLINE size_t row_stride(int bits, int inputs) { return bits == 8 ? (size_t)inputs : (size_t)inputs * 2; }

INLINE void row_store(uint8_t *row, int bits, int inputs, int at, lanes shifted) {
    __m512i value = _mm512_sub_epi32(_mm512_castps_si512(shifted), _mm512_set1_epi32(SHIFT_BITS));
    __m512i high = bits == 8 ? value : _mm512_srai_epi32(value, 7);
    high = _mm512_add_epi32(high, _mm512_set1_epi32(128));
    _mm_storeu_si128((__m128i *)(row + at), _mm512_cvtepi32_epi8(high));
    if (bits == 8) return;
    __m512i low = _mm512_and_si512(value, _mm512_set1_epi32(127));
    _mm_storeu_si128((__m128i *)(row + inputs + at), _mm512_cvtepi32_epi8(low));
}

enum { ROWS_AT_ONCE = 6, VNNI_LINES = 6, BLOCKS_AT_ONCE = 2 };

/* The instruction itself: with the intrinsic, GCC 12 moves sums between registers and memory all the time. */
INLINE void add_products(__m512i *sum, __m512i a, __m512i w) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(a), "v"(w));
}

/* Sums of lines of bytes with 64 columns. `lines` is a constant wherever this is called, so all sums are registers. */
INLINE void vnni_sums(const int8_t *w, int inputs, const uint8_t *line, int lines, __m512i sums[VNNI_LINES][4]) {
#pragma GCC unroll 6
    for (int r = 0; r < lines; r++)
#pragma GCC unroll 4
        for (int c = 0; c < 4; c++) sums[r][c] = _mm512_setzero_si512();
    for (const uint8_t *end = line + inputs; line < end; line += 4, w += 256) {
        __m512i w0 = _mm512_load_si512(w), w1 = _mm512_load_si512(w + 64);
        __m512i w2 = _mm512_load_si512(w + 128), w3 = _mm512_load_si512(w + 192);
#pragma GCC unroll 6
        for (int r = 0; r < lines; r++) {
            int32_t four;
            memcpy(&four, line + (size_t)r * inputs, 4);
            __m512i a = _mm512_set1_epi32(four);
            add_products(&sums[r][0], a, w0);
            add_products(&sums[r][1], a, w1);
            add_products(&sums[r][2], a, w2);
            add_products(&sums[r][3], a, w3);
        }
    }
}

/* 128 * high + low, exact in doubles, rounded once. */
INLINE __m512 joined(__m512i high, __m512i low) {
    __m512d scale = _mm512_set1_pd(128);
    __m512d h0 = _mm512_cvtepi32_pd(_mm512_castsi512_si256(high)), l0 = _mm512_cvtepi32_pd(_mm512_castsi512_si256(low));
    __m512d h1 = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(high, 1));
    __m512d l1 = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(low, 1));
    __m256 f0 = _mm512_cvtpd_ps(_mm512_fmadd_pd(h0, scale, l0)), f1 = _mm512_cvtpd_ps(_mm512_fmadd_pd(h1, scale, l1));
    return _mm512_insertf32x8(_mm512_castps256_ps512(f0), f1, 1);
}

INLINE void vnni_rows(const core_matrix *m, int bits, const uint8_t *row, int rows, int block, float *out) {
    __m512i sums[VNNI_LINES][4];
    vnni_sums(m->weight + (size_t)block * CORE_COLUMNS * m->inputs, m->inputs, row, bits == 8 ? rows : 2 * rows, sums);
#pragma GCC unroll 6
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int c = 0; c < 4; c++) {
            __m512i offset = _mm512_loadu_si512(m->offset + block * CORE_COLUMNS + c * 16);
            __m512i sum = _mm512_sub_epi32(sums[bits == 8 ? r : 2 * r][c], offset);
            lanes_store(out + r * CORE_COLUMNS + c * 16,
                        bits == 8 ? _mm512_cvtepi32_ps(sum) : joined(sum, sums[2 * r + 1][c]));
        }
}

INLINE void sum_rows(const core_matrix *m, int bits, const uint8_t *row, int rows, int block, float *sums) {
    if (bits == 15) {
        size_t stride = row_stride(bits, m->inputs);
        for (; rows > 2; rows -= 3, row += 3 * stride, sums += 3 * CORE_COLUMNS) vnni_rows(m, 15, row, 3, block, sums);
        if (rows == 2) vnni_rows(m, 15, row, 2, block, sums);
        if (rows == 1) vnni_rows(m, 15, row, 1, block, sums);
        return;
    }
    switch (rows) {
    case 1: vnni_rows(m, 8, row, 1, block, sums); break;
    case 2: vnni_rows(m, 8, row, 2, block, sums); break;
    case 3: vnni_rows(m, 8, row, 3, block, sums); break;
    case 4: vnni_rows(m, 8, row, 4, block, sums); break;
    case 5: vnni_rows(m, 8, row, 5, block, sums); break;
    default: vnni_rows(m, 8, row, 6, block, sums);
    }
}
