// The channel between the judge and its programs in boxes, the guest and the harness: two FIFOs and the data file.
// A command has a payload and a header with a nonce, which its answer repeats.
// warmfront/judge/box_messages.py parses the answers.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace channel {
namespace {  // internal: the guest exports its symbols to submitted code

enum Kind : uint32_t { kOk = 1, kFault = 2, kError = 3 };

struct Header {
  uint32_t op_or_kind;
  uint32_t size;
  uint64_t nonce;
};

std::string box;  // path of the box's folder, with the FIFOs and the files
int commands_fd = -1;
int answers_fd = -1;
uint64_t current_nonce = 0;

// The first command may arrive much later: a box is started before its job is known.
inline bool open_fifos() {
  commands_fd = open((box + "/commands").c_str(), O_RDONLY | O_CLOEXEC);
  answers_fd = open((box + "/answers").c_str(), O_WRONLY | O_CLOEXEC);
  return commands_fd >= 0 && answers_fd >= 0;
}

inline void read_exactly(void* into, size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    ssize_t got = read(commands_fd, at, size);
    if (got <= 0) _exit(0);  // the judge closed the channel
    at += got;
    size -= static_cast<size_t>(got);
  }
}

inline void write_exactly(const void* from, size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    ssize_t put = write(answers_fd, at, size);
    if (put <= 0) _exit(0);
    at += put;
    size -= static_cast<size_t>(put);
  }
}

// Waits for the next command.
inline void receive(Header& header, std::vector<char>& payload) {
  read_exactly(&header, sizeof header);
  payload.resize(header.size);
  read_exactly(payload.data(), payload.size());
  current_nonce = header.nonce;
}

// Only async-signal-safe calls: the guest answers from a signal handler.
inline void answer(Kind kind, const void* payload, size_t size) {
  Header header{kind, static_cast<uint32_t>(size), current_nonce};
  write_exactly(&header, sizeof header);
  write_exactly(payload, size);
}

inline void answer_ok() { answer(kOk, "", 0); }
inline void answer_error(const std::string& text) { answer(kError, text.data(), text.size()); }

// Reads the values of a payload one after the other.
class PayloadReader {
 public:
  explicit PayloadReader(const std::vector<char>& payload) : at_(payload.data()), end_(at_ + payload.size()) {}

  template <class T>
  T take() {
    T value{};
    copy(&value, sizeof value);
    return value;
  }

  template <class T>
  std::vector<T> take(size_t count) {
    std::vector<T> values(count);
    copy(values.data(), count * sizeof(T));
    return values;
  }

 private:
  void copy(void* into, size_t bytes) {
    if (bytes > static_cast<size_t>(end_ - at_)) _exit(71);  // the judge always sends complete payloads
    if (bytes > 0) std::memcpy(into, at_, bytes);
    at_ += bytes;
  }

  const char* at_;
  const char* end_;
};

// The data file of the box, mapped into memory.
class DataFile {
 public:
  // Maps the file with the size that it has now.
  bool map() {
    unmap();
    int fd = open((box + "/data").c_str(), O_RDWR | O_CLOEXEC);
    struct stat status {};
    const bool is_open = fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0;
    if (is_open) {
      bytes_ = static_cast<size_t>(status.st_size);
      void* at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
      data_ = at == MAP_FAILED ? nullptr : static_cast<char*>(at);
    }
    if (fd >= 0) close(fd);
    return data_ != nullptr;
  }

  void unmap() {
    if (data_ != nullptr) munmap(data_, bytes_);
    data_ = nullptr;
  }

  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace
}  // namespace channel
