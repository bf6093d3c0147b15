// The harness on a GPU: it owns the device memory of a case, and never loads foreign code.
//
// For each tensor of each slot it has two allocations. The *shared* one is open in the guest, by an IPC handle. The
// *private* one is not: inputs wait in it until the guest is let run, and outputs are saved in it before anything else
// happens. The judge commands each step, and measures the time around REVEAL, the guest's calls and SAVE. Only
// public HIP calls are used, so that one source serves ROCm and the CPU runtime.
#include <hip/hip_runtime.h>

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "channel.h"
#include "device_check.h"

#if __has_include(<hipcpu/hooks.h>)
#include <hipcpu/hooks.h>
#define ON_CPU_RUNTIME 1
#else
#define ON_CPU_RUNTIME 0
#endif

namespace {

using channel::answer;
using channel::box;
using channel::kError;
using channel::kOk;

enum Op : uint32_t {
  kAllocate = 1,
  kFill = 2,
  kReveal = 3,
  kSave = 4,
  kCollect = 5,
  kQuit = 6,
  kDescribe = 7,
  kCheckDevice = 8
};

// Followed by the regions. The other commands have the number of slots as their payload.
struct AllocateHeader {
  uint32_t slots;
  uint32_t regions;
  uint64_t slot_stride;  // bytes between slots in the data file
};

struct Region {
  uint64_t bytes;
  uint64_t offset;  // in the data file
};

void answer(hipError_t error) {
  const char* name = error == hipSuccess ? "" : hipGetErrorName(error);
  answer(error == hipSuccess ? kOk : kError, name, std::strlen(name));
}

std::string quote(const char* text) {
  std::string quoted = "\"";
  for (; *text != '\0'; ++text)
    if (*text >= ' ' && *text <= '~' && *text != '"' && *text != '\\') quoted += *text;
  return quoted + '"';
}

// Answers with what the device and the runtime are, as one JSON object; see hip/device_facts.py.
void describe() {
  int device = 0;
  int version = 0;
  hipDeviceProp_t properties{};
  hipError_t error = hipGetDevice(&device);
  if (error == hipSuccess) error = hipGetDeviceProperties(&properties, device);
  if (error == hipSuccess) error = hipRuntimeGetVersion(&version);
  if (error != hipSuccess) return answer(error);
  char numbers[256];
  std::snprintf(numbers, sizeof numbers,
                ",\"compute_units\":%d,\"memory_bytes\":%zu,\"pci_bus_id\":\"%04x:%02x:%02x.0\","
                "\"hip_runtime_version\":\"%d.%d.%d\"}",
                properties.multiProcessorCount, properties.totalGlobalMem, static_cast<unsigned>(properties.pciDomainID),
                static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID),
                version / 10000000, version / 100000 % 100, version % 100000);
  const std::string text =
      "{\"arch\":" + quote(properties.gcnArchName) + ",\"name\":" + quote(properties.name) + numbers;
  answer(kOk, text.data(), text.size());
}

class Memory {
 public:
  hipError_t allocate(const std::vector<char>& payload, std::vector<hipIpcMemHandle_t>& handles) {
    release();
    channel::PayloadReader reader(payload);
    header_ = reader.take<AllocateHeader>();
    regions_ = reader.take<Region>(header_.regions);
    if (!data_.map()) return hipErrorInvalidValue;
    for (uint32_t i = 0; i < header_.slots * header_.regions; ++i) {
      void* memory = nullptr;
      hipIpcMemHandle_t handle{};
      const size_t bytes = regions_[i % header_.regions].bytes;
      hipError_t error = hipMalloc(&memory, bytes);
      if (error != hipSuccess) return error;
      private_.push_back(memory);
      error = hipMalloc(&memory, bytes);
      if (error != hipSuccess) return error;
      shared_.push_back(memory);
      error = hipIpcGetMemHandle(&handle, memory);
      if (error != hipSuccess) return error;
      handles.push_back(handle);
    }
    return hipSuccess;
  }

  // Data file to private memory: the guest does not see it.
  hipError_t fill(uint32_t slots) {
    return for_each(slots, [this](size_t i, char* data, size_t bytes) {
      return hipMemcpy(private_[i], data, bytes, hipMemcpyHostToDevice);
    });
  }

  hipError_t reveal(uint32_t slots) {
    return for_each(slots, [this](size_t i, char*, size_t bytes) {
      return hipMemcpyAsync(shared_[i], private_[i], bytes, hipMemcpyDeviceToDevice, nullptr);
    });
  }

  hipError_t save(uint32_t slots) {
    return for_each(slots, [this](size_t i, char*, size_t bytes) {
      return hipMemcpyAsync(private_[i], shared_[i], bytes, hipMemcpyDeviceToDevice, nullptr);
    });
  }

  hipError_t collect(uint32_t slots) {
    return for_each(slots, [this](size_t i, char* data, size_t bytes) {
      return hipMemcpy(data, private_[i], bytes, hipMemcpyDeviceToHost);
    });
  }

 private:
  template <class Copy>
  hipError_t for_each(uint32_t slots, Copy copy) {
    if (slots > header_.slots) return hipErrorInvalidValue;
    for (size_t i = 0; i < size_t{slots} * header_.regions; ++i) {
      const Region& region = regions_[i % header_.regions];
      char* data = data_.data() + i / header_.regions * header_.slot_stride + region.offset;
      const hipError_t error = copy(i, data, region.bytes);
      if (error != hipSuccess) return error;
    }
    return hipDeviceSynchronize();
  }

  void release() {
    for (void* memory : private_) (void)hipFree(memory);
    for (void* memory : shared_) (void)hipFree(memory);
    private_.clear();
    shared_.clear();
    data_.unmap();
  }

  AllocateHeader header_{};
  std::vector<Region> regions_;
  std::vector<void*> private_;
  std::vector<void*> shared_;
  channel::DataFile data_;
};

void serve() {
  Memory memory;
  std::vector<char> payload;
  for (;;) {
    const uint32_t op = channel::receive(payload);
    uint32_t slots = 0;
    if (payload.size() == sizeof slots) std::memcpy(&slots, payload.data(), sizeof slots);
    switch (op) {
      case kAllocate: {
        std::vector<hipIpcMemHandle_t> handles;
        const hipError_t error = memory.allocate(payload, handles);
        if (error == hipSuccess)
          answer(kOk, handles.data(), handles.size() * sizeof(hipIpcMemHandle_t));
        else
          answer(error);
        break;
      }
      case kFill: answer(memory.fill(slots)); break;
      case kReveal: answer(memory.reveal(slots)); break;
      case kSave: answer(memory.save(slots)); break;
      case kCollect: answer(memory.collect(slots)); break;
      case kDescribe: describe(); break;
      case kCheckDevice: {
        DeviceCheck result;
        const std::string error = check_device(result);
        error.empty() ? answer(kOk, &result, sizeof result) : answer(kError, error.data(), error.size());
        break;
      }
      default: _exit(0);
    }
  }
}

}  // namespace

int main(int, char** arguments) {
  box = arguments[1];
#if ON_CPU_RUNTIME
  const char* folder = getenv("HIPCPU_IPC_DIR");
  hipcpu_ipc_export(folder != nullptr ? folder : box.c_str());
#endif
  (void)hipFree(nullptr);  // initialise the HIP runtime before anything is timed
  if (!channel::open_fifos()) return 70;
  serve();
}
