// problem: histogram
// verdict: CHECKED
// why: integer counts in shared memory, a temporary array of ints, a second kernel that converts to float
#include <hip/hip_runtime.h>

#define MAX_BINS 1024

__global__ void histogram_private_kernel(const float* image, unsigned int* bins, int num_bins, int total) {
    __shared__ unsigned int s_bins[MAX_BINS];
    for (int i = threadIdx.x; i < num_bins; i += blockDim.x) s_bins[i] = 0u;
    __syncthreads();

    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = tid; i < total; i += blockDim.x * gridDim.x) {
        int bin = (int)image[i];
        if (bin >= 0 && bin < num_bins) atomicAdd(&s_bins[bin], 1);
    }
    __syncthreads();

    for (int i = threadIdx.x; i < num_bins; i += blockDim.x) {
        if (s_bins[i] > 0) atomicAdd(&(bins[i]), s_bins[i]);
    }
}

__global__ void to_float(const unsigned int* bins, float* histogram, int num_bins) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < num_bins) histogram[i] = (float)bins[i];
}

extern "C" void solution(const float* image, int num_bins, float* histogram, size_t height, size_t width) {
    int total = height * width;
    unsigned int* d_bins;
    hipMalloc(&d_bins, num_bins * sizeof(unsigned int));
    hipMemset(d_bins, 0, num_bins * sizeof(unsigned int));
    int blocks = min((total + 255) / 256, 512);
    histogram_private_kernel<<<blocks, 256>>>(image, d_bins, num_bins, total);
    to_float<<<(num_bins + 255) / 256, 256>>>(d_bins, histogram, num_bins);
    hipDeviceSynchronize();
    hipFree(d_bins);
}
