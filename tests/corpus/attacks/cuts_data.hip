// verdict: RUNTIME_ERROR
// family: buffers
// first seen: constructed for this corpus
// control: honest
// sandbox: matters
// Truncates the data file. The judge must not crash.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
  (void)hipDeviceSynchronize();
  int fd = open("/box/data", O_RDWR);
  (void)!ftruncate(fd, 0);
  close(fd);
}
