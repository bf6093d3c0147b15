// The stub GPU: a model of a GPU's latencies and faults on virtual time. Kernels and copies run on the CPU as always,
// as soon as they are issued; the time that a GPU would take is counted on timelines of each device.
//
// A device is one page of a file that all processes with the device map: the harness and the guest. It has the
// virtual time, which only this code advances, and the ends of three queues: kernels (with copies on the device and
// fills), copies to the device, and copies from it. Host code enqueues; a synchronization moves the virtual time to
// the end of what it waits for. docs/stub-gpu.md describes the model; warmfront/hip/stub writes the variables
// HIPCPU_STUB_GPU, the parameters, and HIPCPU_STUB_STATE, the file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <hip/hip_runtime_api.h>

namespace hipcpu::stub {

extern bool on;  // set before main

// Whether this process uses a stub GPU; otherwise nothing below has an effect.
inline bool is_on() { return on; }

// The work of one stream.
struct Queue {
  int device = 0;
  bool waits_for_null = false;  // a stream that was created without hipStreamNonBlocking
  int64_t end_ns = 0;           // of the last work
};

// One call of a HIP function by the host: counts the time of the call, and of host code since the last one. A call of
// one of our hooks takes no time.
enum class Caller : uint8_t { kHost, kHook };
class Call {
 public:
  explicit Call(Caller caller = Caller::kHost) {
    if (is_on()) begin(caller);
  }
  ~Call() {
    if (is_on()) end();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The error that the call must return immediately: of a device that is missing, lost or being reset.
  hipError_t error() const { return error_; }

 private:
  void begin(Caller caller);
  void end();
  hipError_t error_ = hipSuccess;
};

// The device that programs see.
struct Facts {
  char name[128];
  char arch[32];
  size_t memory_bytes;
  int compute_units;
};
const Facts& facts();
int device_count();
int current_device();
int pci_bus(int device);
bool set_device(int device);  // of this thread; false if there is no such device

// Kernels. `begin_launch` returns the error of a launch that fails; a fault may end the process here.
hipError_t begin_launch();
void end_launch(Queue& queue, const char* kernel, uint64_t threads);
// The next launch of this thread takes this long at full clocks.
void set_next_launch(int64_t duration_ns);

// Copies and fills of `bytes`. A copy whose host memory is not pinned is complete when this returns.
enum class Direction : uint8_t { kUp, kDown, kOnDevice, kOnHost };
void copied(Queue& queue, Direction direction, bool pinned, size_t bytes, bool waits);
void filled(Queue& queue, size_t bytes);

// Memory. `can_allocate` is false if the device is full.
bool can_allocate();
void allocated(size_t bytes);
// Counts the time of the first access to fresh memory.
void touched(size_t bytes);

// Synchronization. A stream or device with a kernel that never ends blocks forever.
void synchronize(const Queue& queue);
void synchronize_device();
void synchronize_until(int64_t at_ns);
bool is_done(int64_t at_ns);             // costs a little, so that a loop of queries makes progress
int64_t record_event(Queue& queue);      // returns its time
Queue& null_queue();                     // of the current device
void join(Queue& queue);                 // registers a stream's queue, for synchronize_device
void leave(Queue& queue);

// Prints ROCm's message for a kernel that accesses unmapped memory, and aborts. Safe in a signal handler.
[[noreturn]] void abort_by_memory_fault(uintptr_t address);

}  // namespace hipcpu::stub
