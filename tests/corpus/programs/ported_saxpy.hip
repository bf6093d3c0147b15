// A first program: C style, an error macro, pinned memory, events around the launch.
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(expr)                                                                    \
  {                                                                                    \
    hipError_t status = (expr);                                                        \
    if (status != hipSuccess) {                                                        \
      fprintf(stderr, "%s in line %d: %s\n", #expr, __LINE__, hipGetErrorString(status)); \
      exit(EXIT_FAILURE);                                                              \
    }                                                                                  \
  }

__global__ void saxpy(int count, float a, const float *x, float *y) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < count) {
    y[i] = a * x[i] + y[i];
  }
}

int main(void) {
  const int count = 50001;
  const size_t bytes = count * sizeof(float);
  float *x = (float *)malloc(bytes);
  float *y = NULL;
  CHECK(hipHostMalloc((void **)&y, bytes, hipHostMallocDefault));
  for (int i = 0; i < count; i++) {
    x[i] = (float)(i % 1000);
    y[i] = 1.0f;
  }

  float *dev_x = NULL, *dev_y = NULL;
  CHECK(hipMalloc((void **)&dev_x, bytes));
  CHECK(hipMalloc((void **)&dev_y, bytes));
  CHECK(hipMemcpy(dev_x, x, bytes, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(dev_y, y, bytes, hipMemcpyHostToDevice));

  hipEvent_t begin, end;
  CHECK(hipEventCreate(&begin));
  CHECK(hipEventCreate(&end));
  CHECK(hipEventRecord(begin));
  int threads = 256;
  int blocks = (count + threads - 1) / threads;
  saxpy<<<blocks, threads>>>(count, 2.0f, dev_x, dev_y);
  CHECK(hipGetLastError());
  CHECK(hipEventRecord(end));
  CHECK(hipEventSynchronize(end));
  float ms = -1;
  CHECK(hipEventElapsedTime(&ms, begin, end));

  CHECK(hipMemcpy(y, dev_y, bytes, hipMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < count; i++) wrong += y[i] != 2.0f * x[i] + 1.0f;
  CHECK(hipEventDestroy(begin));
  CHECK(hipEventDestroy(end));
  CHECK(hipFree(dev_x));
  CHECK(hipFree(dev_y));
  CHECK(hipHostFree(y));
  free(x);
  printf(wrong == 0 && ms >= 0 ? "PASSED\n" : "FAILED: %d wrong\n", wrong);
  return wrong != 0;
}
