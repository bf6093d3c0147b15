// verdict: COMPILE_ERROR
// code: COMPILE_MEMORY_LIMIT | COMPILE_TIME_LIMIT
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// tests: slow
// A constant expression that would take years to evaluate.
#include <hip/hip_runtime.h>

template <unsigned long seed>
constexpr unsigned long churn() {
  unsigned long state = seed;
  for (unsigned long i = 0; i < 200000; ++i) state = state * 6364136223846793005ul + i;
  return state;
}
template <unsigned long n>
struct Slow {
  static constexpr unsigned long value = churn<n>() ^ Slow<n - 1>::value;
};
template <>
struct Slow<0> {
  static constexpr unsigned long value = 0;
};
static_assert(Slow<800>::value != 0);

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {}
