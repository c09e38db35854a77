/* For 64-bit ARM. Empty elsewhere. */
#if defined(__aarch64__)
#include "kernels.h"

#include "lanes_neon.h"

#include "arithmetic.h"
#include "attention.h"

#define CORE_RUN_NAME core_run_neon
#include "encoder.h"
#endif
