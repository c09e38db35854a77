#include "model.h"

#include <string.h>

/* Takes sections one behind the other. Sizes are products of checked header fields, so they cannot overflow. */
typedef struct {
    const uint8_t *file;
    size_t at;
} cursor;

static const void *take(cursor *c, size_t bytes) {
    const void *section = c->file + c->at;
    c->at += core_aligned(bytes);
    return section;
}

static const float *take_floats(cursor *c, size_t count) { return take(c, count * sizeof(float)); }

static core_matrix take_matrix(cursor *c, int32_t inputs, int32_t outputs, int32_t bits) {
    core_matrix m = {.inputs = inputs, .outputs = outputs, .bits = bits};
    m.weight = take(c, (size_t)inputs * outputs);
    m.scale = take_floats(c, outputs);
    m.bias = take_floats(c, outputs);
    m.offset = take(c, (size_t)outputs * sizeof(int32_t));
    return m;
}

static core_norm take_norm(cursor *c, int32_t width) {
    core_norm norm;
    norm.gamma = take_floats(c, width);
    norm.beta = take_floats(c, width);
    return norm;
}

static core_dense take_dense(cursor *c, int32_t inputs, int32_t outputs, int32_t activation) {
    core_dense dense = {.inputs = inputs, .outputs = outputs, .activation = activation};
    dense.weight = take_floats(c, (size_t)inputs * outputs);
    dense.bias = take_floats(c, outputs);
    return dense;
}

static const int16_t *take_distances(cursor *c, const core_header *h, const float **steps) {
    const int16_t *table = take(c, (size_t)2 * h->positions * h->hidden * sizeof(int16_t));
    *steps = take_floats(c, h->heads);
    return table;
}

static core_layer take_layer(cursor *c, const core_header *h) {
    core_layer layer = {.position_keys = NULL};
    layer.project = take_matrix(c, h->hidden, 3 * h->hidden, h->bits[0]);
    layer.output = take_matrix(c, h->hidden, h->hidden, h->bits[1]);
    layer.attention_norm = take_norm(c, h->hidden);
    layer.inner = take_matrix(c, h->hidden, h->inner, h->bits[2]);
    layer.outer = take_matrix(c, h->inner, h->hidden, h->bits[3]);
    layer.norm = take_norm(c, h->hidden);
    if (h->relations & CORE_CONTENT_TO_POSITION) layer.position_keys = take_distances(c, h, &layer.position_key_steps);
    if (h->relations & CORE_POSITION_TO_CONTENT)
        layer.position_queries = take_distances(c, h, &layer.position_query_steps);
    return layer;
}

static int is_within(int32_t value, int32_t low, int32_t high) { return value >= low && value <= high; }

static int has_good_head(const core_header *h) {
    if (h->output != CORE_LOGITS) return h->head_layers == 0 && !h->has_marks;
    if (!is_within(h->head_layers, 1, 2)) return 0;
    for (int32_t i = 0; i < h->head_layers; i++) {
        int is_last = i + 1 == h->head_layers;
        if (!is_within(h->head_width[i], 1, 4096) || (!is_last && (h->head_width[i] % CORE_LANES || h->head_width[i] > h->hidden)))
            return 0;
        if (!is_within(h->head_activation[i], CORE_IDENTITY, CORE_RELU)) return 0;
    }
    return 1;
}

static int has_good_bits(const core_header *h) {
    for (int i = 0; i < 4; i++)
        if (h->bits[i] != 8 && h->bits[i] != 15) return 0;
    return 1;
}

static int is_good(const core_header *h) {
    int is_bert = h->kind == CORE_BERT;
    return memcmp(h->magic, "PRECISCO", 8) == 0 && h->version == CORE_FILE_VERSION &&
           is_within(h->kind, CORE_BERT, CORE_DEBERTA) && has_good_bits(h) &&
           is_within(h->layers, 1, CORE_MAX_LAYERS) && is_within(h->hidden, CORE_COLUMNS, 2048) &&
           h->hidden % CORE_COLUMNS == 0 && is_within(h->heads, 1, h->hidden / CORE_LANES) &&
           h->hidden % h->heads == 0 && h->hidden / h->heads % CORE_LANES == 0 &&
           is_within(h->inner, CORE_COLUMNS, 8192) && h->inner % CORE_COLUMNS == 0 &&
           is_within(h->vocab, 1, 1 << 20) && is_within(h->positions, CORE_LANES, CORE_MAX_TOKENS) &&
           h->positions % CORE_LANES == 0 && (h->word_bytes == 1 || h->word_bytes == 4) &&
           is_within(h->word_zero, -128, 127) && is_within(h->relations, 0, is_bert ? 0 : 3) &&
           is_within(h->activation, CORE_GELU, CORE_RELU) && is_within(h->output, CORE_MEAN, CORE_LOGITS) &&
           is_within(h->has_marks, 0, 1) && h->epsilon >= 0 && has_good_head(h);
}

