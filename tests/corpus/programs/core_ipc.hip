// hipIpc*: device memory that two processes share. `program export FOLDER BYTES` prints a handle in hexadecimal and
// waits for input; `program import FOLDER HANDLE CASE` opens it.
#include <hip/hip_runtime.h>
#include <hipcpu/hooks.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define OK(call) check((call), #call)

static void check(hipError_t error, const char* call) {
  if (error == hipSuccess) return;
  std::printf("%s: %s\n", call, hipGetErrorName(error));
  std::exit(1);
}

__global__ void add_one(unsigned char* x, size_t count, size_t beyond) {
  for (size_t i = 0; i < count; ++i) x[i] += 1;
  if (beyond) x[count + beyond - 1] = 1;
}

static int run_exporter(const char* folder, size_t bytes) {
  unsigned char* device = nullptr;
  hipIpcMemHandle_t handle;
  OK(hipMalloc(&device, 16));
  if (hipIpcGetMemHandle(&handle, device) != hipErrorNotSupported) return 1;
  hipcpu_ipc_export(folder);
  OK(hipMalloc(&device, bytes));
  OK(hipMemset(device, 41, bytes));
  OK(hipIpcGetMemHandle(&handle, device));
  if (hipIpcGetMemHandle(&handle, device + 1) != hipErrorInvalidValue) return 1;
  hipcpu_ipc_directory(folder);
  void* again = nullptr;
  if (hipIpcOpenMemHandle(&again, handle, hipIpcMemLazyEnablePeerAccess) != hipErrorInvalidContext) return 1;
  for (const unsigned char byte : handle.reserved) std::printf("%02x", byte);
  std::printf("\n");
  std::fflush(stdout);
  std::getchar();
  unsigned char first = 0, last = 0;
  OK(hipMemcpy(&first, device, 1, hipMemcpyDeviceToHost));
  OK(hipMemcpy(&last, device + bytes - 1, 1, hipMemcpyDeviceToHost));
  std::printf("%d %d\n", first, last);
  OK(hipFree(device));
  return 0;
}

static hipIpcMemHandle_t parse(const char* text) {
  hipIpcMemHandle_t handle{};
  for (size_t i = 0; i < sizeof handle.reserved; ++i) {
    unsigned byte = 0;
    std::sscanf(text + 2 * i, "%2x", &byte);
    handle.reserved[i] = static_cast<char>(byte);
  }
  return handle;
}

static int run_importer(const char* folder, const char* text, const char* name) {
  hipcpu_ipc_directory(folder);
  unsigned char* device = nullptr;
  const hipError_t error =
      hipIpcOpenMemHandle(reinterpret_cast<void**>(&device), parse(text), hipIpcMemLazyEnablePeerAccess);
  if (error != hipSuccess) {
    std::printf("%s\n", hipGetErrorName(error));
    return 0;
  }
  size_t bytes;
  std::memcpy(&bytes, parse(text).reserved + 16, sizeof bytes);
  const bool beyond = std::strcmp(name, "beyond") == 0;
  if (std::strcmp(name, "host") == 0) {
    hipcpu_protect_device_memory(1);
    return *static_cast<volatile unsigned char*>(device);
  }
  hipcpu_protect_device_memory(1);
  add_one<<<1, 1>>>(device, bytes, beyond ? 1 : 0);
  hipcpu_protect_device_memory(0);
  hipPointerAttribute_t attributes;
  OK(hipPointerGetAttributes(&attributes, device));
  if (attributes.type != hipMemoryTypeDevice || hipFree(device) != hipErrorInvalidValue) return 1;
  OK(hipIpcCloseMemHandle(device));
  if (hipIpcCloseMemHandle(device) != hipErrorInvalidValue) return 1;
  std::printf("closed\n");
  std::fflush(stdout);
  if (std::strcmp(name, "closed") == 0) add_one<<<1, 1>>>(device, bytes, 0);
  return 0;
}

int main(int count, char** arguments) {
  if (count == 4 && std::strcmp(arguments[1], "export") == 0)
    return run_exporter(arguments[2], std::strtoull(arguments[3], nullptr, 10));
  if (count == 5) return run_importer(arguments[2], arguments[3], arguments[4]);
  return 2;
}
