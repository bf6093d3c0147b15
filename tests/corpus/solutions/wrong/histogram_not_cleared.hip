// problem: histogram
// verdict: WRONG_ANSWER
// why: the counts are added to the previous contents of the output
#include <hip/hip_runtime.h>

__global__ void count(const float* image, float* histogram, size_t pixels) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < pixels) {
        atomicAdd(&histogram[int(image[i])], 1.0f);
    }
}

extern "C" void solution(const float* image, int num_bins, float* histogram, size_t height, size_t width) {
    count<<<(height * width + 255) / 256, 256>>>(image, histogram, height * width);
}
