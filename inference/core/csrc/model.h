/* Where the sections of a packed file lie, and where the arrays of a run do. */
#ifndef PRECIS_MODEL_H
#define PRECIS_MODEL_H

#include "core.h"

enum {
    CORE_LANES = 16,        /* floats that are computed side by side, whatever the instruction set */
    CORE_COLUMNS = 64,      /* of a weight matrix that lie together */
    CORE_MAX_LAYERS = 48,
    CORE_FEED_ROWS = 96,    /* rows of the feed-forward layer that are computed at a time: they stay in the cache */
    CORE_QUERIES = 4,       /* rows of attention that are computed at a time */
};

/* out = row * weight + bias. Weights: [outputs / 64][inputs / 4][64][4]. */
typedef struct {
    int32_t inputs, outputs, bits; /* bits of a row: 8 or 15 */
    const int8_t *weight;
    const float *scale, *bias; /* of each output */
    const int32_t *offset;     /* 128 * the sum of each output's weights */
} core_matrix;

typedef struct {
    const float *gamma, *beta;
} core_norm;

typedef struct {
    core_matrix project, output, inner, outer; /* project: queries, keys and values side by side */
    core_norm attention_norm, norm;
    const int16_t *position_keys, *position_queries; /* [heads][distances / 16][head size / 2][16][2], or NULL */
    const float *position_key_steps, *position_query_steps; /* of each head */
} core_layer;

typedef struct {
    int32_t inputs, outputs, activation;
    const float *weight, *bias; /* [outputs][inputs] */
} core_dense;

typedef struct {
    const core_header *header;
    const void *words;      /* [vocab][hidden] */
    const float *positions; /* [positions][hidden], BERT only */
    core_norm norm;
    core_dense head[2];
    core_dense mark;
    const uint8_t *layers; /* the first one; all are alike */
    size_t layer_bytes;
} core_model;

/* Arrays of one run. Every one begins at a multiple of 64 bytes. */
typedef struct {
    float *states;    /* [tokens][hidden] */
    float *projected; /* [tokens][3 hidden] */
    float *context;   /* [tokens][hidden] */
    float *added;     /* [tokens][hidden] */
    float *scales;    /* [tokens] */
    uint8_t *bytes;   /* [tokens][row_bytes(hidden)] */
    float *inner;     /* [CORE_FEED_ROWS][inner] */
    uint8_t *inner_bytes;
    int16_t *queries, *keys, *values; /* [positions][head size] and 32 more: of one head */
    int16_t *key_blocks;   /* [positions / 16][head size / 2][16][2] */
    int16_t *value_blocks; /* [head size / 16][positions / 2][16][2] */
    float *relative;    /* [positions][positions]: of one head, products of keys with relative queries */
    float *by_distance; /* [16][positions + 48]: products before they are read along their diagonals */
    float *scores;      /* [CORE_QUERIES][positions] */
    int16_t *weights;   /* [CORE_QUERIES][positions] */
    int32_t *rows;  /* [tokens]: tokens whose last state is read */
    int32_t *first; /* [items + 1]: first of these rows of each item */
} core_work;

/* Fills `model`. CORE_BAD_FILE unless header and size agree. */
int core_map(const void *file, size_t size, core_model *model);

/* Finds a layer in the file. */
core_layer core_layer_at(const core_model *model, int32_t index);

/* Lays the arrays of a run into `memory`, which may be NULL, and returns their size. */
size_t core_lay_out(const core_header *header, int32_t tokens, int32_t items, void *memory, core_work *work);

/* Bytes of a quantized row on any level. */
static inline size_t core_row_bytes(int32_t inputs) { return (size_t)inputs * 2; }

static inline size_t core_aligned(size_t bytes) {
    return (bytes + CORE_ALIGNMENT - 1) & ~(size_t)(CORE_ALIGNMENT - 1);
}

#endif
