/* For any machine. */
#include "kernels.h"

#include "lanes_scalar.h"

#include "arithmetic.h"
#include "attention.h"

#define CORE_RUN_NAME core_run_scalar
#include "encoder.h"
