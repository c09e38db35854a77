/* What is computed of floats, on lanes. Included once for each instruction set, after its lanes. */

/* The sum of a row's squares or products goes over 16 lanes: number i into lane i modulo 16. */

/* e to the power of x, for x of at most 88. Below -87 it is that of -87. */
INLINE lanes lanes_exp(lanes x) {
    x = lanes_max(x, lanes_set(-87.0f));
    lanes shifted = lanes_fma(x, lanes_set(1.442695041f), lanes_set(SHIFT)); /* the fraction is rounded away */
    lanes n = lanes_sub(shifted, lanes_set(SHIFT));
    lanes r = lanes_fma(n, lanes_set(-0.693359375f), x); /* ln 2 in two parts */
    r = lanes_fma(n, lanes_set(0.00021219444f), r);
    lanes sum = lanes_set(0.0013926184f);
    sum = lanes_fma(sum, r, lanes_set(0.008363179f));
    sum = lanes_fma(sum, r, lanes_set(0.041666556f));
    sum = lanes_fma(sum, r, lanes_set(0.16666576f));
    sum = lanes_fma(sum, r, lanes_set(0.5f));
    sum = lanes_fma(sum, r, lanes_set(1.0f));
    sum = lanes_fma(sum, r, lanes_set(1.0f));
    return lanes_mul(sum, lanes_power(shifted));
}

/* erf(|z|) / |z| for u = z * z * 2 / 3.6^2 - 1 in [-1, 1], by powers of u. */
static const float ERF_POWERS[] = {
    0x1.92231ep-2f, -0x1.905ba2p-3f, 0x1.268762p-3f, -0x1.d27832p-4f, 0x1.6fc966p-4f, -0x1.13b712p-4f, 0x1.8c36c4p-5f,
    -0x1.1e9776p-5f, 0x1.5a386ep-6f, -0x1.f2ce84p-8f, 0x1.30d08ap-8f, -0x1.8a8accp-8f, 0x1.567be2p-9f,
};

INLINE lanes lanes_gelu(lanes x) {
    lanes z = lanes_min(lanes_mul(lanes_abs(x), lanes_set(0x1.6a09e6p-1f)), lanes_set(3.6f));
    lanes u = lanes_fma(lanes_mul(z, z), lanes_set(0x1.3c0ca4p-3f), lanes_set(-1.0f));
    lanes sum = lanes_set(ERF_POWERS[12]);
#pragma GCC unroll 12
    for (int i = 11; i >= 0; i--) sum = lanes_fma(sum, u, lanes_set(ERF_POWERS[i]));
    lanes erf = lanes_sign_of(lanes_min(lanes_mul(sum, z), lanes_set(1.0f)), x);
    lanes half = lanes_mul(x, lanes_set(0.5f));
    return lanes_fma(half, erf, half);
}

INLINE lanes lanes_activate(int32_t activation, lanes x) {
    if (activation == CORE_GELU) return lanes_gelu(x);
    return activation == CORE_RELU ? lanes_max(x, lanes_set(0.0f)) : x;
}

/* out = (x + y) normalized to mean 0 and variance 1, times gamma, plus beta. `y` may be NULL, `out` may be `x`. */
static void add_and_normalize(const float *x, const float *y, core_norm norm, const core_header *h, float *out) {
    int width = h->hidden;
    lanes sum = lanes_set(0.0f), squares = lanes_set(0.0f);
    for (int i = 0; i < width; i += CORE_LANES) {
        lanes value = y ? lanes_add(lanes_load(x + i), lanes_load(y + i)) : lanes_load(x + i);
        lanes_store(out + i, value);
        sum = lanes_add(sum, value);
    }
    lanes mean = lanes_set(lanes_sum(sum) / (float)width);
    for (int i = 0; i < width; i += CORE_LANES) {
        lanes centered = lanes_sub(lanes_load(out + i), mean);
        lanes_store(out + i, centered);
        squares = lanes_fma(centered, centered, squares);
    }
    lanes scale = lanes_set(1.0f / sqrtf(lanes_sum(squares) / (float)width + h->epsilon));
    for (int i = 0; i < width; i += CORE_LANES) {
        lanes scaled = lanes_mul(lanes_load(out + i), scale);
        lanes_store(out + i, lanes_fma(scaled, lanes_load(norm.gamma + i), lanes_load(norm.beta + i)));
    }
}

/* What one of at most `limit` steps stands for. */
INLINE float step_of(float largest, int32_t limit) {
    float step = largest * (1.0f / (float)limit);
    return step > 1e-30f ? step : 1e-30f; /* zeros have no scale */
}

/* Writes a row as integers of at most 127 (8 bits) or 16,256 (15 bits) and returns what one of them stands for. */
static float quantize(const float *x, int width, int bits, uint8_t *row) {
    lanes largest = lanes_set(0.0f);
    for (int i = 0; i < width; i += CORE_LANES) largest = lanes_max(largest, lanes_abs(lanes_load(x + i)));
    float step = step_of(lanes_largest(largest), bits == 8 ? 127 : 16256);
    lanes inverse = lanes_set(1.0f / step), shift = lanes_set(SHIFT);
    for (int i = 0; i < width; i += CORE_LANES)
        row_store(row, bits, width, i, lanes_fma(lanes_load(x + i), inverse, shift));
    return step;
}

static void quantize_rows(const float *x, int32_t count, int width, int bits, uint8_t *rows, float *steps) {
    size_t stride = row_stride(bits, width);
    for (int32_t t = 0; t < count; t++) steps[t] = quantize(x + (size_t)t * width, width, bits, rows + t * stride);
}

/* The dot product of two rows. */
static float dot(const float *x, const float *y, int width) {
    lanes sum = lanes_set(0.0f);
    for (int i = 0; i < width; i += CORE_LANES) sum = lanes_fma(lanes_load(x + i), lanes_load(y + i), sum);
    return lanes_sum(sum);
}
