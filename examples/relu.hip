// ReLU with a grid-stride loop: the grid is large enough to keep the GPU busy, not as large as the
// input, and each thread advances by the width of the grid. Any size works with any number of blocks.
#include <hip/hip_runtime.h>

__global__ void relu(const float* __restrict__ input, float* __restrict__ output, size_t count) {
    const size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
        output[i] = fmaxf(input[i], 0.0f);
    }
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    const size_t count = n * m;
    const size_t threads = 256;
    const size_t wanted = (count + threads - 1) / threads;
    const size_t most = 304 * 8;  // eight blocks per compute unit of an MI300X
    relu<<<wanted < most ? wanted : most, threads>>>(input, output, count);
}
