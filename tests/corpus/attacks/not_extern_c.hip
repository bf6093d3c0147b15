// verdict: COMPILE_ERROR
// code: NOT_EXTERN_C
// family: unusable-source
// first seen: constructed for this corpus
// control: honest
// Defines solution() without extern "C", so that the name of its symbol is mangled.
#include <hip/hip_runtime.h>

void solution(const float* input, float* output, size_t n, size_t m) {}