int core_map(const void *file, size_t size, core_model *model) {
    const core_header *h = file;
    cursor c = {.file = file, .at = core_aligned(sizeof *h)};
    if (!file || (uintptr_t)file % CORE_ALIGNMENT || size < c.at || !is_good(h)) return CORE_BAD_FILE;
    memset(model, 0, sizeof *model);
    model->header = h;
    model->words = take(&c, (size_t)h->vocab * h->hidden * h->word_bytes);
    if (h->kind == CORE_BERT) model->positions = take_floats(&c, (size_t)h->positions * h->hidden);
    model->norm = take_norm(&c, h->hidden);
    for (int32_t i = 0, inputs = h->hidden; i < h->head_layers; i++) {
        model->head[i] = take_dense(&c, inputs, h->head_width[i], h->head_activation[i]);
        inputs = h->head_width[i];
    }
    if (h->has_marks) model->mark = take_dense(&c, h->hidden, 1, CORE_IDENTITY);
    model->layers = c.file + c.at;
    size_t start = c.at;
    take_layer(&c, h);
    model->layer_bytes = c.at - start;
    return size == start + model->layer_bytes * h->layers ? CORE_OK : CORE_BAD_FILE;
}

core_layer core_layer_at(const core_model *model, int32_t index) {
    cursor c = {.file = model->layers, .at = model->layer_bytes * index};
    return take_layer(&c, model->header);
}

static void *lay(uint8_t *memory, size_t *at, size_t bytes) {
    void *array = memory ? memory + *at : NULL;
    *at += core_aligned(bytes);
    return array;
}

static float *lay_floats(uint8_t *memory, size_t *at, size_t count) { return lay(memory, at, count * sizeof(float)); }

static int16_t *lay_shorts(uint8_t *memory, size_t *at, size_t count) { return lay(memory, at, count * sizeof(int16_t)); }

size_t core_lay_out(const core_header *h, int32_t tokens, int32_t items, void *memory, core_work *work) {
    size_t at = 0, rows = (size_t)tokens, cells = rows * h->hidden;
    size_t head_size = h->hidden / h->heads, head = head_size * h->positions, inner_rows = rows < CORE_FEED_ROWS ? rows : CORE_FEED_ROWS;
    work->states = lay_floats(memory, &at, cells);
    work->projected = lay_floats(memory, &at, 3 * cells);
    work->context = lay_floats(memory, &at, cells);
    work->added = lay_floats(memory, &at, cells);
    work->scales = lay_floats(memory, &at, rows);
    work->bytes = lay(memory, &at, rows * core_row_bytes(h->hidden));
    work->inner = lay_floats(memory, &at, inner_rows * h->inner);
    work->inner_bytes = lay(memory, &at, inner_rows * core_row_bytes(h->inner));
    work->queries = lay_shorts(memory, &at, head + 2 * CORE_LANES);
    work->keys = lay_shorts(memory, &at, head + 2 * CORE_LANES);
    work->values = lay_shorts(memory, &at, head + 2 * CORE_LANES);
    work->key_blocks = lay_shorts(memory, &at, head);
    work->value_blocks = lay_shorts(memory, &at, head);
    work->relative = lay_floats(memory, &at, h->relations ? (size_t)h->positions * h->positions : 0);
    work->by_distance = lay_floats(memory, &at, (size_t)CORE_LANES * (h->positions + 48) + CORE_QUERIES * head_size);
    work->scores = lay_floats(memory, &at, (size_t)CORE_QUERIES * h->positions);
    work->weights = lay_shorts(memory, &at, (size_t)CORE_QUERIES * h->positions);
    work->rows = lay(memory, &at, rows * sizeof(int32_t));
    work->first = lay(memory, &at, ((size_t)items + 1) * sizeof(int32_t));
    return at;
}
