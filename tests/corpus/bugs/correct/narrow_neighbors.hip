// problem: copy
// why: adjacent threads write different bytes and halves of one word, which is not a race
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ unsigned char flags[256];
    __shared__ __half halves[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    flags[threadIdx.x] = i < n;
    halves[threadIdx.x] = __float2half(1.0f);
    __syncthreads();
    const int mirrored = 255 - threadIdx.x;
    if (i < n && flags[mirrored] <= 1) output[i] = input[i] * __half2float(halves[mirrored]);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
