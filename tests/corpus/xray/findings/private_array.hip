// A private array that is indexed by data.
#include <hip/hip_runtime.h>

__global__ void lookup(const float* x, const int* which, float* y) {
    float table[200];
    for (int i = 0; i < 200; ++i) {
        table[i] = x[threadIdx.x * 200 + i] * 2.0f;
    }
    float sum = 0.0f;
    for (int i = 0; i < 100; ++i) {
        sum += table[which[i * 64 + threadIdx.x]];  // finds private-array
    }
    y[threadIdx.x] = sum;
}
