/* Attention of one head of one item. Included once for each instruction set.
 *
 * All four products are of one kind: the numbers of a few rows, two at a time, times blocks of 16 columns. All are of
 * integers of 16 bits, whose sums fit 32. Relative scores are computed by distance, where rows share blocks, and then
 * read along their diagonals.
 */

/* Weights of a row add up to at most this many steps, so with 16 bits each a sum of products with values fits 32. */
#define WEIGHT_STEPS 262144.0f
enum { WEIGHT_LIMIT = 32767, VALUE_LIMIT = 8128 };

typedef struct {
    const float *projected; /* of the item's first token: queries, keys and values of this head */
    int32_t stride, size, hidden, length, padded, positions;
    const int16_t *position_keys, *position_queries; /* [2 positions / 16][size / 2][16][2] of this head, or NULL */
    float position_key_step, position_query_step;
    float query_step, key_step, value_step;
    const core_work *work;
} attention;

/* The largest integer whose square, `size` times, fits 31 bits. */
static int32_t score_limit(int32_t size) { return (int32_t)sqrt(2147483647.0 / size); }

/* Writes the queries (part 0), keys or values of all tokens as integers of at most `limit`, and returns their step. */
static float quantize_head(const attention *a, int32_t part, int32_t limit, int16_t *to) {
    const float *from = a->projected + (size_t)part * a->hidden;
    lanes largest = lanes_set(0.0f), shift = lanes_set(SHIFT);
    for (int32_t i = 0; i < a->length; i++)
        for (int32_t d = 0; d < a->size; d += CORE_LANES)
            largest = lanes_max(largest, lanes_abs(lanes_load(from + (size_t)i * a->stride + d)));
    float step = step_of(lanes_largest(largest), limit);
    lanes inverse = lanes_set(1.0f / step);
    for (int32_t i = 0; i < a->length; i++)
        for (int32_t d = 0; d < a->size; d += CORE_LANES)
            lanes_store_shorts(to + (size_t)i * a->size + d,
                               lanes_fma(lanes_load(from + (size_t)i * a->stride + d), inverse, shift));
    return step;
}

/* Lays keys out as columns, two numbers of each together. Behind the last one, columns repeat it. */
static void lay_out_keys(const attention *a) {
    float *to = (float *)a->work->key_blocks; /* a pair is as wide as a float */
    int32_t size = a->size / 2;
    for (int32_t j = 0; j < a->padded; j += CORE_LANES)
        for (int32_t d = 0; d < size; d += CORE_LANES) {
            lanes column[CORE_LANES];
            for (int32_t i = 0; i < CORE_LANES; i++) {
                int32_t key = j + i < a->length ? j + i : a->length - 1;
                column[i] = lanes_load((const float *)a->work->keys + (size_t)key * size + d);
            }
            lanes_transpose(column);
            for (int32_t i = 0; i < CORE_LANES && d + i < size; i++, to += CORE_LANES) lanes_store(to, column[i]);
        }
}

/* Lays values out with two tokens' numbers together. Behind an odd last token stands any number: its weight is 0. */
static void lay_out_values(const attention *a) {
    int16_t *to = a->work->value_blocks;
    for (int32_t d = 0; d < a->size; d += CORE_LANES)
        for (int32_t j = 0; j < a->length; j += 2, to += 2 * CORE_LANES) {
            const int16_t *first = a->work->values + (size_t)j * a->size + d;
            const int16_t *second = j + 1 < a->length ? first + a->size : first;
            for (int32_t i = 0; i < CORE_LANES; i++) to[2 * i] = first[i], to[2 * i + 1] = second[i];
        }
}

/* Products of four rows with `wide` blocks [pairs][16][2]. `wide` is a constant wherever this is called. */
INLINE void multiply_blocks(const int16_t *const *row, const int16_t *block, int32_t count, int wide, float *out,
                            size_t stride) {
    integers sum[CORE_QUERIES][2];
    for (int r = 0; r < CORE_QUERIES; r++) sum[r][0] = sum[r][1] = integers_zero();
    const int16_t *other = block + (size_t)count * 2 * CORE_LANES;
    for (int32_t d = 0; d < count; d++) {
        pairs x = pairs_load(block + (size_t)d * 2 * CORE_LANES), y = x;
        if (wide == 2) y = pairs_load(other + (size_t)d * 2 * CORE_LANES);
#pragma GCC unroll 4
        for (int r = 0; r < CORE_QUERIES; r++) {
            pair numbers = pair_load(row[r] + 2 * d);
            add_pairs(&sum[r][0], numbers, x);
            if (wide == 2) add_pairs(&sum[r][1], numbers, y);
        }
    }
    for (int r = 0; r < CORE_QUERIES; r++)
        for (int c = 0; c < wide; c++) lanes_store(out + r * stride + c * CORE_LANES, lanes_of(sum[r][c]));
}

