// problem: copy
// finds: bank-conflict
// why: a stride of 64 bytes uses a quarter of the banks
#include <hip/hip_runtime.h>

__device__ float4 read_row(const float* tile, int row) {
    return reinterpret_cast<const float4*>(tile)[row * 4];  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    extern __shared__ __attribute__((aligned(16))) float tile[];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    for (int column = 0; column < 4; ++column) tile[threadIdx.x * 16 + column] = i < n ? input[i] : 0.0f;
    __syncthreads();
    const float4 four = read_row(tile, threadIdx.x);
    if (i < n) output[i] = four.x;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256, 256 * 16 * sizeof(float)>>>(input, output, n);
}
