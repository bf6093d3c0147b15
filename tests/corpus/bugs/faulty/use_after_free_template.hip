// problem: copy
// finds: use-after-free
// why: a pointer in a struct outlives its buffer, and the last block dereferences it
#include <hip/hip_runtime.h>

template <class T>
struct View {
    T* data;
    __device__ T at(size_t i) const {
        return data[i];  // <-- here
    }
};

template <class T>
__global__ void run(View<T> old, const T* input, T* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    output[i] = input[i];
    if (blockIdx.x + 1 == gridDim.x && old.at(i) == T(12345)) output[i] = T(0);
}

extern "C" void solution(const float* input, float* output, size_t n) {
    View<float> old;
    hipMalloc(&old.data, n * sizeof(float));
    hipFree(old.data);
    run<float><<<(n + 255) / 256, 256>>>(old, input, output, n);
}
