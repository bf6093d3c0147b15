// Allocations, copies and fills, and the errors for invalid arguments.
#include "check.h"

static std::vector<char> bytes_of(const void* device, size_t count) {
  std::vector<char> host(count);
  OK(hipMemcpy(host.data(), device, count, hipMemcpyDeviceToHost));
  return host;
}

CASE(copies_go_both_ways) {
  const std::vector<float> values = noise(1000);
  float *a = upload(values), *b = zeros<float>(1000);
  OK(hipMemcpy(b, a, 4000, hipMemcpyDeviceToDevice));
  CHECK(download(b, 1000) == values);
  OK(hipMemcpyAsync(b, values.data(), 400, hipMemcpyDefault, nullptr));
  OK(hipMemcpyDtoD(b, a, 4000));
  OK(hipMemcpyPeer(b, 0, a, 0, 4000));
  std::vector<float> back(1000);
  OK(hipMemcpyDtoH(back.data(), b, 4000));
  CHECK(back == values);
  OK(hipMemcpyHtoD(b, back.data(), 4000));
}

CASE(a_copy_must_stay_within_its_allocation) {
  float* device = zeros<float>(100);
  std::vector<float> host(200);
  CHECK(hipMemcpy(device, host.data(), 404, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipMemcpy(host.data(), device + 50, 204, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  OK(hipMemcpy(host.data(), device + 50, 200, hipMemcpyDeviceToHost));
  CHECK(hipMemcpy(nullptr, device, 4, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  CHECK(hipMemcpy(device, nullptr, 4, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  OK(hipMemcpy(nullptr, nullptr, 0, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(device, host.data(), 4, hipMemcpyKind(17)) == hipErrorInvalidMemcpyDirection);
  CHECK(hipMemset(device, 0, 401) == hipErrorInvalidValue);
}

CASE(fills) {
  char* device = zeros<char>(64);
  OK(hipMemset(device, 0x5a, 64));
  CHECK(bytes_of(device, 64) == std::vector<char>(64, 0x5a));
  OK(hipMemsetAsync(device, 1, 8));
  OK(hipMemsetD8(device + 8, 2, 8));
  OK(hipMemsetD16(device + 16, 0x0303, 4));
  OK(hipMemsetD32(device + 24, 0x04040404, 2));
  const std::vector<char> got = bytes_of(device, 33);
  for (int i = 0; i < 32; ++i) CHECK(got[i] == 1 + i / 8);
  CHECK(got[32] == 0x5a);
}

CASE(rows_of_a_pitch) {
  size_t pitch = 0;
  char* device = nullptr;
  OK(hipMallocPitch(&device, &pitch, 100, 7));
  CHECK(pitch >= 100 && pitch % 256 == 0);
  std::vector<char> host(7 * 100), back(7 * 100);
  for (size_t i = 0; i < host.size(); ++i) host[i] = char(i * 31);
  OK(hipMemset2D(device, pitch, 9, 100, 7));
  OK(hipMemcpy2D(device, pitch, host.data(), 100, 100, 6, hipMemcpyHostToDevice));
  OK(hipMemcpy2DAsync(back.data(), 100, device, pitch, 100, 7, hipMemcpyDeviceToHost, nullptr));
  std::fill(host.begin() + 600, host.end(), 9);
  CHECK(back == host);
  CHECK(hipMemcpy2D(device, 50, host.data(), 100, 100, 6, hipMemcpyHostToDevice) == hipErrorInvalidPitchValue);
  CHECK(hipMemcpy2D(device, pitch, host.data(), 100, 100, 9, hipMemcpyHostToDevice) == hipErrorInvalidValue);
}

__global__ void increment(int* values, int count) {
  if (threadIdx.x < count) ++values[threadIdx.x];
}

CASE(managed_and_pinned_memory_is_the_hosts_too) {
  int *managed = nullptr, *pinned = nullptr, *mapped = nullptr;
  OK(hipMallocManaged(&managed, 40));
  OK(hipHostMalloc(&pinned, 40));
  OK(hipHostGetDevicePointer(&mapped, pinned, 0));
  for (int i = 0; i < 10; ++i) managed[i] = pinned[i] = i;
  increment<<<1, 64>>>(managed, 10);
  increment<<<1, 64>>>(mapped, 10);
  OK(hipDeviceSynchronize());
  for (int i = 0; i < 10; ++i) CHECK(managed[i] == i + 1 && pinned[i] == i + 1);
  OK(hipMemPrefetchAsync(managed, 40, 0));
  OK(hipFree(managed));
  OK(hipHostFree(pinned));
}

CASE(registered_host_memory) {
  std::vector<int> host(10, 1);
  OK(hipHostRegister(host.data(), 40, hipHostRegisterDefault));
  CHECK(hipHostRegister(host.data(), 40, hipHostRegisterDefault) == hipErrorHostMemoryAlreadyRegistered);
  int* mapped = nullptr;
  OK(hipHostGetDevicePointer(&mapped, host.data(), 0));
  increment<<<1, 64>>>(mapped, 10);
  CHECK(host == std::vector<int>(10, 2));
  OK(hipHostUnregister(host.data()));
  CHECK(hipHostUnregister(host.data()) == hipErrorHostMemoryNotRegistered);
}

CASE(what_was_not_allocated_cannot_be_freed) {
  int* device = zeros<int>(4);
  int local = 0;
  CHECK(hipFree(&local) == hipErrorInvalidValue);
  CHECK(hipFree(device + 1) == hipErrorInvalidValue);
  CHECK(hipHostFree(device) == hipErrorInvalidValue);
  OK(hipFree(device));
  CHECK(hipFree(device) == hipErrorInvalidValue);
  OK(hipFree(nullptr));
}

CASE(odd_requests) {
  int* pointer = reinterpret_cast<int*>(1);
  OK(hipMalloc(&pointer, 0));
  CHECK(pointer == nullptr);
  CHECK(hipMalloc(&pointer, 1ull << 60) == hipErrorOutOfMemory);
  CHECK(hipMalloc(static_cast<void**>(nullptr), 4) == hipErrorInvalidValue);
  void* untyped = nullptr;
  OK(hipMalloc(&untyped, 4));
  OK(hipMallocAsync(&untyped, 4, nullptr));
  OK(hipFreeAsync(untyped, nullptr));
}

CASE(memory_is_counted) {
  size_t free_before = 0, free_after = 0, total = 0;
  OK(hipMemGetInfo(&free_before, &total));
  zeros<char>(1000);
  OK(hipMemGetInfo(&free_after, &total));
  CHECK(total == 192ull << 30);
  CHECK(free_before - free_after == 1000);
}

CASE(pointers_know_their_home) {
  int *device = zeros<int>(4), *managed = nullptr, local = 0;
  OK(hipMallocManaged(&managed, 4));
  hipPointerAttribute_t attributes;
  OK(hipPointerGetAttributes(&attributes, device + 2));
  CHECK(attributes.type == hipMemoryTypeDevice && attributes.devicePointer == device + 2);
  OK(hipPointerGetAttributes(&attributes, managed));
  CHECK(attributes.type == hipMemoryTypeManaged && attributes.isManaged);
  OK(hipPointerGetAttributes(&attributes, &local));
  CHECK(attributes.type == hipMemoryTypeUnregistered);
}

__device__ int table[4] = {1, 2, 3, 4};

__global__ void use_table(int* out) { out[threadIdx.x] = table[threadIdx.x]; }

CASE(symbols) {
  const int values[2] = {30, 40};
  OK(hipMemcpyToSymbol(HIP_SYMBOL(table), values, sizeof values, 2 * sizeof(int)));
  int* out = zeros<int>(4);
  use_table<<<1, 4>>>(out);
  CHECK(download(out, 4) == (std::vector<int>{1, 2, 30, 40}));
  int back[4] = {};
  OK(hipMemcpyFromSymbol(back, table, sizeof back));
  CHECK(back[3] == 40);
  CHECK(hipMemcpyToSymbol(table, values, sizeof values, 3 * sizeof(int)) == hipErrorInvalidValue);
  void* address = nullptr;
  size_t bytes = 0;
  OK(hipGetSymbolAddress(&address, table));
  OK(hipGetSymbolSize(&bytes, table));
  CHECK(address == table && bytes == 16);
}

CASE(many_allocations_come_and_go) {
  for (int i = 0; i < 2000; ++i) {
    int* device = zeros<int>(1 + i % 50);
    increment<<<1, 64>>>(device, 1);
    CHECK(download(device, 1)[0] == 1);
    OK(hipFree(device));
  }
}
