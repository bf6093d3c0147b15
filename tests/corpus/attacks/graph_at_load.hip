// verdict: COMPILE_ERROR
// family: graph-capture
// first seen: public write-ups of GPU kernel competitions
// control: honest
// Captures the work in a graph while the library is loaded. The CPU runtime has no graphs: GPU only.
#include <hip/hip_runtime.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

static hipGraph_t graph;
static hipStream_t stream;

__attribute__((constructor)) static void capture() {
  (void)hipStreamCreate(&stream);
  (void)hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
  relu<<<1, 256, 0, stream>>>(nullptr, nullptr, 0);
  (void)hipStreamEndCapture(stream, &graph);
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  hipGraphExec_t replay;
  (void)hipGraphInstantiate(&replay, graph, nullptr, nullptr, 0);
  (void)hipGraphLaunch(replay, stream);
}
