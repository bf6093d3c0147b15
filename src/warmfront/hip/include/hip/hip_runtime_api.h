// The host API of HIP: memory, copies, streams, events, errors. On the CPU runtime all work completes before a call
// returns, which is a valid order for any use of streams and events.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hip/hip_version.h>
#include <hiptarget/core.h>
#include <hipshared/device.h>
#include <hipshared/errors.h>

typedef struct hipcpu_stream* hipStream_t;
typedef struct hipcpu_event* hipEvent_t;
typedef struct hipcpu_pool* hipMemPool_t;
typedef int hipDevice_t;
typedef void* hipDeviceptr_t;
typedef void (*hipHostFn_t)(void* argument);
typedef void (*hipStreamCallback_t)(hipStream_t stream, hipError_t status, void* argument);

typedef enum hipMemcpyKind {
  hipMemcpyHostToHost,
  hipMemcpyHostToDevice,
  hipMemcpyDeviceToHost,
  hipMemcpyDeviceToDevice,
  hipMemcpyDefault,
} hipMemcpyKind;

typedef enum hipMemoryType {
  hipMemoryTypeUnregistered,
  hipMemoryTypeHost,
  hipMemoryTypeDevice,
  hipMemoryTypeManaged,
} hipMemoryType;

typedef struct hipPointerAttribute_t {
  hipMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  int isManaged;
  unsigned allocationFlags;
} hipPointerAttribute_t;

// Names device memory to another process, which opens it with hipIpcOpenMemHandle.
typedef struct hipIpcMemHandle_t {
  char reserved[64];
} hipIpcMemHandle_t;

typedef enum hipMemoryAdvise {
  hipMemAdviseSetReadMostly,
  hipMemAdviseUnsetReadMostly,
  hipMemAdviseSetPreferredLocation,
  hipMemAdviseUnsetPreferredLocation,
  hipMemAdviseSetAccessedBy,
  hipMemAdviseUnsetAccessedBy,
  hipMemAdviseSetCoarseGrain,
  hipMemAdviseUnsetCoarseGrain,
} hipMemoryAdvise;

#define hipStreamDefault 0x0
#define hipStreamNonBlocking 0x1
#define hipStreamPerThread ((hipStream_t)2)
#define hipStreamLegacy ((hipStream_t)1)
#define hipEventDefault 0x0
#define hipEventBlockingSync 0x1
#define hipEventDisableTiming 0x2
#define hipEventInterprocess 0x4
#define hipHostMallocDefault 0x0
#define hipHostMallocPortable 0x1
#define hipHostMallocMapped 0x2
#define hipHostMallocWriteCombined 0x4
#define hipHostMallocNumaUser 0x20000000
#define hipHostMallocCoherent 0x40000000
#define hipHostMallocNonCoherent 0x80000000
#define hipHostRegisterDefault 0x0
#define hipHostRegisterPortable 0x1
#define hipHostRegisterMapped 0x2
#define hipMemAttachGlobal 0x1
#define hipMemAttachHost 0x2
#define hipIpcMemLazyEnablePeerAccess 0x1
#define hipCpuDeviceId ((int)-1)
#define hipInvalidDeviceId ((int)-2)

extern "C" {
// Errors
hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);
const char* hipGetErrorString(hipError_t error);
const char* hipGetErrorName(hipError_t error);

// Memory
hipError_t hipMalloc(void** pointer, size_t bytes);
hipError_t hipFree(void* pointer);
hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned flags);
hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned flags);
hipError_t hipMallocHost(void** pointer, size_t bytes);
hipError_t hipHostFree(void* pointer);
hipError_t hipFreeHost(void* pointer);
hipError_t hipHostRegister(void* pointer, size_t bytes, unsigned flags);
hipError_t hipHostUnregister(void* pointer);
hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned flags);
hipError_t hipHostGetFlags(unsigned* flags, void* host);
hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream);
hipError_t hipFreeAsync(void* pointer, hipStream_t stream);
hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
hipError_t hipMemGetInfo(size_t* free, size_t* total);
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer);
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* pointer);
hipError_t hipIpcOpenMemHandle(void** pointer, hipIpcMemHandle_t handle, unsigned flags);
hipError_t hipIpcCloseMemHandle(void* pointer);
hipError_t hipMemPrefetchAsync(const void* pointer, size_t bytes, int device, hipStream_t stream = nullptr);
hipError_t hipMemAdvise(const void* pointer, size_t bytes, hipMemoryAdvise advice, int device);

