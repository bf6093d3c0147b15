// problem: copy
// why: the device can access managed, pinned and registered memory
#include <hip/hip_runtime.h>

#include <cstdlib>

__global__ void run(const float* input, const float* a, const float* b, const float* c, float* output, size_t n) {
    const size_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) output[i] = input[i] * a[0] * b[0] * c[0];
}

extern "C" void solution(const float* input, float* output, size_t n) {
    float *managed, *pinned;
    float* registered = static_cast<float*>(malloc(sizeof(float)));
    hipMallocManaged(&managed, sizeof(float));
    hipHostMalloc(&pinned, sizeof(float));
    hipHostRegister(registered, sizeof(float), 0);
    *managed = *pinned = *registered = 1.0f;
    run<<<(n + 255) / 256, 256>>>(input, managed, pinned, registered, output, n);
    hipDeviceSynchronize();
    hipHostUnregister(registered);
    free(registered);
    hipFree(managed);
    hipHostFree(pinned);
}
