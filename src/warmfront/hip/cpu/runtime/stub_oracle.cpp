// Oracle kernels: see hipcpu/stub_gpu.h. HIPCPU_STUB_ANSWERS is the folder with the answers: `index`, whose records are
// below, and one file per answer with the bytes of its outputs, in order.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <hipcpu/launch.h>
#include <hipcpu/stub_gpu.h>

#include "memory.h"
#include "status.h"
#include "stub_gpu.h"

namespace hipcpu {

namespace {

constexpr size_t kMaxTensors = 12;

// The same layout as in oracle.py.
struct Answer {
  char file[32];
  int64_t duration_ns;
  uint64_t tensors;
  uint64_t fingerprint;  // of the inputs
  uint64_t bytes[kMaxTensors];
};
static_assert(sizeof(Answer) == 152);

// A sum over 8-byte words with different factors; of large tensors, over words at equal distances. oracle.py computes
// the same.
uint64_t fingerprint(const char* data, size_t bytes) {
  constexpr size_t kAllWords = size_t{1} << 19;
  const size_t words = bytes / 8;
  const size_t stride = words <= kAllWords ? 1 : words >> 16;
  uint64_t sum = bytes;
  for (size_t k = 0; k < words / stride; ++k) {
    uint64_t word;
    std::memcpy(&word, data + k * stride * 8, 8);
    sum += word * (2 * k + 1);
  }
  uint64_t rest = 0;
  std::memcpy(&rest, data + words * 8, bytes % 8);
  return sum + rest * 0x9E3779B97F4A7C15u;
}

std::vector<Answer> read_index(const std::string& folder) {
  std::vector<Answer> answers;
  const int fd = open((folder + "/index").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return answers;
  Answer answer;
  while (read(fd, &answer, sizeof answer) == static_cast<ssize_t>(sizeof answer)) answers.push_back(answer);
  close(fd);
  return answers;
}

bool fits(const Answer& answer, const hipcpu_oracle_tensor* tensors, size_t count) {
  if (answer.tensors != count) return false;
  for (size_t i = 0; i < count; ++i)
    if (!is_within(tensors[i].pointer, answer.bytes[i])) return false;
  return true;
}

uint64_t fingerprint_of_inputs(const Answer& sizes, const hipcpu_oracle_tensor* tensors) {
  uint64_t all = 0;
  for (size_t i = 0; i < sizes.tensors; ++i)
    if (!tensors[i].is_output)
      all = all * 0x9E3779B97F4A7C15u + fingerprint(static_cast<const char*>(tensors[i].pointer), sizes.bytes[i]);
  return all;
}

// The newest answer for these inputs. Most answers have the same sizes, so the fingerprint is seldom computed twice.
const Answer* find_answer(const std::vector<Answer>& answers, const hipcpu_oracle_tensor* tensors, size_t count) {
  const DeviceAccess access;
  const Answer* computed = nullptr;
  uint64_t wanted = 0;
  for (auto answer = answers.rbegin(); answer != answers.rend(); ++answer) {
    if (!fits(*answer, tensors, count)) continue;
    if (computed == nullptr || std::memcmp(computed->bytes, answer->bytes, sizeof answer->bytes) != 0) {
      wanted = fingerprint_of_inputs(*answer, tensors);
      computed = &*answer;
    }
    if (answer->fingerprint == wanted) return &*answer;
  }
  return nullptr;
}

struct OutputCopy {
  const Answer* answer;
  const hipcpu_oracle_tensor* tensors;
  const char* data;
};

// The kernel: one thread.
void copy_outputs(const void* call, const Block&, Coordinates, Coordinates) {
  const auto& copy = *static_cast<const OutputCopy*>(call);
  const char* from = copy.data;
  for (size_t i = 0; i < copy.answer->tensors; ++i) {
    if (!copy.tensors[i].is_output) continue;
    std::memcpy(const_cast<void*>(copy.tensors[i].pointer), from, copy.answer->bytes[i]);
    from += copy.answer->bytes[i];
  }
}

size_t output_bytes(const Answer& answer, const hipcpu_oracle_tensor* tensors) {
  size_t bytes = 0;
  for (size_t i = 0; i < answer.tensors; ++i) bytes += tensors[i].is_output ? answer.bytes[i] : 0;
  return bytes;
}

hipError_t launch_answer(const std::string& folder, const Answer& answer, const hipcpu_oracle_tensor* tensors,
                         hipStream_t stream) {
  const std::string path = folder + "/" + std::string(answer.file, strnlen(answer.file, sizeof answer.file));
  const size_t bytes = output_bytes(answer, tensors);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0 || static_cast<size_t>(status.st_size) < bytes) {
    if (fd >= 0) close(fd);
    return hipErrorNotFound;
  }
  void* data = bytes > 0 ? mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
  close(fd);
  if (data == MAP_FAILED) return hipErrorOutOfMemory;
  const OutputCopy copy{&answer, tensors, static_cast<const char*>(data)};
  const Config one_thread{{1, 1, 1}, {1, 1, 1}, 0, stream};
  stub::set_next_launch(answer.duration_ns);
  hipcpu_launch(&one_thread, copy_outputs, &copy, "oracle", 0);
  if (data != nullptr) munmap(data, bytes);
  return hipPeekAtLastError();
}

}  // namespace
}  // namespace hipcpu

extern "C" hipError_t hipcpu_launch_oracle(const hipcpu_oracle_tensor* tensors, size_t count, hipStream_t stream) {
  using namespace hipcpu;
  const stub::Call call;
  const char* folder = std::getenv("HIPCPU_STUB_ANSWERS");
  if (!stub::is_on() || folder == nullptr || count > kMaxTensors) return set_last_error(hipErrorNotSupported);
  const std::vector<Answer> answers = read_index(folder);
  const Answer* answer = find_answer(answers, tensors, count);
  return set_last_error(answer == nullptr ? hipErrorNotFound : launch_answer(folder, *answer, tensors, stream));
}
