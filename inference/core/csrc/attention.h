/* Attention of one head of one item. Included once for each instruction set.
 *
 * All four products are of one kind: the numbers of a few rows, one after the other, times blocks of 16 columns.
 * Relative scores are computed by distance, where rows share blocks, and then read along their diagonals.
 */

typedef struct {
    const float *projected; /* of the item's first token: queries, keys and values of this head */
    int32_t stride, size, hidden, length, padded, positions;
    const float *position_keys, *position_queries; /* [2 positions / 16][size][16] of this head, or NULL */
    const core_work *work;
} attention;

/* Products of four rows with `wide` blocks [size][16]. `wide` is a constant wherever this is called. */
INLINE void multiply_blocks(const float *const *row, const float *block, int32_t size, int wide, float *out,
                            size_t stride) {
    lanes sum[CORE_QUERIES][2];
    for (int r = 0; r < CORE_QUERIES; r++) sum[r][0] = sum[r][1] = lanes_set(0.0f);
    const float *other = block + (size_t)size * CORE_LANES;
    for (int32_t d = 0; d < size; d++) {
        lanes x = lanes_load(block + (size_t)d * CORE_LANES), y = x;
        if (wide == 2) y = lanes_load(other + (size_t)d * CORE_LANES);
#pragma GCC unroll 4
        for (int r = 0; r < CORE_QUERIES; r++) {
            lanes number = lanes_set(row[r][d]);
            sum[r][0] = lanes_fma(number, x, sum[r][0]);
            if (wide == 2) sum[r][1] = lanes_fma(number, y, sum[r][1]);
        }
    }
    for (int r = 0; r < CORE_QUERIES; r++)
        for (int c = 0; c < wide; c++) lanes_store(out + r * stride + c * CORE_LANES, sum[r][c]);
}

/* Products of four rows with `count` blocks that lie one behind the other. */
static void multiply_rows(const float *const *row, const float *blocks, int32_t size, int32_t count, float *out,
                          size_t stride) {
    size_t step = (size_t)size * CORE_LANES;
    int32_t b = 0;
    for (; BLOCKS_AT_ONCE == 2 && b + 2 <= count; b += 2)
        multiply_blocks(row, blocks + b * step, size, 2, out + (size_t)b * CORE_LANES, stride);
    for (; b < count; b++) multiply_blocks(row, blocks + b * step, size, 1, out + (size_t)b * CORE_LANES, stride);
}

/* Lays keys out as [padded / 16][size][16], with zeros behind the last one, and values as [size / 16][length][16]. */
static void lay_out_head(const attention *a) {
    float *keys = a->work->keys;
    for (int32_t j = 0; j < a->padded; j += CORE_LANES, keys += (size_t)a->size * CORE_LANES) {
        int32_t count = a->length - j < CORE_LANES ? a->length - j : CORE_LANES;
        if (count < CORE_LANES) memset(keys, 0, (size_t)a->size * CORE_LANES * sizeof(float));
        for (int32_t i = 0; i < count; i++) {
            const float *key = a->projected + (size_t)(j + i) * a->stride + a->hidden;
            for (int32_t d = 0; d < a->size; d++) keys[d * CORE_LANES + i] = key[d];
        }
    }
    for (int32_t j = 0; j < a->length; j++) {
        const float *value = a->projected + (size_t)j * a->stride + 2 * a->hidden;
        for (int32_t d = 0; d < a->size; d += CORE_LANES)
            lanes_store(a->work->values + (size_t)d * a->length + (size_t)j * CORE_LANES, lanes_load(value + d));
    }
}

/* Where the distance of a query and a key lies in a table: the largest distance comes first. */
INLINE int32_t distance_index(const attention *a, int32_t query, int32_t key) {
    return key - query + a->positions - 1;
}

/* Scores of keys with the relative queries, for all queries: [length][padded]. Sixteen keys at a time. */
static void score_positions_to_content(const attention *a) {
    for (int32_t j = 0; j < a->length; j += CORE_LANES) {
        int32_t last = j + CORE_LANES <= a->length ? j + CORE_LANES - 1 : a->length - 1;
        int32_t first_block = distance_index(a, a->length - 1, j) / CORE_LANES;
        int32_t count = distance_index(a, 0, last) / CORE_LANES - first_block + 1;
        size_t width = (size_t)count * CORE_LANES;
        const float *blocks = a->position_queries + (size_t)first_block * a->size * CORE_LANES;
        for (int32_t k = 0; k < CORE_LANES; k += CORE_QUERIES) {
            const float *row[CORE_QUERIES];
            for (int32_t r = 0; r < CORE_QUERIES; r++) { /* keys behind the last one: any number will do */
                int32_t key = j + k + r < last ? j + k + r : last;
                row[r] = a->projected + (size_t)key * a->stride + a->hidden;
            }
            multiply_rows(row, blocks, a->size, count, a->work->by_distance + k * width, width);
        }
        for (int32_t i = 0; i < a->length; i++) {
            const float *from = a->work->by_distance + distance_index(a, i, j) - first_block * CORE_LANES;
            float *to = a->work->relative + (size_t)i * a->padded + j;
            for (int32_t k = 0; k <= last - j; k++) to[k] = from[k * (width + 1)];
            for (int32_t k = last - j + 1; k < CORE_LANES; k++) to[k] = 0.0f;
        }
    }
}

