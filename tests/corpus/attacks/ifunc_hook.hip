// verdict: COMPILE_ERROR
// code: HOST_ESCAPE
// says: 'ifunc'
// family: hooks
// first seen: security review, 2026
// control: global_constructor
// Chooses a function while the library is loaded, before any check of its names.
#include <hip/hip_runtime.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

static void relu_on_device(const float* x, float* y, size_t n) { relu<<<(n + 255) / 256, 256>>>(x, y, n); }
extern "C" void* choose() { return reinterpret_cast<void*>(relu_on_device); }
void run(const float* x, float* y, size_t n) __attribute__((ifunc("choose")));

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { run(input, output, n * m); }
