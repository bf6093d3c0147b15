// problem: sums
// finds: data-race
// why: structs are passed by value, and the barrier between writing and reading them is missing
#include <hip/hip_runtime.h>

struct Sum {
    float value;
    int count;
};

__device__ Sum add(Sum a, Sum b) {
    return {a.value + b.value, a.count + b.count};
}

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ Sum sums[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    sums[threadIdx.x] = Sum{i < n ? input[i] : 0.0f, 1};  // <-- here
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] = add(sums[threadIdx.x], sums[threadIdx.x + half]);  // <-- here
        __syncthreads();
    }
    if (threadIdx.x == 0) output[blockIdx.x] = sums[0].value;
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
