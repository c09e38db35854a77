/* The encoder: layers, and what is read of the last one. Included once for each instruction set. */

typedef struct {
    const core_model *model;
    const core_header *h;
    const core_batch *batch;
    core_work work;
    int32_t tokens;
} run;

/* out = rows * weight + bias for `count` quantized rows. `bits` is a constant wherever this is called. */
INLINE void multiply_as(const core_matrix *m, int bits, const uint8_t *rows, const float *steps, int32_t count,
                        float *out) {
    size_t stride = row_stride(bits, m->inputs);
    _Alignas(CORE_ALIGNMENT) float sums[ROWS_AT_ONCE * CORE_COLUMNS];
    for (int32_t block = 0, first = 0; first < m->outputs; block++, first += CORE_COLUMNS)
        for (int32_t t = 0; t < count; t += ROWS_AT_ONCE) {
            int wanted = count - t < ROWS_AT_ONCE ? count - t : ROWS_AT_ONCE;
            sum_rows(m, bits, rows + t * stride, wanted, block, sums);
            for (int c = 0; c < CORE_COLUMNS; c += CORE_LANES) {
                lanes scale = lanes_load(m->scale + first + c), bias = lanes_load(m->bias + first + c);
                for (int r = 0; r < wanted; r++) {
                    lanes scaled = lanes_mul(lanes_load(sums + r * CORE_COLUMNS + c), lanes_set(steps[t + r]));
                    lanes_store(out + (size_t)(t + r) * m->outputs + first + c, lanes_fma(scaled, scale, bias));
                }
            }
        }
}

static void multiply8(const core_matrix *m, const uint8_t *rows, const float *steps, int32_t count, float *out) {
    multiply_as(m, 8, rows, steps, count, out);
}

static void multiply15(const core_matrix *m, const uint8_t *rows, const float *steps, int32_t count, float *out) {
    multiply_as(m, 15, rows, steps, count, out);
}

static void multiply(const core_matrix *m, const uint8_t *rows, const float *steps, int32_t count, float *out) {
    (m->bits == 8 ? multiply8 : multiply15)(m, rows, steps, count, out);
}

/* The sum of a token's embeddings, normalized. */
static void embed(const run *r) {
    const core_header *h = r->h;
    const int32_t *id = r->batch->ids;
    float *state = r->work.states;
    for (int32_t item = 0; item < r->batch->items; item++)
        for (int32_t at = 0; at < r->batch->lengths[item]; at++, id++, state += h->hidden) {
            size_t word = (size_t)*id * h->hidden;
            for (int32_t i = 0; i < h->hidden; i += CORE_LANES) {
                if (h->word_bytes == 4) {
                    lanes_store(state + i, lanes_load((const float *)r->model->words + word + i));
                    continue;
                }
                lanes bytes = lanes_load_bytes((const int8_t *)r->model->words + word + i);
                lanes_store(state + i, lanes_mul(lanes_sub(bytes, lanes_set((float)h->word_zero)),
                                                 lanes_set(h->word_scale)));
            }
            const float *place = r->model->positions ? r->model->positions + (size_t)at * h->hidden : NULL;
            add_and_normalize(state, place, r->model->norm, h, state);
        }
}

/* Attention of one head for all items. In the last layer only the chosen rows ask. */
static void attend_head(const run *r, const core_layer *layer, int32_t head, int32_t is_last) {
    const core_header *h = r->h;
    const core_work *w = &r->work;
    int32_t start = 0, size = h->hidden / h->heads;
    size_t table = (size_t)head * size * 2 * h->positions;
    attention a = {.stride = 3 * h->hidden, .size = size, .hidden = h->hidden, .positions = h->positions, .work = w};
    if (layer->position_keys)
        a.position_keys = layer->position_keys + table, a.position_key_step = layer->position_key_steps[head];
    if (layer->position_queries)
        a.position_queries = layer->position_queries + table, a.position_query_step = layer->position_query_steps[head];
    for (int32_t item = 0; item < r->batch->items; item++) {
        a.length = r->batch->lengths[item];
        a.padded = (a.length + CORE_LANES - 1) / CORE_LANES * CORE_LANES;
        a.projected = w->projected + (size_t)start * a.stride + head * size;
        int32_t first = is_last ? w->first[item] : start, count = is_last ? w->first[item + 1] - first : a.length;
        attend(&a, w->rows + first, count, w->context + (size_t)first * h->hidden + head * size);
        start += a.length;
    }
}

/* Sets which tokens ask: each its place in its item. All tokens, or those whose last state is read. */
static void choose_rows(run *r, int32_t is_last) {
    const core_batch *b = r->batch;
    int reads_all = !is_last || r->h->output == CORE_MEAN;
    int32_t token = 0, chosen = 0;
    for (int32_t item = 0; item < b->items; item++) {
        r->work.first[item] = chosen;
        for (int32_t at = 0; at < b->lengths[item]; at++, token++)
            if (reads_all || at == 0 || (r->h->has_marks && b->marked && b->marked[token])) r->work.rows[chosen++] = at;
    }
    r->work.first[b->items] = chosen;
}

/* Moves the states of the chosen rows to the front. */
static void keep_rows(const run *r) {
    int32_t start = 0;
    size_t width = r->h->hidden;
    for (int32_t item = 0; item < r->batch->items; item++) {
        for (int32_t row = r->work.first[item]; row < r->work.first[item + 1]; row++)
            memmove(r->work.states + row * width, r->work.states + (start + r->work.rows[row]) * width,
                    width * sizeof(float));
        start += r->batch->lengths[item];
    }
}

