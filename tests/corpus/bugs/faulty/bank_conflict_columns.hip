// problem: copy
// finds: bank-conflict
// why: lanes write 16 bytes each, 512 bytes apart
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ alignas(16) float columns[64][128];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const int row = threadIdx.x % 64, column = threadIdx.x / 64 * 4;
    const float value = i < n ? input[i] : 0.0f;
    *reinterpret_cast<float4*>(&columns[row][column]) = make_float4(value, value, value, value);  // <-- here
    __syncthreads();
    if (i < n) output[i] = columns[row][column + 2];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
