// problem: histogram
// verdict: CHECKED
// why: queries the device for the launch size; dynamic shared memory of raw bytes
#include <hip/hip_runtime.h>

__global__ void clear(float* histogram, int bins) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < bins) histogram[i] = 0;
}

__global__ void count(const float* __restrict__ image, float* histogram, int bins, int pixels) {
    extern __shared__ __align__(16) unsigned char raw[];
    unsigned int* local = reinterpret_cast<unsigned int*>(raw);
    for (int i = threadIdx.x; i < bins; i += blockDim.x) local[i] = 0u;
    __syncthreads();
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += stride)
        atomicAdd(&local[__float2int_rn(image[i])], 1U);
    __syncthreads();
    for (int i = threadIdx.x; i < bins; i += blockDim.x)
        if (local[i] > 0) atomicAdd(histogram + i, (float)local[i]);
}

extern "C" void solution(const float* image, int num_bins, float* histogram, size_t height, size_t width) {
    int device;
    hipGetDevice(&device);
    int units = 0;
    hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, device);
    hipDeviceProp_t properties;
    hipGetDeviceProperties(&properties, device);
    const size_t bytes = num_bins * sizeof(unsigned int);
    hipFuncSetAttribute((const void*)count, hipFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    int fewest = 0, block = 0;
    hipOccupancyMaxPotentialBlockSize(&fewest, &block, count, bytes, 0);
    const int pixels = height * width;
    const int blocks = min((pixels + block - 1) / block, units * properties.maxThreadsPerMultiProcessor / block);
    clear<<<(num_bins + 255) / 256, 256>>>(histogram, num_bins);
    count<<<blocks, block, bytes>>>(image, histogram, num_bins, pixels);
}
