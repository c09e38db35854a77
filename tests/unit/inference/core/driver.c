/* Runs the core outside of Python: under sanitizers, and on other processors.
 *
 * driver run FILE BATCH LEVEL: writes results and marks of a batch to standard output.
 * driver fuzz FILE ROUNDS: damaged files and wrong batches, in memory that ends where the file does.
 * BATCH: items, lengths, ids, then a byte for each token; numbers of 32 bits.
 */
#define _POSIX_C_SOURCE 200809L
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t *data;
    size_t size;
} buffer;

/* Memory for exactly `size` bytes, so that a sanitizer sees the first byte behind them. */
static buffer make(size_t size) {
    void *memory = NULL;
    if (posix_memalign(&memory, CORE_ALIGNMENT, size ? size : 1)) abort();
    return (buffer){memory, size};
}

static buffer read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) abort();
    buffer b = make((size_t)ftell(file));
    rewind(file);
    if (fread(b.data, 1, b.size, file) != b.size) abort();
    fclose(file);
    return b;
}

static int run(buffer file, const core_batch *given, int32_t tokens, int level, int shortage) {
    buffer work = make(precis_core_workspace(file.data, file.size, tokens, given->items));
    int status = precis_core_run(file.data, file.size, level, given, work.data, work.size - (work.size ? shortage : 0));
    free(work.data);
    return status;
}

static int run_once(buffer file, buffer input, int level) {
    const int32_t *numbers = (const int32_t *)input.data;
    int32_t items = numbers[0], tokens = 0;
    for (int32_t i = 0; i < items; i++) tokens += numbers[1 + i];
    size_t columns = (size_t)precis_core_columns(file.data, file.size);
    buffer results = make(items * columns * 4), marks = make((size_t)tokens * 4);
    const core_header *h = (const core_header *)file.data;
    core_batch given = {items, numbers + 1, numbers + 1 + items, NULL, (float *)results.data, NULL, NULL};
    if (h->has_marks) given.marked = (const uint8_t *)(numbers + 1 + items + tokens), given.marks = (float *)marks.data;
    int status = run(file, &given, tokens, level, 0);
    if (status == CORE_OK) fwrite(results.data, 1, results.size, stdout);
    if (status == CORE_OK && h->has_marks) fwrite(marks.data, 1, marks.size, stdout);
    free(results.data), free(marks.data);
    return status;
}

static uint32_t next(void) {
    static uint32_t state = 2463534242u;
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state;
}

/* A copy of the file: cut, lengthened, or with some bytes changed; those of the header most often. */
static buffer damaged(buffer file) {
    size_t size = file.size;
    if (next() % 4 == 0) size = next() % 2 ? next() % (file.size + 1) : file.size + next() % 300;
    buffer copy = make(size);
    memset(copy.data, 0x55, size);
    memcpy(copy.data, file.data, size < file.size ? size : file.size);
    for (uint32_t changes = next() % 4; size && changes; changes--) {
        size_t at = next() % (next() % 2 && size > sizeof(core_header) ? sizeof(core_header) : size);
        copy.data[at] = next() % 3 ? (uint8_t)next() : copy.data[at] ^ (uint8_t)(1u << next() % 8);
    }
    return copy;
}

/* One run of a random batch, seldom a right one. */
static int fuzz_once(buffer file) {
    enum { ITEMS = 3, TOKENS = 60 };
    const core_header *h = (const core_header *)file.data;
    int is_good = precis_core_check(file.data, file.size) == CORE_OK;
    int32_t lengths[ITEMS], tokens = 0, items = 1 + (int32_t)(next() % ITEMS), wrong = next() % 4 == 0;
    for (int32_t i = 0; i < items; i++) lengths[i] = 1 + (int32_t)(next() % (TOKENS / ITEMS)), tokens += lengths[i];
    size_t columns = (size_t)precis_core_columns(file.data, file.size);
    buffer ids = make((size_t)tokens * 4), marked = make((size_t)tokens), marks = make((size_t)tokens * 4);
    buffer results = make(columns * (size_t)items * 4);
    for (int32_t t = 0; t < tokens; t++) {
        ((int32_t *)ids.data)[t] = (int32_t)(next() % 40);
        marked.data[t] = (uint8_t)next() % 2;
    }
    int has_marks = is_good && h->has_marks;
    core_batch given = {items, lengths, (int32_t *)ids.data, NULL, (float *)results.data, NULL, NULL};
    if (has_marks) given.marked = marked.data, given.marks = (float *)marks.data;
    if (wrong && next() % 2) ((int32_t *)ids.data)[next() % (uint32_t)tokens] = (int32_t)next();
    else if (wrong) lengths[next() % (uint32_t)items] = next() % 2 ? -(int32_t)(next() % 100) : 600;
    int status = run(file, &given, tokens, (int)(next() % 5) - 1, next() % 8 == 0);
    free(ids.data), free(marked.data), free(marks.data), free(results.data);
    return status;
}

int main(int count, char **words) {
    if (count < 4) return 64;
    buffer file = read_file(words[2]);
    if (strcmp(words[1], "run") == 0) {
        buffer input = read_file(words[3]);
        int status = run_once(file, input, count > 4 ? atoi(words[4]) : precis_core_level());
        free(input.data), free(file.data);
        return status;
    }
    int seen[8] = {0};
    for (int round = atoi(words[3]); round; round--) {
        buffer copy = damaged(file);
        seen[fuzz_once(copy)]++;
        free(copy.data);
    }
    for (int i = 0; i < 8; i++) printf("%d ", seen[i]);
    free(file.data);
    return 0;
}
