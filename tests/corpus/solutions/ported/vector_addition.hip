// problem: vector-addition
// verdict: CHECKED
// why: the first kernel of most courses: 1D grid, 256 threads, int index, synchronize at the end
#include <hip/hip_runtime.h>
#include <stdio.h>

#define CHECK(call)                                                                    \
    do {                                                                               \
        hipError_t err = call;                                                         \
        if (err != hipSuccess) {                                                       \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, hipGetErrorString(err)); \
            return;                                                                    \
        }                                                                              \
    } while (0)

__global__ void vecAdd(const float* A, const float* B, float* C, int N) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < N) {
        C[idx] = A[idx] + B[idx];
    }
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
    int threadsPerBlock = 256;
    int blocksPerGrid = (n + threadsPerBlock - 1) / threadsPerBlock;
    vecAdd<<<blocksPerGrid, threadsPerBlock>>>(d_input1, d_input2, d_output, n);
    CHECK(hipGetLastError());
    CHECK(hipDeviceSynchronize());
}