// Copies
hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemcpyWithStream(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t bytes);
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes);
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void* from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t stream);
hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes);
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                              hipStream_t stream = nullptr);
hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind);
hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                            size_t height, hipMemcpyKind kind, hipStream_t stream = nullptr);
hipError_t hipMemset(void* to, int value, size_t bytes);
hipError_t hipMemsetAsync(void* to, int value, size_t bytes, hipStream_t stream = nullptr);
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count);
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count);
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count);
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream = nullptr);
hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height);
hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream = nullptr);
hipError_t hipcpu_copy_symbol(void* symbol, size_t symbol_bytes, void* memory, size_t bytes, size_t offset,
                              int to_symbol);

// Streams and events
hipError_t hipStreamCreate(hipStream_t* stream);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags);
hipError_t hipStreamGetPriority(hipStream_t stream, int* priority);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0);
hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void* argument, unsigned flags);
hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* argument);
hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop);
}

// C++ overloads: typed pointers, default arguments, symbols by name.

template <class T>
inline hipError_t hipMalloc(T** pointer, size_t bytes) {
  return hipMalloc(reinterpret_cast<void**>(pointer), bytes);
}

template <class T>
inline hipError_t hipMallocManaged(T** pointer, size_t bytes, unsigned flags = hipMemAttachGlobal) {
  return hipMallocManaged(reinterpret_cast<void**>(pointer), bytes, flags);
}

template <class T>
inline hipError_t hipHostMalloc(T** pointer, size_t bytes, unsigned flags = hipHostMallocDefault) {
  return hipHostMalloc(reinterpret_cast<void**>(pointer), bytes, flags);
}

template <class T>
inline hipError_t hipMallocHost(T** pointer, size_t bytes) {
  return hipMallocHost(reinterpret_cast<void**>(pointer), bytes);
}

template <class T>
inline hipError_t hipMallocAsync(T** pointer, size_t bytes, hipStream_t stream) {
  return hipMallocAsync(reinterpret_cast<void**>(pointer), bytes, stream);
}

template <class T>
inline hipError_t hipMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return hipMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}

template <class T>
inline hipError_t hipHostGetDevicePointer(T** device, void* host, unsigned flags) {
  return hipHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}

#define HIP_SYMBOL(symbol) symbol

template <class T>
inline hipError_t hipMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                    hipMemcpyKind = hipMemcpyHostToDevice) {
  return hipcpu_copy_symbol(const_cast<void*>(static_cast<const volatile void*>(&symbol)), sizeof symbol,
                            const_cast<void*>(from), bytes, offset, 1);
}

template <class T>
inline hipError_t hipMemcpyFromSymbol(void* to, T& symbol, size_t bytes, size_t offset = 0,
                                      hipMemcpyKind = hipMemcpyDeviceToHost) {
  return hipcpu_copy_symbol(const_cast<void*>(static_cast<const volatile void*>(&symbol)), sizeof symbol, to, bytes,
                            offset, 0);
}

template <class T>
inline hipError_t hipMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                         hipMemcpyKind kind = hipMemcpyHostToDevice, hipStream_t = nullptr) {
  return hipMemcpyToSymbol(symbol, from, bytes, offset, kind);
}

template <class T>
inline hipError_t hipMemcpyFromSymbolAsync(void* to, T& symbol, size_t bytes, size_t offset = 0,
                                           hipMemcpyKind kind = hipMemcpyDeviceToHost, hipStream_t = nullptr) {
  return hipMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

template <class T>
inline hipError_t hipGetSymbolAddress(void** address, T& symbol) {
  *address = const_cast<void*>(static_cast<const volatile void*>(&symbol));
  return hipSuccess;
}

template <class T>
inline hipError_t hipGetSymbolSize(size_t* bytes, T&) {
  *bytes = sizeof(T);
  return hipSuccess;
}
