// problem: copy
// finds: bank-conflict
// why: rows of 128 bytes begin in the same bank
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ __attribute__((aligned(16))) float rows[256][32];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    for (int column = 0; column < 4; ++column) rows[threadIdx.x][column] = i < n ? input[i] : 0.0f;
    __syncthreads();
    const float4 four = *reinterpret_cast<const float4*>(rows[threadIdx.x]);  // <-- here
    if (i < n) output[i] = four.w;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