/* Adds the scores of four queries with the relative keys. */
static void add_content_to_positions(const attention *a, const int32_t *at, const float *const *row) {
    int32_t first = distance_index(a, at[CORE_QUERIES - 1], 0), last = distance_index(a, at[0], a->padded - 1);
    int32_t first_block = first / CORE_LANES, count = last / CORE_LANES - first_block + 1;
    size_t width = (size_t)count * CORE_LANES;
    multiply_rows(row, a->position_keys + (size_t)first_block * a->size * CORE_LANES, a->size, count,
                  a->work->by_distance, width);
    for (int r = 0; r < CORE_QUERIES; r++) {
        const float *from = a->work->by_distance + r * width + distance_index(a, at[r], 0) - first_block * CORE_LANES;
        float *to = a->work->scores + (size_t)r * a->padded;
        for (int32_t j = 0; j < a->padded; j += CORE_LANES)
            lanes_store(to + j, lanes_add(lanes_load(to + j), lanes_load(from + j)));
    }
}

/* Scores of four queries, which are not decreasing, with all keys. */
static void score(const attention *a, const int32_t *at) {
    const float *row[CORE_QUERIES];
    for (int r = 0; r < CORE_QUERIES; r++) row[r] = a->projected + (size_t)at[r] * a->stride;
    multiply_rows(row, a->work->keys, a->size, a->padded / CORE_LANES, a->work->scores, (size_t)a->padded);
    if (a->position_keys) add_content_to_positions(a, at, row);
    for (int r = 0; a->position_queries && r < CORE_QUERIES; r++) {
        const float *from = a->work->relative + (size_t)at[r] * a->padded;
        float *to = a->work->scores + (size_t)r * a->padded;
        for (int32_t j = 0; j < a->padded; j += CORE_LANES)
            lanes_store(to + j, lanes_add(lanes_load(to + j), lanes_load(from + j)));
    }
}

/* Turns scores into weights, 0 behind the last key, and returns 1 over their sum. */
static float weigh(const attention *a, float *scores) {
    int32_t last = a->padded - CORE_LANES;
    lanes lowest = lanes_set(-3e38f), sum = lanes_set(0.0f), top = lowest;
    lanes_store(scores + last, lanes_first(a->length - last, lanes_load(scores + last), lowest));
    for (int32_t j = 0; j <= last; j += CORE_LANES) top = lanes_max(top, lanes_load(scores + j));
    top = lanes_set(lanes_largest(top));
    for (int32_t j = 0; j <= last; j += CORE_LANES) {
        lanes weight = lanes_exp(lanes_sub(lanes_load(scores + j), top));
        if (j == last) weight = lanes_first(a->length - last, weight, lanes_set(0.0f));
        lanes_store(scores + j, weight);
        sum = lanes_add(sum, weight);
    }
    return 1.0f / lanes_sum(sum);
}

/* Mixes the values by the weights of four queries, of which `count` are wanted. */
static void mix(const attention *a, const float *inverse, int32_t count, float *context) {
    const float *row[CORE_QUERIES];
    for (int r = 0; r < CORE_QUERIES; r++) row[r] = a->work->scores + (size_t)r * a->padded;
    multiply_rows(row, a->work->values, a->length, a->size / CORE_LANES, a->work->by_distance, (size_t)a->size);
    for (int32_t r = 0; r < count; r++)
        for (int32_t d = 0; d < a->size; d += CORE_LANES)
            lanes_store(context + (size_t)r * a->hidden + d,
                        lanes_mul(lanes_load(a->work->by_distance + r * a->size + d), lanes_set(inverse[r])));
}

/* Computes the context of some queries: of the item's tokens `at`, which are not decreasing. */
static void attend(const attention *a, const int32_t *at, int32_t count, float *context) {
    lay_out_head(a);
    if (a->position_queries) score_positions_to_content(a);
    for (int32_t i = 0; i < count; i += CORE_QUERIES) {
        int32_t query[CORE_QUERIES], wanted = count - i < CORE_QUERIES ? count - i : CORE_QUERIES;
        float inverse[CORE_QUERIES];
        for (int r = 0; r < CORE_QUERIES; r++) query[r] = at[r < wanted ? i + r : count - 1];
        score(a, query);
        for (int r = 0; r < CORE_QUERIES; r++) inverse[r] = weigh(a, a->work->scores + (size_t)r * a->padded);
        mix(a, inverse, wanted, context + (size_t)i * a->hidden);
    }
}
