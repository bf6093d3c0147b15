// problem: copy
// finds: data-race
// why: the mirrored element is read before all threads have written
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ float tile[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    tile[255 - threadIdx.x] = i < n ? input[i] : 0.0f;  // <-- here
    if (i < n) output[i] = tile[255 - threadIdx.x];
    if (tile[threadIdx.x] == 12345.0f) output[0] = 0.0f;  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
