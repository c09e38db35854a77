/* Attention of one head. Included once for each instruction set. */

typedef struct {
    const float *projected; /* of the item's first token: queries, keys and values of this head */
    int32_t stride, size, hidden, length, padded, positions;
    int32_t origin, width;  /* of the rows of `near_*`: where the key at a query's own place lies, and their stride */
    const float *near_keys, *near_queries;
    float *keys, *scores;
} attention;

/* Transposes the keys: [padded / 16][size][16], with zeros behind the last one. */
static void transpose_keys(const attention *a) {
    float *to = a->keys;
    for (int32_t j = 0; j < a->padded; j += CORE_LANES, to += a->size * CORE_LANES) {
        int32_t count = a->length - j < CORE_LANES ? a->length - j : CORE_LANES;
        if (count < CORE_LANES) memset(to, 0, (size_t)a->size * CORE_LANES * sizeof(float));
        for (int32_t i = 0; i < count; i++) {
            const float *key = a->projected + (size_t)(j + i) * a->stride + a->hidden;
            for (int32_t d = 0; d < a->size; d++) to[d * CORE_LANES + i] = key[d];
        }
    }
}

/* Copies what the distances of one length need out of a table [distances / 16][size][16], as rows of `width`. */
static void copy_near(const float *table, const attention *a, float *to) {
    int32_t from = (a->positions - a->length) / CORE_LANES;
    for (int32_t i = 0; i < a->width; i += CORE_LANES) {
        int32_t block = from + i / CORE_LANES;
        if (block >= 2 * a->positions / CORE_LANES) break; /* columns behind the last distance are not read */
        const float *cells = table + (size_t)block * a->size * CORE_LANES;
        for (int32_t d = 0; d < a->size; d++)
            lanes_store(to + (size_t)d * a->width + i, lanes_load(cells + d * CORE_LANES));
    }
}

/* Scores of four queries with 16 keys from `j` on. `relations` is a constant wherever this is called. */
INLINE void score_block(const attention *a, const int32_t *at, int32_t j, int relations) {
    const float *query[CORE_QUERIES], *near_key[CORE_QUERIES], *near_query[CORE_QUERIES];
    lanes sum[CORE_QUERIES];
    for (int r = 0; r < CORE_QUERIES; r++) {
        ptrdiff_t column = a->origin - at[r] + j;
        query[r] = a->projected + (size_t)at[r] * a->stride;
        if (relations & CORE_CONTENT_TO_POSITION) near_key[r] = a->near_keys + column;
        if (relations & CORE_POSITION_TO_CONTENT) near_query[r] = a->near_queries + column;
        sum[r] = lanes_set(0.0f);
    }
    const float *keys = a->keys + (size_t)j * a->size;
    for (int32_t d = 0; d < a->size; d++) {
        lanes key = lanes_load(keys + d * CORE_LANES);
        size_t row = (size_t)d * a->width;
#pragma GCC unroll 4
        for (int r = 0; r < CORE_QUERIES; r++) {
            lanes met = relations & CORE_CONTENT_TO_POSITION ? lanes_add(key, lanes_load(near_key[r] + row)) : key;
            sum[r] = lanes_fma(lanes_set(query[r][d]), met, sum[r]);
            if (relations & CORE_POSITION_TO_CONTENT)
                sum[r] = lanes_fma(key, lanes_load(near_query[r] + row), sum[r]);
        }
    }
    for (int r = 0; r < CORE_QUERIES; r++) lanes_store(a->scores + (size_t)r * a->padded + j, sum[r]);
}

static void score(const attention *a, const int32_t *at, int relations) {
    for (int32_t j = 0; j < a->padded; j += CORE_LANES) switch (relations) {
        case 0: score_block(a, at, j, 0); break;
        case 1: score_block(a, at, j, 1); break;
        case 2: score_block(a, at, j, 2); break;
        default: score_block(a, at, j, 3);
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

/* Mixes 16 * `wide` columns of the values by the weights of four queries. */
INLINE void mix_columns(const attention *a, const float *inverse, int32_t d, int wide, float *const *to) {
    const float *values = a->projected + 2 * a->hidden + d, *weights = a->scores;
    lanes sum[CORE_QUERIES][2];
    for (int r = 0; r < CORE_QUERIES; r++) sum[r][0] = sum[r][1] = lanes_set(0.0f);
    for (int32_t j = 0; j < a->length; j++, values += a->stride)
#pragma GCC unroll 4
        for (int r = 0; r < CORE_QUERIES; r++) {
            lanes weight = lanes_set(weights[(size_t)r * a->padded + j]);
            sum[r][0] = lanes_fma(weight, lanes_load(values), sum[r][0]);
            if (wide == 2) sum[r][1] = lanes_fma(weight, lanes_load(values + CORE_LANES), sum[r][1]);
        }
    for (int r = 0; r < CORE_QUERIES; r++)
        for (int c = 0; c < wide; c++)
            lanes_store(to[r] + d + c * CORE_LANES, lanes_mul(sum[r][c], lanes_set(inverse[r])));
}

/* Computes the context of some queries: of the item's tokens `at`, which are not decreasing. */
static void attend(const attention *a, const int32_t *at, int32_t count, int relations, float *context) {
    for (int32_t i = 0; i < count; i += CORE_QUERIES) {
        int32_t query[CORE_QUERIES];
        float inverse[CORE_QUERIES], *to[CORE_QUERIES];
        for (int r = 0; r < CORE_QUERIES; r++) { /* the last one stands for those that are missing */
            int32_t row = i + r < count ? i + r : count - 1;
            query[r] = at[row];
            to[r] = context + (size_t)row * a->hidden;
        }
        score(a, query, relations);
        for (int r = 0; r < CORE_QUERIES; r++) inverse[r] = weigh(a, a->scores + (size_t)r * a->padded);
        int32_t d = 0;
        for (; MIX_WIDTH == 2 && d + 2 * CORE_LANES <= a->size; d += 2 * CORE_LANES)
            mix_columns(a, inverse, d, 2, to);
        for (; d < a->size; d += CORE_LANES) mix_columns(a, inverse, d, 1, to);
    }
}
