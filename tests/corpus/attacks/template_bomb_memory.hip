// verdict: COMPILE_ERROR
// code: COMPILE_MEMORY_LIMIT | COMPILE_TIME_LIMIT
// family: resource-exhaustion
// first seen: public write-ups of program judges
// control: honest
// sandbox: matters
// A template whose number of types doubles at every level.
#include <hip/hip_runtime.h>

template <int depth, unsigned long path>
struct Bomb {
  Bomb<depth - 1, path * 2> left;
  Bomb<depth - 1, path * 2 + 1> right;
};
template <unsigned long path>
struct Bomb<0, path> {};

Bomb<40, 1> bomb;

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {}