/* Feed-forward layer of `count` rows, a few at a time. */
static void feed_forward(const run *r, const core_layer *layer, int32_t count) {
    const core_header *h = r->h;
    const core_work *w = &r->work;
    float steps[CORE_FEED_ROWS];
    for (int32_t t = 0; t < count; t += CORE_FEED_ROWS) {
        int32_t some = count - t < CORE_FEED_ROWS ? count - t : CORE_FEED_ROWS;
        float *state = w->states + (size_t)t * h->hidden;
        multiply(&layer->inner, w->bytes + t * row_stride(layer->inner.bits, h->hidden), w->scales + t, some, w->inner);
        for (size_t i = 0; i < (size_t)some * h->inner; i += CORE_LANES)
            lanes_store(w->inner + i, lanes_activate(h->activation, lanes_load(w->inner + i)));
        quantize_rows(w->inner, some, h->inner, layer->outer.bits, w->inner_bytes, steps);
        multiply(&layer->outer, w->inner_bytes, steps, some, w->added);
        for (int32_t i = 0; i < some; i++)
            add_and_normalize(w->added + (size_t)i * h->hidden, state + (size_t)i * h->hidden, layer->norm, h,
                              state + (size_t)i * h->hidden);
    }
}

static void compute_layer(run *r, int32_t index) {
    const core_header *h = r->h;
    const core_work *w = &r->work;
    core_layer layer = core_layer_at(r->model, index);
    int32_t is_last = index + 1 == h->layers;
    if (index == 0 || is_last) choose_rows(r, is_last);
    quantize_rows(w->states, r->tokens, h->hidden, layer.project.bits, w->bytes, w->scales);
    multiply(&layer.project, w->bytes, w->scales, r->tokens, w->projected);
    for (int32_t head = 0; head < h->heads; head++) attend_head(r, &layer, head, is_last);
    int32_t count = w->first[r->batch->items];
    if (is_last) keep_rows(r);
    quantize_rows(w->context, count, h->hidden, layer.output.bits, w->bytes, w->scales);
    multiply(&layer.output, w->bytes, w->scales, count, w->added);
    for (int32_t t = 0; t < count; t++) {
        float *state = w->states + (size_t)t * h->hidden;
        add_and_normalize(w->added + (size_t)t * h->hidden, state, layer.attention_norm, h, state);
    }
    quantize_rows(w->states, count, h->hidden, layer.inner.bits, w->bytes, w->scales);
    feed_forward(r, &layer, count);
}

/* The mean of some rows, or the first one, divided by its length. */
static void pool(const core_header *h, const float *rows, int32_t count, float *out) {
    int32_t used = h->output == CORE_MEAN ? count : 1;
    for (int32_t i = 0; i < h->hidden; i += CORE_LANES) {
        lanes sum = lanes_load(rows + i);
        for (int32_t t = 1; t < used; t++) sum = lanes_add(sum, lanes_load(rows + (size_t)t * h->hidden + i));
        lanes_store(out + i, lanes_div(sum, lanes_set((float)used)));
    }
    float length = sqrtf(dot(out, out, h->hidden));
    lanes divisor = lanes_set(length > 1e-12f ? length : 1e-12f);
    for (int32_t i = 0; i < h->hidden; i += CORE_LANES) lanes_store(out + i, lanes_div(lanes_load(out + i), divisor));
}

/* One number of a dense layer. */
static float activated(int32_t activation, float x) {
    float all[CORE_LANES];
    lanes_store(all, lanes_activate(activation, lanes_set(x)));
    return all[0];
}

/* Applies the head to the state of one item's first token. */
static void apply_head(const run *r, const float *state, float *out) {
    const core_header *h = r->h;
    float *room = r->work.projected; /* free by now, and wider than a head's inner layer */
    for (int32_t i = 0; i < h->head_layers; i++) {
        const core_dense *dense = &r->model->head[i];
        float *to = i + 1 == h->head_layers ? out : room;
        for (int32_t k = 0; k < dense->outputs; k++)
            to[k] = activated(dense->activation,
                              dot(state, dense->weight + (size_t)k * dense->inputs, dense->inputs) + dense->bias[k]);
        state = to;
    }
}

static void write_marks(const run *r, int32_t item, int32_t start) {
    const core_dense *mark = &r->model->mark;
    for (int32_t at = 0; at < r->batch->lengths[item]; at++) r->batch->marks[start + at] = 0.0f;
    for (int32_t row = r->work.first[item]; row < r->work.first[item + 1]; row++) {
        const float *state = r->work.states + (size_t)row * r->h->hidden;
        r->batch->marks[start + r->work.rows[row]] = dot(state, mark->weight, mark->inputs) + mark->bias[0];
    }
}

static void write_results(const run *r, int32_t columns) {
    const core_work *w = &r->work;
    for (int32_t item = 0, start = 0; item < r->batch->items; start += r->batch->lengths[item++]) {
        const float *rows = w->states + (size_t)w->first[item] * r->h->hidden;
        float *out = r->batch->results + (size_t)item * columns;
        if (r->h->output == CORE_LOGITS) apply_head(r, rows, out);
        else pool(r->h, rows, w->first[item + 1] - w->first[item], out);
        if (r->batch->marks) write_marks(r, item, start);
    }
}

/* Runs a checked batch. */
int CORE_RUN_NAME(const core_model *model, const core_batch *batch, int32_t tokens, int32_t columns, void *memory) {
    run r = {.model = model, .h = model->header, .batch = batch, .tokens = tokens};
    core_lay_out(r.h, tokens, batch->items, memory, &r.work);
    embed(&r);
    for (int32_t i = 0; i < r.h->layers; i++) {
        if (batch->stop && __atomic_load_n(batch->stop, __ATOMIC_RELAXED)) return CORE_STOPPED;
        compute_layer(&r, i);
    }
    write_results(&r, columns);
    return CORE_OK;
}
