// verdict: COMPILE_ERROR
// code: WRONG_SIGNATURE
// says: extern "C" void solution(const float* input, float* output, size_t n, size_t m)
// family: unusable-source
// first seen: constructed for this corpus
// control: honest
// Defines solution() with other parameters than those of the problem.
#include <hip/hip_runtime.h>

extern "C" void solution(const float* input, float* output, float alpha, size_t n) {}
