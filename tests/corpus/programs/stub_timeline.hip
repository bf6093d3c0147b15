// Work on a stub GPU, for tests of its virtual time: each argument is one step, and events print their difference.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

constexpr size_t kBytes = 10'000'000;

#define OK(call) check((call), #call)

static void check(hipError_t error, const char* call) {
  if (error == hipSuccess) return;
  std::printf("%s: %s\n", call, hipGetErrorName(error));
  std::exit(1);
}

__global__ void work(float* x) { x[0] += 1; }
__global__ void far_write(char* x) { x[size_t{1} << 32] = 1; }

struct State {
  float* device = nullptr;
  float* other = nullptr;
  char* pageable = static_cast<char*>(std::malloc(kBytes));
  char* pinned = nullptr;
  hipEvent_t events[2];
  hipStream_t stream;
};

static void step(State& s, const std::string& name) {
  if (name == "upload") OK(hipMemcpy(s.device, s.pageable, kBytes, hipMemcpyHostToDevice));
  else if (name == "upload-pinned") OK(hipMemcpy(s.device, s.pinned, kBytes, hipMemcpyHostToDevice));
  else if (name == "upload-async") OK(hipMemcpyAsync(s.device, s.pinned, kBytes, hipMemcpyHostToDevice, s.stream));
  else if (name == "download") OK(hipMemcpy(s.pageable, s.device, kBytes, hipMemcpyDeviceToHost));
  else if (name == "copy") OK(hipMemcpyAsync(s.other, s.device, kBytes, hipMemcpyDeviceToDevice, nullptr));
  else if (name == "fill") OK(hipMemsetAsync(s.device, 0, kBytes, nullptr));
  else if (name == "launch") work<<<1, 1>>>(s.device);
  else if (name == "launch-stream") work<<<1, 1, 0, s.stream>>>(s.device);
  else if (name == "fault") far_write<<<1, 1>>>(reinterpret_cast<char*>(s.device));
  else if (name == "wait") OK(hipDeviceSynchronize());
  else if (name == "start") OK(hipEventRecord(s.events[0], nullptr));
  else if (name == "stop") OK(hipEventRecord(s.events[1], nullptr));
  else if (name == "poll") while (hipEventQuery(s.events[1]) == hipErrorNotReady) {}
  else if (name == "compute") {
    volatile double sum = 0;
    for (int i = 0; i < 20'000'000; ++i) sum = sum + i;
  } else if (name == "elapsed") {
    float ms = 0;
    OK(hipEventElapsedTime(&ms, s.events[0], s.events[1]));
    std::printf("%.6f\n", static_cast<double>(ms));
  } else if (name == "error") {
    std::printf("%s\n", hipGetErrorName(hipGetLastError()));
  } else {
    std::exit(2);
  }
}

static void describe() {
  int count = 0;
  OK(hipGetDeviceCount(&count));
  for (int i = 0; i < count; ++i) {
    hipDeviceProp_t p;
    OK(hipGetDeviceProperties(&p, i));
    std::printf("%s %d %d\n", p.gcnArchName, p.multiProcessorCount, p.pciBusID);
  }
}

int main(int count, char** arguments) {
  if (count == 2 && std::strcmp(arguments[1], "describe") == 0) {
    describe();
    return 0;
  }
  State s;
  OK(hipMalloc(&s.device, kBytes));
  OK(hipMalloc(&s.other, kBytes));
  OK(hipHostMalloc(&s.pinned, kBytes, 0));
  OK(hipStreamCreateWithFlags(&s.stream, hipStreamNonBlocking));
  for (hipEvent_t& event : s.events) OK(hipEventCreate(&event));
  for (int i = 1; i < count; ++i) step(s, arguments[i]);
  return 0;
}
