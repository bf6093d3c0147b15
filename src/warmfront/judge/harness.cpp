// The harness on a GPU. It owns the device memory of a case, and never loads submitted code.
//
// For each tensor of each slot it has two allocations. The *shared* one is open in the guest, by an IPC handle. The
// *private* one is not: it holds the inputs until the guest is resumed, and the outputs are saved in it
// before anything else happens. The judge commands each step, and measures the time around REVEAL, the
// guest's calls and SAVE. Only public HIP calls are used, so that one source serves ROCm and the CPU runtime.
//
// The inputs of a check are copied from the data file. Those of timed calls are mixed on the device from base sets
// (slot_kernels.h), and their outputs are checked on the device (device_references.h): large cases would take the
// judge minutes, and each call must have inputs that no other call has.
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
#include "device_probes.h"
#include "device_references.h"
#include "slot_kernels.h"

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
  kCheckDevice = 8,
  kStoreBase = 9,
  kMix = 10,
  kVerify = 11,
  kProbeResidue = 20,
  kMeasureCopies = 21,
};

// Followed by the regions.
struct AllocateHeader {
  uint32_t slots;
  uint32_t regions;
  uint32_t bases;
  uint32_t reserved;
  uint64_t flush_bytes;  // written by REVEAL, so that no call finds its inputs in a cache
};

struct Region {
  uint64_t bytes;
  uint64_t offset;      // in the data file, which has room for one slot
  uint64_t front;       // guard bytes before the first element
  uint64_t data_bytes;  // of the elements
  uint32_t item_bytes;  // of one element
  uint32_t output;
  uint32_t pattern;  // of the guard zones and the poison
  uint32_t is_half;
};

// The base sets from which the inputs of one slot are mixed.
struct Mix {
  uint32_t first;
  uint32_t second;
  uint64_t key;
};

// Followed by a tolerance for each slot, and the values of the parameters that are not tensors, as doubles.
struct VerifyHeader {
  char slug[64];  // of the problem
  uint32_t slots;
  uint32_t numbers;
  uint64_t key;
  uint64_t share;  // one row out of this many is checked, for outputs whose reference is slow
};

struct Tolerance {
  double rtol;
  double atol;
};

