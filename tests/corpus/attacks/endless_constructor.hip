// verdict: TIME_LIMIT_EXCEEDED
// code: TIME_LIMIT
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// Loops forever in a global constructor, so that the library never finishes loading.
#include <hip/hip_runtime.h>

struct Never {
  Never() {
    volatile bool forever = true;
    while (forever) {
    }
  }
} never;

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {}
