// Reductions over all 64 lanes, and ballots stored in 64 bits.
#include <hip/hip_runtime.h>

__global__ void sum(const float* x, float* y) {
    float total = x[blockIdx.x * 64 + threadIdx.x];
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        total += __shfl_down(total, offset);
    }
    const unsigned long long votes = __ballot(total > 0.0f);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = total + __popcll(votes) + __ffsll(__ballot(total < 0.0f));
    }
}
