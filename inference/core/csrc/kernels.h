/* The whole encoder for one instruction set. The including file names its lanes and its function. */
#include "model.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline, unused))

/* Adding 1.5 * 2^23 rounds a number of less than 2^22 to the nearest integer, ties to even: its lowest bits hold it. */
#define SHIFT 12582912.0f
#define SHIFT_BITS 0x4b400000