// How many elements, words or half words of a slot are wrong: the judge checks the slot itself unless all are 0.
struct SlotReport {
  unsigned long long changed_inputs;
  unsigned long long guard_writes;
  unsigned long long wrong_outputs;
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

// Answers with a description of the device and the runtime, as one JSON object; see hip/device_facts.py.
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
    // Copies from pinned memory are several times as fast. Without pinning they still work.
    is_pinned_ = hipHostRegister(data_.data(), data_.bytes(), hipHostRegisterDefault) == hipSuccess;
    (void)hipGetLastError();
    hipError_t error = allocate_flush();
    for (uint32_t slot = 0; slot < header_.slots; ++slot)
      for (const Region& region : regions_) {
        if (error == hipSuccess) error = add(private_, region.bytes);
        if (error == hipSuccess) error = add(shared_, region.bytes);
        hipIpcMemHandle_t handle{};
        if (error == hipSuccess) error = hipIpcGetMemHandle(&handle, shared_.back());
        handles.push_back(handle);
      }
    for (uint32_t base = 0; base < header_.bases; ++base)
      for (const Region& region : regions_)
        if (error == hipSuccess) error = add(bases_, region.output != 0 ? 4 : region.bytes);
    void* reports = nullptr;
    if (error == hipSuccess) error = hipMalloc(&reports, header_.slots * sizeof(SlotReport));
    reports_ = static_cast<SlotReport*>(reports);
    return error;
  }

  // Copies the data file to the private memory of the first slot, which the guest cannot access.
  hipError_t fill() { return store(private_, 0, 1); }

  // Copies the data file to a base set.
  hipError_t store_base(uint32_t base) { return base < header_.bases ? store(bases_, base, 0) : hipErrorInvalidValue; }

  // Mixes the inputs of the first slots, in private memory, and poisons their outputs.
  hipError_t mix(const std::vector<Mix>& mixes) {
    if (mixes.size() > header_.slots) return hipErrorInvalidValue;
    for (uint32_t slot = 0; slot < mixes.size(); ++slot) {
      if (mixes[slot].first >= header_.bases || mixes[slot].second >= header_.bases) return hipErrorInvalidValue;
      for (uint32_t i = 0; i < regions_.size(); ++i) mix(slot, i, mixes[slot]);
    }
    return finish();
  }

  hipError_t reveal(uint32_t slots) {
    if (slots > header_.slots) return hipErrorInvalidValue;
    for (uint32_t slot = 0; slot < slots; ++slot)
      for (uint32_t i = 0; i < regions_.size(); ++i)
        if (regions_[i].output == 0) copy(shared_[at(slot, i)], private_[at(slot, i)], regions_[i].bytes);
    if (flush_ != nullptr) (void)hipMemsetAsync(flush_, ++flush_value_, flush_bytes_, nullptr);
    return finish();
  }

  hipError_t save(uint32_t slots) {
    if (slots > header_.slots) return hipErrorInvalidValue;
    for (uint32_t slot = 0; slot < slots; ++slot)
      for (uint32_t i = 0; i < regions_.size(); ++i)
        if (regions_[i].output != 0) copy(private_[at(slot, i)], shared_[at(slot, i)], regions_[i].bytes);
    return finish();
  }

  // Copies the outputs of a slot to the data file, and its inputs if they were changed.
  hipError_t collect(uint32_t slot, uint32_t& is_changed) {
    if (slot >= header_.slots) return hipErrorInvalidValue;
    unsigned long long changed = 0;
    hipError_t error = count_changed(slot, changed);
    is_changed = changed != 0;
    for (uint32_t i = 0; i < regions_.size(); ++i) {
      if (error != hipSuccess) return error;
      const Region& region = regions_[i];
      const void* from = region.output != 0 ? private_[at(slot, i)] : shared_[at(slot, i)];
      if (region.output != 0 || is_changed)
        error = hipMemcpy(data_.data() + region.offset, from, region.bytes, hipMemcpyDeviceToHost);
    }
    return error;
  }

  // Checks the inputs, the guard zones and, if there is a reference, the outputs of the first slots.
  hipError_t verify(const VerifyHeader& header, const std::vector<Tolerance>& tolerances,
                    const std::vector<double>& numbers, std::vector<SlotReport>& reports) {
    if (header.slots == 0) return hipSuccess;
    if (header.slots > header_.slots || header.share == 0 || reports_ == nullptr) return hipErrorInvalidValue;
    (void)hipMemsetAsync(reports_, 0, header.slots * sizeof(SlotReport), nullptr);
    for (uint32_t slot = 0; slot < header.slots; ++slot) {
      check_bytes(slot, reports_[slot]);
      const hipError_t error =
          references::count_wrong(header.slug, call_of(slot, numbers), tolerances[slot].rtol, tolerances[slot].atol,
                                  header.key + slot, header.share, &reports_[slot].wrong_outputs);
      if (error != hipSuccess) return error;
    }
    reports.resize(header.slots);
    return hipMemcpy(reports.data(), reports_, reports.size() * sizeof(SlotReport), hipMemcpyDeviceToHost);
  }

 private:
  size_t at(uint32_t slot, uint32_t region) const { return size_t{slot} * regions_.size() + region; }

  // Allocated with the first plan, before submitted code can take all memory.
  hipError_t allocate_flush() {
    if (header_.flush_bytes <= flush_bytes_) return hipSuccess;
    if (flush_ != nullptr) (void)hipFree(flush_);
    flush_bytes_ = header_.flush_bytes;
    return hipMalloc(&flush_, flush_bytes_);
  }

  hipError_t add(std::vector<void*>& list, size_t bytes) {
    void* memory = nullptr;
    const hipError_t error = hipMalloc(&memory, bytes);
    if (error == hipSuccess) list.push_back(memory);
    return error;
  }

  // Copies the inputs from the data file, and poisons the outputs of the first `slots`.
  hipError_t store(std::vector<void*>& list, uint32_t set, uint32_t slots) {
    for (uint32_t i = 0; i < regions_.size(); ++i) {
      const Region& region = regions_[i];
      if (region.output == 0)
        (void)hipMemcpyAsync(list[at(set, i)], data_.data() + region.offset, region.bytes, hipMemcpyHostToDevice, nullptr);
      for (uint32_t slot = 0; region.output != 0 && slot < slots; ++slot) poison(shared_[at(slot, i)], region);
    }
    return finish();
  }

  void poison(void* memory, const Region& region) {
    (void)hipMemsetD32Async(reinterpret_cast<hipDeviceptr_t>(memory), static_cast<int>(region.pattern),
                            region.bytes / 4, nullptr);
  }

  void copy(void* to, const void* from, size_t bytes) {
    (void)hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, nullptr);
  }

  void mix(uint32_t slot, uint32_t i, const Mix& mix) {
    const Region& region = regions_[i];
    poison(region.output != 0 ? shared_[at(slot, i)] : private_[at(slot, i)], region);
    if (region.output != 0) return;
    if (region.item_bytes == 2)
      mix_elements<uint16_t>(slot, i, mix);
    else
      mix_elements<uint32_t>(slot, i, mix);
  }

  template <class T>
  void mix_elements(uint32_t slot, uint32_t i, const Mix& mix) {
    auto elements = [this, i](const std::vector<void*>& list, uint32_t set) {
      return reinterpret_cast<T*>(static_cast<char*>(list[at(set, i)]) + regions_[i].front);
    };
    const uint64_t count = regions_[i].data_bytes / sizeof(T);
    LAUNCH((slots::mix<T>), count, elements(private_, slot), static_cast<const T*>(elements(bases_, mix.first)),
           static_cast<const T*>(elements(bases_, mix.second)), count, i, mix.key);
  }

  void compare(uint32_t slot, uint32_t i, unsigned long long* count) {
    const uint64_t words = regions_[i].bytes / 4;
    LAUNCH(slots::count_different, words, static_cast<const uint32_t*>(shared_[at(slot, i)]),
           static_cast<const uint32_t*>(private_[at(slot, i)]), words, count);
  }

  hipError_t count_changed(uint32_t slot, unsigned long long& changed) {
    void* count = nullptr;
    hipError_t error = hipMalloc(&count, sizeof changed);
    if (error != hipSuccess) return error;
    (void)hipMemset(count, 0, sizeof changed);
    for (uint32_t i = 0; i < regions_.size(); ++i)
      if (regions_[i].output == 0) compare(slot, i, static_cast<unsigned long long*>(count));
    error = hipMemcpy(&changed, count, sizeof changed, hipMemcpyDeviceToHost);
    (void)hipFree(count);
    return error;
  }

  void check_bytes(uint32_t slot, SlotReport& report) {
    for (uint32_t i = 0; i < regions_.size(); ++i) {
      const Region& region = regions_[i];
      if (region.output == 0) {
        compare(slot, i, &report.changed_inputs);
        continue;
      }
      const uint64_t from = region.front / 2, to = (region.front + region.data_bytes) / 2, end = region.bytes / 2;
      LAUNCH(slots::count_guard_writes, from + end - to, static_cast<const uint16_t*>(private_[at(slot, i)]), from, to,
             end, region.pattern, &report.guard_writes);
    }
  }

  references::Call call_of(uint32_t slot, const std::vector<double>& numbers) {
    references::Call call{{}, {}, numbers, &scratch_, {}};
    for (uint32_t i = 0; i < regions_.size(); ++i) {
      const Region& region = regions_[i];
      const references::Tensor tensor{static_cast<const char*>(private_[at(slot, i)]) + region.front,
                                      region.data_bytes / region.item_bytes, region.is_half != 0};
      if (region.output != 0)
        call.output = tensor;
      else
        call.inputs.push_back(tensor);
    }
    return call;
  }

  hipError_t finish() {
    const hipError_t error = hipDeviceSynchronize();
    return error != hipSuccess ? error : hipGetLastError();
  }

  void release() {
    for (std::vector<void*>* list : {&private_, &shared_, &bases_}) {
      for (void* memory : *list) (void)hipFree(memory);
      list->clear();
    }
    if (reports_ != nullptr) (void)hipFree(reports_);
    reports_ = nullptr;
    scratch_.release();
    if (is_pinned_) (void)hipHostUnregister(data_.data());
    is_pinned_ = false;
    data_.unmap();
  }

  AllocateHeader header_{};
  std::vector<Region> regions_;
  std::vector<void*> private_;
  std::vector<void*> shared_;
  std::vector<void*> bases_;
  SlotReport* reports_ = nullptr;
  references::Scratch scratch_;
  void* flush_ = nullptr;
  uint64_t flush_bytes_ = 0;
  int flush_value_ = 0;
  channel::DataFile data_;
  bool is_pinned_ = false;
};

