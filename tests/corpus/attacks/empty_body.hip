// verdict: WRONG_ANSWER
// code: NEVER_WRITTEN
// family: skipped-work
// first seen: public write-ups of GPU kernel competitions
// control: honest
// Returns without writing any output.
#include <hip/hip_runtime.h>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {}
