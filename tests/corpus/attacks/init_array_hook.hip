// verdict: COMPILE_ERROR
// code: HOST_ESCAPE
// says: .init_array
// family: hooks
// first seen: security review, 2026
// control: global_constructor
// Runs code before the constructors of the library.
#include <hip/hip_runtime.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

static int hooked;
static void hook() { hooked = 1; }
__attribute__((section(".init_array"), used)) static void (*const kHook)() = hook;

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  if (hooked) relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
