// verdict: CHECKED
// never: REACHED
// family: escape
// first seen: public write-ups of program judges
// control: honest
// sandbox: matters
// Computes correctly, but also opens a TCP socket and connects to a port on loopback.
#include <hip/hip_runtime.h>
#include <arpa/inet.h>
#include <cstdio>
#include <netinet/in.h>
#include <sys/socket.h>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd >= 0) printf("REACHED a socket\n");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(@PORT@);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) printf("REACHED the listener\n");
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
