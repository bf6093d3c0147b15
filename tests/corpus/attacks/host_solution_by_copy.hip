// verdict: RUNTIME_ERROR
// code: NO_KERNEL_LAUNCHED
// family: host-code
// first seen: public write-ups of GPU kernel competitions
// control: honest
// Copies the input to the host, computes there without a kernel, and copies the output back.
#include <hip/hip_runtime.h>
#include <vector>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  std::vector<float> x(n * m);
  (void)hipMemcpy(x.data(), input, x.size() * sizeof(float), hipMemcpyDeviceToHost);
  for (float& v : x) v = v > 0.0f ? v : 0.0f;
  (void)hipMemcpy(output, x.data(), x.size() * sizeof(float), hipMemcpyHostToDevice);
}
