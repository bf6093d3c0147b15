// Streams, events, errors and device properties in host code.
#include "check.h"

__global__ void fill(int* out, int value, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) out[i] = value;
}

CASE(streams_and_events) {
  hipStream_t stream;
  hipEvent_t start, stop;
  OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  OK(hipEventCreate(&start));
  OK(hipEventCreateWithFlags(&stop, hipEventDefault));
  int* out = zeros<int>(1 << 20);
  OK(hipEventRecord(start, stream));
  fill<<<64, 256, 0, stream>>>(out, 7, 1 << 20);
  OK(hipEventRecord(stop, stream));
  OK(hipStreamWaitEvent(stream, stop));
  OK(hipEventSynchronize(stop));
  OK(hipEventQuery(stop));
  OK(hipStreamQuery(stream));
  float ms = -1;
  OK(hipEventElapsedTime(&ms, start, stop));
  CHECK(ms > 0 && ms < 10000);
  CHECK(download(out, 1 << 20) == std::vector<int>(1 << 20, 7));
  OK(hipEventDestroy(start));
  OK(hipStreamDestroy(stream));
}

CASE(events_that_say_nothing) {
  hipEvent_t a, b, untimed;
  float ms = 0;
  OK(hipEventCreate(&a));
  OK(hipEventCreate(&b));
  OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
  OK(hipEventRecord(a));
  CHECK(hipEventElapsedTime(&ms, a, b) == hipErrorInvalidHandle);
  OK(hipEventRecord(untimed));
  CHECK(hipEventElapsedTime(&ms, a, untimed) == hipErrorInvalidHandle);
  CHECK(hipEventElapsedTime(nullptr, a, a) == hipErrorInvalidValue);
  OK(hipEventDestroy(b));
  CHECK(hipEventRecord(b) == hipErrorInvalidHandle);
  CHECK(hipEventDestroy(b) == hipErrorInvalidHandle);
}

CASE(the_device_of_a_stream) {
  hipStream_t stream;
  OK(hipStreamCreate(&stream));
  hipDevice_t device = -1;
  OK(hipStreamGetDevice(stream, &device));
  CHECK(device == 0);
  device = -1;
  OK(hipStreamGetDevice(nullptr, &device));
  CHECK(device == 0);
  CHECK(hipStreamGetDevice(stream, nullptr) == hipErrorInvalidValue);
  OK(hipStreamDestroy(stream));
}

CASE(a_stream_that_was_destroyed) {
  hipStream_t stream;
  OK(hipStreamCreate(&stream));
  OK(hipStreamDestroy(stream));
  CHECK(hipStreamSynchronize(stream) == hipErrorContextIsDestroyed);
  CHECK(hipStreamDestroy(stream) == hipErrorInvalidHandle);
  int* out = zeros<int>(1);
  CHECK(hipMemsetAsync(out, 0, 4, stream) == hipErrorContextIsDestroyed);
  CHECK(hipGetLastError() == hipErrorContextIsDestroyed);
  fill<<<1, 1, 0, stream>>>(out, 5, 1);
  CHECK(hipGetLastError() == hipErrorContextIsDestroyed);
  CHECK(download(out, 1)[0] == 0);
}

static void note(void* argument) { ++*static_cast<int*>(argument); }
static void note_status(hipStream_t, hipError_t status, void* argument) {
  *static_cast<int*>(argument) += status == hipSuccess ? 10 : 0;
}

CASE(callbacks) {
  int count = 0;
  OK(hipLaunchHostFunc(nullptr, note, &count));
  OK(hipStreamAddCallback(nullptr, note_status, &count, 0));
  CHECK(count == 11);
}

static hipError_t launch(dim3 grid, dim3 block, size_t shared_bytes = 0) {
  fill<<<grid, block, shared_bytes>>>(nullptr, 0, 0);
  return hipGetLastError();
}

CASE(a_launch_must_fit_the_device) {
  CHECK(launch(1, 1024) == hipSuccess);
  CHECK(launch(1, dim3(16, 16, 4)) == hipSuccess);
  CHECK(launch(1, 1025) == hipErrorInvalidConfiguration);
  CHECK(launch(1, dim3(32, 33)) == hipErrorInvalidConfiguration);
  CHECK(launch(1, 0) == hipErrorInvalidConfiguration);
  CHECK(launch(0, 64) == hipErrorInvalidConfiguration);
  CHECK(launch(dim3(1, 70000), 1) == hipErrorInvalidConfiguration);
  CHECK(launch(1, 64, 65536) == hipSuccess);
  CHECK(launch(1, 64, 65537) == hipErrorInvalidConfiguration);
}

CASE(the_last_error_stays_until_it_is_read) {
  CHECK(hipGetLastError() == hipSuccess);
  CHECK(hipSetDevice(3) == hipErrorInvalidDevice);
  OK(hipSetDevice(0));
  CHECK(hipPeekAtLastError() == hipErrorInvalidDevice);
  CHECK(hipGetLastError() == hipErrorInvalidDevice);
  CHECK(hipGetLastError() == hipSuccess);
  fill<<<1, 2000>>>(nullptr, 0, 0);
  fill<<<1, 64>>>(nullptr, 0, 0);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
}

CASE(errors_have_names_and_words) {
  CHECK(std::string(hipGetErrorName(hipErrorOutOfMemory)) == "hipErrorOutOfMemory");
  CHECK(std::string(hipGetErrorString(hipErrorOutOfMemory)) == "out of memory");
  CHECK(std::string(hipGetErrorString(hipSuccess)) == "no error");
  CHECK(std::string(hipGetErrorString(hipErrorInvalidConfiguration)) == "invalid configuration argument");
  CHECK(std::string(hipGetErrorString(hipError_t(12345))) == "unrecognized error code");
}

CASE(the_device_is_an_mi300x) {
  int count = 0, device = -1, value = 0;
  OK(hipGetDeviceCount(&count));
  OK(hipGetDevice(&device));
  CHECK(count == 1 && device == 0);
  hipDeviceProp_t properties;
  OK(hipGetDeviceProperties(&properties, 0));
  CHECK(std::string(properties.gcnArchName).substr(0, 6) == "gfx942");
  CHECK(properties.warpSize == 64 && properties.multiProcessorCount == 304);
  CHECK(properties.sharedMemPerBlock == 65536 && properties.maxThreadsPerBlock == 1024);
  CHECK(properties.totalGlobalMem == 192ull << 30);
  OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
  CHECK(value == 304);
  CHECK(hipGetDeviceProperties(&properties, 1) == hipErrorInvalidDevice);
  CHECK(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 1) == hipErrorInvalidDevice);
}

CASE(occupancy) {
  int blocks = 0, grid = 0, threads = 0;
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0));
  CHECK(blocks == 8);
  OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 64, 32768));
  CHECK(blocks == 2);
  OK(hipOccupancyMaxPotentialBlockSize(&grid, &threads, fill, 0, 0));
  CHECK(threads == 1024 && grid == 304 * 2);
  OK(hipFuncSetAttribute(reinterpret_cast<const void*>(fill), hipFuncAttributeMaxDynamicSharedMemorySize, 65536));
  const auto* kernel = reinterpret_cast<const void*>(fill);
  CHECK(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 70000) == hipErrorInvalidValue);
}

CASE(versions) {
  int driver = 0, runtime = 0;
  OK(hipDriverGetVersion(&driver));
  OK(hipRuntimeGetVersion(&runtime));
  CHECK(driver >= 60000000 && driver == runtime);
}
