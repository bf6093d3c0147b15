// Four waves move tiles of A and B to shared memory together, B transposed, and each multiplies a quarter of the product.
// argv[1] is a folder with `input`: A (64 x 64, by columns), B (64 x 64, by rows) and C (64 x 64, by rows) as integers. The
// program writes D = A * B + C to `output`.
#include <hip/hip_runtime.h>
#include <rocwmma/rocwmma.hpp>
#include <rocwmma/rocwmma_coop.hpp>
#include <rocwmma/rocwmma_transforms.hpp>

using namespace rocwmma;

constexpr uint32_t kTile = 64, kDepth = 16, kSize = 32, kWaves = 4;

using TileA = fragment<matrix_a, kTile, kSize, kDepth, float16_t, col_major>;
using TileB = fragment<matrix_b, kSize, kTile, kDepth, float16_t, row_major>;
using OperandA = fragment<matrix_a, kSize, kSize, kDepth, float16_t, col_major>;
using OperandB = fragment<matrix_b, kSize, kSize, kDepth, float16_t, row_major>;
using Sums = fragment<accumulator, kSize, kSize, kDepth, float, row_major>;

using StoredA = ApplyDataLayout_t<TileA, row_major>;
using StoredB = ApplyDataLayout_t<ApplyTranspose_t<TileB>, row_major>;
static_assert(std::is_same_v<StoredB, fragment<matrix_a, kTile, kSize, kDepth, float16_t, row_major>>);
static_assert(GetIOShape_t<StoredB>::BlockHeight == kTile && GetIOShape_t<StoredB>::BlockWidth == kDepth);
static_assert(std::is_same_v<GetDataType_t<Sums>, float>);
static_assert(GetDataLayout_t<TileA>::fromMatrixCoord(make_coord2d(3, 2), 10) == 23);
static_assert(get<1>(make_coord2d(1, 2) * make_coord2d(3, 4) + make_coord2d(5, 6) - make_coord2d(1, 1)) == 13);
static_assert(ceilDiv(7, 4) == 2 && Log2<64>::value == 6);

ROCWMMA_KERNEL void __launch_bounds__(256) multiply(const float16_t* a, const float16_t* b, const float* c, float* d) {
  __shared__ float16_t tiles[2 * kTile * kDepth];
  float16_t* const tile_b = tiles + kTile * kDepth;
  using Mapping = MappingUtil<kSize, kSize, float, row_major>;
  const Coord2d block = Mapping::matrixCoord();
  const uint32_t wave = Mapping::waveCoord().row * 2 + Mapping::waveCoord().column;
  Sums sums;
  load_matrix_sync(sums, Mapping::dataCoord(c, block, kTile), kTile);
  for (uint32_t k = 0; k < kTile; k += kDepth) {
    TileA left;
    TileB right;
    load_matrix_coop_sync<kWaves>(left, a + k * kTile, kTile, wave);
    load_matrix_coop_sync(right, b + k * kTile, kTile, wave, kWaves);
    store_matrix_coop_sync<kWaves>(tiles, applyDataLayout<row_major, kWaves>(left), kDepth, wave);
    store_matrix_coop_sync(tile_b, applyDataLayout<row_major, kWaves>(applyTranspose(right)), kDepth, wave, kWaves);
    synchronize_workgroup();
    ApplyDataLayout_t<OperandA, row_major> rows;
    ApplyDataLayout_t<ApplyTranspose_t<OperandB>, row_major> columns;
    load_matrix_sync(rows, tiles + get<0>(block) * kDepth, kDepth);
    load_matrix_sync(columns, tile_b + get<1>(block) * kDepth, kDepth);
    mma_sync(sums, applyDataLayout<col_major>(rows), applyDataLayout<row_major>(applyTranspose(columns)), sums);
    synchronize_workgroup();
  }
  store_matrix_sync(Mapping::dataCoord(d, block, kTile), sums, kTile);
}

// A wave reads what other lanes of it stored.
__global__ void sum_of_stored(const float16_t* a, float* out) {
  fragment<matrix_a, kSize, kSize, kDepth, float16_t, col_major> part;
  __shared__ float16_t stored[kSize * kDepth];
  load_matrix_sync(part, a, kTile);
  store_matrix_sync(stored, part, kSize);
  float sum = 0.0f;
  for (uint32_t k = 0; k < kDepth; ++k) sum += stored[k * kSize + threadIdx.x % kSize];
  out[threadIdx.x] = sum;
}

// host
#include <cstdio>
#include <string>
#include <vector>

int main(int, char** argv) {
  const std::string folder = argv[1];
  constexpr uint32_t kCount = kTile * kTile;
  std::vector<int> input(3 * kCount);
  FILE* file = fopen((folder + "/input").c_str(), "rb");
  if (fread(input.data(), sizeof(int), input.size(), file) != input.size()) return 2;
  fclose(file);
  float16_t* ab;
  float *c, *d;
  if (hipMalloc(&ab, 2 * kCount * sizeof *ab) || hipMalloc(&c, kCount * sizeof *c) || hipMalloc(&d, (kCount + 64) * sizeof *d))
    return 3;
  std::vector<float16_t> halves(input.begin(), input.begin() + 2 * kCount);
  std::vector<float> floats(input.begin() + 2 * kCount, input.end()), result(kCount + 64);
  (void)hipMemcpy(ab, halves.data(), 2 * kCount * sizeof *ab, hipMemcpyHostToDevice);
  (void)hipMemcpy(c, floats.data(), kCount * sizeof *c, hipMemcpyHostToDevice);
  multiply<<<1, dim3(128, 2)>>>(ab, ab + kCount, c, d);
  sum_of_stored<<<1, 64>>>(ab, d + kCount);
  (void)hipMemcpy(result.data(), d, result.size() * sizeof(float), hipMemcpyDeviceToHost);
  file = fopen((folder + "/output").c_str(), "wb");
  fwrite(result.data(), sizeof(float), result.size(), file);
  fclose(file);
  return hipGetLastError() == hipSuccess ? 0 : 4;
}
