/* Sixteen floats side by side, in four registers of 64-bit ARM. */
#include <arm_neon.h>

typedef float32x4x4_t lanes;

#define EACH(expression) \
    do { \
        for (int i = 0; i < 4; i++) x.val[i] = (expression); \
        return x; \
    } while (0)

INLINE lanes lanes_set(float value) { lanes x; EACH(vdupq_n_f32(value)); }
INLINE lanes lanes_load(const float *p) { lanes x; EACH(vld1q_f32(p + 4 * i)); }
INLINE void lanes_store(float *p, lanes x) { for (int i = 0; i < 4; i++) vst1q_f32(p + 4 * i, x.val[i]); }
INLINE lanes lanes_add(lanes x, lanes y) { EACH(vaddq_f32(x.val[i], y.val[i])); }
INLINE lanes lanes_sub(lanes x, lanes y) { EACH(vsubq_f32(x.val[i], y.val[i])); }
INLINE lanes lanes_mul(lanes x, lanes y) { EACH(vmulq_f32(x.val[i], y.val[i])); }
INLINE lanes lanes_div(lanes x, lanes y) { EACH(vdivq_f32(x.val[i], y.val[i])); }
INLINE lanes lanes_max(lanes x, lanes y) { EACH(vmaxq_f32(x.val[i], y.val[i])); }
INLINE lanes lanes_min(lanes x, lanes y) { EACH(vminq_f32(x.val[i], y.val[i])); }
INLINE lanes lanes_abs(lanes x) { EACH(vabsq_f32(x.val[i])); }
INLINE lanes lanes_fma(lanes x, lanes y, lanes z) { EACH(vfmaq_f32(z.val[i], x.val[i], y.val[i])); }

INLINE lanes lanes_sign_of(lanes x, lanes y) {
    uint32x4_t sign = vdupq_n_u32(0x80000000u);
    EACH(vbslq_f32(sign, y.val[i], x.val[i]));
}

INLINE lanes lanes_power(lanes x) {
    uint32x4_t bias = vdupq_n_u32(127);
    EACH(vreinterpretq_f32_u32(vshlq_n_u32(vaddq_u32(vreinterpretq_u32_f32(x.val[i]), bias), 23)));
}

INLINE lanes lanes_first(int count, lanes x, lanes y) {
    const int32_t places[4] = {0, 1, 2, 3};
    int32x4_t index = vld1q_s32(places);
    EACH(vbslq_f32(vcltq_s32(index, vdupq_n_s32(count - 4 * i)), x.val[i], y.val[i]));
}

INLINE lanes lanes_load_bytes(const int8_t *p) {
    lanes x;
    int16x8_t half[2] = {vmovl_s8(vld1_s8(p)), vmovl_s8(vld1_s8(p + 8))};
    for (int i = 0; i < 2; i++) {
        x.val[2 * i] = vcvtq_f32_s32(vmovl_s16(vget_low_s16(half[i])));
        x.val[2 * i + 1] = vcvtq_f32_s32(vmovl_s16(vget_high_s16(half[i])));
    }
    return x;
}

INLINE float lanes_sum(lanes x) {
    float32x4_t a = vaddq_f32(x.val[0], x.val[2]), b = vaddq_f32(x.val[1], x.val[3]), c = vaddq_f32(a, b);
    float32x2_t d = vadd_f32(vget_low_f32(c), vget_high_f32(c));
    return vget_lane_f32(d, 0) + vget_lane_f32(d, 1);
}

INLINE float lanes_largest(lanes x) {
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(x.val[0], x.val[1]), vmaxq_f32(x.val[2], x.val[3])));
}

/* Sixteen rows become sixteen columns. */
INLINE void lanes_transpose(lanes x[16]) {
    float rows[16][16], columns[16][16];
    for (int i = 0; i < 16; i++) lanes_store(rows[i], x[i]);
    for (int i = 0; i < 256; i++) columns[i % 16][i / 16] = rows[i / 16][i % 16];
    for (int i = 0; i < 16; i++) x[i] = lanes_load(columns[i]);
}

