// Literals without the suffix f.
#include <hip/hip_runtime.h>

__global__ void gelu(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const float v = x[i];
        const float inner = 0.7978845608 * (v + 0.044715 * v * v * v);  // finds double-math
        y[i] = 0.5f * v * (1.0f + tanhf(inner));
    }
}
