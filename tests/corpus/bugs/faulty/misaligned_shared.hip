// problem: copy
// finds: misaligned-access
// why: an int4 store into shared memory, 4 bytes off
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ alignas(16) int tile[264];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
    if (threadIdx.x == 5) *reinterpret_cast<int4*>(&tile[1]) = make_int4(0, 0, 0, 0);  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
