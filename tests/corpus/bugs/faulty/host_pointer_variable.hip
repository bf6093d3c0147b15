// problem: copy
// finds: host-pointer
// why: the address of a host variable is passed, and there is no finding about the device variable next to it
#include <hip/hip_runtime.h>

static float factors[2];
__device__ float ones[2] = {1.0f, 1.0f};

__global__ void run(const float* input, const float* factor, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i] * ones[i % 2] * factor[i % 2];  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    factors[0] = factors[1] = 1.0f;
    run<<<(n + 255) / 256, 256>>>(input, factors, output, n);
}
