/* The public functions: they check everything that comes from outside, and choose the instruction set. */
#include "core.h"

#include "model.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

typedef int run_function(const core_model *, const core_batch *, int32_t tokens, int32_t columns, void *memory);

run_function core_run_scalar, core_run_avx2, core_run_avx512, core_run_neon;

int precis_core_level(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return CORE_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return CORE_AVX2;
#elif defined(__aarch64__)
    return CORE_NEON;
#endif
    return CORE_SCALAR;
}

/* The encoder for a level, or NULL if this machine lacks it. */
static run_function *function_of(int level) {
    int best = precis_core_level();
    if (level == CORE_SCALAR) return core_run_scalar;
#if defined(__x86_64__)
    if (level == CORE_AVX2 && best >= CORE_AVX2) return core_run_avx2;
    if (level == CORE_AVX512 && best == CORE_AVX512) return core_run_avx512;
#elif defined(__aarch64__)
    if (level == CORE_NEON && best == CORE_NEON) return core_run_neon;
#endif
    return NULL;
}

int precis_core_check(const void *file, size_t size) {
    core_model model;
    return core_map(file, size, &model);
}

static int32_t columns_of(const core_header *h) {
    return h->output == CORE_LOGITS ? h->head_width[h->head_layers - 1] : h->hidden;
}

int32_t precis_core_columns(const void *file, size_t size) {
    core_model model;
    return core_map(file, size, &model) == CORE_OK ? columns_of(model.header) : 0;
}

size_t precis_core_workspace(const void *file, size_t size, int32_t tokens, int32_t items) {
    core_model model;
    core_work work;
    int is_good = core_map(file, size, &model) == CORE_OK && tokens > 0 && items > 0 && items <= tokens;
    return is_good ? core_lay_out(model.header, tokens, items, NULL, &work) : 0;
}

/* Adds up the tokens of a batch whose lengths and ids are all in range. */
static int count_tokens(const core_header *h, const core_batch *batch, int32_t *tokens) {
    int64_t count = 0;
    if (!batch || batch->items < 1 || !batch->lengths || !batch->ids || !batch->results) return CORE_BAD_BATCH;
    if (!h->has_marks != !batch->marks) return CORE_BAD_BATCH;
    for (int32_t i = 0; i < batch->items; i++) {
        if (batch->lengths[i] < 1 || batch->lengths[i] > h->positions) return CORE_BAD_BATCH;
        count += batch->lengths[i];
    }
    if (count > 1 << 20) return CORE_BAD_BATCH;
    for (int64_t t = 0; t < count; t++)
        if (batch->ids[t] < 0 || batch->ids[t] >= h->vocab) return CORE_BAD_TOKEN;
    *tokens = (int32_t)count;
    return CORE_OK;
}

/* Runs with the rounding of the specification: to nearest, and tiny numbers kept, whatever the host has set. */
static int run_rounding(run_function *function, const core_model *model, const core_batch *batch, int32_t tokens,
                        void *memory) {
    int32_t columns = columns_of(model->header);
#if defined(__x86_64__)
    unsigned int before = _mm_getcsr();
    _mm_setcsr(0x1f80);
    int status = function(model, batch, tokens, columns, memory);
    _mm_setcsr(before);
    return status;
#elif defined(__aarch64__)
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    int status = function(model, batch, tokens, columns, memory);
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
    return status;
#else
    return function(model, batch, tokens, columns, memory);
#endif
}

int precis_core_run(const void *file, size_t size, int level, const core_batch *batch, void *workspace,
                    size_t workspace_size) {
    core_model model;
    core_work work;
    int32_t tokens = 0;
    int status = core_map(file, size, &model);
    if (status != CORE_OK) return status;
    if ((status = count_tokens(model.header, batch, &tokens)) != CORE_OK) return status;
    if (!workspace || (uintptr_t)workspace % CORE_ALIGNMENT ||
        workspace_size < core_lay_out(model.header, tokens, batch->items, NULL, &work))
        return CORE_NO_ROOM;
    run_function *function = function_of(level);
    return function ? run_rounding(function, &model, batch, tokens, workspace) : CORE_NO_LEVEL;
}
