// verdict: CHECKED
// never: REACHED
// family: escape
// first seen: public write-ups of program judges
// control: honest
// sandbox: matters
// Computes correctly, but also tries to overwrite its library and to create files in read-only folders.
#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  for (const char* path : {"/box/solution.so", "/box/new", "/usr/bin/new", "/etc/new", "/new"})
    if (FILE* file = fopen(path, "w")) {
      printf("REACHED %s\n", path);
      fclose(file);
    }
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
