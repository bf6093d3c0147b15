// Kernels whose occupancy is limited by shared memory, to different degrees.
#include <hip/hip_runtime.h>

template <int BYTES>
__device__ void turn(float* values) {
    __shared__ float tile[BYTES / 4];
    for (int i = threadIdx.x; i < BYTES / 4; i += blockDim.x) {
        tile[i] = values[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BYTES / 4; i += blockDim.x) {
        values[i] = tile[BYTES / 4 - 1 - i];
    }
}

__global__ void lds_1k(float* values) { turn<1024>(values); }
__global__ void lds_4k(float* values) { turn<4096>(values); }
__global__ void lds_9000(float* values) { turn<9000>(values); }
__global__ void lds_16k(float* values) { turn<16384>(values); }
__global__ void lds_20k(float* values) { turn<20480>(values); }
__global__ void lds_33k(float* values) { turn<33792>(values); }
__global__ void lds_64k(float* values) { turn<65536>(values); }
__global__ __launch_bounds__(64) void lds_4k_64(float* values) { turn<4096>(values); }
__global__ __launch_bounds__(128) void lds_16k_128(float* values) { turn<16384>(values); }
__global__ __launch_bounds__(192) void lds_12k_192(float* values) { turn<12288>(values); }
__global__ __launch_bounds__(256) void lds_33k_256(float* values) { turn<33792>(values); }
__global__ __launch_bounds__(512) void lds_20k_512(float* values) { turn<20480>(values); }
__global__ __launch_bounds__(768) void lds_1k_768(float* values) { turn<1024>(values); }

extern __shared__ float dynamic[];
__global__ void at_launch(float* values) {
    dynamic[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = dynamic[blockDim.x - 1 - threadIdx.x];
}
