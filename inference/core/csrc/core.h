/* A compiled transformer encoder: BERT and DeBERTa with integer weight products.
 *
 * No state, no allocation, no thread: a run reads a packed file, which must lie at an address divisible by 64, and
 * writes only to its workspace and its results. ../ARITHMETIC.md specifies every rounding.
 */
#ifndef PRECIS_CORE_H
#define PRECIS_CORE_H

#include <stddef.h>
#include <stdint.h>

#define CORE_API __attribute__((visibility("default")))

enum { CORE_FILE_VERSION = 3, CORE_ALIGNMENT = 64, CORE_MAX_TOKENS = 512 };

enum core_kind { CORE_BERT = 0, CORE_DEBERTA = 1 };
enum core_activation { CORE_IDENTITY = 0, CORE_GELU = 1, CORE_RELU = 2 };
enum core_output { CORE_MEAN = 0, CORE_FIRST = 1, CORE_LOGITS = 2 }; /* pooled and normalized twice; a head */
enum core_relation { CORE_CONTENT_TO_POSITION = 1, CORE_POSITION_TO_CONTENT = 2 };

/* The instruction sets, slowest first. All give the same bits. */
enum core_level { CORE_SCALAR = 0, CORE_AVX2 = 1, CORE_NEON = 2, CORE_AVX512 = 3 };

enum core_status {
    CORE_OK = 0,
    CORE_BAD_FILE = 1,      /* not a packed file of this version, or not whole */
    CORE_BAD_BATCH = 2,     /* a length out of range, or no item */
    CORE_BAD_TOKEN = 3,     /* a token id that the file has no row for */
    CORE_NO_ROOM = 4,       /* the workspace is too small */
    CORE_STOPPED = 5,       /* `stop` was set */
    CORE_NO_LEVEL = 6,      /* this machine lacks the instruction set */
};

/* The first 128 bytes of a packed file; little endian. Sections follow in the order of `core_map` (model.c). */
typedef struct {
    char magic[8]; /* "PRECISCO" */
    int32_t version, kind, layers, hidden, heads, inner, vocab;
    int32_t positions;      /* longest input, rounded up to a multiple of 16 */
    int32_t word_bytes;     /* of one number in the word embeddings: 4 (float) or 1 (signed byte) */
    int32_t word_zero;      /* byte b stands for (b - word_zero) * word_scale */
    int32_t relations;      /* DeBERTa: sum of core_relation */
    int32_t activation;     /* of the feed-forward layers */
    int32_t output;         /* core_output */
    int32_t head_layers;    /* 0 to 2 */
    int32_t head_width[2];  /* outputs of each */
    int32_t head_activation[2];
    int32_t has_marks;      /* a number for each marked token */
    int32_t bits[4];        /* of the rows that go into each product of a layer: project, output, inner, outer */
    float word_scale, epsilon;
    int32_t reserved[5];
} core_header;

/* One forward pass. Items lie one behind the other, without padding. */
typedef struct {
    int32_t items;
    const int32_t *lengths; /* tokens of each item, 1 to `positions` */
    const int32_t *ids;     /* of all tokens */
    const uint8_t *marked;  /* of all tokens: whether its mark is wanted; NULL without marks */
    float *results;         /* items x columns */
    float *marks;           /* of all tokens; 0 where none is wanted; NULL without marks */
    const int32_t *stop;    /* not 0 ends the run between two layers; may be written by another thread */
} core_batch;

/* The fastest level of this machine. */
CORE_API int precis_core_level(void);

/* Checks header and size. A file that passes is never read outside of its `size` bytes. */
CORE_API int precis_core_check(const void *file, size_t size);

/* Bytes that a run with so many tokens needs; 0 for a bad file. */
CORE_API size_t precis_core_workspace(const void *file, size_t size, int32_t tokens, int32_t items);

/* Columns of a result; 0 for a bad file. */
CORE_API int32_t precis_core_columns(const void *file, size_t size);

/* Runs a batch on one level; the workspace is aligned like the file. */
CORE_API int precis_core_run(const void *file, size_t size, int level, const core_batch *batch, void *workspace,
                             size_t workspace_size);

#endif
