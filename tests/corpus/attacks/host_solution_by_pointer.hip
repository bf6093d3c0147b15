// verdict: RUNTIME_ERROR
// code: HOST_ACCESS_TO_DEVICE_MEMORY
// family: host-code
// first seen: public write-ups of GPU kernel competitions
// control: honest
// Reads and writes device memory in host code, without a kernel.
#include <hip/hip_runtime.h>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  for (size_t i = 0; i < n * m; ++i) output[i] = input[i] > 0.0f ? input[i] : 0.0f;
}
