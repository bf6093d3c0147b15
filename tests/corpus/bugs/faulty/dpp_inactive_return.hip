// problem: copy
// finds: dpp-inactive-lane
// why: the first lane of each wave has returned when the second one reads it
#include <hip/hip_runtime.h>

__device__ int from_left(int value) {
    return __builtin_amdgcn_mov_dpp(value, 0x138, 0xf, 0xf, true);  // <-- here
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const float next = i + 1 < n ? input[i + 1] : 0.0f;
    if (threadIdx.x % 64 == 0) {
        if (i < n) output[i] = input[i];
        return;
    }
    const float mine = __int_as_float(from_left(__float_as_int(next)));
    if (i < n) output[i] = mine;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
