// Copies and fills. Each is complete when the call returns, whatever its stream.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include <hip/hip_runtime_api.h>

#include "memory.h"
#include "status.h"
#include "streams.h"
#include "stub_gpu.h"

namespace hipcpu {

namespace {

// The location of memory. HIP functions also accept pointers to host memory that HIP did not allocate.
struct Place {
  bool on_device;
  bool pinned;
};

Place place_of(const void* pointer) {
  AllocationRange range;
  if (!find_allocation(pointer, &range)) return {false, false};
  const Home home = range.allocation.home;
  return {home == Home::kDevice || home == Home::kManaged, home == Home::kPinned || home == Home::kRegistered};
}

// Counts the time of a copy on a stub GPU.
void count_copy(void* to, const void* from, size_t bytes, hipStream_t stream, bool waits) {
  using stub::Direction;
  if (!stub::is_on()) return;
  const Place source = place_of(from);
  const Place target = place_of(to);
  stub::touched(first_access(to) + first_access(from));
  const Direction direction = target.on_device ? (source.on_device ? Direction::kOnDevice : Direction::kUp)
                                               : (source.on_device ? Direction::kDown : Direction::kOnHost);
  stub::copied(*queue_of(stream), direction, source.pinned || target.pinned, bytes, waits);
}

void count_fill(void* to, size_t bytes, hipStream_t stream) {
  if (!stub::is_on()) return;
  stub::touched(first_access(to));
  stub::filled(*queue_of(stream), bytes);
}

bool is_kind(hipMemcpyKind kind) { return kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault; }

hipError_t copy(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream, bool waits) {
  const stub::Call call;
  if (call.error() != hipSuccess) return call.error();
  if (bytes == 0) return hipSuccess;
  if (!to || !from) return hipErrorInvalidValue;
  if (!is_kind(kind)) return hipErrorInvalidMemcpyDirection;
  if (!is_stream(stream)) return hipErrorContextIsDestroyed;
  if (!is_within(to, bytes) || !is_within(from, bytes)) return hipErrorInvalidValue;
  const DeviceAccess access;
  std::memmove(to, from, bytes);
  count_copy(to, from, bytes, stream, waits);
  return hipSuccess;
}

// The bytes from the beginning of the first row to the end of the last one.
size_t extent(size_t pitch, size_t width, size_t height) { return pitch * (height - 1) + width; }

hipError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                     hipMemcpyKind kind, hipStream_t stream, bool waits) {
  const stub::Call call;
  if (call.error() != hipSuccess) return call.error();
  if (width == 0 || height == 0) return hipSuccess;
  if (!to || !from) return hipErrorInvalidValue;
  if (width > to_pitch || width > from_pitch) return hipErrorInvalidPitchValue;
  if (!is_kind(kind)) return hipErrorInvalidMemcpyDirection;
  if (!is_stream(stream)) return hipErrorContextIsDestroyed;
  if (!is_within(to, extent(to_pitch, width, height)) || !is_within(from, extent(from_pitch, width, height)))
    return hipErrorInvalidValue;
  const DeviceAccess access;
  for (size_t row = 0; row < height; ++row)
    std::memmove(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  count_copy(to, from, width * height, stream, waits);
  return hipSuccess;
}

template <class T>
hipError_t fill(void* to, T value, size_t count, hipStream_t stream) {
  const stub::Call call;
  if (call.error() != hipSuccess) return call.error();
  if (count == 0) return hipSuccess;
  if (!to || !is_within(to, count * sizeof(T))) return hipErrorInvalidValue;
  if (!is_stream(stream)) return hipErrorContextIsDestroyed;
  const DeviceAccess access;
  std::fill_n(static_cast<T*>(to), count, value);
  count_fill(to, count * sizeof(T), stream);
  return hipSuccess;
}

hipError_t fill_rows(void* to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  const stub::Call call;
  if (call.error() != hipSuccess) return call.error();
  if (width == 0 || height == 0) return hipSuccess;
  if (width > pitch) return hipErrorInvalidPitchValue;
  if (!to || !is_within(to, extent(pitch, width, height))) return hipErrorInvalidValue;
  if (!is_stream(stream)) return hipErrorContextIsDestroyed;
  const DeviceAccess access;
  for (size_t row = 0; row < height; ++row) std::memset(static_cast<char*>(to) + row * pitch, value, width);
  count_fill(to, width * height, stream);
  return hipSuccess;
}

}  // namespace
}  // namespace hipcpu

using namespace hipcpu;

extern "C" {

hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return set_last_error(copy(to, from, bytes, kind, nullptr, true));
}

hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return set_last_error(copy(to, from, bytes, kind, stream, false));
}

hipError_t hipMemcpyWithStream(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return set_last_error(copy(to, from, bytes, kind, stream, true));
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyHostToDevice);
}

hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost);
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void* from, size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, stream);
}

hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToHost, stream);
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream);
}

hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (to_device != 0 || from_device != 0) return set_last_error(hipErrorInvalidDevice);
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);
}

hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                              hipStream_t stream) {
  if (!is_stream(stream)) return set_last_error(hipErrorContextIsDestroyed);
  return hipMemcpyPeer(to, to_device, from, from_device, bytes);
}

hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
  return set_last_error(copy_rows(to, to_pitch, from, from_pitch, width, height, kind, nullptr, true));
}

hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                            size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return set_last_error(copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream, false));
}

hipError_t hipMemset(void* to, int value, size_t bytes) { return hipMemsetAsync(to, value, bytes, nullptr); }

hipError_t hipMemsetAsync(void* to, int value, size_t bytes, hipStream_t stream) {
  return set_last_error(fill(to, static_cast<unsigned char>(value), bytes, stream));
}

hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  return set_last_error(fill(to, value, count, nullptr));
}

hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  return set_last_error(fill(to, value, count, nullptr));
}

hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  return hipMemsetD32Async(to, value, count, nullptr);
}

hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
  return set_last_error(fill(to, value, count, stream));
}

hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return hipMemset2DAsync(to, pitch, value, width, height, nullptr);
}

hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return set_last_error(fill_rows(to, pitch, value, width, height, stream));
}

hipError_t hipcpu_copy_symbol(void* symbol, size_t symbol_bytes, void* memory, size_t bytes, size_t offset,
                              int to_symbol) {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) return set_last_error(hipErrorInvalidValue);
  char* place = static_cast<char*>(symbol) + offset;
  return to_symbol ? hipMemcpy(place, memory, bytes, hipMemcpyHostToDevice)
                   : hipMemcpy(memory, place, bytes, hipMemcpyDeviceToHost);
}
}
