// problem: copy
// why: waves take different branches and meet at one barrier
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const float value = i < n ? input[i] : 0.0f;
    if (threadIdx.x / 64 % 2 == 0) {
        tile[threadIdx.x] = __shfl_xor(__shfl_xor(value, 1), 1);
    } else {
        tile[threadIdx.x] = __shfl(value, threadIdx.x % 64);
    }
    __syncthreads();
    if (i < n) output[i] = tile[threadIdx.x];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
