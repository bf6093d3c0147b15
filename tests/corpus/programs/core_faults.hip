// Programs that fault, one per case.
#include "check.h"

#include <hipcpu/hooks.h>

#include <cerrno>
#include <csignal>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

__global__ void write_beyond(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

CASE(write_beyond) { write_beyond<<<4, 256>>>(zeros<float>(1000)); }

__global__ void read_before(const float* x, float* y) { y[threadIdx.x] = x[int(threadIdx.x) - 5]; }

// The buffer fills its pages, so that the guard page is directly before it.
CASE(read_before) { read_before<<<1, 8>>>(zeros<float>(16384), zeros<float>(8)); }

CASE(null_pointer) { write_beyond<<<1, 64>>>(nullptr); }

CASE(freed) {
  float* x = zeros<float>(64);
  OK(hipFree(x));
  write_beyond<<<1, 64>>>(x);
}

CASE(no_allocation) { write_beyond<<<1, 1>>>(reinterpret_cast<float*>(0x123456789000)); }

__global__ void write_after_barrier(float* x) {
  __syncthreads();
  if (threadIdx.y == 3 && threadIdx.x == 2) x[1000000] = 1;
}

CASE(after_a_barrier) { write_after_barrier<<<dim3(2, 2), dim3(8, 8)>>>(zeros<float>(64)); }

__global__ void beyond_dynamic_shared(float* x) {
  extern __shared__ float shared[];
  shared[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = shared[threadIdx.x];
}

CASE(beyond_dynamic_shared) { beyond_dynamic_shared<<<1, 128, 256>>>(zeros<float>(128)); }

__global__ void large_array(float* x, int step) {
  float array[120000];
  for (int i = 0; i < 120000; i += step) array[i] = i;
  x[threadIdx.x] = array[int(x[threadIdx.x]) + step];
}

CASE(large_private_array) { large_array<<<1, 64>>>(zeros<float>(64), 997); }

__device__ __attribute__((noinline)) int recurse(volatile int* depth) {
  *depth = *depth + 1;
  return recurse(depth) + *depth;
}

__global__ void endless_recursion(int* x) {
  __syncthreads();
  if (threadIdx.x == 5) x[0] = recurse(x);
}

CASE(kernel_recursion) { endless_recursion<<<1, 64>>>(zeros<int>(1)); }

static volatile int host_depth;

CASE(host_recursion) { std::printf("%d", recurse(&host_depth)); }

__global__ void divide(int* x) { x[threadIdx.x] = 10 / x[threadIdx.x]; }

CASE(division_by_zero) { divide<<<1, 8>>>(upload(std::vector<int>{1, 2, 3, 0, 5, 6, 7, 8})); }

__global__ void insist(int* x) { assert(x[threadIdx.x] != 9); }

CASE(assertion_in_a_kernel) { insist<<<1, 8>>>(upload(std::vector<int>{1, 2, 3, 0, 5, 6, 9, 8})); }

CASE(assertion_on_the_host) {
  int zero = 0;
  OK(hipGetDeviceCount(&zero));
  assert(zero == 0 && "there is a \"device\"");
}

__global__ void give_up() {
  if (threadIdx.x == 17) abort();
}

CASE(abort_in_a_kernel) { give_up<<<1, 64>>>(); }

CASE(abort_on_the_host) { abort(); }

CASE(null_pointer_on_the_host) {
  volatile int* nothing = nullptr;
  *nothing = 1;
}

CASE(device_memory_on_the_host) {
  int* device = zeros<int>(10);
  hipcpu_protect_device_memory(1);
  write_beyond<<<1, 8>>>(reinterpret_cast<float*>(device));
  OK(hipMemset(device, 1, 40));
  CHECK(download(device, 1)[0] == 0x01010101);
  device[3] = 1;
}

CASE(protected_memory_still_works) {
  hipcpu_protect_device_memory(1);
  int* device = zeros<int>(10);
  int *managed = nullptr, *pinned = nullptr;
  OK(hipMallocManaged(&managed, 40));
  OK(hipHostMalloc(&pinned, 40));
  managed[0] = pinned[0] = 5;
  write_beyond<<<1, 10>>>(reinterpret_cast<float*>(device));
  OK(hipMemcpy(managed, device, 40, hipMemcpyDefault));
  CHECK(reinterpret_cast<float*>(managed)[9] == 1);
  hipcpu_protect_device_memory(0);
  device[0] = 2;
  CHECK(device[0] == 2 && pinned[0] == 5);
}

__global__ void launch_again() { write_beyond<<<1, 1>>>(nullptr); }

CASE(a_kernel_that_launches) { launch_again<<<1, 1>>>(); }

// The replay of the threads before the one that faults finds the lock held.
__global__ void lock_and_fault(int* lock, int* x) {
  if (threadIdx.x == 0)
    while (atomicCAS(lock, 0, 1) != 0) {}
  if (threadIdx.x == 1) x[1000] = 1;
}

CASE(thread_not_found) { lock_and_fault<<<1, 2>>>(zeros<int>(1), zeros<int>(1)); }

static void receive(const char* json, size_t length) {
  std::printf("received %.*s\n", int(length), json);
  std::fflush(stdout);
  std::fprintf(stderr, "%.*s\n", int(length), json);
}

CASE(passed_to_a_receiver) {
  hipcpu_on_fault(receive);
  abort();
}

CASE(launches_are_counted) {
  const auto before = hipcpu_launch_count();
  write_beyond<<<2, 8>>>(zeros<float>(16));
  write_beyond<<<1, 2000>>>(nullptr);
  CHECK(hipcpu_launch_count() == before + 1);
}

// Device memory that host code tries to open for itself.
static int* sealed() {
  int* device = zeros<int>(1 << 20);
  CHECK(hipcpu_seal_device_memory() == 0);
  hipcpu_protect_device_memory(1);
  return device;
}

static void* page_of(int* device) { return reinterpret_cast<void*>(reinterpret_cast<size_t>(device) & ~size_t{4095}); }

CASE(sealed_memory_still_works) {
  int* device = sealed();
  write_beyond<<<1, 8>>>(reinterpret_cast<float*>(device));
  CHECK(download(device, 8)[7] == 0x3f800000);
  int *more = zeros<int>(1 << 21), *pinned = nullptr;
  OK(hipHostMalloc(&pinned, 1 << 20));
  for (int i = 0; i < 300; ++i) {  // more than stay in quarantine
    int* other = nullptr;
    OK(hipMalloc(&other, 100));
    OK(hipFree(other));
  }
  OK(hipFree(more));
  OK(hipHostFree(pinned));
  void* memory = mmap(nullptr, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED && mprotect(memory, 4096, PROT_READ) == 0 && munmap(memory, 1 << 24) == 0);
  hipcpu_protect_device_memory(0);
  device[0] = 2;
}

CASE(sealed_memory_cannot_be_opened) {
  int* device = sealed();
  void* page = page_of(device);
  const size_t bytes = 1 << 16;
  const auto refused = [](long result, int error) { return result == -1 && errno == error; };
  CHECK(refused(mprotect(page, bytes, PROT_READ | PROT_WRITE), EPERM));
  CHECK(refused(syscall(SYS_pkey_mprotect, page, bytes, PROT_READ, -1), EPERM));
  CHECK(refused(munmap(page, bytes), EPERM));
  CHECK(refused(madvise(page, bytes, MADV_DONTNEED), EPERM));
  CHECK(mremap(page, bytes, bytes, MREMAP_MAYMOVE) == MAP_FAILED && errno == EPERM);
  CHECK(mmap(page, bytes, PROT_READ, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EPERM);
  unsigned char resident = 0;
  CHECK(refused(mincore(page, 4096, &resident), EPERM));
  CHECK(refused(write(1, device, 4), EFAULT));
  hipcpu_protect_device_memory(0);
  CHECK(refused(write(1, device, 4), EFAULT));  // the same, so that it tells nothing
  // From a place below it, and onto it.
  void* below = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mremap(below, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, page) == MAP_FAILED && errno == EPERM);
  CHECK(refused(mprotect(reinterpret_cast<void*>(size_t{1} << 32), size_t{1} << 46, PROT_READ), EPERM));
  struct sigaction action = {};
  CHECK(sigaction(SIGSEGV, nullptr, &action) == 0);
  CHECK(refused(sigaction(SIGSEGV, &action, nullptr), EPERM));
  CHECK(sigaction(SIGTERM, &action, nullptr) == 0);
}

// A sandbox may forbid filters: the hooks say so, and device memory is protected as before.
CASE(sealing_is_optional) {
  for (const int error : {hipcpu_seal_device_memory(), hipcpu_seal_code()})
    CHECK(error == 0 || error == EPERM || error == ENOMEM);
  int* device = zeros<int>(10);
  hipcpu_protect_device_memory(1);
  write_beyond<<<1, 10>>>(reinterpret_cast<float*>(device));
  CHECK(download(device, 10)[9] == 0x3f800000);
  device[3] = 1;
}

CASE(sealed_code) {
  void* memory = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  CHECK(hipcpu_seal_code() == 0);
  CHECK(mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EPERM);
  CHECK(mprotect(page_of(reinterpret_cast<int*>(&abort)), 4096, PROT_READ | PROT_WRITE | PROT_EXEC) == -1 && errno == EPERM);
  CHECK(mprotect(memory, 4096, PROT_READ) == 0);
}

CASE(sealed_for_other_threads) {
  int* device = sealed();
  int result = 0;
  std::thread([&] { result = mprotect(page_of(device), 4096, PROT_READ); }).join();
  CHECK(result == -1);
}

CASE(opened_by_the_host) {
  int* device = sealed();
  mprotect(page_of(device), 1 << 16, PROT_READ | PROT_WRITE);
  device[3] = 1;
}

CASE(only_some_memory_is_used) {
  float *one = zeros<float>(64), *other = zeros<float>(64);
  void* const used[] = {one};
  hipcpu_use_only(used, 1);
  hipcpu_protect_device_memory(1);
  write_beyond<<<1, 64>>>(one);
  write_beyond<<<1, 64>>>(zeros<float>(64));  // made later
  hipcpu_use_only(nullptr, 0);
  write_beyond<<<1, 64>>>(other);
  hipcpu_use_only(used, 1);
  CHECK(download(one, 64)[63] == 1);
  write_beyond<<<1, 64>>>(other);
}
