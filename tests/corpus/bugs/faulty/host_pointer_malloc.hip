// problem: copy
// finds: host-pointer
// why: the device cannot access memory from malloc
#include <hip/hip_runtime.h>

#include <cstdlib>

__global__ void run(const float* input, const float* scale, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i] * scale[0];  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float* scale = static_cast<float*>(malloc(sizeof(float)));
    *scale = 1.0f;
    run<<<(n + 255) / 256, 256>>>(input, scale, output, n);
    free(scale);
}