void allocate(Memory& memory, const std::vector<char>& payload) {
  std::vector<hipIpcMemHandle_t> handles;
  const hipError_t error = memory.allocate(payload, handles);
  if (error != hipSuccess) return answer(error);
  answer(kOk, handles.data(), handles.size() * sizeof(hipIpcMemHandle_t));
}

void collect(Memory& memory, uint32_t slot) {
  uint32_t is_changed = 0;
  const hipError_t error = memory.collect(slot, is_changed);
  if (error != hipSuccess) return answer(error);
  answer(kOk, &is_changed, sizeof is_changed);
}

// Answers with an empty payload if there is no reference for the problem.
void verify(Memory& memory, channel::PayloadReader reader) {
  auto header = reader.take<VerifyHeader>();
  header.slug[sizeof header.slug - 1] = '\0';
  const auto tolerances = reader.take<Tolerance>(header.slots);
  const auto numbers = reader.take<double>(header.numbers);
  std::vector<SlotReport> reports;
  if (!references::exists(header.slug)) return answer(kOk, "", 0);
  const hipError_t error = memory.verify(header, tolerances, numbers, reports);
  if (error != hipSuccess) return answer(error);
  const uint64_t count = reports.size();
  std::vector<char> body(sizeof count + count * sizeof(SlotReport));
  std::memcpy(body.data(), &count, sizeof count);
  if (count > 0) std::memcpy(body.data() + sizeof count, reports.data(), count * sizeof(SlotReport));
  answer(kOk, body.data(), body.size());
}