/* Products of four rows of 2 `pairs` numbers with `count` blocks that lie one behind the other. */
static void multiply_rows(const int16_t *const *row, const int16_t *blocks, int32_t pairs, int32_t count, float *out,
                          size_t stride) {
    size_t step = (size_t)pairs * 2 * CORE_LANES;
    int32_t b = 0;
    for (; BLOCKS_AT_ONCE == 2 && b + 2 <= count; b += 2)
        multiply_blocks(row, blocks + b * step, pairs, 2, out + (size_t)b * CORE_LANES, stride);
    for (; b < count; b++) multiply_blocks(row, blocks + b * step, pairs, 1, out + (size_t)b * CORE_LANES, stride);
}

/* Where the distance of a query and a key lies in a table: the largest distance comes first. */
INLINE int32_t distance_index(const attention *a, int32_t query, int32_t key) {
    return key - query + a->positions - 1;
}

/* Products of 16 keys from `key` on with the relative queries of the tokens from `low` to `high`, by distance.
 * Returns how many distances there are; `first` becomes that of the first one. */
static size_t multiply_relative_queries(const attention *a, int32_t key, int32_t low, int32_t high, int32_t *first) {
    int32_t last = key + CORE_LANES <= a->length ? key + CORE_LANES - 1 : a->length - 1;
    int32_t first_block = distance_index(a, high, key) / CORE_LANES;
    int32_t count = distance_index(a, low, last) / CORE_LANES - first_block + 1;
    size_t width = (size_t)count * CORE_LANES;
    for (int32_t k = 0; key + k <= last; k += CORE_QUERIES) {
        const int16_t *row[CORE_QUERIES];
        for (int32_t r = 0; r < CORE_QUERIES; r++)
            row[r] = a->work->keys + (size_t)(key + k + r < last ? key + k + r : last) * a->size;
        multiply_rows(row, a->position_queries + (size_t)first_block * a->size * CORE_LANES, a->size / 2, count,
                      a->work->by_distance + k * width, width);
    }
    *first = first_block * CORE_LANES;
    return width;
}

/* Products of all keys with the relative queries of the tokens from `low` to `high`: [token][padded], 16 x 16 at a
 * time. Behind the last key stands any number. */
static void multiply_keys_by_position(const attention *a, int32_t low, int32_t high) {
    if (high < CORE_LANES - 1) high = CORE_LANES - 1;
    if (low > high - CORE_LANES + 1) low = high - CORE_LANES + 1;
    for (int32_t j = 0; j < a->length; j += CORE_LANES) {
        int32_t first, end;
        size_t width = multiply_relative_queries(a, j, low, high, &first);
        for (int32_t i = low; i <= high; i = end) {
            end = i + CORE_LANES <= high ? i + CORE_LANES : high + 1;
            const float *from = a->work->by_distance + distance_index(a, end - 1, j) - first;
            float *to = a->work->relative + (size_t)(end - 1) * a->padded + j;
            lanes x[CORE_LANES];
            for (int32_t k = 0; k < CORE_LANES; k++) x[k] = lanes_load(from + k * (width + 1));
            lanes_transpose(x);
            for (int32_t k = 0; k < CORE_LANES; k++) lanes_store(to - (size_t)k * a->padded, x[k]);
        }
    }
}

/* Products of four queries, which are not decreasing, with the relative keys. Those of each with key 0 are `found`. */
static void multiply_relative_keys(const attention *a, const int32_t *at, const int16_t *const *row,
                                   const float **found) {
    int32_t first = distance_index(a, at[CORE_QUERIES - 1], 0), last = distance_index(a, at[0], a->length - 1);
    int32_t first_block = first / CORE_LANES, count = last / CORE_LANES - first_block + 1;
    size_t width = (size_t)count * CORE_LANES;
    multiply_rows(row, a->position_keys + (size_t)first_block * a->size * CORE_LANES, a->size / 2, count,
                  a->work->by_distance, width);
    for (int r = 0; r < CORE_QUERIES; r++)
        found[r] = a->work->by_distance + r * width + distance_index(a, at[r], 0) - first_block * CORE_LANES;
}

