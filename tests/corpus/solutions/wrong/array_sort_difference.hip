// problem: array-sort
// verdict: WRONG_ANSWER
// why: values are compared by the sign of their difference, which overflows for distant values
#include <climits>
#include <hip/hip_runtime.h>

__global__ void pad(const int* a, int* values, size_t n, size_t padded_n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < padded_n) {
        values[i] = i < n ? a[i] : INT_MAX;
    }
}

__global__ void step(int* values, size_t run, size_t distance, size_t padded_n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    const size_t partner = i ^ distance;
    if (partner <= i || partner >= padded_n) {
        return;
    }
    const int low = values[i], high = values[partner];
    const int difference = int(unsigned(low) - unsigned(high));
    if ((difference > 0) == ((i & run) == 0)) {
        values[i] = high;
        values[partner] = low;
    }
}

extern "C" void solution(const int* a, int* b, size_t n) {
    size_t padded_n = 1;
    while (padded_n < n) padded_n *= 2;
    const size_t blocks = (padded_n + 255) / 256;
    int* values = nullptr;
    (void)hipMalloc(&values, padded_n * sizeof(int));
    pad<<<blocks, 256>>>(a, values, n, padded_n);
    for (size_t run = 2; run <= padded_n; run *= 2) {
        for (size_t distance = run / 2; distance > 0; distance /= 2) {
            step<<<blocks, 256>>>(values, run, distance, padded_n);
        }
    }
    (void)hipMemcpy(b, values, n * sizeof(int), hipMemcpyDeviceToDevice);
    (void)hipFree(values);
}
