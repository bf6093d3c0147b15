// Device properties and attributes: those of an MI300X, as far as a CPU can provide them.
#pragma once

#include <cstddef>

#include <hipshared/errors.h>

// The attributes and their values on gfx942.
#define HIPSHARED_ATTRIBUTES(X) \
  X(hipDeviceAttributeWarpSize, 64) \
  X(hipDeviceAttributeMultiprocessorCount, 304) \
  X(hipDeviceAttributeMaxThreadsPerBlock, 1024) \
  X(hipDeviceAttributeMaxBlockDimX, 1024) \
  X(hipDeviceAttributeMaxBlockDimY, 1024) \
  X(hipDeviceAttributeMaxBlockDimZ, 1024) \
  X(hipDeviceAttributeMaxGridDimX, 2147483647) \
  X(hipDeviceAttributeMaxGridDimY, 65536) \
  X(hipDeviceAttributeMaxGridDimZ, 65536) \
  X(hipDeviceAttributeMaxSharedMemoryPerBlock, 65536) \
  X(hipDeviceAttributeSharedMemPerBlockOptin, 65536) \
  X(hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, 65536) \
  X(hipDeviceAttributeTotalConstantMemory, 2147483647) \
  X(hipDeviceAttributeMaxRegistersPerBlock, 65536) \
  X(hipDeviceAttributeMaxRegistersPerMultiprocessor, 131072) \
  X(hipDeviceAttributeMaxThreadsPerMultiProcessor, 2048) \
  X(hipDeviceAttributeMaxBlocksPerMultiProcessor, 32) \
  X(hipDeviceAttributeClockRate, 2100000) \
  X(hipDeviceAttributeWallClockRate, 100000) \
  X(hipDeviceAttributeMemoryClockRate, 1300000) \
  X(hipDeviceAttributeMemoryBusWidth, 8192) \
  X(hipDeviceAttributeL2CacheSize, 4194304) \
  X(hipDeviceAttributeComputeCapabilityMajor, 9) \
  X(hipDeviceAttributeComputeCapabilityMinor, 4) \
  X(hipDeviceAttributeConcurrentKernels, 1) \
  X(hipDeviceAttributeAsyncEngineCount, 8) \
  X(hipDeviceAttributeUnifiedAddressing, 1) \
  X(hipDeviceAttributeManagedMemory, 1) \
  X(hipDeviceAttributeConcurrentManagedAccess, 1) \
  X(hipDeviceAttributePageableMemoryAccess, 0) \
  X(hipDeviceAttributeCanMapHostMemory, 1) \
  X(hipDeviceAttributeCooperativeLaunch, 1) \
  X(hipDeviceAttributeCooperativeMultiDeviceLaunch, 1) \
  X(hipDeviceAttributeIntegrated, 0) \
  X(hipDeviceAttributeEccEnabled, 1) \
  X(hipDeviceAttributePciBusId, 0) \
  X(hipDeviceAttributePciDeviceId, 0) \
  X(hipDeviceAttributeMemoryPoolsSupported, 1)

typedef enum hipDeviceAttribute_t {
#define HIPSHARED_ENUMERATOR(name, value) name,
  HIPSHARED_ATTRIBUTES(HIPSHARED_ENUMERATOR)
#undef HIPSHARED_ENUMERATOR
} hipDeviceAttribute_t;

typedef struct hipDeviceProp_t {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate;  // kHz
  size_t totalConstMem;
  int major;
  int minor;
  size_t textureAlignment;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int computeMode;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int memoryClockRate;  // kHz
  int memoryBusWidth;   // bits
  int l2CacheSize;
  int maxThreadsPerMultiProcessor;
  int maxBlocksPerMultiProcessor;
  size_t sharedMemPerMultiprocessor;
  size_t sharedMemPerBlockOptin;
  size_t maxSharedMemoryPerMultiProcessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int concurrentManagedAccess;
  int unifiedAddressing;
  int cooperativeLaunch;
  int asyncEngineCount;
  int isMultiGpuBoard;
  int clockInstructionRate;  // kHz
  char gcnArchName[256];
} hipDeviceProp_t;

typedef struct hipFuncAttributes {
  int binaryVersion;
  int cacheModeCA;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxDynamicSharedSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int preferredShmemCarveout;
  int ptxVersion;
  size_t sharedSizeBytes;
} hipFuncAttributes;

typedef enum hipFuncAttribute {
  hipFuncAttributeMaxDynamicSharedMemorySize = 8,
  hipFuncAttributePreferredSharedMemoryCarveout = 9,
} hipFuncAttribute;

typedef enum hipFuncCache_t {
  hipFuncCachePreferNone,
  hipFuncCachePreferShared,
  hipFuncCachePreferL1,
  hipFuncCachePreferEqual,
} hipFuncCache_t;

typedef enum hipSharedMemConfig {
  hipSharedMemBankSizeDefault,
  hipSharedMemBankSizeFourByte,
  hipSharedMemBankSizeEightByte,
} hipSharedMemConfig;

typedef enum hipLimit_t {
  hipLimitStackSize,
  hipLimitPrintfFifoSize,
  hipLimitMallocHeapSize,
} hipLimit_t;

#define hipDeviceScheduleAuto 0x0
#define hipDeviceScheduleSpin 0x1
#define hipDeviceScheduleYield 0x2
#define hipDeviceScheduleBlockingSync 0x4
#define hipDeviceMapHost 0x8

extern "C" {
hipError_t hipInit(unsigned flags);
hipError_t hipGetDeviceCount(int* count);
hipError_t hipGetDevice(int* device);
hipError_t hipSetDevice(int device);
hipError_t hipSetDeviceFlags(unsigned flags);
hipError_t hipDeviceReset(void);
hipError_t hipDeviceSynchronize(void);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device);
hipError_t hipDeviceGetName(char* name, int length, int device);
hipError_t hipDeviceTotalMem(size_t* bytes, int device);
hipError_t hipDeviceGetLimit(size_t* value, hipLimit_t limit);
hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value);
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t config);
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config);
hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest);
hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer);
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
hipError_t hipDriverGetVersion(int* version);
hipError_t hipRuntimeGetVersion(int* version);
hipError_t hipFuncSetAttribute(const void* kernel, hipFuncAttribute attribute, int value);
hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* kernel);
hipError_t hipFuncSetCacheConfig(const void* kernel, hipFuncCache_t config);
hipError_t hipFuncSetSharedMemConfig(const void* kernel, hipSharedMemConfig config);
hipError_t hipcpu_occupancy(int* blocks, int block_size, size_t shared_bytes);
}

// The result does not depend on the kernel.

template <class Kernel>
inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int block_size,
                                                               size_t shared_bytes) {
  return hipcpu_occupancy(blocks, block_size, shared_bytes);
}

template <class Kernel>
inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, Kernel, int block_size,
                                                                        size_t shared_bytes, unsigned = 0) {
  return hipcpu_occupancy(blocks, block_size, shared_bytes);
}

template <class Kernel>
inline hipError_t hipOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, Kernel, size_t shared_bytes = 0,
                                                    int limit = 0) {
  if (!grid_size || !block_size) return hipErrorInvalidValue;
  *block_size = limit > 0 && limit < 1024 ? limit : 1024;
  int blocks = 0;
  const hipError_t error = hipcpu_occupancy(&blocks, *block_size, shared_bytes);
  *grid_size = 304 * blocks;
  return error;
}
