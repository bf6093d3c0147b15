// A blur in two passes: weights in constant memory, a halo in shared memory, a macro that launches any kernel.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define RADIUS 4
#define WIDE 32
#define HIGH 4
#define BLOCKS(size, per_block) (((size) + (per_block)-1) / (per_block))
#define OVER_IMAGE(kernel, width, height, ...)                        \
  do {                                                                \
    dim3 grid(BLOCKS(width, WIDE), BLOCKS(height, HIGH));             \
    kernel<<<grid, dim3(WIDE, HIGH)>>>(__VA_ARGS__, width, height);   \
  } while (0)

__constant__ float weights[2 * RADIUS + 1];

__global__ void blur_rows(const float *in, float *out, int width, int height) {
  __shared__ float line[HIGH][WIDE + 2 * RADIUS];
  const int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
  for (int i = threadIdx.x; i < WIDE + 2 * RADIUS; i += WIDE) {
    const int from = (int)(blockIdx.x * WIDE) - RADIUS + i;
    line[threadIdx.y][i] = from >= 0 && from < width && y < height ? in[y * width + from] : 0;
  }
  __syncthreads();
  if (x >= width || y >= height) return;
  float sum = 0;
#pragma unroll
  for (int k = 0; k <= 2 * RADIUS; ++k) sum += weights[k] * line[threadIdx.y][threadIdx.x + k];
  out[y * width + x] = sum;
}

template <int Radius, bool Round>
__global__ void blur_columns(const float *in, float *out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int k = max(-Radius, -y); k <= min(Radius, height - 1 - y); ++k)
    sum += weights[Radius + k] * in[(y + k) * width + x];
  if constexpr (Round) sum = roundf(sum);
  out[y * width + x] = sum;
}

int main() {
  const int width = 100, height = 67;
  float host_weights[2 * RADIUS + 1];
  for (int i = 0; i <= 2 * RADIUS; ++i) host_weights[i] = 1.0f / (1 + i);
  std::vector<float> in(width * height), out(width * height), rows(width * height);
  for (int i = 0; i < width * height; ++i) in[i] = float(i * 31 % 17);
  float *d_in, *d_rows, *d_out;
  for (float **p : {&d_in, &d_rows, &d_out}) hipMalloc((void **)p, width * height * sizeof(float));
  hipMemcpyToSymbol(HIP_SYMBOL(weights), host_weights, sizeof(host_weights));
  hipMemcpy(d_in, in.data(), width * height * sizeof(float), hipMemcpyHostToDevice);
  OVER_IMAGE(blur_rows, width, height, d_in, d_rows);
  OVER_IMAGE((blur_columns<RADIUS, false>), width, height, d_rows, d_out);
  hipMemcpy(out.data(), d_out, width * height * sizeof(float), hipMemcpyDeviceToHost);
  auto at = [&](const std::vector<float> &v, int x, int y) {
    return x >= 0 && x < width && y >= 0 && y < height ? v[y * width + x] : 0.0f;
  };
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int k = -RADIUS; k <= RADIUS; ++k) rows[y * width + x] += host_weights[RADIUS + k] * at(in, x + k, y);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float want = 0;
      for (int k = -RADIUS; k <= RADIUS; ++k) want += host_weights[RADIUS + k] * at(rows, x, y + k);
      if (std::fabs(out[y * width + x] - want) > 1e-2f) return printf("FAILED at %d, %d\n", x, y), 1;
    }
  printf("PASSED\n");
}
