// A private array that is indexed by constants after unrolling, so that it stays in registers.
#include <hip/hip_runtime.h>

__global__ void horner(const float* x, float* y) {
    float coefficients[8];
    for (int i = 0; i < 8; ++i) {
        coefficients[i] = x[i];
    }
    const float at = y[threadIdx.x];
    float sum = 0.0f;
    for (int i = 7; i >= 0; --i) {
        sum = sum * at + coefficients[i];
    }
    y[threadIdx.x] = sum;
}
