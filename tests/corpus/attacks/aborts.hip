// verdict: RUNTIME_ERROR
// code: ABORT | CRASHED
// family: early-end
// first seen: public write-ups of program judges
// control: honest
// Ends its process with abort() before it writes any output.
#include <hip/hip_runtime.h>
#include <cstdlib>

extern "C" void solution(const float* input, float* output, size_t n, size_t m) { std::abort(); }
