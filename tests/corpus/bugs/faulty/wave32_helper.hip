// problem: sums
// finds: wave-of-32
// why: a butterfly over 32 lanes, in a helper template
#include <hip/hip_runtime.h>

template <class T>
__device__ T wave_sum(T value) {
    for (int mask = 16; mask > 0; mask >>= 1) value += __shfl_xor(value, mask);  // <-- here
    return value;
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float sums[4];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const float value = wave_sum(i < n ? input[i] : 0.0f);
    if (threadIdx.x % 64 == 0) sums[threadIdx.x / 64] = value;
    __syncthreads();
    if (threadIdx.x == 0) output[blockIdx.x] = sums[0] + sums[1] + sums[2] + sums[3];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
