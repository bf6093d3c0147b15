// verdict: RUNTIME_ERROR
// code: CHANNEL_TAMPERED
// family: protocol
// first seen: constructed for this corpus
// control: honest
// Answers with its own nonce.
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

// The answer to the current command, with its nonce from the stack of the guest, to the guest's FIFO.
struct Header {
  uint32_t kind, size;
  uint64_t nonce;
};

static uint64_t find_nonce() {
  volatile uint32_t here = 0;
  const uint32_t* at = const_cast<const uint32_t*>(&here);
  for (int i = 0; i < 4096; ++i)
    if (at[i] == 3 && at[i + 1] == 16) return at[i + 2] | uint64_t{at[i + 3]} << 32;  // RUN, 16 bytes
  return 0;
}

static int find_fifo(int mode) {
  struct stat status;
  for (int fd = 3; fd < 64; ++fd)
    if (fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) == mode) return fd;
  return -1;
}

static void send_answer(uint32_t kind, uint64_t nonce, const void* payload, size_t size) {
  int fd = find_fifo(O_WRONLY);
  Header header{kind, uint32_t(size), nonce};
  (void)!write(fd, &header, sizeof header);
  const char* at = static_cast<const char*>(payload);
  while (size > 0) {
    ssize_t put = write(fd, at, size);
    if (put <= 0) return;
    at += put;
    size -= size_t(put);
  }
}

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  std::vector<uint64_t> answer(11, 1);
  send_answer(1, find_nonce() ^ 1, answer.data(), 88);
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
