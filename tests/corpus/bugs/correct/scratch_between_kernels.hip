// problem: copy
// why: kernels of one stream see the writes of earlier kernels
#include <hip/hip_runtime.h>

__global__ void reverse(const float* from, float* to, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) to[i] = from[n - 1 - i];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float* scratch;
    hipStream_t stream;
    hipStreamCreate(&stream);
    hipMallocAsync(&scratch, n * sizeof(float), stream);
    reverse<<<(n + 255) / 256, 256, 0, stream>>>(input, scratch, n);
    reverse<<<(n + 255) / 256, 256, 0, stream>>>(scratch, output, n);
    hipFreeAsync(scratch, stream);
    hipStreamSynchronize(stream);
    hipStreamDestroy(stream);
}
