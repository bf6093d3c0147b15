// problem: array-sort
// verdict: CHECKED
// why: the classic bitonic step in global memory, launched with hipLaunchKernelGGL, padded with INT_MAX
#include <climits>
#include <hip/hip_runtime.h>

__global__ void fill_kernel(int* data, size_t begin, size_t end, int value) {
    size_t i = begin + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < end) data[i] = value;
}

__global__ void bitonic_sort_step(int* dev_values, int j, int k) {
    unsigned int i = threadIdx.x + blockDim.x * blockIdx.x;
    unsigned int ixj = i ^ j;
    if (ixj > i) {
        if ((i & k) == 0) {
            if (dev_values[i] > dev_values[ixj]) {
                int temp = dev_values[i];
                dev_values[i] = dev_values[ixj];
                dev_values[ixj] = temp;
            }
        } else {
            if (dev_values[i] < dev_values[ixj]) {
                int temp = dev_values[i];
                dev_values[i] = dev_values[ixj];
                dev_values[ixj] = temp;
            }
        }
    }
}

extern "C" void solution(const int* a, int* b, size_t n) {
    size_t padded = 256;
    while (padded < n) padded <<= 1;
    int* dev_values;
    hipMalloc((void**)&dev_values, padded * sizeof(int));
    hipMemcpy(dev_values, a, n * sizeof(int), hipMemcpyDeviceToDevice);
    if (padded > n) {
        hipLaunchKernelGGL(fill_kernel, dim3((padded - n + 255) / 256), dim3(256), 0, 0,
                           dev_values, n, padded, INT_MAX);
    }
    for (int k = 2; k <= (int)padded; k <<= 1) {
        for (int j = k >> 1; j > 0; j = j >> 1) {
            hipLaunchKernelGGL(bitonic_sort_step, dim3(padded / 256), dim3(256), 0, 0, dev_values, j, k);
        }
    }
    hipMemcpy(b, dev_values, n * sizeof(int), hipMemcpyDeviceToDevice);
    hipFree(dev_values);
}
