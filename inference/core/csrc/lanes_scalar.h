/* Sixteen floats side by side, in portable C. The other lanes_*.h give the same bits. */
#include <math.h>

typedef struct {
    float at[16];
} lanes;

#define EACH_LANE for (int i = 0; i < 16; i++)

INLINE lanes lanes_set(float x) { lanes r; EACH_LANE r.at[i] = x; return r; }
INLINE lanes lanes_load(const float *p) { lanes r; memcpy(&r, p, sizeof r); return r; }
INLINE void lanes_store(float *p, lanes x) { memcpy(p, &x, sizeof x); }
INLINE lanes lanes_add(lanes a, lanes b) { EACH_LANE a.at[i] += b.at[i]; return a; }
INLINE lanes lanes_sub(lanes a, lanes b) { EACH_LANE a.at[i] -= b.at[i]; return a; }
INLINE lanes lanes_mul(lanes a, lanes b) { EACH_LANE a.at[i] *= b.at[i]; return a; }
INLINE lanes lanes_div(lanes a, lanes b) { EACH_LANE a.at[i] /= b.at[i]; return a; }
INLINE lanes lanes_fma(lanes a, lanes b, lanes c) { EACH_LANE a.at[i] = fmaf(a.at[i], b.at[i], c.at[i]); return a; }
INLINE lanes lanes_max(lanes a, lanes b) { EACH_LANE a.at[i] = a.at[i] > b.at[i] ? a.at[i] : b.at[i]; return a; }
INLINE lanes lanes_min(lanes a, lanes b) { EACH_LANE a.at[i] = a.at[i] < b.at[i] ? a.at[i] : b.at[i]; return a; }
INLINE lanes lanes_abs(lanes a) { EACH_LANE a.at[i] = fabsf(a.at[i]); return a; }
INLINE lanes lanes_sign_of(lanes a, lanes b) { EACH_LANE a.at[i] = copysignf(a.at[i], b.at[i]); return a; }

/* 2 to the power of x + 12582912's lowest bits: see `lanes_exp`. */
INLINE lanes lanes_power(lanes shifted) {
    EACH_LANE {
        uint32_t bits;
        memcpy(&bits, &shifted.at[i], 4);
        bits = (bits + 127) << 23;
        memcpy(&shifted.at[i], &bits, 4);
    }
    return shifted;
}

/* The first `count` lanes of `x`, then lanes of `y`. */
INLINE lanes lanes_first(int count, lanes x, lanes y) {
    for (int i = count; i < 16; i++) x.at[i] = y.at[i];
    return x;
}

INLINE lanes lanes_load_bytes(const int8_t *p) { lanes r; EACH_LANE r.at[i] = p[i]; return r; }

INLINE float lanes_sum(lanes x) {
    for (int half = 8; half; half /= 2)
        for (int i = 0; i < half; i++) x.at[i] += x.at[i + half];
    return x.at[0];
}

INLINE float lanes_largest(lanes x) {
    float largest = x.at[0];
    for (int i = 1; i < 16; i++) largest = x.at[i] > largest ? x.at[i] : largest;
    return largest;
}

/* Sixteen rows become sixteen columns. */
INLINE void lanes_transpose(lanes x[16]) {
    lanes rows[16];
    memcpy(rows, x, sizeof rows);
    for (int i = 0; i < 256; i++) memcpy(&x[i % 16].at[i / 16], &rows[i / 16].at[i % 16], 4);
}

/* Sixteen sums of 32 bits, which wrap for a row that is not finite; sixteen pairs of 16 bits; one such pair. */
typedef struct {
    uint32_t at[16];
} integers;
typedef struct {
    int16_t at[16][2];
} pairs;
typedef struct {
    int16_t first, second;
} pair;

INLINE integers integers_zero(void) { return (integers){{0}}; }
INLINE pairs pairs_load(const int16_t *p) { pairs x; memcpy(&x, p, sizeof x); return x; }
INLINE pair pair_load(const int16_t *p) { pair x; memcpy(&x, p, sizeof x); return x; }

INLINE void add_pairs(integers *sum, pair a, pairs b) {
    EACH_LANE sum->at[i] += (uint32_t)(a.first * b.at[i][0]) + (uint32_t)(a.second * b.at[i][1]);
}

INLINE lanes lanes_of(integers x) { lanes r; EACH_LANE r.at[i] = (float)(int32_t)x.at[i]; return r; }

/* Stores rounded numbers, with SHIFT added, in 16 bits each. */
INLINE void lanes_store_shorts(int16_t *p, lanes shifted) {
    EACH_LANE {
        uint32_t raw;
        memcpy(&raw, &shifted.at[i], 4);
        int16_t value = (int16_t)(raw - SHIFT_BITS);
        memcpy(p + i, &value, 2);
    }
}

/* Quantized rows: signed integers of 16 bits, for either precision. */
INLINE size_t row_stride(int bits, int inputs) { (void)bits; return (size_t)inputs * 2; }

INLINE void row_store(uint8_t *row, int bits, int inputs, int at, lanes shifted) {
    (void)bits, (void)inputs;
    lanes_store_shorts((int16_t *)row + at, shifted);
}

enum { ROWS_AT_ONCE = 2, BLOCKS_AT_ONCE = 1 };

/* Exact sums of `rows` rows with 64 columns, each rounded once. Sums of 1,024 products fit 32 bits. */
INLINE void sum_rows(const core_matrix *m, int bits, const uint8_t *row, int rows, int block, float *sums) {
    (void)bits;
    for (int r = 0; r < rows; r++, row += (size_t)m->inputs * 2, sums += CORE_COLUMNS) {
        const int8_t *w = m->weight + (size_t)block * CORE_COLUMNS * m->inputs;
        int64_t total[CORE_COLUMNS] = {0};
        for (int k = 0; k < m->inputs;) {
            uint32_t part[CORE_COLUMNS] = {0}; /* wraps for a row that is not finite */
            for (int end = k + 1024 < m->inputs ? k + 1024 : m->inputs; k < end; k += 4, w += 4 * CORE_COLUMNS) {
                int16_t a[4];
                memcpy(a, row + 2 * k, sizeof a);
                for (int c = 0; c < CORE_COLUMNS; c++)
                    for (int i = 0; i < 4; i++) part[c] += (uint32_t)(a[i] * w[4 * c + i]);
            }
            for (int c = 0; c < CORE_COLUMNS; c++) total[c] += (int32_t)part[c];
        }
        for (int c = 0; c < CORE_COLUMNS; c++) sums[c] = (float)total[c];
    }
}
