// problem: copy
// finds: host-pointer
// why: the data of a std::vector is read through a helper template
#include <hip/hip_runtime.h>

#include <vector>

template <class T>
__device__ T weight(const T* table, size_t at) {
    return table[at % 4];  // <-- here
}

template <class T>
__global__ void run(const T* input, const T* table, T* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i] * weight(table, i);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    std::vector<float> table(4, 1.0f);
    run<<<(n + 255) / 256, 256>>>(input, table.data(), output, n);
}
