// problem: copy
// finds: data-race
// why: a shift in place: another thread may have overwritten the next element
#include <hip/hip_runtime.h>

__device__ float right_of(const float* values, size_t at, size_t n) {
    return at + 1 < n ? values[at + 1] : 0.0f;  // <-- here
}

__global__ void shift(float* values, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) values[i] = right_of(values, i, n);  // <-- here
}

__global__ void copy(const float* input, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float* scratch;
    hipMalloc(&scratch, n * sizeof(float));
    copy<<<(n + 255) / 256, 256>>>(input, scratch, n);
    shift<<<(n + 255) / 256, 256>>>(scratch, n);
    copy<<<(n + 255) / 256, 256>>>(input, output, n);
    hipFree(scratch);
}
