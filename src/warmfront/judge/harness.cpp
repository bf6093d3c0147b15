// The harness on a GPU: it owns the device memory of a case, and never loads foreign code.
//
// For each tensor of each slot it has two allocations. The *shared* one is open in the guest, by an IPC handle. The
// *private* one is not: inputs wait in it until the guest is let run, and outputs are saved in it before anything else
// happens. The judge commands each step, and measures the time around REVEAL, the guest's calls and SAVE. Only
// public HIP calls are used, so that one source serves ROCm and the CPU runtime.
#include <hip/hip_runtime.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#if __has_include(<hipcpu/hooks.h>)
#include <hipcpu/hooks.h>
#define ON_CPU_RUNTIME 1
#else
#define ON_CPU_RUNTIME 0
#endif

namespace {

enum Op : uint32_t { kAllocate = 1, kFill = 2, kReveal = 3, kSave = 4, kCollect = 5, kQuit = 6, kDescribe = 7 };
enum Kind : uint32_t { kOk = 1, kError = 3 };

struct Header {
  uint32_t op_or_kind;
  uint32_t size;
  uint64_t nonce;
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

std::string box;
int commands_fd;
int answers_fd;
uint64_t current_nonce;

void read_exactly(int fd, void* into, size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    ssize_t got = read(fd, at, size);
    if (got <= 0) _exit(0);  // the judge closed the channel
    at += got;
    size -= static_cast<size_t>(got);
  }
}

void answer(Kind kind, const void* payload, size_t size) {
  Header header{kind, static_cast<uint32_t>(size), current_nonce};
  std::vector<char> message(sizeof header + size);
  std::memcpy(message.data(), &header, sizeof header);
  if (size > 0) std::memcpy(message.data() + sizeof header, payload, size);
  for (size_t done = 0; done < message.size();) {
    ssize_t put = write(answers_fd, message.data() + done, message.size() - done);
    if (put <= 0) _exit(0);
    done += static_cast<size_t>(put);
  }
}

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
    std::memcpy(&header_, payload.data(), sizeof header_);
    regions_.resize(header_.regions);
    std::memcpy(regions_.data(), payload.data() + sizeof header_, regions_.size() * sizeof(Region));
    if (!map_data()) return hipErrorInvalidValue;
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
      char* data = data_ + i / header_.regions * header_.slot_stride + region.offset;
      const hipError_t error = copy(i, data, region.bytes);
      if (error != hipSuccess) return error;
    }
    return hipDeviceSynchronize();
  }

  bool map_data() {
    int fd = open((box + "/data").c_str(), O_RDWR | O_CLOEXEC);
    struct stat status {};
    if (fd < 0 || fstat(fd, &status) != 0) return false;
    data_bytes_ = static_cast<size_t>(status.st_size);
    void* at = mmap(nullptr, data_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    data_ = at == MAP_FAILED ? nullptr : static_cast<char*>(at);
    return data_ != nullptr;
  }

  void release() {
    for (void* memory : private_) (void)hipFree(memory);
    for (void* memory : shared_) (void)hipFree(memory);
    private_.clear();
    shared_.clear();
    if (data_ != nullptr) munmap(data_, data_bytes_);
    data_ = nullptr;
  }

  AllocateHeader header_{};
  std::vector<Region> regions_;
  std::vector<void*> private_;
  std::vector<void*> shared_;
  char* data_ = nullptr;
  size_t data_bytes_ = 0;
};

void serve() {
  Memory memory;
  for (;;) {
    Header header{};
    read_exactly(commands_fd, &header, sizeof header);
    std::vector<char> payload(header.size);
    read_exactly(commands_fd, payload.data(), payload.size());
    current_nonce = header.nonce;
    uint32_t slots = 0;
    if (payload.size() == sizeof slots) std::memcpy(&slots, payload.data(), sizeof slots);
    switch (header.op_or_kind) {
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
  commands_fd = open((box + "/commands").c_str(), O_RDONLY | O_CLOEXEC);
  answers_fd = open((box + "/answers").c_str(), O_WRONLY | O_CLOEXEC);
  if (commands_fd < 0 || answers_fd < 0) return 70;
  serve();
}
