// problem: copy
// finds: out-of-bounds
// why: a write through a pointer, past the end of a device variable
#include <hip/hip_runtime.h>

__device__ float first[512];
__device__ float second[512];

__device__ void put(float* where, size_t i, float value) {
    where[i] = value;  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    put(i < 512 ? first : second, i < 512 ? i : i - 480, input[i]);
    output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
