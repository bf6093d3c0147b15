// verdict: COMPILE_ERROR
// code: NOT_EXTERN_C
// family: unusable-source
// first seen: constructed for this corpus
// control: honest
#include <hip/hip_runtime.h>

void solution(const float* input, float* output, size_t n, size_t m) {}