void serve() {
  Memory memory;
  std::vector<char> payload;
  for (;;) {
    channel::Header header{};
    channel::receive(header, payload);
    channel::PayloadReader reader(payload);
    switch (header.op_or_kind) {
      case kAllocate: allocate(memory, payload); break;
      case kFill: answer(memory.fill()); break;
      case kStoreBase: answer(memory.store_base(reader.take<uint32_t>())); break;
      case kMix: {
        const auto count = reader.take<uint64_t>();
        answer(memory.mix(reader.take<Mix>(count)));
        break;
      }
      case kReveal: answer(memory.reveal(reader.take<uint32_t>())); break;
      case kSave: answer(memory.save(reader.take<uint32_t>())); break;
      case kCollect: collect(memory, reader.take<uint32_t>()); break;
      case kVerify: verify(memory, reader); break;
      case kDescribe: describe(); break;
      case kCheckDevice: {
        DeviceCheck result;
        const std::string error = check_device(result);
        error.empty() ? answer(kOk, &result, sizeof result) : answer(kError, error.data(), error.size());
        break;
      }
      case kProbeResidue: {
        ResidueResult result;
        const hipError_t error = probe_residue(reader.take<ResidueProbe>(), result);
        error == hipSuccess ? answer(kOk, &result, sizeof result) : answer(error);
        break;
      }
      case kMeasureCopies: {
        CopyRates rates;
        const hipError_t error = measure_copies(reader.take<uint64_t>(), rates);
        error == hipSuccess ? answer(kOk, &rates, sizeof rates) : answer(error);
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
  (void)hipFree(nullptr);  // initialize the HIP runtime before anything is timed
  if (!channel::open_fifos()) return 70;
  serve();
}