/* Turns the products of a query into scores, and returns the largest. Behind the last key, scores are very low. */
static lanes add_up(const attention *a, const float *by_key, const float *by_query, float *scores) {
    lanes lowest = lanes_set(-3e38f), top = lowest, step = lanes_set(a->query_step * a->key_step);
    lanes key_step = lanes_set(a->query_step * a->position_key_step);
    lanes query_step = lanes_set(a->key_step * a->position_query_step);
    for (int32_t j = 0; j < a->padded; j += CORE_LANES) {
        lanes score = lanes_mul(lanes_load(scores + j), step);
        if (by_key) score = lanes_fma(lanes_load(by_key + j), key_step, score);
        if (by_query) score = lanes_fma(lanes_load(by_query + j), query_step, score);
        if (j + CORE_LANES > a->length) score = lanes_first(a->length - j, score, lowest);
        lanes_store(scores + j, score);
        top = lanes_max(top, score);
    }
    return lanes_set(lanes_largest(top));
}

/* Turns scores into integer weights, 0 behind the last key, and returns what their products with values stand for. */
static float weigh(const attention *a, lanes top, float *scores, int16_t *weights) {
    lanes sum = lanes_set(0.0f), shift = lanes_set(SHIFT);
    for (int32_t j = 0; j < a->padded; j += CORE_LANES) {
        lanes weight = lanes_exp(lanes_sub(lanes_load(scores + j), top));
        if (j + CORE_LANES > a->length) weight = lanes_first(a->length - j, weight, lanes_set(0.0f));
        lanes_store(scores + j, weight);
        sum = lanes_add(sum, weight);
    }
    float total = lanes_sum(sum), steps = WEIGHT_STEPS / total;
    steps = steps < WEIGHT_LIMIT ? steps : WEIGHT_LIMIT;
    for (int32_t j = 0; j < a->padded; j += CORE_LANES)
        lanes_store_shorts(weights + j, lanes_fma(lanes_load(scores + j), lanes_set(steps), shift));
    return a->value_step / (steps * total);
}

/* Mixes the values by the weights of four queries, of which `count` are wanted. */
static void mix(const attention *a, const float *step, int32_t count, float *context) {
    const int16_t *row[CORE_QUERIES];
    for (int r = 0; r < CORE_QUERIES; r++) row[r] = a->work->weights + (size_t)r * a->padded;
    multiply_rows(row, a->work->value_blocks, (a->length + 1) / 2, a->size / CORE_LANES, a->work->by_distance,
                  (size_t)a->size);
    for (int32_t r = 0; r < count; r++)
        for (int32_t d = 0; d < a->size; d += CORE_LANES)
            lanes_store(context + (size_t)r * a->hidden + d,
                        lanes_mul(lanes_load(a->work->by_distance + r * a->size + d), lanes_set(step[r])));
}

/* Computes the context of four queries, which are not decreasing, of which `count` are wanted. */
static void attend_four(const attention *a, const int32_t *at, int32_t count, float *context) {
    const int16_t *row[CORE_QUERIES];
    const float *by_key[CORE_QUERIES] = {NULL};
    float step[CORE_QUERIES];
    for (int r = 0; r < CORE_QUERIES; r++) row[r] = a->work->queries + (size_t)at[r] * a->size;
    multiply_rows(row, a->work->key_blocks, a->size / 2, a->padded / CORE_LANES, a->work->scores, (size_t)a->padded);
    if (a->position_keys) multiply_relative_keys(a, at, row, by_key);
    for (int r = 0; r < CORE_QUERIES; r++) {
        float *scores = a->work->scores + (size_t)r * a->padded;
        const float *by_query = a->position_queries ? a->work->relative + (size_t)at[r] * a->padded : NULL;
        step[r] = weigh(a, add_up(a, by_key[r], by_query, scores), scores, a->work->weights + (size_t)r * a->padded);
    }
    mix(a, step, count, context);
}

/* Computes the context of some queries: of the item's tokens `at`, which are not decreasing. */
static void attend(attention *a, const int32_t *at, int32_t count, float *context) {
    int32_t limit = score_limit(a->size);
    a->query_step = quantize_head(a, 0, limit, a->work->queries);
    a->key_step = quantize_head(a, 1, limit, a->work->keys);
    a->value_step = quantize_head(a, 2, VALUE_LIMIT, a->work->values);
    lay_out_keys(a);
    lay_out_values(a);
    if (a->position_queries) multiply_keys_by_position(a, at[0], at[count - 1]);
    for (int32_t i = 0; i < count; i += CORE_QUERIES) {
        int32_t query[CORE_QUERIES], wanted = count - i < CORE_QUERIES ? count - i : CORE_QUERIES;
        for (int r = 0; r < CORE_QUERIES; r++) query[r] = at[r < wanted ? i + r : count - 1];
        attend_four(a, query, wanted, context + (size_t)i * a->hidden);
    }
}
