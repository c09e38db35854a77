/* For x86 with AVX-512 VNNI. Empty elsewhere. */
#if defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")
#endif
#include "kernels.h"

#include "lanes_avx512.h"

#include "arithmetic.h"
#include "attention.h"

#define CORE_RUN_NAME core_run_avx512
#include "encoder.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
