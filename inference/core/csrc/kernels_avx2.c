/* For x86 since about 2013. Empty elsewhere. */
#if defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#include "kernels.h"

#include "lanes_avx2.h"

#include "arithmetic.h"
#include "attention.h"

#define CORE_RUN_NAME core_run_avx2
#include "encoder.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
