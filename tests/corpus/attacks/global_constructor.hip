// verdict: CHECKED
// family: honest-control
// An honest control: a table that is filled when the library is loaded, and the names of attacks in text.
#include <hip/hip_runtime.h>

// mprotect, dlsym, HIPCPU_CHECKED and .init_array are only words here.
static const char* const kWords = "mprotect dlsym HIPCPU_CHECKED .init_array";

struct Table {
  unsigned threads;
  Table() : threads(kWords[0] == 'm' ? 256 : 0) {}
};
static Table table;

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  relu<<<(n * m + table.threads - 1) / table.threads, table.threads>>>(input, output, n * m);
}
