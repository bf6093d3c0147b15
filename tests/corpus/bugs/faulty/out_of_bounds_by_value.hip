// problem: copy
// finds: out-of-bounds
// why: the last pair has only one element, and the whole pair is passed by value
#include <hip/hip_runtime.h>

struct Pair {
    float first;
    float second;
};

__device__ float pick(Pair pair, bool second) {
    return second ? pair.second : pair.first;
}

__global__ void run(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    const Pair* pairs = reinterpret_cast<const Pair*>(input);
    if (i < n) output[i] = pick(pairs[i / 2], i % 2);  // <-- here
}

extern "C" void solution(const float* input, float* output, size_t n) {
    run<<<(n + 255) / 256, 256>>>(input, output, n);
}
