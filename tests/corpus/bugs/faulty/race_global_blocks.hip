// problem: copy
// finds: data-race
// why: every block writes its index to the same word
#include <hip/hip_runtime.h>

__global__ void run(const float* input, float* output, float* last, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
    if (threadIdx.x == 0) last[0] = float(blockIdx.x);  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float* last;
    hipMalloc(&last, sizeof(float));
    run<<<(n + 255) / 256, 256>>>(input, output, last, n);
    hipFree(last);
}
