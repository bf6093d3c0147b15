// problem: copy
// why: a struct is copied including its padding
#include <hip/hip_runtime.h>

struct Item {
    char tag;
    float value;
    double weight;
};

__global__ void run(const float* input, float* output, size_t n) {
    __shared__ Item items[256];
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    items[threadIdx.x].tag = 1;
    items[threadIdx.x].value = i < n ? input[i] : 0.0f;
    items[threadIdx.x].weight = 1.0;
    __syncthreads();
    const Item mine = items[threadIdx.x];
    if (i < n && mine.tag == 1) output[i] = mine.value * float(mine.weight);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
