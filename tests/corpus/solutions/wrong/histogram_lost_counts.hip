// problem: histogram
// verdict: WRONG_ANSWER
// why: counts are read, incremented and written without atomics, so increments are lost
#include <hip/hip_runtime.h>

__global__ void count(const float* image, int num_bins, float* histogram, size_t pixels) {
    __shared__ unsigned counts[1024];
    for (int bin = threadIdx.x; bin < num_bins; bin += blockDim.x) {
        counts[bin] = 0;
    }
    __syncthreads();
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const int bin = i < pixels ? int(image[i]) : -1;
    const unsigned before = bin >= 0 ? counts[bin] : 0;
    __syncthreads();
    if (bin >= 0) {
        counts[bin] = before + 1;
    }
    __syncthreads();
    for (int b = threadIdx.x; b < num_bins; b += blockDim.x) {
        atomicAdd(&histogram[b], float(counts[b]));
    }
}

extern "C" void solution(const float* image, int num_bins, float* histogram, size_t height, size_t width) {
    (void)hipMemset(histogram, 0, num_bins * sizeof(float));
    count<<<(height * width + 255) / 256, 256>>>(image, num_bins, histogram, height * width);
}
