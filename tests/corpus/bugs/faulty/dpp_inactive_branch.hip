// problem: copy
// finds: dpp-inactive-lane
// why: odd lanes read even lanes, which are not in the branch
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const float value = i < n ? input[i] : 0.0f;
    if (threadIdx.x % 2 == 1) {
        const float left = __int_as_float(__builtin_amdgcn_update_dpp(0, __float_as_int(value), 0xb1, 0xf, 0xf, true));  // <-- here
        if (i - 1 < n) output[i - 1] = left;
        if (i < n) output[i] = value;
    }
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