/* Sixteen sums of 32 bits; the first numbers of sixteen pairs of 16 bits, then the second ones; one such pair. */
typedef int32x4x4_t integers;
typedef struct {
    int16x8_t first[2], second[2];
} pairs;
typedef struct {
    int16_t first, second;
} pair;

INLINE integers integers_zero(void) { integers x; EACH(vdupq_n_s32(0)); }

INLINE pairs pairs_load(const int16_t *p) {
    pairs x;
    int16x8_t part[4];
    memcpy(part, p, sizeof part);
    for (int i = 0; i < 2; i++) {
        x.first[i] = vuzp1q_s16(part[2 * i], part[2 * i + 1]);
        x.second[i] = vuzp2q_s16(part[2 * i], part[2 * i + 1]);
    }
    return x;
}

INLINE pair pair_load(const int16_t *p) {
    pair x;
    memcpy(&x, p, sizeof x);
    return x;
}

INLINE void add_pairs(integers *sum, pair a, pairs b) {
    for (int i = 0; i < 2; i++) {
        int32x4_t *low = &sum->val[2 * i], *high = low + 1;
        *low = vmlal_n_s16(vmlal_n_s16(*low, vget_low_s16(b.first[i]), a.first), vget_low_s16(b.second[i]), a.second);
        *high = vmlal_n_s16(vmlal_n_s16(*high, vget_high_s16(b.first[i]), a.first), vget_high_s16(b.second[i]), a.second);
    }
}

INLINE lanes lanes_of(integers y) { lanes x; EACH(vcvtq_f32_s32(y.val[i])); }

/* Stores rounded numbers, with SHIFT added, in 16 bits each. */
INLINE void lanes_store_shorts(int16_t *p, lanes shifted) {
    for (int i = 0; i < 4; i++) {
        int16x4_t value = vmovn_s32(vreinterpretq_s32_f32(shifted.val[i])); /* SHIFT_BITS has none of them */
        memcpy(p + 4 * i, &value, 8);
    }
}

/* Quantized rows: signed integers of 16 bits, for either precision. */
INLINE size_t row_stride(int bits, int inputs) { (void)bits; return (size_t)inputs * 2; }

INLINE void row_store(uint8_t *row, int bits, int inputs, int at, lanes shifted) {
    (void)bits, (void)inputs;
    lanes_store_shorts((int16_t *)row + at, shifted);
}

enum { ROWS_AT_ONCE = 4, BLOCKS_AT_ONCE = 1 };

/* Exact sums of `rows` rows with 64 columns, each rounded once.
 *
 * A column has four sums of 32 bits: of at most 2,048 products each, since a row has at most 8,192 numbers, but those
 * of 15 bits fill one with 1,024. So they are added up in 64 bits every 4,096 numbers.
 */
INLINE void sum_rows(const core_matrix *m, int bits, const uint8_t *row, int rows, int block, float *sums) {
    const int8_t *w = m->weight + (size_t)block * CORE_COLUMNS * m->inputs;
    (void)bits;
    for (int r = 0; r < rows; r++, row += (size_t)m->inputs * 2, sums += CORE_COLUMNS)
        for (int c = 0; c < CORE_COLUMNS; c += 4) {
            int64_t total[4] = {0};
            for (int k = 0; k < m->inputs;) {
                int32x4_t part[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
                for (int end = k + 4096 < m->inputs ? k + 4096 : m->inputs; k < end; k += 4) {
                    int8x16_t bytes = vld1q_s8(w + (size_t)k * CORE_COLUMNS + 4 * c);
                    int16x8_t low = vmovl_s8(vget_low_s8(bytes)), high = vmovl_s8(vget_high_s8(bytes));
                    int16x4_t a;
                    memcpy(&a, row + 2 * k, 8);
                    part[0] = vmlal_s16(part[0], a, vget_low_s16(low));
                    part[1] = vmlal_s16(part[1], a, vget_high_s16(low));
                    part[2] = vmlal_s16(part[2], a, vget_low_s16(high));
                    part[3] = vmlal_s16(part[3], a, vget_high_s16(high));
                }
                for (int i = 0; i < 4; i++) total[i] += vaddlvq_s32(part[i]);
            }
            for (int i = 0; i < 4; i++) sums[c + i] = (float)total[i];
        }
}
