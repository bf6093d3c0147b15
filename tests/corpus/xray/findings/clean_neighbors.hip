// Waits for the lanes of a wave of a block with a barrier.
#include <hip/hip_runtime.h>

__global__ void neighbors(const float* in, float* out, int n) {
    __shared__ float tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = tile[threadIdx.x ^ 1];
}

extern "C" void solution(const float* in, float* out, size_t n) {
    neighbors<<<(n + 63) / 64, 64>>>(in, out, n);
}
