// Ballots of 64 lanes stored in 32 bits, and a reduction with increasing distances.
#include <hip/hip_runtime.h>

__global__ void count(const int* x, int* y) {
    const unsigned votes = __ballot(x[threadIdx.x] > 0);  // finds wave-of-32
    y[threadIdx.x] = __popc(votes) + __popc(__ballot(x[threadIdx.x] < 0));  // finds wave-of-32
}

__global__ void largest(int* x) {
    int best = x[threadIdx.x];
    for (int lanes = 1; lanes < 32; lanes *= 2) best = max(best, __shfl_xor(best, lanes));  // finds wave-of-32
    x[threadIdx.x] = best;
}
