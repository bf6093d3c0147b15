// Kernels with increasing register use, with and without launch bounds.
#include <hip/hip_runtime.h>

template <int N>
__device__ void mix(float* values) {
    float held[N];
    for (int i = 0; i < N; ++i) {
        held[i] = values[threadIdx.x + i * 1024];
    }
    for (int round = 0; round < 100; ++round) {
        __syncthreads();
        for (int i = 0; i < N; ++i) {
            held[i] = held[i] * held[(i * 7 + 1) % N] + values[round];
        }
    }
    for (int i = 0; i < N; ++i) {
        values[threadIdx.x + i * 1024] = held[i];
    }
}

template <int N>
__global__ void free_choice(float* values) {
    mix<N>(values);
}
template <int N>
__global__ __launch_bounds__(256) void blocks_of_256(float* values) {
    mix<N>(values);
}
template <int N>
__global__ __launch_bounds__(256, 8) void eight_waves(float* values) {
    mix<N>(values);
}

template __global__ void free_choice<8>(float*);
template __global__ void free_choice<40>(float*);
template __global__ void free_choice<100>(float*);
template __global__ void free_choice<200>(float*);
template __global__ void blocks_of_256<100>(float*);
template __global__ void blocks_of_256<200>(float*);
template __global__ void blocks_of_256<300>(float*);
template __global__ void eight_waves<40>(float*);
template __global__ void eight_waves<100>(float*);
