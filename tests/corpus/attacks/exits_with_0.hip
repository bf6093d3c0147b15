// verdict: RUNTIME_ERROR
// code: EXITED_EARLY
// family: early-end
// first seen: public write-ups of program judges
// control: honest
#include <hip/hip_runtime.h>
#include <cstdlib>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { std::exit(0); }
