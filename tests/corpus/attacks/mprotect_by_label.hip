// verdict: RUNTIME_ERROR
// code: HOST_ACCESS_TO_DEVICE_MEMORY
// family: host-code
// first seen: security review, 2026
// control: honest
// sandbox: matters
// Makes device memory accessible by a function whose name is not in the source, and computes on the host.
#include <hip/hip_runtime.h>

extern "C" int protect(void* begin, size_t bytes, int access) asm("mpro" "tect");

static void open_memory(const void* at, size_t bytes) {
  auto page = reinterpret_cast<size_t>(at) & ~size_t(4095);
  protect(reinterpret_cast<void*>(page), bytes + 4096, 3);
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  open_memory(input, n * m * sizeof(float));
  open_memory(output, n * m * sizeof(float));
  for (size_t i = 0; i < n * m; ++i) output[i] = input[i] > 0.0f ? input[i] : 0.0f;
}
