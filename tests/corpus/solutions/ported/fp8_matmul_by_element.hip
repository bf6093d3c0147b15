// problem: fp8-matmul
// verdict: CHECKED
// why: one thread per output, which decodes the codes with integer arithmetic
#include <hip/hip_runtime.h>

__device__ float decoded(unsigned code) {
    const int exponent = code >> 3 & 15, mantissa = code & 7;
    const float value = exponent ? ldexpf(8 + mantissa, exponent - 11) : ldexpf(mantissa, -10);
    return code & 0x80 ? -value : value;
}

__global__ void multiply(const unsigned char* a, const unsigned char* b, const float* a_scale, const float* b_scale, float* c,
                         int m, int n, int k) {
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    const int blocks = (k + 127) / 128;
    float sum = 0.0f;
    for (int block = 0; block < blocks; ++block) {
        float part = 0.0f;
        for (int i = block * 128; i < min(k, block * 128 + 128); ++i) {
            part += decoded(a[row * k + i]) * decoded(b[column * k + i]);
        }
        sum += part * a_scale[row * blocks + block] * b_scale[column / 128 * blocks + block];
    }
    c[row * n + column] = sum;
}

extern "C" void solution(const int* a, const int* b, const float* a_scale, const float* b_scale, float* c, size_t m, size_t n,
                         size_t words) {
    const dim3 blocks((n + 15) / 16, (m + 15) / 16);
    multiply<<<blocks, dim3(16, 16)>>>((const unsigned char*)a, (const unsigned char*)b, a_scale, b_scale, c, m, n, 4 * words);
}
