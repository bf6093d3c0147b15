// verdict: TIME_LIMIT_EXCEEDED
// code: TIME_LIMIT
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// Loops forever in solution(), on the host.
#include <hip/hip_runtime.h>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  volatile bool forever = true;
  while (forever) {
  }
}
