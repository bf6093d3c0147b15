// verdict: COMPILE_ERROR
// code: NO_SOLUTION
// says: extern "C" void solution(const float* input, float* output, size_t n, size_t m)
// family: unusable-source
// first seen: constructed for this corpus
// control: honest
// Defines solve() instead of solution().
#include <hip/hip_runtime.h>

extern "C" void solve(const float* input, float* output, size_t n, size_t m) {}
