// verdict: COMPILE_ERROR
// code: COMPILE_MEMORY_LIMIT | COMPILE_TIME_LIMIT | COMPILE_ERROR
// A constant expression that would take years.
#include <hip/hip_runtime.h>

constexpr unsigned long fibonacci(unsigned long n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
template <unsigned long n>
struct Slow {
  static constexpr unsigned long value = fibonacci(26) + Slow<n - 1>::value;
};
template <>
struct Slow<0> {
  static constexpr unsigned long value = 0;
};
static_assert(Slow<800>::value > 0);

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {}
