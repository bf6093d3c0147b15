// Waits for the lanes of a wave with a function that ROCm 6.4 does not have.
#include <hip/hip_runtime.h>

__global__ void neighbors(const float* in, float* out, int n) {
    __shared__ float tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncwarp();  // finds needs-rocm-7
    if (i < n) out[i] = tile[threadIdx.x ^ 1];
}

extern "C" void solution(const float* in, float* out, size_t n) {
    neighbors<<<(n + 63) / 64, 64>>>(in, out, n);
}
