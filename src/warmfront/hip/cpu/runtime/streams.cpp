// Streams and events. All work completes when it is issued, so a stream is only a handle that can be invalid, and
// an event is a point in time. On a stub GPU both are on its virtual time.
#include "streams.h"

#include <time.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>

#include "status.h"

struct hipcpu_stream {
  unsigned flags;
  int priority;
  hipcpu::stub::Queue queue{};
};

struct hipcpu_event {
  unsigned flags;
  bool recorded;
  int64_t at_ns;
};

namespace hipcpu {

namespace {

// The handles that exist, so that a stale handle is an error and not a crash.
template <class T>
class Handles {
 public:
  T* make(const T& value) {
    const std::lock_guard lock(mutex_);
    T* handle = new T(value);
    alive_.insert(handle);
    return handle;
  }

  bool has(T* handle) {
    const std::lock_guard lock(mutex_);
    return alive_.count(handle) != 0;
  }

  bool destroy(T* handle) {
    const std::lock_guard lock(mutex_);
    if (alive_.erase(handle) == 0) return false;
    delete handle;
    return true;
  }

 private:
  std::mutex mutex_;
  std::set<T*> alive_;
};

Handles<hipcpu_stream>& streams() {
  static auto& only = *new Handles<hipcpu_stream>;
  return only;
}

Handles<hipcpu_event>& events() {
  static auto& only = *new Handles<hipcpu_event>;
  return only;
}

bool is_special(hipStream_t stream) {
  return stream == nullptr || stream == hipStreamLegacy || stream == hipStreamPerThread;
}

int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000ll + t.tv_nsec;
}

hipError_t check(hipStream_t stream) {
  return set_last_error(is_stream(stream) ? hipSuccess : hipErrorContextIsDestroyed);
}

hipError_t check(hipEvent_t event) {
  return set_last_error(events().has(event) ? hipSuccess : hipErrorInvalidHandle);
}

}  // namespace

stub::Queue* queue_of(hipStream_t stream) { return is_special(stream) ? &stub::null_queue() : &stream->queue; }

bool is_stream(hipStream_t stream) { return is_special(stream) || streams().has(stream); }

}  // namespace hipcpu

using namespace hipcpu;

extern "C" {

hipError_t hipStreamCreate(hipStream_t* stream) { return hipStreamCreateWithFlags(stream, hipStreamDefault); }

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return hipStreamCreateWithPriority(stream, flags, 0);
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority) {
  const stub::Call call;
  if (call.error() != hipSuccess) return set_last_error(call.error());
  if (!stream || flags > hipStreamNonBlocking) return set_last_error(hipErrorInvalidValue);
  *stream = streams().make({flags, priority});
  if (stub::is_on()) {
    (*stream)->queue.waits_for_null = flags == hipStreamDefault;
    stub::join((*stream)->queue);
  }
  return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  const stub::Call call;
  if (stub::is_on() && streams().has(stream)) stub::leave(stream->queue);
  return set_last_error(streams().destroy(stream) ? hipSuccess : hipErrorInvalidHandle);
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  const stub::Call call;
  if (call.error() != hipSuccess) return set_last_error(call.error());
  const hipError_t error = check(stream);
  if (error == hipSuccess && stub::is_on()) stub::synchronize(*queue_of(stream));
  return error;
}

hipError_t hipStreamQuery(hipStream_t stream) {
  const stub::Call call;
  if (call.error() != hipSuccess) return set_last_error(call.error());
  const hipError_t error = check(stream);
  if (error == hipSuccess && stub::is_on() && !stub::is_done(queue_of(stream)->end_ns)) return hipErrorNotReady;
  return error;
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  if (!flags || !is_stream(stream)) return set_last_error(hipErrorInvalidValue);
  *flags = is_special(stream) ? hipStreamDefault : stream->flags;
  return hipSuccess;
}

hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  if (!priority || !is_stream(stream)) return set_last_error(hipErrorInvalidValue);
  *priority = is_special(stream) ? 0 : stream->priority;
  return hipSuccess;
}

// Streams do not remember their device: the CPU runtime has one, and a stub GPU executes all work alike.
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  if (!device || !is_stream(stream)) return set_last_error(hipErrorInvalidValue);
  *device = stub::is_on() ? stub::current_device() : 0;
  return hipSuccess;
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  const stub::Call call;
  if (call.error() != hipSuccess) return set_last_error(call.error());
  if (const hipError_t error = check(stream); error != hipSuccess) return error;
  const hipError_t error = check(event);
  if (error == hipSuccess && stub::is_on()) {
    stub::Queue& queue = *queue_of(stream);
    queue.end_ns = std::max(queue.end_ns, event->at_ns);
  }
  return error;
}

hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* argument, unsigned flags) {
  if (!callback || flags != 0) return set_last_error(hipErrorInvalidValue);
  const hipError_t error = check(stream);
  if (error == hipSuccess) callback(stream, hipSuccess, argument);
  return error;
}

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* argument) {
  if (!function) return set_last_error(hipErrorInvalidValue);
  const hipError_t error = check(stream);
  if (error == hipSuccess) function(argument);
  return error;
}

hipError_t hipEventCreate(hipEvent_t* event) { return hipEventCreateWithFlags(event, hipEventDefault); }

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  constexpr unsigned kKnown = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess;
  if (!event || (flags & ~kKnown)) return set_last_error(hipErrorInvalidValue);
  *event = events().make({flags, false, 0});
  return hipSuccess;
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return set_last_error(events().destroy(event) ? hipSuccess : hipErrorInvalidHandle);
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  const stub::Call call;
  if (call.error() != hipSuccess) return set_last_error(call.error());
  if (const hipError_t error = check(event); error != hipSuccess) return error;
  if (const hipError_t error = check(stream); error != hipSuccess) return error;
  event->recorded = true;
  event->at_ns = stub::is_on() ? stub::record_event(*queue_of(stream)) : now_ns();
  return hipSuccess;
}

// An event that was never recorded counts as complete.
hipError_t hipEventSynchronize(hipEvent_t event) {
  const stub::Call call;
  if (call.error() != hipSuccess) return set_last_error(call.error());
  const hipError_t error = check(event);
  if (error == hipSuccess && stub::is_on()) stub::synchronize_until(event->at_ns);
  return error;
}

hipError_t hipEventQuery(hipEvent_t event) {
  const stub::Call call;
  if (call.error() != hipSuccess) return set_last_error(call.error());
  const hipError_t error = check(event);
  return error == hipSuccess && stub::is_on() && !stub::is_done(event->at_ns) ? hipErrorNotReady : error;
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  if (!milliseconds) return set_last_error(hipErrorInvalidValue);
  if (!events().has(start) || !events().has(stop)) return set_last_error(hipErrorInvalidHandle);
  const bool timed = !((start->flags | stop->flags) & hipEventDisableTiming);
  if (!timed || !start->recorded || !stop->recorded) return set_last_error(hipErrorInvalidHandle);
  *milliseconds = static_cast<float>(stop->at_ns - start->at_ns) * 1e-6f;
  return hipSuccess;
}
}
