// One-feature probes. A line `//// name: versions` begins each: the ROCm versions whose compilers accept it.
// `cpu: yes` or `cpu: no` follows where the CPU runtime differs from the newest: it does not tell host from device code,
// and has no GPU instructions. `xray: no` marks what the X-ray does not know. tests/rocm compares both compilers, the
// X-ray and the CPU runtime with these lines.
//// warp-shfl: 6.4 7.2
__global__ void k(float* p) { p[0] = __shfl(p[0], 3); }
//// warp-shfl-down-width: 6.4 7.2
__global__ void k(float* p) { p[0] = __shfl_down(p[0], 3, 32); }
//// warp-shfl-half: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = __shfl_xor(p[0], 3); }
//// warp-shfl-double: 6.4 7.2
__global__ void k(double* p) { p[0] = __shfl_up(p[0], 3); }
//// warp-shfl-struct: none
struct Pair { float a; int b; };
__global__ void k(Pair* p) { p[0] = __shfl(p[0], 3); }
//// warp-shfl-float4: none
__global__ void k(float4* p) { p[0] = __shfl(p[0], 3); }
//// warp-shfl-bool: 6.4 7.2
__global__ void k(bool* p) { p[0] = __shfl(p[0], 3); }
//// warp-shfl-char: 6.4 7.2
__global__ void k(char* p) { p[0] = __shfl(p[0], 3); }
//// warp-shfl-pointer: none
__global__ void k(float** p) { p[0] = __shfl(p[0], 3); }
//// shfl-sync: 6.4 7.2
__global__ void k(float* p) { p[0] = __shfl_sync(~0ull, p[0], 3); }
//// shfl-down-sync: 6.4 7.2
__global__ void k(float* p) { p[0] = __shfl_down_sync(0xffffffffffffffffull, p[0], 3); }
//// shfl-up-sync: 6.4 7.2
__global__ void k(float* p) { p[0] = __shfl_up_sync(~0ull, p[0], 3); }
//// shfl-xor-sync-width: 6.4 7.2
__global__ void k(float* p) { p[0] = __shfl_xor_sync(~0ull, p[0], 3, 32); }
//// shfl-sync-mask-32: none
__global__ void k(float* p) { p[0] = __shfl_sync(0xffffffff, p[0], 3); }
//// shfl-sync-mask-int: none
__global__ void k(float* p) { p[0] = __shfl_sync(-1, p[0], 3); }
//// ballot: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __ballot(p[1] > 3); }
//// ballot-64: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __ballot64(p[1] > 3); }
//// ballot-sync: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __ballot_sync(~0ull, p[1] > 3); }
//// ballot-sync-mask-32: none
__global__ void k(unsigned long long* p) { p[0] = __ballot_sync(0xffffffffu, p[1] > 3); }
//// any-sync: 6.4 7.2
__global__ void k(int* p) { p[0] = __any_sync(~0ull, p[1] > 3) + __all_sync(~0ull, p[1]); }
//// any-all: 6.4 7.2
__global__ void k(int* p) { p[0] = __any(p[1] > 3) + __all(p[1]); }
//// activemask: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __activemask(); }
//// syncwarp: 7.2
__global__ void k(int* p) { p[0] = 1; __syncwarp(); p[1] = 2; }
//// syncwarp-mask: 7.2
__global__ void k(int* p) { p[0] = 1; __syncwarp(~0ull); p[1] = 2; }
//// syncwarp-mask-32: none
__global__ void k(int* p) { p[0] = 1; __syncwarp(0xffffffff); p[1] = 2; }
//// match-any: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __match_any(p[1]); }
//// match-all: 6.4 7.2
__global__ void k(unsigned long long* p) { int all; p[0] = __match_all(p[1], &all); }
//// match-any-sync: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __match_any_sync(~0ull, p[1]); }
//// match-all-sync: 6.4 7.2
__global__ void k(unsigned long long* p) { int all; p[0] = __match_all_sync(~0ull, p[1], &all); }
//// match-any-short: none
__global__ void k(short* p, unsigned long long* q) { q[0] = __match_any(p[0]); }
//// reduce-add-sync: 7.2
__global__ void k(int* p) { p[0] = __reduce_add_sync(~0ull, p[1]); }
//// reduce-max-sync: 7.2
__global__ void k(unsigned* p) { p[0] = __reduce_max_sync(~0ull, p[1]); }
//// lane-id: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = __lane_id(); }
//// lane-mask-lt: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __lanemask_lt(); }
//// warp-size-value: 6.4 7.2
__global__ void k(int* p) { p[0] = threadIdx.x / warpSize; }
//// warp-size-constexpr: 6.4
__global__ void k(int* p) { constexpr int n = warpSize; p[0] = n; }
//// warp-size-array: 6.4
__global__ void k(int* p) { __shared__ int s[1024 / warpSize]; s[threadIdx.x / warpSize] = 1; __syncthreads(); p[0] = s[0]; }
//// warp-size-template: 6.4
template <int N> __device__ int twice() { return 2 * N; }
__global__ void k(int* p) { p[0] = twice<warpSize>(); }
//// warp-size-global-constant: 6.4
constexpr int kWarp = warpSize;
__global__ void k(int* p) { p[0] = kWarp; }
//// warp-size-const-int: 6.4 cpu: yes
const int kWarp = warpSize;
__global__ void k(int* p) { p[0] = kWarp; }
//// warp-size-host: 6.4
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { k<<<1, warpSize>>>(p); }
//// warp-size-switch: 6.4
__global__ void k(int* p) { switch (p[0]) { case warpSize: p[1] = 2; } }
//// warp-size-unroll: 6.4 7.2
__global__ void k(float* p) {
#pragma unroll
  for (int d = warpSize / 2; d > 0; d /= 2) p[0] += __shfl_down(p[0], d);
}
//// warp-size-max: 6.4 7.2
__global__ void k(int* p) { p[0] = max(p[1], warpSize); }
//// warp-size-min: 6.4 7.2
__global__ void k(int* p) { p[0] = min(warpSize, (int)blockDim.x); }
//// warp-size-auto: 6.4 7.2
__global__ void k(int* p) { auto n = warpSize; p[0] = n * 2; }
//// warp-size-ternary: 6.4 7.2
__global__ void k(int* p) { p[0] = p[1] < warpSize ? p[1] : warpSize; }
//// warp-size-if-constexpr: 6.4
__global__ void k(int* p) { if constexpr (warpSize == 64) p[0] = 1; }
//// warp-size-shift: 6.4 7.2
__global__ void k(int* p) { p[0] = 1 << warpSize; p[1] = threadIdx.x & (warpSize - 1); p[2] = threadIdx.x % warpSize; }
//// wavefront-size-macro: 6.4
#if defined(__AMDGCN_WAVEFRONT_SIZE) && __AMDGCN_WAVEFRONT_SIZE == 64
__global__ void k(int* p) { p[0] = 1; }
#endif
void f(int* p) { k<<<1, 64>>>(p); }
//// wavefront-size-macro-2: 6.4
__global__ void k(int* p) { p[0] = __AMDGCN_WAVEFRONT_SIZE__; }
//// ldg: 6.4 7.2
__global__ void k(const float* p, float* q) { q[0] = __ldg(p); }
//// ldg-float4: 6.4 7.2
__global__ void k(const float4* p, float4* q) { q[0] = __ldg(p); }
//// ldg-size-t: 6.4 7.2
__global__ void k(const size_t* p, size_t* q) { q[0] = __ldg(p); }
//// ldg-int64: 6.4 7.2
__global__ void k(const int64_t* p, int64_t* q) { q[0] = __ldg(&p[1]); }
//// ldg-half: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(const __half* p, __half* q) { q[0] = __ldg(p); }
//// ldg-bf16: none
#include <hip/hip_bf16.h>
__global__ void k(const __hip_bfloat16* p, __hip_bfloat16* q) { q[0] = __ldg(p); }
//// ldg-bool: none
__global__ void k(const bool* p, bool* q) { q[0] = __ldg(p); }
//// ldg-pointer: none
__global__ void k(float* const* p, float** q) { q[0] = __ldg(p); }
//// ldcs: none
__global__ void k(const float* p, float* q) { q[0] = __ldcs(p); }
//// ldca: none
__global__ void k(const float* p, float* q) { q[0] = __ldca(p); }
//// ldcg: none
__global__ void k(const float* p, float* q) { q[0] = __ldcg(p); }
//// ldcg-half: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(const __half* p, __half* q) { q[0] = __ldcg(p); }
//// ldcv: none
__global__ void k(const float* p, float* q) { q[0] = __ldcv(p); }
//// ldlu: none
__global__ void k(const float* p, float* q) { q[0] = __ldlu(p); }
//// stcs: none
__global__ void k(const float* p, float* q) { __stcs(q, p[0]); }
//// stcg: none
__global__ void k(const float* p, float* q) { __stcg(q, p[0]); }
//// stwt: none
__global__ void k(const float* p, float* q) { __stwt(q, p[0]); }
//// stwb: none
__global__ void k(const float* p, float* q) { __stwb(q, p[0]); }
//// nontemporal-load: 6.4 7.2
__global__ void k(const float* p, float* q) { __builtin_nontemporal_store(__builtin_nontemporal_load(p), q); }
//// nontemporal-load-float4: none
__global__ void k(const float4* p, float4* q) { q[0] = __builtin_nontemporal_load(p); }
//// nontemporal-store-float4: none
__global__ void k(const float4* p, float4* q) { __builtin_nontemporal_store(p[0], q); }
//// nanosleep: none
__global__ void k(int* p) { __nanosleep(100); p[0] = 1; }
//// clock: 6.4 7.2
__global__ void k(long long* p) { p[0] = clock64(); p[1] = wall_clock64(); p[2] = clock(); }
//// vector-subscript: 7.2
__global__ void k(float4* p) { p[0].x = p[0][1]; }
//// vector-subscript-store: 7.2
__global__ void k(float4* p, int i) { p[0][i] = 1.0f; }
//// vector-subscript-float2: 7.2
__global__ void k(float2* p) { float2 v = p[0]; v[1] = 2; p[0] = v; }
//// vector-add: 6.4 7.2
__global__ void k(float4* p) { p[0] = p[0] + p[1]; }
//// vector-scale: 6.4 7.2
__global__ void k(float4* p) { p[0] = p[0] * 2.0f; p[1] = 2.0f * p[0]; }
//// vector-plus-assign: 6.4 7.2
__global__ void k(float4* p) { p[0] += p[1]; }
//// vector-plus-assign-scalar: 6.4 7.2
__global__ void k(float4* p) { p[0] += 1.0f; }
//// vector-times-assign-scalar: 6.4 7.2
__global__ void k(float4* p) { p[0] *= 2.0f; }
//// vector-divide-assign-scalar: 6.4 7.2
__global__ void k(float4* p) { p[0] /= 2.0f; }
//// vector-shift: 6.4 7.2
__global__ void k(int4* p) { p[0] = p[0] << 1; }
//// vector-shift-assign: none
__global__ void k(int4* p) { p[0] <<= 1; }
//// vector-shift-right-assign: none
__global__ void k(uint4* p) { p[0] >>= 1; }
//// vector-and-assign-scalar: none
__global__ void k(uint4* p) { p[0] &= 1; }
//// vector-and-scalar: 6.4 7.2
__global__ void k(uint4* p) { p[0] = p[0] & 1u; }
//// vector-modulo: 6.4 7.2
__global__ void k(uint4* p) { p[0] = p[0] % p[1]; p[0] %= p[1]; }
//// vector-shift-assign-vector: 6.4 7.2
__global__ void k(uint4* p) { p[0] <<= p[1]; }
//// vector-negate: 6.4 7.2
__global__ void k(float4* p) { p[0] = -p[0]; }
//// vector-plus-unary: none
__global__ void k(float4* p) { p[0] = +p[0]; }
//// vector-not: 6.4 7.2
__global__ void k(int4* p) { p[0] = ~p[0]; }
//// vector-increment: 6.4 7.2
__global__ void k(int4* p) { ++p[0]; p[0]++; --p[0]; p[0]--; }
//// vector-equal: 6.4 7.2
__global__ void k(float4* p) { if (p[0] == p[1]) p[0].x = 1; }
//// vector-not-equal: 6.4 7.2
__global__ void k(float4* p) { if (p[0] != p[1]) p[0].x = 1; }
//// vector-equal-scalar: 6.4 7.2
__global__ void k(float4* p) { if (p[0] == 1.0f) p[0].x = 1; }
//// vector-less: none
__global__ void k(float4* p) { if (p[0] < p[1]) p[0].x = 1; }
//// vector-broadcast: 6.4 7.2
__global__ void k(float4* p) { p[0] = float4(1.0f); }
//// vector-broadcast-implicit: none
__global__ void k(float4* p) { p[0] = 1.0f; }
//// vector-braces: 6.4 7.2
__global__ void k(float4* p) { p[0] = {1, 2, 3, 4}; float4 v{1.0f, 2.0f, 3.0f, 4.0f}; p[1] = v; }
//// vector-braces-few: none
__global__ void k(float4* p) { float4 v = {1.0f, 2.0f}; p[1] = v; }
//// vector-zero: none
__global__ void k(float4* p) { float4 v{}; p[1] = v; float4 w = {0}; p[2] = w; }
//// vector-mixed-types: 6.4 7.2
__global__ void k(float4* p, double d) { p[0] = make_float4(d, 1, 2, 3); }
//// vector-times-int: 6.4 7.2
__global__ void k(float4* p, int i) { p[0] = p[0] * i; }
//// vector-times-double: 6.4 7.2
__global__ void k(float4* p, double d) { p[0] = p[0] * d; }
//// vector-constexpr: 6.4 7.2
__global__ void k(float4* p) { constexpr float4 v(1, 2, 3, 4); p[0] = v; }
//// vector-constexpr-make: none
__global__ void k(float4* p) { constexpr float4 v = make_float4(1, 2, 3, 4); p[0] = v; }
//// vector-value-type: 6.4 7.2
__global__ void k(float4* p) { float4::value_type x = p[0].x; p[0].y = x; }
//// vector-from-dim3: none
__global__ void k(uint3* p) { p[0] = threadIdx; }
//// dim3-from-uint3: none
__global__ void k(uint3* p) { dim3 d = p[0]; p[0].x = d.x; }
//// uint3-from-dim3-object: none
__global__ void k(uint3* p) { dim3 d(1, 2, 3); p[0] = d; }
//// dim3-braces: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { dim3 g{8, 8}; k<<<g, 64>>>(p); }
//// dim3-braces-in-launch: none cpu: yes
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { k<<<{8, 8}, 64>>>(p); }
//// dim3-of-threadidx: 6.4 7.2
__global__ void k(int* p) { dim3 t = threadIdx; p[0] = t.x; dim3 b = blockDim; p[1] = b.x; }
//// auto-of-threadidx: 6.4 7.2
__global__ void k(int* p) { auto t = threadIdx; p[0] = t.x; }
//// vector-half4: 6.4 7.2
__global__ void k(ushort4* p) { p[0] = make_ushort4(1, 2, 3, 4); }
//// vector-shared: 6.4 7.2
__global__ void k(float4* p) { __shared__ float4 s[64]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[0] = s[1]; }
//// vector-ternary: 6.4 7.2
__global__ void k(float4* p, bool c) { p[0] = c ? p[1] : make_float4(0, 0, 0, 0); }
//// vector-component-reference: 6.4 7.2
__global__ void k(float4* p) { float& x = p[0].x; x = 2; }
//// vector-component-pointer: 6.4 7.2
__global__ void k(float4* p) { float* x = &p[0].x; x[1] = 2; }
//// vector-component-max: 6.4 7.2
__global__ void k(float4* p) { p[0].x = max(p[0].x, p[0].y); p[0].y = fmaxf(p[0].x, p[0].y); }
//// vector-component-std-max: 6.4 7.2
#include <algorithm>
__global__ void k(float4* p) { p[0].x = std::max(p[0].x, p[0].y); }
//// vector-component-atomic: 6.4 7.2
__global__ void k(float4* p) { atomicAdd(&p[0].x, 1.0f); }
//// vector-swap-components: 6.4 7.2
#include <utility>
__global__ void k(float4* p) { std::swap(p[0].x, p[0].y); }
//// vector-component-auto-ref: 6.4 7.2
template <class T> __device__ void twice(T& x) { x *= 2; }
__global__ void k(float4* p) { twice(p[0].x); }
//// vector-own-operator: 6.4 7.2
__device__ float4 operator+(float4 a, float4 b) { return make_float4(a.x + b.x, 0, 0, 0); }
__global__ void k(float4* p) { p[0] = p[0] + p[1]; }
//// atomic-add-float: 6.4 7.2
__global__ void k(float* p) { atomicAdd(p, 1.0f); atomicAdd(p, 1); }
//// atomic-add-double: 6.4 7.2
__global__ void k(double* p) { atomicAdd(p, 1.0); }
//// atomic-add-ull: 6.4 7.2
__global__ void k(unsigned long long* p) { atomicAdd(p, 1ull); }
//// atomic-add-ll: none
__global__ void k(long long* p) { atomicAdd(p, 1ll); }
//// atomic-add-size-t: 6.4 7.2
__global__ void k(size_t* p) { atomicAdd(p, size_t(1)); }
//// atomic-add-long: none
__global__ void k(long* p) { atomicAdd(p, 1l); }
//// atomic-add-short: none
__global__ void k(short* p) { atomicAdd(p, short(1)); }
//// atomic-add-block: none
__global__ void k(int* p) { atomicAdd_block(p, 1); }
//// atomic-add-system: 6.4 7.2
__global__ void k(int* p) { atomicAdd_system(p, 1); }
//// atomic-max-block: none
__global__ void k(int* p) { atomicMax_block(p, 1); }
//// atomic-cas-block: none
__global__ void k(int* p) { atomicCAS_block(p, 1, 2); }
//// atomic-cas-system: 6.4 7.2
__global__ void k(int* p) { atomicCAS_system(p, 1, 2); }
//// atomic-max-float: 6.4 7.2
__global__ void k(float* p) { atomicMax(p, 1.0f); }
//// atomic-min-double: 6.4 7.2
__global__ void k(double* p) { atomicMin(p, 1.0); }
//// atomic-max-ll: 6.4 7.2
__global__ void k(long long* p) { atomicMax(p, 1ll); }
//// atomic-max-ull: 6.4 7.2
__global__ void k(unsigned long long* p) { atomicMax(p, 1ull); }
//// atomic-sub-float: 6.4 7.2
__global__ void k(float* p) { atomicSub(p, 1.0f); }
//// atomic-sub-ull: 6.4 7.2
__global__ void k(unsigned long long* p) { atomicSub(p, 1ull); }
//// atomic-sub-ll: none
__global__ void k(long long* p) { atomicSub(p, 1ll); }
//// atomic-exch-float: 6.4 7.2
__global__ void k(float* p) { atomicExch(p, 1.0f); }
//// atomic-exch-double: 6.4 7.2
__global__ void k(double* p) { atomicExch(p, 1.0); }
//// atomic-exch-ll: none
__global__ void k(long long* p) { atomicExch(p, 1ll); }
//// atomic-cas-int: 6.4 7.2
__global__ void k(int* p) { atomicCAS(p, 1, 2); }
//// atomic-cas-float: 6.4 7.2
__global__ void k(float* p) { atomicCAS(p, 1.0f, 2.0f); }
//// atomic-cas-double: 6.4 7.2
__global__ void k(double* p) { atomicCAS(p, 1.0, 2.0); }
//// atomic-cas-short: 7.2
__global__ void k(unsigned short* p) { atomicCAS(p, (unsigned short)1, (unsigned short)2); }
//// atomic-cas-ull: 6.4 7.2
__global__ void k(unsigned long long* p) { atomicCAS(p, 1ull, 2ull); }
//// atomic-cas-ll: none
__global__ void k(long long* p) { atomicCAS(p, 1ll, 2ll); }
//// atomic-cas-pointer: none
__global__ void k(void** p) { atomicCAS(p, (void*)nullptr, (void*)p); }
//// atomic-and-or-xor: 6.4 7.2
__global__ void k(unsigned* p) { atomicAnd(p, 1u); atomicOr(p, 1u); atomicXor(p, 1u); }
//// atomic-or-ull: 6.4 7.2
__global__ void k(unsigned long long* p) { atomicOr(p, 1ull); atomicAnd(p, 1ull); atomicXor(p, 1ull); }
//// atomic-or-ll: none
__global__ void k(long long* p) { atomicOr(p, 1ll); }
//// atomic-inc-dec: 6.4 7.2
__global__ void k(unsigned* p) { atomicInc(p, 10u); atomicDec(p, 10u); }
//// atomic-inc-int: none
__global__ void k(int* p) { atomicInc(p, 10); }
//// atomic-add-half: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { atomicAdd(p, __half(1.0f)); }
//// atomic-add-half2: none
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { atomicAdd(p, __half2(1.0f, 1.0f)); }
//// unsafe-atomic-add-half2: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { unsafeAtomicAdd(p, __half2(1.0f, 1.0f)); }
//// unsafe-atomic-add-half: 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { unsafeAtomicAdd(p, __half(1.0f)); }
//// atomic-add-bf16: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { atomicAdd(p, __float2bfloat16(1.0f)); }
//// atomic-add-bf162: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat162* p) { atomicAdd(p, p[1]); }
//// unsafe-atomic-add-bf162: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat162* p) { unsafeAtomicAdd(p, p[1]); }
//// unsafe-atomic-add: 6.4 7.2
__global__ void k(float* p, double* q) { unsafeAtomicAdd(p, 1.0f); unsafeAtomicAdd(q, 1.0); }
//// unsafe-atomic-add-int: none
__global__ void k(int* p) { unsafeAtomicAdd(p, 1); }
//// unsafe-atomic-max: 6.4 7.2
__global__ void k(float* p, double* q) { unsafeAtomicMax(p, 1.0f); unsafeAtomicMin(q, 1.0); }
//// safe-atomic-add: 6.4 7.2
__global__ void k(float* p, double* q) { safeAtomicAdd(p, 1.0f); safeAtomicAdd(q, 1.0); }
//// atomic-add-no-ret: 6.4 7.2
__global__ void k(float* p) { atomicAddNoRet(p, 1.0f); }
//// hip-atomic-fetch-add: 6.4 7.2
__global__ void k(int* p) { __hip_atomic_fetch_add(p, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
//// hip-atomic-load-store: 6.4 7.2
__global__ void k(int* p) { __hip_atomic_store(p, __hip_atomic_load(p + 1, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT), __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT); }
//// atomic-result-type: 6.4 7.2
__global__ void k(float* p) { float old = atomicAdd(&p[0], p[1]); p[2] = old; }
//// atomic-add-mixed: 6.4 7.2
__global__ void k(unsigned long long* p, int n) { atomicAdd(p, n); }
//// atomic-max-mixed: 6.4 7.2
__global__ void k(int* p, unsigned n) { atomicMax(p, n); }
//// atomic-add-volatile: 6.4 7.2
__global__ void k(volatile int* p) { atomicAdd((int*)p, 1); }
//// threadfence: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; __threadfence(); __threadfence_block(); __threadfence_system(); }
//// syncthreads-count: 6.4 7.2
__global__ void k(int* p) { p[0] = __syncthreads_count(p[1]) + __syncthreads_and(p[2]) + __syncthreads_or(p[3]); }
//// popc-clz: 6.4 7.2
__global__ void k(int* p) { p[0] = __popc(p[1]) + __clz(p[2]) + __ffs(p[3]) + __brev(p[4]); }
//// popcll: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __popcll(p[1]) + __clzll(p[2]) + __ffsll(p[3]) + __brevll(p[4]); }
//// ffs-long-long: none
__global__ void k(unsigned long long* p) { p[0] = __ffs(p[1]); }
//// ffsll-int: none
__global__ void k(unsigned* p) { p[0] = __ffsll(p[1]); }
//// ffsll-ballot: 6.4 7.2
__global__ void k(int* p) { p[0] = __ffsll(__ballot(p[1])) - 1; }
//// byte-perm: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = __byte_perm(p[1], p[2], 0x3210); }
//// funnel-shift: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = __funnelshift_l(p[1], p[2], 3) + __funnelshift_rc(p[1], p[2], 3); }
//// bit-extract: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = __bitextract_u32(p[1], 3, 4) + __bitinsert_u32(p[1], 3, 4, 5); }
//// dp4a: none
__global__ void k(int* p) { p[0] = __dp4a(p[1], p[2], p[3]); }
//// mul24: 6.4 7.2
__global__ void k(int* p) { p[0] = __mul24(p[1], p[2]) + __umul24(p[1], p[2]) + __mulhi(p[1], p[2]) + __umulhi(p[1], p[2]); }
//// mul64hi: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __umul64hi(p[1], p[2]); }
//// average: 6.4 7.2
__global__ void k(int* p) { p[0] = __hadd(p[1], p[2]) + __rhadd(p[1], p[2]) + __uhadd(p[1], p[2]) + __sad(p[1], p[2], 1); }
//// umin-umax: none
__global__ void k(unsigned* p) { p[0] = umin(p[1], p[2]) + umax(p[1], p[2]); }
//// llmin-llmax: none
__global__ void k(long long* p) { p[0] = llmin(p[1], p[2]) + llmax(p[1], p[2]); }
//// min-max-mixed: 6.4 7.2
__global__ void k(int* p, unsigned u) { p[0] = min(p[1], 3) + max(p[1], p[2]); }
//// min-int-unsigned: 6.4 7.2
__global__ void k(int* p, unsigned u) { p[0] = min(p[1], u); }
//// min-int-long: 6.4 7.2
__global__ void k(int* p, long u) { p[0] = min(p[1], u); }
//// min-int-size-t: 6.4 7.2
__global__ void k(int* p, size_t n) { p[0] = min(p[1], n); }
//// min-size-t: 6.4 7.2
__global__ void k(size_t* p, size_t n) { p[0] = min(p[1], n); }
//// min-float-double: 6.4 7.2
__global__ void k(float* p, double d) { p[0] = min(p[1], d); }
//// max-float-literal: 6.4 7.2
__global__ void k(float* p) { p[0] = max(p[1], 0.0f); }
//// max-float-double-literal: 6.4 7.2
__global__ void k(float* p) { p[0] = max(p[1], 0.0); }
//// max-float-int: 6.4 7.2
__global__ void k(float* p) { p[0] = max(p[1], 0); }
//// max-char: 6.4 7.2
__global__ void k(char* p) { p[0] = max(p[1], p[2]); }
//// max-half: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = max(p[1], p[2]); }
//// hmax: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = __hmax(p[1], p[2]); p[1] = __hmin(p[1], p[2]); }
//// min-host: 6.4 7.2
int f(int a, int b) { return min(a, b) + max(a, 3); }
//// min-host-mixed: 6.4 7.2
size_t f(int a, size_t b) { return min(a, b); }
//// std-min-device: 6.4 7.2
#include <algorithm>
__global__ void k(int* p) { p[0] = std::min(p[1], p[2]) + std::max(p[1], p[2]); }
//// fast-math: 6.4 7.2
__global__ void k(float* p) { p[0] = __expf(p[1]) + __logf(p[2]) + __sinf(p[3]) + __cosf(p[4]) + __powf(p[5], p[6]) + __fdividef(p[7], p[8]); }
//// fast-tan: 6.4 7.2
__global__ void k(float* p) { p[0] = __tanf(p[1]) + __log2f(p[2]) + __log10f(p[3]) + __exp10f(p[4]); }
//// fast-tanh: none cpu: yes
__global__ void k(float* p) { p[0] = __tanhf(p[1]); }
//// tanh-approx-builtin: 6.4 7.2
__global__ void k(float* p) { p[0] = tanhf(p[1]); }
//// exp2f-fast: none cpu: yes
__global__ void k(float* p) { p[0] = __exp2f(p[1]); }
//// rsqrt: 6.4 7.2
__global__ void k(float* p) { p[0] = rsqrtf(p[1]) + rsqrt(p[2]) + __frsqrt_rn(p[3]) + __frcp_rn(p[4]) + __fsqrt_rn(p[5]); }
//// frcp-rounding: none
__global__ void k(float* p) { p[0] = __frcp_rz(p[4]); }
//// fadd-rz: none
__global__ void k(float* p) { p[0] = __fadd_rz(p[4], p[5]); }
//// fma-rn: 6.4 7.2
__global__ void k(float* p) { p[0] = __fmaf_rn(p[1], p[2], p[3]) + __fadd_rn(p[1], p[2]) + __fmul_rn(p[1], p[2]) + __fsub_rn(p[1], p[2]) + __fdiv_rn(p[1], p[2]); }
//// double-rn: 6.4 7.2
__global__ void k(double* p) { p[0] = __fma_rn(p[1], p[2], p[3]) + __dadd_rn(p[1], p[2]) + __dmul_rn(p[1], p[2]) + __dsub_rn(p[1], p[2]) + __ddiv_rn(p[1], p[2]) + __drcp_rn(p[1]) + __dsqrt_rn(p[1]); }
//// saturate: 6.4 7.2
__global__ void k(float* p) { p[0] = __saturatef(p[1]); }
//// fdividef: 6.4 7.2
__global__ void k(float* p) { p[0] = fdividef(p[1], p[2]); }
//// special-functions: 6.4 7.2
__global__ void k(float* p) { p[0] = erfinvf(p[1]) + normcdff(p[2]) + rcbrtf(p[3]) + erfcxf(p[4]) + cyl_bessel_i0f(p[5]) + sinpif(p[6]) + rhypotf(p[7], p[8]) + norm3df(p[1], p[2], p[3]); }
//// rnorm: 6.4 7.2
__global__ void k(float* p) { p[0] = rnorm3df(p[1], p[2], p[3]) + rnorm4df(p[1], p[2], p[3], p[4]) + norm4df(p[1], p[2], p[3], p[4]); }
//// sincos: 6.4 7.2
__global__ void k(float* p) { sincosf(p[0], p + 1, p + 2); __sincosf(p[0], p + 1, p + 2); sincospif(p[0], p + 1, p + 2); }
//// sincos-overload: none
__global__ void k(float* p) { sincos(p[0], p + 1, p + 2); }
//// exp-overloads: 6.4 7.2
__global__ void k(float* p) { p[0] = exp(p[1]) + log(p[1]) + pow(p[1], 2.0f) + pow(p[1], 2) + sqrt(p[1]) + fabs(p[1]) + abs(p[1]); }
//// exp10-overload: 6.4 7.2
__global__ void k(float* p) { p[0] = exp10(p[1]) + exp10f(p[1]); }
//// std-math: 6.4 7.2
#include <cmath>
__global__ void k(float* p) { p[0] = std::exp(p[1]) + std::sqrt(p[2]) + std::abs(p[3]) + std::fma(p[1], p[2], p[3]); }
//// isnan: 6.4 7.2
__global__ void k(float* p) { p[0] = isnan(p[1]) || isinf(p[2]) || isfinite(p[3]); }
//// signbit: 6.4 7.2
__global__ void k(float* p) { p[0] = signbit(p[1]); }
//// float-constants: 6.4 7.2
#include <cfloat>
#include <climits>
__global__ void k(float* p) { p[0] = FLT_MAX + INFINITY + NAN + INT_MAX + M_PI; }
//// hip-math-constants: 6.4 7.2
#include <hip/hip_math_constants.h>
__global__ void k(float* p) { p[0] = HIP_INF_F + HIP_PI_F; }
//// numeric-limits: 6.4 7.2
#include <limits>
__global__ void k(float* p) { p[0] = std::numeric_limits<float>::max(); }
//// conversions: 6.4 7.2
__global__ void k(float* p, int* q) { q[0] = __float2int_rn(p[0]) + __float2int_rd(p[1]) + __float_as_int(p[2]); p[0] = __int2float_rn(q[1]) + __int_as_float(q[2]) + __uint_as_float(q[3]); }
//// conversions-double: 6.4 7.2
__global__ void k(double* p, long long* q) { q[0] = __double2ll_rn(p[0]) + __double_as_longlong(p[1]); p[0] = __longlong_as_double(q[0]) + __hiloint2double(1, 2) + __ll2double_rn(q[1]); q[1] = __double2hiint(p[1]); }
//// half-arithmetic: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = p[1] + p[2] * p[3]; p[1] = __hadd(p[1], __hmul(p[2], p[3])); p[2] = __hfma(p[1], p[2], p[3]); p[3] = -p[1]; p[4] += p[5]; }
//// half-plus-float: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { float f = p[1] + 1.0f; p[0] = f; }
//// half-compare-float: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { if (p[1] > 0.0f) p[0] = p[2]; }
//// half-compare-int: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { if (p[1] > 0) p[0] = p[2]; }
//// half-times-int: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = p[1] * 2; }
//// half-times-double: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = p[1] * 2.0; }
//// half-from-literals: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = 1.0f; p[1] = 2; p[2] = 3.0; __half h = 4; p[3] = h; p[4] = __half(5); p[5] = (__half)6.0f; }
//// half-type-name: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(half* p) { half2 v = __halves2half2(p[0], p[1]); p[0] = __low2half(v); }
//// half-to-int: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p, int* q) { q[0] = __half2int_rn(p[0]); q[1] = p[0]; q[2] = (int)p[0]; q[3] = static_cast<int>(p[1]); }
//// half-ternary: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = p[1] > p[2] ? p[1] : p[2]; p[1] = p[0] > __half(0) ? p[0] : __half(0); }
//// half-ternary-float: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p, bool c) { p[0] = c ? p[1] : 0.0f; }
//// half-shared: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { __shared__ __half s[64]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[0] = s[1]; }
//// half-math: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = hexp(p[1]); p[1] = hsqrt(p[2]); p[2] = hrsqrt(p[3]); p[3] = htanh(p[4]); p[4] = hlog(p[5]); p[5] = hrcp(p[6]); p[6] = hfloor(p[7]); p[8] = hsin(p[9]); }
//// half-htanh: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[3] = htanh(p[4]); }
//// half-habs: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[3] = __habs(p[4]); p[0] = __hneg(p[1]); }
//// half-comparisons: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p, bool* q) { q[0] = __hgt(p[0], p[1]) || __hlt(p[0], p[1]) || __heq(p[0], p[1]) || __hisnan(p[0]) || __hisinf(p[1]); }
//// half-rounded: 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = __hadd_rn(p[1], p[2]); }
//// half-relu: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = __hfma_relu(p[1], p[2], p[3]); }
//// half-max-nan: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = __hmax_nan(p[1], p[2]); }
//// half-saturate: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = __hadd_sat(p[1], p[2]); p[1] = __hfma_sat(p[1], p[2], p[3]); }
//// half2-arithmetic: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[0] = p[1] + p[2] * p[3]; p[0] = __hadd2(p[1], p[2]); p[1] = __hfma2(p[1], p[2], p[3]); p[2] += p[3]; p[3] = -p[4]; }
//// half2-members: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { __half a = p[0].x; p[0].y = a; p[1].x = p[0].x + p[0].y; }
//// half2-convert: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p, float2* q) { q[0] = __half22float2(p[0]); p[1] = __float22half2_rn(q[1]); p[2] = __floats2half2_rn(1.0f, 2.0f); p[3] = __float2half2_rn(1.0f); q[1].x = __low2float(p[0]); p[4] = make_half2(1.0f, 2.0f); }
//// half2-math: none
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[0] = h2exp(p[1]); p[1] = h2sqrt(p[2]); p[2] = h2rcp(p[3]); p[3] = __hmax2(p[1], p[2]); p[4] = __h2div(p[1], p[2]); }
//// half2-hmax2: none
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[3] = __hmax2(p[1], p[2]); }
//// half2-compare: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[3] = __hgt2(p[1], p[2]); if (__hbgt2(p[1], p[2])) p[0] = p[1]; }
//// half2-habs2: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[3] = __habs2(p[1]); p[2] = __hneg2(p[1]); }
//// half2-load: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p, float4* q) { float4 v = q[0]; __half2* h = reinterpret_cast<__half2*>(&v); p[0] = h[0].x; }
//// half-raw: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { __half_raw r = p[0]; p[1] = r; p[2] = __ushort_as_half(r.x); }
//// half-constants: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = HIPRT_INF_FP16; p[1] = HIPRT_ONE_FP16; }
//// half-host: 6.4 7.2
#include <hip/hip_fp16.h>
float f(float x) { __half h = __float2half(x); return __half2float(h); }
//// half-host-arithmetic: 6.4 7.2
#include <hip/hip_fp16.h>
float f(__half a, __half b) { return __half2float(a + b); }
//// float16-builtin: 6.4 7.2
__global__ void k(_Float16* p) { p[0] = p[1] + p[2]; }
//// float16-to-half: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(_Float16* p, __half* q) { q[0] = p[0]; p[1] = q[1]; }
//// bf16-arithmetic: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = p[1] + p[2] * p[3]; p[1] = __hadd(p[1], __hmul(p[2], p[3])); p[2] = __hfma(p[1], p[2], p[3]); p[4] += p[5]; }
//// bf16-convert: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p, float* q) { q[0] = __bfloat162float(p[0]); p[1] = __float2bfloat16(q[1]); q[2] = p[2]; q[3] = static_cast<float>(p[3]); }
//// bf16-from-float: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = 1.0f; p[1] = __hip_bfloat16(2.0f); }
//// bf16-compare: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { if (p[0] > p[1]) p[2] = p[3]; if (__hgt(p[0], p[1])) p[4] = p[5]; }
//// bf16-compare-float: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { if (p[0] > 0.0f) p[2] = p[3]; }
//// bf16-rounding: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = __float2bfloat16_rn(1.0f); }
//// bf16-rz: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = __float2bfloat16_rz(1.0f); }
//// bf16-int: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p, int* q) { q[0] = __bfloat162int_rn(p[0]); }
//// bf16-of-int: 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p, int* q) { p[1] = __int2bfloat16_rn(q[0]); }
//// bf16-pair-raw: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat162* p, float2* q) { __hip_bfloat162_raw r = p[0]; p[1] = __hip_bfloat162(r); q[0] = p[2]; }
//// hip-bfloat16-explicit: 6.4 7.2
#include <hip/hip_bfloat16.h>
__global__ void k(hip_bfloat16* p, float* q) { p[0] = hip_bfloat16(q[0]); p[1] = q[1]; p[2] += p[3]; q[2] = p[4]; q[3] = hip_bfloat16(q[4], hip_bfloat16::truncate); }
//// hip-bfloat16-implicit: none
#include <hip/hip_bfloat16.h>
__global__ void k(hip_bfloat16* p) { hip_bfloat16 x = 5.0f; p[0] = x; }
//// bf16-max: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = __hmax(p[1], p[2]); p[1] = __hneg(p[2]); p[3] = __habs(p[4]); }
//// bf16-math: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = hexp(p[1]); p[1] = hsqrt(p[2]); p[2] = hrsqrt(p[3]); }
//// bf16-pair: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat162* p) { p[0] = __hadd2(p[1], p[2]); p[1] = p[2] * p[3]; p[2] = __floats2bfloat162_rn(1.0f, 2.0f); p[3] = __halves2bfloat162(p[0].x, p[0].y); }
//// bf16-make-pair: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat162* p) { p[0] = make_bfloat162(p[1].x, p[1].y); }
//// bf16-ushort: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p, unsigned short* q) { q[0] = __bfloat16_as_ushort(p[0]); p[0] = __ushort_as_bfloat16(q[1]); }
//// bf16-old-name: 6.4 7.2
#include <hip/hip_bfloat16.h>
__global__ void k(hip_bfloat16* p) { p[0] = hip_bfloat16(1.0f); float f = p[1]; p[2] = p[3] + p[4]; p[5] = hip_bfloat16(f); }
//// bf16-shuffle: 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = __shfl_down(p[1], 1); }
//// cg-block: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto b = cg::this_thread_block(); b.sync(); p[0] = b.thread_rank() + b.size() + b.group_index().x + b.thread_index().x; }
//// cg-block-group-dim: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto b = cg::this_thread_block(); p[0] = b.group_dim().x; }
//// cg-block-dim-threads: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto b = cg::this_thread_block(); p[0] = b.dim_threads().x; }
//// cg-block-num-threads: 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto b = cg::this_thread_block(); p[0] = b.num_threads(); }
//// cg-tile: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = t.shfl_down(p[0], 1) + t.shfl(p[1], 0) + t.shfl_up(p[2], 1) + t.shfl_xor(p[3], 1); t.sync(); p[1] = t.thread_rank() + t.size(); }
//// cg-tile-64: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) { auto t = cg::tiled_partition<64>(cg::this_thread_block()); p[0] = t.shfl_down(p[0], 1); }
//// cg-tile-num-threads: 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = t.num_threads(); }
//// cg-tile-size-constexpr: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); constexpr int n = t.size(); p[0] = n; }
//// cg-tile-size-loop: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); for (int i = t.size() / 2; i > 0; i /= 2) p[0] += t.shfl_down(p[0], i); }
//// cg-tile-ballot: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(unsigned long long* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = t.ballot(p[1] > 2); }
//// cg-tile-any: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = t.any(p[1]) + t.all(p[2]); }
//// cg-tile-match-any: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(unsigned long long* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = t.match_any(p[1]); }
//// cg-tile-meta: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = t.meta_group_rank() + t.meta_group_size(); }
//// cg-tile-parameter: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
template <int N> __device__ float sum(cg::thread_block_tile<N> t, float v) { for (int i = N / 2; i > 0; i /= 2) v += t.shfl_xor(v, i); return v; }
__global__ void k(float* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = sum<32>(t, p[1]); }
//// cg-tile-parameter-generic: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
template <class G> __device__ float sum(const G& t, float v) { for (int i = t.size() / 2; i > 0; i /= 2) v += t.shfl_down(v, i); return v; }
__global__ void k(float* p) { auto t = cg::tiled_partition<16>(cg::this_thread_block()); p[0] = sum(t, p[1]); }
//// cg-tile-const-sync: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) { const auto t = cg::tiled_partition<16>(cg::this_thread_block()); t.sync(); p[0] = 1; }
//// cg-sync-function: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) { auto b = cg::this_thread_block(); cg::sync(b); p[0] = cg::thread_rank(b) + cg::group_size(b); }
//// cg-tile-of-tile: 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); auto u = cg::tiled_partition<8>(t); p[0] = u.shfl_down(p[0], 1); }
//// cg-tile-dynamic: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { cg::thread_group t = cg::tiled_partition(cg::this_thread_block(), 16); t.sync(); p[0] = t.thread_rank() + t.size(); }
//// cg-tile-dynamic-shfl: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto t = cg::tiled_partition(cg::this_thread_block(), 16); p[0] = t.shfl(p[1], 0); }
//// cg-thread-group-parameter: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int rank(cg::thread_group g) { g.sync(); return g.thread_rank(); }
__global__ void k(int* p) { p[0] = rank(cg::this_thread_block()); auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[1] = rank(t); }
//// cg-coalesced: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::coalesced_threads(); p[0] = g.thread_rank() + g.size(); g.sync(); p[1] = g.shfl(p[0], 0); }
//// cg-coalesced-ballot: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::coalesced_threads(); p[0] = g.ballot(p[1]) + g.any(p[2]) + g.all(p[3]); }
//// cg-coalesced-shfl-xor: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::coalesced_threads(); p[0] = g.shfl_xor(p[1], 1); }
//// cg-coalesced-meta: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::coalesced_threads(); p[0] = g.meta_group_rank(); }
//// cg-reduce: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = cg::reduce(t, p[1], cg::plus<float>()); }
//// cg-inclusive-scan: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = cg::inclusive_scan(t, p[1]); }
//// cg-labeled-partition: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto t = cg::labeled_partition(cg::coalesced_threads(), p[0]); p[0] = t.size(); }
//// cg-binary-partition: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto t = cg::binary_partition(cg::coalesced_threads(), p[0] > 1); p[0] = t.size(); }
//// cg-binary-partition-tile: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto t = cg::binary_partition(cg::tiled_partition<32>(cg::this_thread_block()), p[0] > 1); p[0] = t.size(); }
//// cg-grid: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::this_grid(); p[0] = g.thread_rank() + g.size(); }
//// cg-grid-num-blocks: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::this_grid(); p[0] = g.num_blocks(); }
//// cg-grid-block-rank: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::this_grid(); p[0] = g.block_rank(); }
//// cg-grid-dim: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::this_grid(); p[0] = g.group_dim().x; }
//// cg-this-thread: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::this_thread(); p[0] = g.size(); }
//// cg-memcpy-async: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { __shared__ int s[64]; auto g = cg::this_thread_block(); cg::memcpy_async(g, s, p, 256); cg::wait(g); p[0] = s[1]; }
//// cg-is-valid: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::this_thread_block(); p[0] = g.is_valid(); }
//// complex: 6.4 7.2
#include <hip/hip_complex.h>
__global__ void k(hipFloatComplex* p) { p[0] = hipCmulf(p[1], p[2]); p[1] = make_hipFloatComplex(1, 2); p[2] = hipCaddf(p[0], p[1]); p[3].x = hipCabsf(p[2]); }
//// complex-operator: 6.4 7.2
#include <hip/hip_complex.h>
__global__ void k(hipFloatComplex* p) { p[0] = p[1] + p[2]; }
//// printf: 6.4 7.2
__global__ void k(int* p) { printf("%d %s %f\n", p[0], "x", 1.5); }
//// assert: 6.4 7.2
#include <cassert>
__global__ void k(int* p) { assert(p[0] > 0); }
//// abort: 6.4 7.2
__global__ void k(int* p) { if (p[0]) abort(); }
//// trap: 6.4 7.2
__global__ void k(int* p) { if (p[0]) __builtin_trap(); }
//// cuda-trap: none
__global__ void k(int* p) { if (p[0]) __trap(); }
//// memcpy-device: 6.4 7.2
#include <cstring>
__global__ void k(int* p) { memcpy(p, p + 64, 16); memset(p, 0, 16); }
//// malloc-device: 6.4 7.2
__global__ void k(int** p) { p[0] = (int*)malloc(16); free(p[0]); }
//// new-device: 6.4 7.2
__global__ void k(int** p) { p[0] = new int[4]; delete[] p[0]; }
//// lambda-kernel: 6.4 7.2
template <class F> __global__ void run(F f, int* p) { p[0] = f(p[1]); }
void f(int* p) { run<<<1, 64>>>([] __device__(int x) { return x + 1; }, p); }
//// function-pointer: 6.4 7.2
__device__ int twice(int x) { return 2 * x; }
__global__ void k(int* p) { int (*f)(int) = twice; p[0] = f(p[1]); }
//// recursion: 6.4 7.2
__device__ int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
__global__ void k(int* p) { p[0] = fact(p[1]); }
//// virtual: 6.4 7.2
struct Base { __device__ virtual int f() { return 1; } };
struct Derived : Base { __device__ int f() override { return 2; } };
__global__ void k(int* p) { Derived d; Base* b = &d; p[0] = b->f(); }
//// constexpr-function: 6.4 7.2
constexpr int twice(int x) { return 2 * x; }
__global__ void k(int* p) { p[0] = twice(p[1]); }
//// host-function-in-kernel: none cpu: yes
int twice(int x) { return 2 * x; }
__global__ void k(int* p) { p[0] = twice(p[1]); }
//// host-variable-in-kernel: none cpu: yes
int size = 3;
__global__ void k(int* p) { p[0] = size; }
//// const-host-variable: 6.4 7.2
const int size = 3;
__global__ void k(int* p) { p[0] = size; }
//// const-float-host-variable: 6.4 7.2
const float size = 3.0f;
__global__ void k(float* p) { p[0] = size; }
//// host-array-in-kernel: 6.4 7.2
const int table[3] = {1, 2, 3};
__global__ void k(int* p) { p[0] = table[p[1]]; }
//// constexpr-array-in-kernel: 6.4 7.2
constexpr int table[3] = {1, 2, 3};
__global__ void k(int* p) { p[0] = table[p[1]]; }
//// constant-memory: 6.4 7.2
__constant__ float table[16];
__global__ void k(float* p) { p[0] = table[1]; }
void f(float* p) { hipMemcpyToSymbol(table, p, 64); }
//// constant-symbol-macro: 6.4 7.2
__constant__ float table[16];
__global__ void k(float* p) { p[0] = table[1]; }
void f(float* p) { hipMemcpyToSymbol(HIP_SYMBOL(table), p, 64); }
//// device-variable: 6.4 7.2
__device__ int counter;
__global__ void k(int* p) { p[0] = atomicAdd(&counter, 1); }
//// device-variable-initialized: 6.4 7.2
__device__ int counter = 3;
__global__ void k(int* p) { p[0] = counter; }
//// managed-variable: 6.4 7.2
__managed__ int counter;
__global__ void k(int* p) { p[0] = counter; }
void f() { counter = 1; }
//// shared-dynamic: 6.4 7.2
__global__ void k(float* p) { extern __shared__ float s[]; s[threadIdx.x] = p[0]; __syncthreads(); p[0] = s[1]; }
//// shared-dynamic-macro: 6.4 7.2
__global__ void k(float* p) { HIP_DYNAMIC_SHARED(float, s); s[threadIdx.x] = p[0]; __syncthreads(); p[0] = s[1]; }
//// shared-initialized: none cpu: yes
__global__ void k(float* p) { __shared__ float s = 1.0f; p[0] = s; }
//// shared-with-constructor: none cpu: yes
struct P { float x; __device__ P() : x(1) {} };
__global__ void k(float* p) { __shared__ P s; p[0] = s.x; }
//// shared-variable-length: none
__global__ void k(float* p, int n) { __shared__ float s[n]; p[0] = s[0]; }
//// shared-parameter-type: 6.4 7.2
template <class T> __global__ void k(T* p) { __shared__ T s[64]; s[threadIdx.x] = p[0]; __syncthreads(); p[0] = s[1]; }
void f(float* p) { k<<<1, 64>>>(p); k<double><<<1, 64>>>((double*)p); }
//// private-variable-length: 6.4 7.2
__global__ void k(float* p, int n) { float s[n]; s[0] = 1; p[0] = s[0]; }
//// launch-bounds: 6.4 7.2
__global__ void __launch_bounds__(256) k(float* p) { p[0] = 1; }
//// launch-bounds-2: 6.4 7.2
__global__ __launch_bounds__(256, 2) void k(float* p) { p[0] = 1; }
//// launch-bounds-3: none cpu: yes
__global__ __launch_bounds__(256, 2, 1) void k(float* p) { p[0] = 1; }
//// forceinline: 6.4 7.2
__device__ __forceinline__ float f(float x) { return x; }
__global__ void k(float* p) { p[0] = f(p[0]); }
//// noinline: 6.4 7.2
__device__ __noinline__ float f(float x) { return x; }
__global__ void k(float* p) { p[0] = f(p[0]); }
//// restrict: 6.4 7.2
__global__ void k(const float* __restrict__ p, float* __restrict__ q) { q[0] = p[0]; }
//// align: 6.4 7.2
struct __align__(16) P { float x[4]; };
__global__ void k(P* p) { p[0] = p[1]; }
//// grid-constant: none
__global__ void k(const __grid_constant__ int n, int* p) { p[0] = n; }
//// host-device: 6.4 7.2
__host__ __device__ int f(int x) { return x; }
__global__ void k(int* p) { p[0] = f(p[1]); }
//// inline-assembly: 6.4 7.2
__global__ void k(int* p) { asm volatile("s_nop 0"); p[0] = 1; }
//// amdgcn-builtin: 6.4 7.2
__global__ void k(int* p) { p[0] = __builtin_amdgcn_readfirstlane(p[1]); }
//// hip-launch-kernel-ggl: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { hipLaunchKernelGGL(k, dim3(1), dim3(64), 0, 0, p); hipLaunchKernelGGL(k, 1, 64, 0, nullptr, p); }
//// launch-size-t: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f(int* p, size_t n) { k<<<n / 64, 64>>>(p); k<<<(n + 63) / 64, 64, 0, 0>>>(p); }
//// launch-narrowing: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f(int* p, long n) { dim3 g(n / 64, 2); k<<<g, 64>>>(p); }
//// launch-stream: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { hipStream_t s; hipStreamCreate(&s); k<<<1, 64, 0, s>>>(p); hipStreamSynchronize(s); hipStreamDestroy(s); }
//// occupancy: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f() { int b, g; hipOccupancyMaxPotentialBlockSize(&g, &b, k, 0, 0); hipOccupancyMaxActiveBlocksPerMultiprocessor(&b, k, 64, 0); }
//// func-attribute: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f() { hipFuncSetAttribute((const void*)k, hipFuncAttributeMaxDynamicSharedMemorySize, 65536); hipFuncSetAttribute(reinterpret_cast<const void*>(&k), hipFuncAttributeMaxDynamicSharedMemorySize, 1); }
//// func-attribute-kernel: none
__global__ void k(int* p) { p[0] = 1; }
void f() { hipFuncSetAttribute(k, hipFuncAttributeMaxDynamicSharedMemorySize, 65536); }
//// func-get-attributes-kernel: none
__global__ void k(int* p) { p[0] = 1; }
void f() { hipFuncAttributes a; hipFuncGetAttributes(&a, k); }
//// device-properties: 6.4 7.2
int f() { hipDeviceProp_t p; hipGetDeviceProperties(&p, 0); return p.multiProcessorCount + p.warpSize + p.sharedMemPerBlock + p.maxThreadsPerBlock + p.l2CacheSize; }
//// device-attribute: 6.4 7.2
int f() { int v; hipDeviceGetAttribute(&v, hipDeviceAttributeMultiprocessorCount, 0); return v; }
//// malloc-async: 6.4 7.2
void f() { float* p; hipMallocAsync(&p, 64, 0); hipFreeAsync(p, 0); }
//// malloc-async-void: 6.4 7.2
void f() { void* p; hipMallocAsync(&p, 64, 0); hipMalloc(&p, 3); hipMallocManaged(&p, 3); hipHostMalloc(&p, 3); }
//// malloc-templates: 6.4 7.2
void f() { float* p; hipMalloc(&p, 64); hipMalloc((void**)&p, 64); hipMallocManaged(&p, 64); hipHostMalloc(&p, 64); hipHostFree(p); hipFree(p); size_t s; hipMallocPitch(&p, &s, 3, 4); }
//// malloc-host: 6.4 7.2
void f() { float* p; hipMallocHost((void**)&p, 64); hipFreeHost(p); }
//// memset-d32: 6.4 7.2
void f(float* p) { hipMemsetD32((hipDeviceptr_t)p, 0, 16); hipMemset(p, 0, 16); hipMemsetAsync(p, 0, 16); hipMemset2D(p, 1, 2, 3, 4); }
//// memcpy-kinds: 6.4 7.2
void f(float* p, float* q) { hipMemcpy(p, q, 16, hipMemcpyDeviceToDevice); hipMemcpyAsync(p, q, 16, hipMemcpyDefault); hipMemcpyAsync(p, q, 16, hipMemcpyHostToDevice, 0); hipMemcpyDtoD(p, q, 16); }
//// error-names: 6.4 7.2
const char* f() { hipError_t e = hipGetLastError(); return e == hipSuccess ? hipGetErrorString(e) : hipGetErrorName(e); }
//// ignored-result: 6.4 7.2
void f(float* p) { hipFree(p); hipDeviceSynchronize(); }
//// events: 6.4 7.2
float f() { hipEvent_t a, b; hipEventCreate(&a); hipEventCreateWithFlags(&b, hipEventDisableTiming); hipEventRecord(a); hipEventRecord(b, 0); hipEventSynchronize(b); float t; hipEventElapsedTime(&t, a, b); return t; }
//// cooperative-launch: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { void* a[] = {&p}; hipLaunchCooperativeKernel((void*)k, dim3(1), dim3(64), a, 0, 0); }
//// cooperative-launch-kernel: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { void* a[] = {&p}; hipLaunchCooperativeKernel(k, dim3(1), dim3(64), a, 0, 0); }
//// launch-kernel: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { void* a[] = {&p}; hipLaunchKernel((void*)k, dim3(1), dim3(64), a, 0, 0); }
//// stream-callback: 6.4 7.2
void f(hipStream_t s) { hipLaunchHostFunc(s, [](void*) {}, nullptr); }
//// symbol-address: 6.4 7.2
__device__ int counter;
void f() { void* p; hipGetSymbolAddress(&p, HIP_SYMBOL(counter)); hipGetSymbolAddress(&p, counter); int v; hipMemcpyFromSymbol(&v, counter, 4); }
//// hip-threadidx: 6.4 7.2
__global__ void k(int* p) { p[hipThreadIdx_x] = hipBlockIdx_x * hipBlockDim_x + hipGridDim_x; }
//// thread-index-write: none cpu: yes
__global__ void k(int* p) { threadIdx.x = 3; p[0] = 1; }
//// grid-dim-types: 6.4 7.2
__global__ void k(int* p) { int a = gridDim.x, b = blockDim.y; unsigned c = blockIdx.z; p[0] = a + b + c; }
//// block-dim-product: 6.4 7.2
__device__ unsigned f(dim3 d) { return d.x; }
__global__ void k(int* p) { p[0] = f(blockDim) + f(gridDim) + f(threadIdx); }
//// std-array-in-kernel: 6.4 7.2
#include <array>
__global__ void k(int* p) { std::array<int, 3> v{1, 2, 3}; p[0] = v[p[1]]; }
//// std-pair-in-kernel: 6.4 7.2
#include <utility>
__global__ void k(int* p) { std::pair<int, int> v{1, 2}; p[0] = v.first; }
//// std-tuple-in-kernel: 6.4 7.2
#include <tuple>
__global__ void k(int* p) { auto v = std::make_tuple(1, 2); p[0] = std::get<0>(v); }
//// std-bit-cast: 6.4 7.2
#include <bit>
__global__ void k(float* p) { p[0] = std::bit_cast<float>(3); p[1] = std::popcount(7u); }
//// std-optional: 6.4 7.2
#include <optional>
__global__ void k(int* p) { std::optional<int> v = 3; p[0] = *v; }
//// std-complex: 6.4 7.2
#include <complex>
__global__ void k(float* p) { std::complex<float> v(1, 2); v = v * v; p[0] = v.real(); }
//// exceptions-in-kernel: none cpu: yes
__global__ void k(int* p) { if (p[0]) throw 1; }
//// cout-in-kernel: none cpu: yes
#include <iostream>
__global__ void k(int* p) { std::cout << p[0]; }
//// static-in-kernel: 6.4 7.2
__global__ void k(int* p) { static int n = 0; p[0] = n++; }
//// thread-local-in-kernel: none cpu: yes
thread_local int n = 0;
__global__ void k(int* p) { p[0] = n; }
//// goto-in-kernel: 6.4 7.2
__global__ void k(int* p) { if (p[0]) goto end; p[1] = 1; end: p[2] = 2; }
//// int128: 6.4 7.2
__global__ void k(long long* p) { __int128 x = p[0]; x *= p[1]; p[2] = (long long)(x >> 64); }
//// long-double: 6.4 7.2
__global__ void k(double* p) { long double x = p[0]; p[1] = x; }
//// kernel-returns-int: none cpu: yes
__global__ int k(int* p) { p[0] = 1; return 1; }
//// kernel-calls-kernel: none cpu: yes
__global__ void j(int* p) { p[0] = 1; }
__global__ void k(int* p) { j<<<1, 1>>>(p); }
//// kernel-member: none cpu: yes
struct S { __global__ void k(int* p) { p[0] = 1; } };
//// kernel-reference-parameter: 6.4 7.2
__global__ void k(int& p) { p = 1; }
//// kernel-called-directly: none cpu: yes
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { k(p); }
//// launch-too-few-arguments: none
__global__ void k(int* p, int n) { p[0] = n; }
void f(int* p) { k<<<1, 64>>>(p); }
//// missing-const: none
__global__ void k(float* p) { p[0] = 1; }
void f(const float* p) { k<<<1, 64>>>(p); }
//// pragma-unroll-n: 6.4 7.2
__global__ void k(float* p) {
#pragma unroll 4
  for (int i = 0; i < 16; ++i) p[i] = i;
}
//// pragma-unroll-parenthesis: 6.4 7.2
__global__ void k(float* p) {
#pragma unroll(4)
  for (int i = 0; i < 16; ++i) p[i] = i;
}
//// hip-device-compile: 6.4 7.2
__global__ void k(float* p) {
#ifdef __HIP_DEVICE_COMPILE__
  p[0] = 1;
#endif
}
//// gfx942-macro: 6.4 7.2
__global__ void k(float* p) {
#if defined(__gfx942__) || !defined(__HIP_DEVICE_COMPILE__)
  p[0] = 1;
#else
#error "another architecture"
#endif
}
//// uint-type-name: 6.4 7.2
__global__ void k(uint* p) { p[0] = 1; uchar4 c = make_uchar4(1, 2, 3, 4); p[1] = c.x; }
//// fixed-width-types: 6.4 7.2
#include <cstdint>
__global__ void k(uint32_t* p, int64_t* q) { p[0] = 1; q[0] = 2; }
//// ext-vector: 6.4 7.2
typedef float v4 __attribute__((ext_vector_type(4)));
__global__ void k(v4* p) { p[0] = p[0] * p[1]; p[0][1] = 2; }
//// mfma: 6.4 7.2
typedef float v4 __attribute__((ext_vector_type(4)));
__global__ void k(float* p, v4* q) { q[0] = __builtin_amdgcn_mfma_f32_4x4x1f32(p[0], p[1], q[0], 0, 0, 0); }
//// cuda-header: none
#include <cuda_runtime.h>
__global__ void k(float* p) { p[0] = 1; }
//// cuda-malloc: none
void f() { float* p; cudaMalloc(&p, 4); }
//// usual-arithmetic: 6.4 7.2
__global__ void k(const float* a, const float* b, float* c, size_t n) { size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }
//// cg-tile-shfl-half: 7.2
#include <hip/hip_fp16.h>
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(__half* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = t.shfl_down(p[0], 1); }
//// cg-tile-shfl-struct: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
struct S { int a, b; };
__global__ void k(S* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = t.shfl_down(p[0], 1); }
//// cg-tile-of-coalesced: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto c = cg::coalesced_threads(); auto t = cg::tiled_partition<8>(c); p[0] = t.size(); }
//// cg-tile-of-coalesced-dynamic: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto c = cg::coalesced_threads(); auto t = cg::tiled_partition(c, 8); p[0] = t.size() + t.shfl(p[1], 0); }
//// cg-tile-default: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { cg::thread_block_tile<32> t; p[0] = t.size(); }
//// cg-tile-declared: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { cg::thread_block b = cg::this_thread_block(); cg::thread_block_tile<32> t = cg::tiled_partition<32>(b); p[0] = t.size(); }
//// cg-tile-static-size: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { p[0] = cg::thread_block_tile<32>::size(); }
//// cg-block-static: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { p[0] = cg::thread_block::size() + cg::thread_block::thread_rank(); }
//// cg-tile-48: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto t = cg::tiled_partition<48>(cg::this_thread_block()); p[0] = t.size(); }
//// cg-tile-128: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto t = cg::tiled_partition<128>(cg::this_thread_block()); p[0] = t.size(); }
//// cg-grid-sync: 6.4 7.2 cpu: no
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::this_grid(); g.sync(); cg::sync(g); p[0] = g.is_valid(); }
//// cg-tile-const-shfl: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ int f(const cg::thread_block_tile<16>& t, int v) { return t.shfl(v, 0) + t.size() + t.thread_rank(); }
__global__ void k(int* p) { p[0] = f(cg::tiled_partition<16>(cg::this_thread_block()), p[1]); }
//// cg-coalesced-rank-in-branch: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
using namespace cooperative_groups;
__global__ void k(int* p) { if (threadIdx.x % 2) { coalesced_group g = coalesced_threads(); if (g.thread_rank() == 0) p[0] = g.size(); } }
//// half-exp: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = exp(p[1]); }
//// half-isnan: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = isnan(p[1]) ? p[2] : p[3]; }
//// launch-bounds-none: none cpu: yes
__global__ __launch_bounds__() void k(float* p) { p[0] = 1; }
//// shfl-width-short: 6.4 7.2
__global__ void k(short* p) { p[0] = __shfl_down(p[0], 1); }
//// shfl-size-t: 6.4 7.2
__global__ void k(size_t* p) { p[0] = __shfl(p[0], 1); }
//// shfl-sync-half: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = __shfl_sync(~0ull, p[0], 1); }
//// shfl-sync-size-t: 6.4 7.2
__global__ void k(size_t* p) { p[0] = __shfl_sync(~0ull, p[0], 1); }
//// shfl-sync-char: 6.4 7.2
__global__ void k(char* p) { p[0] = __shfl_sync(~0ull, p[0], 1); }
//// shfl-sync-struct: none
struct S { int a, b; };
__global__ void k(S* p) { p[0] = __shfl_sync(~0ull, p[0], 1); }
//// reduce-add-sync-float: none
__global__ void k(float* p) { p[0] = __reduce_add_sync(~0ull, p[1]); }
//// reduce-and-sync-int: 7.2
__global__ void k(int* p) { p[0] = __reduce_and_sync(~0ull, p[1]); }
//// reduce-add-sync-mask-32: none
__global__ void k(int* p) { p[0] = __reduce_add_sync(0xffffffffu, p[1]); }
//// reduce-add-sync-short: 7.2
__global__ void k(short* p) { p[0] = __reduce_add_sync(~0ull, p[1]); }
//// reduce-add-sync-ll: none
__global__ void k(long long* p) { p[0] = __reduce_add_sync(~0ull, p[1]); }
//// atomic-add-system-ll: none
__global__ void k(long long* p) { atomicAdd_system(p, 1ll); }
//// atomic-max-system: 6.4 7.2
__global__ void k(float* p) { atomicMax_system(p, 1.0f); atomicMin_system(p, 1.0f); }
//// atomic-add-literal-int-to-unsigned: 6.4 7.2
__global__ void k(unsigned* p) { atomicAdd(p, 1); atomicAdd(&p[1], p[2] > 3); }
//// atomic-add-double-to-float: 6.4 7.2
__global__ void k(float* p, double d) { atomicAdd(p, d); }
//// atomic-int64: none
__global__ void k(int64_t* p) { atomicAdd(p, 1); }
//// atomic-uint64: 6.4 7.2
__global__ void k(uint64_t* p) { atomicAdd(p, 1); }
//// atomic-const-pointer: none
__global__ void k(const int* p) { atomicAdd(p, 1); }
//// atomic-add-bool: none
__global__ void k(bool* p) { atomicAdd(p, 1); }
//// atomic-inc-system: none
__global__ void k(unsigned* p) { atomicInc_system(p, 1); }
//// warp-size-float: 6.4 7.2
__global__ void k(float* p) { float x = warpSize; p[0] = x * warpSize; p[1] = p[0] / warpSize; }
//// warp-size-assign: 6.4 7.2
__global__ void k(int* p) { const int n = warpSize; int m = n - 1; p[0] = m; unsigned u = warpSize; p[1] = u; p[2] = (int)warpSize; p[3] = static_cast<unsigned>(warpSize); }
//// warp-size-device-function: 6.4 7.2
__device__ int f(int w = warpSize) { return w; }
__global__ void k(int* p) { p[0] = f() + f(warpSize); }
//// warp-size-template-deduction: 6.4
template <class T> __device__ T twice(T x) { return x + x; }
__global__ void k(int* p) { p[0] = twice(warpSize); }
//// warp-size-compare-unsigned: 6.4 7.2
__global__ void k(int* p) { if (threadIdx.x < warpSize && blockDim.x >= 2 * warpSize) p[0] = -warpSize + ~warpSize + !warpSize; }
//// warp-size-index: 6.4 7.2
__global__ void k(int* p) { p[warpSize] = 1; p += warpSize; p[0] = 2; }
//// shadow-warp-size: 6.4 7.2
constexpr int warpSize_ = 64;
__global__ void k(int* p) { const int warpSize = 64; __shared__ int s[1024 / warpSize]; s[0] = 1; p[0] = s[0]; }
//// vector-abs: 6.4 7.2
__global__ void k(float4* p) { p[0].x = abs(p[0].y) + fabsf(p[0].z); }
//// vector-make-from-int: 6.4 7.2
__global__ void k(int2* p) { p[0] = make_int2(1.5f, 2); p[1] = int2{1, 2}; p[2] = int2(1, 2); }
//// vector-1: 6.4 7.2
__global__ void k(float1* p) { p[0].x = 1; p[1] = make_float1(2.0f); }
//// vector-compare-components: 6.4 7.2
__global__ void k(int4* p) { if (p[0].x == p[0].y) p[0].x++; p[0].x += p[0].y; }
//// vector-bool-convert: none
__global__ void k(int4* p) { if (p[0]) p[0].x = 1; }
//// vector-convert-types: none
__global__ void k(float4* p, int4* q) { p[0] = q[0]; }
//// vector-convert-explicit: none
__global__ void k(float4* p, int4* q) { p[0] = float4(q[0]); }
//// vector-array-index-constant: 6.4 7.2
__global__ void k(float4* p) { float* f = (float*)p; f[3] = reinterpret_cast<float*>(&p[0])[1]; }
//// dim3-arithmetic: 6.4 7.2
void f() { dim3 a(1, 2), b = 3, c = {4, 5}; (void)a; (void)b; (void)c; }
//// dim3-equal: none
bool f(dim3 a, dim3 b) { return a == b; }
//// max-three-types: 6.4 7.2
__global__ void k(long long* p, int i) { p[0] = max(p[1], (long long)i); }
//// max-ll-int: 6.4 7.2
__global__ void k(long long* p, int i) { p[0] = max(p[1], i); }
//// max-unsigned-literal: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = max(p[1], 1); }
//// min-short: 6.4 7.2
__global__ void k(short* p) { p[0] = min(p[1], p[2]); }
//// fma-mixed: 6.4 7.2
__global__ void k(float* p) { p[0] = fma(p[1], p[2], 1); p[1] = fmaf(p[1], p[2], 1.0); }
//// pow-int: 6.4 7.2
__global__ void k(float* p, int n) { p[0] = pow(p[1], n) + powf(p[1], n); }
//// sqrt-int: 6.4 7.2
__global__ void k(int* p) { p[0] = sqrt(p[1]); }
//// abs-int: 6.4 7.2
__global__ void k(int* p, long long* q) { p[0] = abs(p[1]); q[0] = llabs(q[1]) + abs(q[1]); }
//// abs-unsigned: none
__global__ void k(unsigned* p) { p[0] = abs(p[1]); }
//// round-functions: 6.4 7.2
__global__ void k(float* p) { p[0] = roundf(p[1]) + floorf(p[2]) + ceilf(p[3]) + truncf(p[4]) + rintf(p[5]) + nearbyintf(p[6]) + fmodf(p[7], 2.0f); }
//// ldexp-frexp: 6.4 7.2
__global__ void k(float* p) { int e; p[0] = frexpf(p[1], &e) + ldexpf(p[2], 3) + scalbnf(p[3], 2) + modff(p[4], p + 5); }
//// isnan-double: 6.4 7.2
__global__ void k(double* p) { p[0] = isnan(p[1]) + std::isnan(p[2]) + isinf(p[3]); }
//// clamp-std: 6.4 7.2
#include <algorithm>
__global__ void k(float* p) { p[0] = std::clamp(p[1], 0.0f, 1.0f); }
//// swap-std: 6.4 7.2
#include <utility>
__global__ void k(float* p) { std::swap(p[0], p[1]); float a = std::move(p[2]); p[3] = a; }
//// exp-double: 6.4 7.2
__global__ void k(double* p) { p[0] = exp(p[1]) + log(p[2]) + sqrt(p[3]) + tanh(p[4]) + erf(p[5]) + lgamma(p[6]) + atan2(p[7], p[8]); }
//// host-calls-device: none cpu: yes
__device__ int twice(int x) { return 2 * x; }
int f(int x) { return twice(x); }
//// host-calls-intrinsic: 6.4 7.2
float f(float x) { return __expf(x); }
//// host-reads-thread-index: none cpu: yes
int f() { return threadIdx.x; }
//// host-calls-atomic: none cpu: yes
void f(int* p) { atomicAdd(p, 1); }
//// host-calls-shuffle: none cpu: yes
int f(int x) { return __shfl(x, 0); }
//// host-calls-barrier: none cpu: yes
void f() { __syncthreads(); }
//// host-uses-popc: none cpu: yes
int f(unsigned x) { return __popc(x); }
//// host-warp-size-value: 6.4 cpu: yes
int f(int n) { return n / warpSize; }
//// host-warp-size-lambda: 6.4 cpu: yes
int f(int n) { auto g = [](int m) { return m / warpSize; }; return g(n); }
//// host-reads-device-variable: 6.4 7.2
__device__ int counter;
int f() { return counter; }
//// host-writes-constant: 6.4 7.2
__constant__ int table[4];
void f() { table[0] = 1; }
//// host-calls-host-device: 6.4 7.2
__host__ __device__ int twice(int x) { return 2 * x; }
int f(int x) { return twice(x); }
__global__ void k(int* p) { p[0] = twice(p[1]); }
//// host-device-calls-device: none cpu: yes
__device__ int once(int x) { return x; }
__host__ __device__ int twice(int x) { return 2 * once(x); }
int f(int x) { return twice(x); }
//// host-device-threadidx-unused: 6.4 7.2
__host__ __device__ int mine() {
#ifdef __HIP_DEVICE_COMPILE__
  return threadIdx.x;
#else
  return 0;
#endif
}
__global__ void k(int* p) { p[0] = mine(); }
//// undefined-device-function: none cpu: yes
__device__ int helper(int);
__global__ void k(int* p) { p[0] = helper(p[1]); }
//// undefined-extern-variable: none cpu: yes
extern __device__ int table[];
__global__ void k(int* p) { p[0] = table[p[1]]; }
//// std-string-in-kernel: none cpu: yes
#include <string>
__global__ void k(int* p) { std::string s("abcdefghijklmnopqrstuvwxyz"); p[0] = s[p[1]]; }
//// std-string-short-in-kernel: none cpu: yes
#include <string>
__global__ void k(int* p) { std::string s("abc"); p[0] = s.size(); }
//// std-vector-in-kernel: 6.4 7.2 xray: no
#include <vector>
__global__ void k(int* p) { std::vector<int> v(10); p[0] = v[p[1]]; }
//// std-function-in-kernel: none cpu: yes
#include <functional>
__global__ void k(int* p) { std::function<int(int)> f = [](int x) { return x; }; p[0] = f(p[1]); }
//// std-span-in-kernel: 6.4 7.2
#include <span>
__global__ void k(int* p) { std::span<int> s(p, 4); p[0] = s[1]; }
//// std-numbers: 6.4 7.2
#include <numbers>
__global__ void k(float* p) { p[0] = std::numbers::pi_v<float>; }
//// std-variant-in-kernel: 6.4 7.2
#include <variant>
__global__ void k(int* p) { std::variant<int, float> v = 3; p[0] = *std::get_if<int>(&v); }
//// std-accumulate-in-kernel: 6.4 7.2
#include <numeric>
__global__ void k(int* p) { p[0] = std::accumulate(p + 1, p + 5, 0); }
//// std-strlen-in-kernel: none cpu: yes
#include <cstring>
__global__ void k(const char* s, int* p) { p[0] = strlen(s); }
//// std-rand-in-kernel: none cpu: yes
#include <cstdlib>
__global__ void k(int* p) { p[0] = rand(); }
//// std-exit-in-kernel: none cpu: yes
#include <cstdlib>
__global__ void k(int* p) { if (p[0]) exit(1); }
//// std-atomic-in-kernel: none cpu: yes
#include <atomic>
__global__ void k(std::atomic<int>* p) { p->fetch_add(1, std::memory_order_relaxed); }
//// std-atomic-ref: none cpu: yes
#include <atomic>
__global__ void k(int* p) { std::atomic_ref<int> r(*p); r.fetch_add(1); }
//// std-initializer-list: 6.4 7.2
#include <initializer_list>
__global__ void k(int* p) { for (int x : {1, 2, 3}) p[0] += x; }
//// std-abs-float: 6.4 7.2
#include <cmath>
__global__ void k(float* p, double* q) { p[0] = std::abs(p[1]); q[0] = std::abs(q[1]); }
//// std-fma-float: 6.4 7.2
#include <cmath>
__global__ void k(float* p) { p[0] = std::fma(p[1], p[2], p[3]) + std::hypot(p[1], p[2]) + std::lerp(p[1], p[2], p[3]); }
//// std-float-names: 6.4 7.2 cpu: no
#include <cmath>
__global__ void k(float* p) { p[0] = std::sqrtf(p[1]); }
//// std-isfinite: 6.4 7.2
#include <cmath>
__global__ void k(float* p) { p[0] = std::isfinite(p[1]) + isfinite(p[2]) + std::signbit(p[3]); }
//// std-round-functions: 6.4 7.2
#include <cmath>
__global__ void k(float* p) { p[0] = std::round(p[1]) + std::floor(p[2]) + std::trunc(p[3]) + std::lround(p[4]) + lroundf(p[5]) + llrintf(p[6]); }
//// concepts: 6.4 7.2
#include <concepts>
template <std::floating_point T> __global__ void k(T* p) { p[0] = p[1]; }
void f(float* p) { k<<<1, 64>>>(p); }
//// requires-clause: 6.4 7.2
template <class T> requires(sizeof(T) == 4) __device__ T twice(T x) { return x + x; }
__global__ void k(float* p) { p[0] = twice(p[1]); }
//// template-lambda: 6.4 7.2
__global__ void k(int* p) { auto f = []<class T>(T x) { return x + 1; }; p[0] = f(p[1]); }
//// fold-expression: 6.4 7.2
template <class... T> __device__ int sum(T... x) { return (x + ...); }
__global__ void k(int* p) { p[0] = sum(p[1], p[2], 3); }
//// designated-initializers: 6.4 7.2
struct Shape { int m, n; };
__global__ void k(int* p) { Shape s{.m = 1, .n = p[0]}; p[1] = s.n; }
//// consteval-function: 6.4 7.2
consteval int four() { return 4; }
__global__ void k(int* p) { p[0] = four(); }
//// constexpr-if: 6.4 7.2
template <int N> __global__ void k(int* p) { if constexpr (N > 2) p[0] = N; else p[0] = 0; }
void f(int* p) { k<3><<<1, 64>>>(p); }
//// structured-binding: 6.4 7.2
struct Pair { int a, b; };
__global__ void k(Pair* p) { auto [a, b] = p[0]; p[1] = {b, a}; }
//// spaceship: 6.4 7.2
#include <compare>
struct V { int x; auto operator<=>(const V&) const = default; };
__global__ void k(int* p) { p[0] = V{p[1]} < V{p[2]}; }
//// range-for-shared: 6.4 7.2
__global__ void k(int* p) { __shared__ int s[4]; for (int& x : s) x = 1; __syncthreads(); p[0] = s[0]; }
//// lambda-capture-by-reference: 6.4 7.2
__global__ void k(int* p) { int a = p[0]; auto f = [&] { a += 2; }; f(); p[1] = a; }
//// kernel-template-values: 6.4 7.2
template <int M, int N, bool Relu = false> __global__ void k(float* p) { p[0] = M * N + Relu; }
void f(float* p) { k<2, 3><<<1, 64>>>(p); k<2, 3, true><<<dim3(1, 2), dim3(64)>>>(p); }
//// kernel-static: 6.4 7.2
static __global__ void k(int* p) { p[0] = 1; }
void f(int* p) { k<<<1, 64>>>(p); }
//// kernel-in-namespace: 6.4 7.2
namespace mine { __global__ void k(int* p) { p[0] = 1; } }
void f(int* p) { mine::k<<<1, 64>>>(p); }
//// kernel-pointer: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { auto g = k; g<<<1, 64>>>(p); }
//// kernel-struct-parameter: 6.4 7.2
struct A { int* p; int n; float s[4]; };
__global__ void k(A a) { a.p[0] = a.n; }
void f(int* p) { A a{p, 3, {}}; k<<<1, 64>>>(a); }
//// kernel-default-argument: 6.4 7.2
__global__ void k(int* p, int n = 3) { p[0] = n; }
void f(int* p) { k<<<1, 64>>>(p); }
//// kernel-bool-int-conversions: 6.4 7.2
__global__ void k(float* p, size_t n, bool b) { p[0] = n + b; }
void f(float* p, int n) { k<<<1, 64>>>(p, n, 1); }
//// device-lambda-parameter: 6.4 7.2
template <class F> __device__ int apply(F f, int x) { return f(x); }
__global__ void k(int* p) { p[0] = apply([](int x) { return x * 2; }, p[1]); }
//// device-static-member: 6.4 7.2
struct Math { static __device__ int twice(int x) { return 2 * x; } };
__global__ void k(int* p) { p[0] = Math::twice(p[1]); }
//// device-class-methods: 6.4 7.2
struct Acc { float v = 0; __device__ void add(float x) { v += x; } __device__ float get() const { return v; } };
__global__ void k(float* p) { Acc a; a.add(p[1]); p[0] = a.get(); }
//// host-method-in-kernel: none cpu: yes
struct Acc { float v = 0; void add(float x) { v += x; } };
__global__ void k(float* p) { Acc a; a.add(p[1]); p[0] = a.v; }
//// shared-struct: 6.4 7.2
struct Tile { float a[64]; float b[64]; };
__global__ void k(float* p) { __shared__ Tile t; t.a[threadIdx.x] = p[0]; __syncthreads(); p[0] = t.a[1]; }
//// shared-union: 6.4 7.2
union Both { float f[64]; int i[64]; };
__global__ void k(float* p) { __shared__ Both t; t.f[threadIdx.x] = p[0]; __syncthreads(); p[0] = t.i[1]; }
//// shared-2d: 6.4 7.2
__global__ void k(float* p) { __shared__ float t[32][33]; t[threadIdx.y][threadIdx.x] = p[0]; __syncthreads(); p[0] = t[1][2]; }
//// shared-in-device-function: 6.4 7.2
__device__ float* buffer() { __shared__ float s[64]; return s; }
__global__ void k(float* p) { buffer()[threadIdx.x] = p[0]; __syncthreads(); p[0] = buffer()[1]; }
//// shared-static-constexpr-size: 6.4 7.2
constexpr int kSize = 4 * 16;
__global__ void k(float* p) { __shared__ float s[kSize]; s[threadIdx.x] = p[0]; __syncthreads(); p[0] = s[1]; }
//// shared-dynamic-char-aligned: 6.4 7.2
__global__ void k(float* p) { extern __shared__ __align__(16) char raw[]; float* s = reinterpret_cast<float*>(raw); s[threadIdx.x] = p[0]; __syncthreads(); p[0] = s[1]; }
//// shared-dynamic-unsigned-char-alignas: 6.4 7.2
__global__ void k(float* p) { extern __shared__ unsigned char raw[]; double* s = (double*)raw; s[threadIdx.x] = p[0]; __syncthreads(); p[0] = s[1]; }
//// shared-dynamic-global-scope: 6.4 7.2
extern __shared__ float pool[];
__global__ void k(float* p) { pool[threadIdx.x] = p[0]; __syncthreads(); p[0] = pool[1]; }
//// shared-too-large: none cpu: yes
__global__ void k(float* p) { __shared__ float s[20000]; s[threadIdx.x] = p[0]; __syncthreads(); p[0] = s[p[1] > 3]; }
//// launch-bounds-template: 6.4 7.2
template <int N> __global__ __launch_bounds__(N) void k(float* p) { p[0] = N; }
void f(float* p) { k<256><<<1, 256>>>(p); }
//// launch-bounds-constexpr: 6.4 7.2
constexpr int kThreads = 256;
__global__ void __launch_bounds__(kThreads, 2) k(float* p) { p[0] = 1; }
//// amdgpu-waves-attribute: 6.4 7.2
__global__ __attribute__((amdgpu_waves_per_eu(4))) void k(float* p) { p[0] = 1; }
//// amdgpu-work-group-attribute: 6.4 7.2
__global__ __attribute__((amdgpu_flat_work_group_size(64, 256))) void k(float* p) { p[0] = 1; }
//// managed-array: 6.4 7.2
__managed__ int table[16];
__global__ void k(int* p) { p[0] = table[threadIdx.x]; }
void f() { table[1] = 3; }
//// constant-initialized: 6.4 7.2
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void k(float* p) { p[0] = table[threadIdx.x & 3]; }
//// memcpy-to-symbol-async: 6.4 7.2
__constant__ int table[4];
void f(const int* p, hipStream_t s) { hipMemcpyToSymbolAsync(HIP_SYMBOL(table), p, 16, 0, hipMemcpyHostToDevice, s); }
//// memcpy-to-symbol-offset: 6.4 7.2
__device__ int table[4];
void f(const int* p) { hipMemcpyToSymbol(HIP_SYMBOL(table), p, 8, 4, hipMemcpyHostToDevice); }
//// symbol-size: 6.4 7.2
__device__ int table[4];
size_t f() { size_t n; hipGetSymbolSize(&n, HIP_SYMBOL(table)); return n; }
//// atomic-exch-system: 6.4 7.2
__global__ void k(int* p) { atomicExch_system(p, 1); atomicAnd_system(p, 1); atomicOr_system(p, 1); atomicXor_system(p, 1); }
//// atomic-sub-system: 6.4 7.2
__global__ void k(int* p) { atomicSub_system(p, 1); }
//// atomic-scoped-builtins: 6.4 7.2
__global__ void k(int* p) { __hip_atomic_fetch_max(p, 1, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_WORKGROUP); __hip_atomic_exchange(p, 2, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WAVEFRONT); int e = 1; __hip_atomic_compare_exchange_strong(p, &e, 3, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM); }
//// atomic-scoped-float: 6.4 7.2
__global__ void k(float* p) { __hip_atomic_fetch_add(p, 1.0f, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
//// atomic-gcc-builtin: 6.4 7.2
__global__ void k(int* p) { __atomic_fetch_add(p, 1, __ATOMIC_RELAXED); __sync_fetch_and_add(p, 1); }
//// atomic-add-shared: 6.4 7.2
__global__ void k(int* p) { __shared__ int s; if (threadIdx.x == 0) s = 0; __syncthreads(); atomicAdd(&s, 1); __syncthreads(); p[0] = s; }
//// atomic-min-unsigned: 6.4 7.2
__global__ void k(unsigned* p) { atomicMin(p, 3u); atomicMax(p, 5u); atomicSub(p, 1u); }
//// atomic-cas-half-bits: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(unsigned* p, __half h) { atomicCAS(p, 1u, (unsigned)__half_as_ushort(h)); }
//// atomic-add-unsigned-short: none
__global__ void k(unsigned short* p) { atomicAdd(p, (unsigned short)1); }
//// atomic-cas-signed-short: none
__global__ void k(short* p) { atomicCAS(p, (short)1, (short)2); }
//// atomic-float-and: none
__global__ void k(float* p) { atomicAnd(p, 1.0f); }
//// atomic-min-long: none
__global__ void k(long* p) { atomicMin(p, 1l); }
//// atomic-max-no-ret-float-pointer-cast: 6.4 7.2
__global__ void k(float* p) { atomicMax(reinterpret_cast<int*>(p), __float_as_int(3.0f)); }
//// unsafe-atomic-add-bf16: 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { unsafeAtomicAdd(p, p[1]); }
//// shfl-half2: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[0] = __shfl_xor(p[0], 1); }
//// shfl-bf162: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat162* p) { p[0] = __shfl_xor(p[0], 1); }
//// shfl-sync-bf16: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = __shfl_xor_sync(~0ull, p[0], 1); }
//// shfl-sync-half2: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[0] = __shfl_down_sync(~0ull, p[0], 1); }
//// shfl-float16: none
__global__ void k(_Float16* p) { p[0] = __shfl(p[0], 1); }
//// shfl-unsigned-char: 6.4 7.2
__global__ void k(unsigned char* p) { p[0] = __shfl_xor(p[0], 1); }
//// shfl-enum: 6.4 7.2 cpu: no xray: no
enum Kind { A, B };
__global__ void k(Kind* p) { p[0] = (Kind)__shfl(p[0], 1); }
//// shfl-template-type: 6.4 7.2
template <class T> __device__ T sum(T x) { for (int d = 32; d > 0; d /= 2) x += __shfl_down(x, d, 64); return x; }
__global__ void k(float* p, double* q, int* r) { p[0] = sum(p[0]); q[0] = sum(q[0]); r[0] = sum(r[0]); }
//// shfl-long-double: none
__global__ void k(double* p) { p[0] = __shfl((long double)p[0], 1); }
//// shfl-mask-variable-64: 6.4 7.2
__global__ void k(int* p) { unsigned long long m = __activemask(); p[0] = __shfl_sync(m, p[0], 0); }
//// shfl-mask-variable-32: none
__global__ void k(int* p) { unsigned m = 0xffffffffu; p[0] = __shfl_sync(m, p[0], 0); }
//// shfl-mask-activemask-32: none
__global__ void k(int* p) { unsigned m = __activemask(); p[0] = __any_sync(m, p[0]); }
//// all-sync-mask-32: none
__global__ void k(int* p) { p[0] = __all_sync(0xffffffff, p[0]); }
//// match-any-sync-mask-32: none
__global__ void k(int* p) { p[0] = __match_any_sync(0xffffffffu, p[0]); }
//// match-any-float: 6.4 7.2
__global__ void k(float* p, unsigned long long* q) { q[0] = __match_any(p[0]); }
//// reduce-min-sync: 7.2
__global__ void k(int* p) { p[0] = __reduce_min_sync(~0ull, p[1]); }
//// reduce-or-sync: 7.2
__global__ void k(unsigned* p) { p[0] = __reduce_or_sync(__activemask(), p[1]); }
//// reduce-xor-sync: 7.2
__global__ void k(unsigned* p) { p[0] = __reduce_xor_sync(~0ull, p[1]); }
//// reduce-add-sync-double: none
__global__ void k(double* p) { p[0] = __reduce_add_sync(~0ull, p[1]); }
//// reduce-add-sync-half: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = __reduce_add_sync(~0ull, p[1]); }
//// lane-masks: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __lanemask_gt() | __lanemask_eq(); }
//// lane-mask-le-ge: none
__global__ void k(unsigned long long* p) { p[0] = __lanemask_le() | __lanemask_ge(); }
//// lane-id-function: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = __lane_id() + threadIdx.x % warpSize; }
//// laneid-macro: none
__global__ void k(unsigned* p) { p[0] = __laneid(); }
//// popc-of-ballot: 6.4 7.2
__global__ void k(int* p) { p[0] = __popcll(__ballot(p[1] > 0) & __lanemask_lt()); }
//// popc-signed-and-long: 6.4 7.2
__global__ void k(long long* p) { p[0] = __popc(p[1]) + __clz((int)p[2]); }
//// fns: 6.4 7.2 cpu: no xray: no
__global__ void k(unsigned* p, unsigned long long m) { p[0] = __fns64(m, 0, 3) + __fns32(m, 0, 3) + __fns(p[1], 0, 1); }
//// ctz: none
__global__ void k(unsigned* p) { p[0] = __ctz(p[1]); }
//// builtin-ctz: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = __builtin_ctz(p[1]) + __builtin_popcount(p[2]) + __builtin_clz(p[3]); }
//// byte-reverse: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = __builtin_bswap32(p[1]); }
//// funnel-shift-r: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = __funnelshift_r(p[1], p[2], 3) + __funnelshift_lc(p[1], p[2], 3); }
//// bit-extract-64: 6.4 7.2
__global__ void k(unsigned long long* p) { p[0] = __bitextract_u64(p[1], 3, 4) + __bitinsert_u64(p[1], 3, 4, 5); }
//// usad: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = __usad(p[1], p[2], p[3]) + __urhadd(p[1], p[2]); }
//// mul-hi-64: 6.4 7.2
__global__ void k(long long* p) { p[0] = __mul64hi(p[1], p[2]); }
//// vadd4-simd: none
__global__ void k(unsigned* p) { p[0] = __vadd4(p[1], p[2]); }
//// vmaxs4: none
__global__ void k(unsigned* p) { p[0] = __vmaxs4(p[1], p[2]) + __vabsdiffu4(p[1], p[2]); }
//// amd-mixed-dot: 6.4 7.2 cpu: no xray: no
__global__ void k(char4* p, int* q) { q[0] = amd_mixed_dot(p[0], p[1], q[1], false); }
//// amdgcn-readfirstlane: 6.4 7.2
__global__ void k(int* p) { p[0] = __builtin_amdgcn_readfirstlane(p[1]) + __builtin_amdgcn_readlane(p[2], 3); }
//// amdgcn-ds-swizzle: 6.4 7.2
__global__ void k(int* p) { p[0] = __builtin_amdgcn_ds_swizzle(p[1], 0x401f) + __builtin_amdgcn_ds_bpermute(4, p[2]); }
//// amdgcn-dpp: 6.4 7.2
__global__ void k(int* p) { p[0] = __builtin_amdgcn_update_dpp(0, p[1], 0x111, 0xf, 0xf, false) + __builtin_amdgcn_mov_dpp(p[2], 0x111, 0xf, 0xf, false); }
//// amdgcn-perm: 6.4 7.2
__global__ void k(unsigned* p) { p[0] = __builtin_amdgcn_perm(p[1], p[2], 0x03020100) + __builtin_amdgcn_alignbit(p[1], p[2], 3); }
//// amdgcn-rcp: 6.4 7.2
__global__ void k(float* p) { p[0] = __builtin_amdgcn_rcpf(p[1]) + __builtin_amdgcn_rsqf(p[2]) + __builtin_amdgcn_exp2f(p[3]) + __builtin_amdgcn_logf(p[4]); }
//// amdgcn-fmed3: 6.4 7.2
__global__ void k(float* p) { p[0] = __builtin_amdgcn_fmed3f(p[1], 0.0f, 1.0f); }
//// amdgcn-sched: 6.4 7.2
__global__ void k(float* p) { __builtin_amdgcn_sched_barrier(0); __builtin_amdgcn_s_setprio(1); __builtin_amdgcn_iglp_opt(0); __builtin_amdgcn_sched_group_barrier(1, 1, 0); p[0] = 1; }
//// amdgcn-waitcnt: 6.4 7.2
__global__ void k(float* p) { __builtin_amdgcn_s_waitcnt(0); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_wave_barrier(); p[0] = 1; }
//// amdgcn-sleep: 6.4 7.2
__global__ void k(float* p) { __builtin_amdgcn_s_sleep(1); p[0] = 1; }
//// amdgcn-sdot4: 6.4 7.2
__global__ void k(int* p) { p[0] = __builtin_amdgcn_sdot4(p[1], p[2], p[3], false); }
//// amdgcn-cvt-pk-fp8: 6.4 7.2
__global__ void k(int* p, float* q) { p[0] = __builtin_amdgcn_cvt_pk_fp8_f32(q[0], q[1], 0, false); }
//// amdgcn-mfma-bf16: 6.4 7.2
typedef float v4f __attribute__((ext_vector_type(4)));
typedef short v4s __attribute__((ext_vector_type(4)));
__global__ void k(v4s* a, v4f* q) { q[0] = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(a[0], a[1], q[0], 0, 0, 0); }
//// amdgcn-mfma-f16: 6.4 7.2
typedef float v4f __attribute__((ext_vector_type(4)));
typedef _Float16 v4h __attribute__((ext_vector_type(4)));
__global__ void k(v4h* a, v4f* q) { q[0] = __builtin_amdgcn_mfma_f32_16x16x16f16(a[0], a[1], q[0], 0, 0, 0); }
//// amdgcn-mfma-fp8: 6.4 7.2
typedef float v4f __attribute__((ext_vector_type(4)));
__global__ void k(long* a, v4f* q) { q[0] = __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(a[0], a[1], q[0], 0, 0, 0); }
//// amdgcn-mfma-gfx950: none
typedef float v4f __attribute__((ext_vector_type(4)));
typedef _Float16 v8h __attribute__((ext_vector_type(8)));
__global__ void k(v8h* a, v4f* q) { q[0] = __builtin_amdgcn_mfma_f32_16x16x32_f16(a[0], a[1], q[0], 0, 0, 0); }
//// amdgcn-wmma: none
typedef float v8f __attribute__((ext_vector_type(8)));
typedef _Float16 v16h __attribute__((ext_vector_type(16)));
__global__ void k(v16h* a, v8f* q) { q[0] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a[0], a[1], q[0]); }
//// amdgcn-global-load-lds: 6.4 7.2
__global__ void k(int* p) { __shared__ int s[64]; __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)p, (__attribute__((address_space(3))) void*)s, 4, 0, 0); __syncthreads(); p[1] = s[0]; }
//// amdgcn-raw-buffer: 6.4 7.2
__global__ void k(int* p) { auto r = __builtin_amdgcn_make_buffer_rsrc(p, 0, 64, 0); p[1] = __builtin_amdgcn_raw_buffer_load_b32(r, 0, 0, 0); }
//// asm-volatile-gcn: 6.4 7.2
__global__ void k(float* p) { float x; asm volatile("v_add_f32 %0, %1, %2" : "=v"(x) : "v"(p[0]), "v"(p[1])); p[2] = x; }
//// asm-ptx: none cpu: yes
__global__ void k(int* p) { int x; asm("mov.u32 %0, %laneid;" : "=r"(x)); p[0] = x; }
//// fast-division: 6.4 7.2
__global__ void k(float* p, double* q) { p[0] = __frcp_rn(p[1]) + __fdiv_rn(p[2], p[3]) + __fsqrt_rn(p[4]); q[0] = __ddiv_rn(q[1], q[2]) + __dsqrt_rn(q[3]) + __drcp_rn(q[4]); }
//// rounding-modes-float: none
__global__ void k(float* p) { p[0] = __fadd_ru(p[1], p[2]) + __fmul_rd(p[1], p[2]) + __fdiv_rz(p[1], p[2]); }
//// rounding-modes-fma: none
__global__ void k(float* p) { p[0] = __fmaf_rz(p[1], p[2], p[3]) + __fmaf_ru(p[1], p[2], p[3]); }
//// rounding-modes-double: none
__global__ void k(double* p) { p[0] = __dadd_rz(p[1], p[2]) + __dmul_ru(p[1], p[2]); }
//// rounding-modes-sqrt: none
__global__ void k(float* p) { p[0] = __fsqrt_rz(p[1]); }
//// float-to-int-rounding: 6.4 7.2
__global__ void k(int* p, float* q) { p[0] = __float2int_rn(q[0]) + __float2int_rz(q[1]) + __float2int_rd(q[2]) + __float2int_ru(q[3]); q[4] = __int2float_rn(p[1]) + __uint2float_rz(p[2]); }
//// float-bits: 6.4 7.2
__global__ void k(int* p, float* q) { p[0] = __float_as_int(q[0]) + __float_as_uint(q[1]); q[2] = __int_as_float(p[1]) + __uint_as_float(p[2]); }
//// double-bits: 6.4 7.2
__global__ void k(long long* p, double* q) { p[0] = __double_as_longlong(q[0]); q[1] = __longlong_as_double(p[1]) + __hiloint2double(1, 2); p[2] = __double2hiint(q[2]) + __double2loint(q[3]); }
//// ull-conversions: 6.4 7.2
__global__ void k(unsigned long long* p, float* q) { p[0] = __float2ull_rn(q[0]) + __float2ll_rz(q[1]); q[2] = __ull2float_rn(p[1]) + __ll2float_rd(p[2]); }
//// bessel: 6.4 7.2 xray: no
__global__ void k(float* p) { p[0] = j0f(p[1]) + j1f(p[2]) + jnf(2, p[3]) + y0f(p[4]) + y1f(p[5]) + ynf(2, p[6]); }
//// cyl-bessel: 6.4 7.2
__global__ void k(float* p) { p[0] = cyl_bessel_i0f(p[1]) + cyl_bessel_i1f(p[2]); }
//// normcdf: 6.4 7.2
__global__ void k(float* p) { p[0] = normcdff(p[1]) + normcdfinvf(p[2]) + erfcxf(p[3]) + erfinvf(p[4]) + erfcinvf(p[5]); }
//// norms: 6.4 7.2 cpu: no xray: no
__global__ void k(float* p) { p[0] = norm3df(p[1], p[2], p[3]) + norm4df(p[1], p[2], p[3], p[4]) + rnorm3df(p[1], p[2], p[3]) + normf(3, p) + rhypotf(p[1], p[2]) + hypotf(p[1], p[2]); }
//// rcbrt-cbrt: 6.4 7.2
__global__ void k(float* p, double* q) { p[0] = rcbrtf(p[1]) + cbrtf(p[2]); q[0] = rcbrt(q[1]) + cbrt(q[2]); }
//// exp-family: 6.4 7.2
__global__ void k(float* p) { p[0] = exp2f(p[1]) + exp10f(p[2]) + expm1f(p[3]) + log1pf(p[4]) + log2f(p[5]) + log10f(p[6]) + logbf(p[7]); }
//// trigonometry-pi: 6.4 7.2
__global__ void k(float* p, double* q) { p[0] = sinpif(p[1]) + cospif(p[2]); q[0] = sinpi(q[1]) + cospi(q[2]); }
//// hyperbolic: 6.4 7.2
__global__ void k(float* p) { p[0] = sinhf(p[1]) + coshf(p[2]) + tanhf(p[3]) + asinhf(p[4]) + acoshf(p[5]) + atanhf(p[6]); }
//// remainder-remquo: 6.4 7.2 xray: no
__global__ void k(float* p) { int q; p[0] = remainderf(p[1], p[2]) + remquof(p[3], p[4], &q) + fdimf(p[5], p[6]) + nextafterf(p[7], p[8]); p[9] = q; }
//// fmin-fmax-three: 6.4 7.2
__global__ void k(float* p, double* q) { p[0] = fminf(p[1], fmaxf(p[2], p[3])); q[0] = fmin(q[1], fmax(q[2], 1.0)); }
//// ilogb-scalbln: 6.4 7.2 xray: no
__global__ void k(float* p) { p[0] = ilogbf(p[1]) + scalblnf(p[2], 3l) + nanf("") + copysignf(p[3], p[4]); }
//// fast-exp2: none cpu: yes
__global__ void k(float* p) { p[0] = __exp2f(p[1]); }
//// fdivide: 6.4 7.2
__global__ void k(float* p) { p[0] = fdividef(p[1], p[2]) + __fdividef(p[1], p[2]); }
//// saturatef: 6.4 7.2
__global__ void k(float* p) { p[0] = __saturatef(p[1]); }
//// fast-sincos: 6.4 7.2
__global__ void k(float* p) { float s, c; __sincosf(p[0], &s, &c); sincospif(p[1], &s, &c); p[2] = s + c; }
//// max-half-float: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = fmaxf(p[1], p[2]); p[1] = max(p[1], 0.0f); }
//// half-fabs: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = fabs(p[1]); }
//// half-increment: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { ++p[0]; p[0]++; p[1] += p[2]; p[1] -= p[2]; p[1] *= p[2]; p[1] /= p[2]; }
//// half-plus-assign-float: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] += 1.0f; }
//// half-negate-not: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = -p[1]; p[1] = +p[2]; }
//// half-functions-all: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = hexp(p[1]) + hexp2(p[2]) + hexp10(p[3]) + hlog(p[4]) + hlog2(p[5]) + hlog10(p[6]) + hsqrt(p[7]) + hrsqrt(p[8]) + hrcp(p[9]) + hsin(p[1]) + hcos(p[2]); }
//// half-rounding: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = hceil(p[1]) + hfloor(p[2]) + hrint(p[3]) + htrunc(p[4]); }
//// half-fma: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = __hfma(p[1], p[2], p[3]); p[1] = __hfma_sat(p[1], p[2], p[3]); p[2] = fma(float(p[1]), float(p[2]), 1.0f); }
//// half-fma-overload: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = fma(p[1], p[2], p[3]); }
//// half-sqrt-overload: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = sqrt(p[1]); }
//// half-isnan-intrinsic: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { p[0] = __hisnan(p[1]) ? p[2] : p[3]; p[1] = __hisinf(p[1]) ? p[2] : p[3]; }
//// half2-functions: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[0] = h2exp(p[1]); p[1] = h2log(p[2]); p[2] = h2sqrt(p[3]); p[3] = h2rsqrt(p[4]); p[4] = h2rcp(p[5]); p[5] = h2sin(p[6]); }
//// half2-fma: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[0] = __hfma2(p[1], p[2], p[3]); p[1] = __hadd2(p[1], p[2]); p[2] = __hmul2(p[1], p[2]); p[3] = __hsub2(p[1], p[2]); p[4] = __h2div(p[1], p[2]); p[5] = __hneg2(p[1]); }
//// half2-lanes: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[0] = __lowhigh2highlow(p[1]); p[1] = __low2half2(p[2]); p[2] = __highs2half2(p[1], p[2]); p[3] = __lows2half2(p[1], p[2]); }
//// half2-scalar: none
#include <hip/hip_fp16.h>
__global__ void k(__half2* p, __half h) { p[0] = p[0] * h; }
//// half2-from-float: 6.4 7.2 cpu: no xray: no
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[0] = __half2(1.0f); }
//// half2-float-index: none
#include <hip/hip_fp16.h>
__global__ void k(__half2* p) { p[0].x = p[0][1]; }
//// half-vector-load: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(const __half* p, float* q) { float4 raw = *reinterpret_cast<const float4*>(p); const __half2* h = reinterpret_cast<const __half2*>(&raw); float2 f = __half22float2(h[1]); q[0] = f.x + f.y; }
//// half-printf: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { printf("%f\n", __half2float(p[0])); }
//// half-constexpr: none
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { constexpr __half h = 1.0f; p[0] = h; }
//// half-double: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p, double* q) { p[0] = __half(q[0]); q[1] = float(p[1]); p[2] = __half(3); p[3] = (__half)2u; }
//// half-double-implicit: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p, double d) { p[0] = d; float f = p[1]; p[2] = f; }
//// half-to-double-implicit: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p, double* q) { double d = p[0]; q[0] = d; }
//// half-bool: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p) { if (p[0]) p[1] = p[2]; }
//// half-switch-int: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(__half* p, int* q) { q[0] = p[0]; }
//// bf16-functions: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = __hadd(p[1], p[2]); p[1] = __hmul(p[1], p[2]); p[2] = __hfma(p[1], p[2], p[3]); p[3] = __hdiv(p[1], p[2]); p[4] = __habs(p[1]); p[5] = __hneg(p[2]); p[6] = __hsub(p[1], p[2]); }
//// bf16-math-functions: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = hexp(p[1]) + hlog(p[2]) + hsqrt(p[3]) + hrsqrt(p[4]) + hsin(p[5]) + hcos(p[6]) + hceil(p[7]) + hfloor(p[8]) + hrcp(p[9]); }
//// bf162-functions: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat162* p) { p[0] = __hadd2(p[1], p[2]); p[1] = __hmul2(p[1], p[2]); p[2] = __hfma2(p[1], p[2], p[3]); p[3] = p[1] + p[2]; p[4] = __hmax2(p[1], p[2]); }
//// bf16-operators: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] += p[1]; p[0] *= p[1]; p[0] -= p[1]; p[0] /= p[1]; p[1] = -p[2]; if (p[0] > p[1]) p[2] = p[3]; ++p[4]; p[5]--; }
//// bf16-plus-float: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = p[1] + 1.0f; }
//// bf16-from-double: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p, double d) { p[0] = __double2bfloat16(d); p[1] = __hip_bfloat16(d); p[2] = __hip_bfloat16(3); }
//// bf16-exp-overload: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = exp(p[1]); }
//// bf16-ternary-float: none
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = p[1] > p[2] ? p[1] : 0.0f; }
//// bf16-hisnan: 6.4 7.2
#include <hip/hip_bf16.h>
__global__ void k(__hip_bfloat16* p) { p[0] = __hisnan(p[1]) ? p[2] : p[3]; }
//// bf16-host: 6.4 7.2
#include <hip/hip_bf16.h>
float f(float x) { return __bfloat162float(__float2bfloat16(x)); }
//// bf16-old-class: 6.4 7.2
#include <hip/hip_bfloat16.h>
__global__ void k(hip_bfloat16* p) { p[0] = p[1] + p[2]; p[1] = hip_bfloat16(1.0f); float f = p[2]; p[3] = hip_bfloat16(f); }
//// bf16-cuda-name: none
#include <hip/hip_bf16.h>
__global__ void k(__nv_bfloat16* p) { p[0] = p[1]; }
//// fp8-header: 6.4 7.2
#include <hip/hip_fp8.h>
__global__ void k(__hip_fp8_e4m3_fnuz* p, float* q) { p[0] = __hip_fp8_e4m3_fnuz(q[0]); q[1] = float(p[1]); }
//// fp8-implicit: 6.4 7.2
#include <hip/hip_fp8.h>
__global__ void k(__hip_fp8_e5m2_fnuz* p, float* q) { p[0] = q[0]; q[1] = p[1]; int i = p[2]; q[2] = i; }
//// fp8-plus: none
#include <hip/hip_fp8.h>
__global__ void k(__hip_fp8_e4m3_fnuz* p, float* q) { q[0] = p[0] + p[1]; }
//// fp8-of-long-long: none
#include <hip/hip_fp8.h>
__global__ void k(__hip_fp8_e4m3_fnuz* p, long long* q) { p[0] = q[0]; }
//// fp8-half-and-bf16: 6.4 7.2
#include <hip/hip_fp8.h>
__global__ void k(__hip_fp8_e4m3_fnuz* p, __half* h, __hip_bfloat16* b) { p[0] = h[0]; p[1] = b[0]; h[1] = __half(p[2]); }
//// fp8-pairs: 6.4 7.2
#include <hip/hip_fp8.h>
__global__ void k(__hip_fp8x2_e4m3_fnuz* p, float2* q, __half2* h) { p[0] = __hip_fp8x2_e4m3_fnuz(q[0]); q[1] = p[1]; h[0] = p[2]; p[3] = h[1]; }
//// fp8-fours: 6.4 7.2
#include <hip/hip_fp8.h>
__global__ void k(__hip_fp8x4_e5m2_fnuz* p, float4* q, __half2* h) { p[0] = __hip_fp8x4_e5m2_fnuz(q[0]); q[1] = p[1]; p[2].__x = 7u; }
//// fp8-cvt: 6.4 7.2
#include <hip/hip_fp8.h>
__global__ void k(__hip_fp8_storage_t* p, float* q) { p[0] = __hip_cvt_float_to_fp8(q[0], __HIP_NOSAT, __HIP_E4M3_FNUZ); }
//// fp8-cvt-pair: 6.4 7.2
#include <hip/hip_fp8.h>
__global__ void k(__hip_fp8x2_storage_t* p, float2* q) { p[0] = __hip_cvt_float2_to_fp8x2(q[0], __HIP_SATFINITE, __HIP_E5M2_FNUZ); }
//// fp8-cvt-half: 6.4 7.2
#include <hip/hip_fp8.h>
__global__ void k(__hip_fp8_storage_t* p, __half* q) { q[0] = __half(__hip_cvt_fp8_to_halfraw(p[0], __HIP_E4M3_FNUZ)); }
//// fp8-ocp-in-host-code: 6.4 7.2
#include <hip/hip_fp8.h>
float host(float x) { return float(__hip_fp8_e4m3(x)) + __hip_cvt_float_to_fp8(x, __HIP_NOSAT, __HIP_E5M2); }
//// fp8-ocp-in-device-code: none cpu: yes
#include <hip/hip_fp8.h>
__global__ void k(float* q) { q[0] = float(__hip_fp8_e4m3(q[1])); }
//// fp4-header: 7.2
#include <hip/hip_fp4.h>
__global__ void k(float* q) { __hip_fp4_e2m1 x(q[0]); q[1] = float(x); }
//// fp4-pair: 7.2
#include <hip/hip_fp4.h>
__global__ void k(__hip_fp4x2_e2m1* p, float2* q) { p[0] = __hip_fp4x2_e2m1(q[0]); q[1] = p[1]; }
//// fp4-cvt: 7.2
#include <hip/hip_fp4.h>
__global__ void k(__hip_fp4_storage_t* p, float* q) { p[0] = __hip_cvt_float_to_fp4(q[0], __HIP_E2M1, hipRoundNearest); }
//// fp6-header: 7.2
#include <hip/hip_fp6.h>
__global__ void k(__hip_fp6_e3m2* p, __hip_fp6_e2m3* r, float* q) { p[0] = __hip_fp6_e3m2(q[0]); r[0] = __hip_fp6_e2m3(q[2]); q[1] = p[1]; }
//// double-vectors: 6.4 7.2
__global__ void k(double2* p, double4* q) { p[0] = make_double2(1, 2) * 2.0; q[0] = make_double4(1, 2, 3, 4) + q[1]; }
//// long-vectors: 6.4 7.2
__global__ void k(longlong2* p, ulonglong4* q, long2* r, ulong4* s) { p[0] = make_longlong2(1, 2); q[0].w = 1; r[0] = make_long2(1, 2); s[0].z = 2; }
//// char-vectors: 6.4 7.2
__global__ void k(char4* p, uchar2* q, short4* r, ushort3* s) { p[0] = make_char4(1, 2, 3, 4) + p[1]; q[0] = make_uchar2(1, 2); r[0] = make_short4(1, 2, 3, 4) * r[1]; s[0].z = 2; }
//// float3: 6.4 7.2
__global__ void k(float3* p) { p[0] = make_float3(1, 2, 3) + p[1] * p[2]; p[1] -= p[2]; }
//// vector-nested-subscript-pointer: 7.2
__global__ void k(float4* p, int i) { const float4* q = p; p[0].x = (*q)[i]; }
//// vector-minus-scalar-left: 6.4 7.2
__global__ void k(float4* p) { p[0] = 1.0f - p[1]; p[1] = 1.0f / p[2]; }
//// vector-scalar-constructor-int: 6.4 7.2
__global__ void k(int4* p) { p[0] = int4(3); p[1] = int4(p[2]); }
//// vector-logical: none
__global__ void k(int4* p) { p[0] = p[0] && p[1]; }
//// vector-compare-scalar-int: 6.4 7.2
__global__ void k(int2* p) { if (p[0] == 3) p[0].x = 1; }
//// vector-mixed-operands: none
__global__ void k(float4* p, int4* q) { p[0] = p[1] + q[0]; }
//// vector-swizzle: none
__global__ void k(float4* p) { p[0].xy = make_float2(1, 2); }
//// vector-r-g-b-a: none
__global__ void k(float4* p) { p[0].r = 1; }
//// vector-data-member: 6.4
__global__ void k(float4* p) { p[0].data[1] = 1; }
//// vector-size: 6.4 7.2
static_assert(sizeof(float4) == 16 && alignof(float4) == 16 && sizeof(float3) == 12 && sizeof(double4) == 32);
__global__ void k(float4* p) { p[0].x = sizeof(uchar3); }
//// vector-in-constant: 6.4 7.2
__constant__ float4 table[4];
__global__ void k(float4* p) { p[0] = table[threadIdx.x & 3]; }
//// vector-host-arithmetic: 6.4 7.2
float4 f(float4 a, float4 b) { a += b; return a * 2.0f + make_float4(1, 2, 3, 4); }
//// vector-array-of: 6.4 7.2
__global__ void k(float4* p) { float4 a[4]; for (int i = 0; i < 4; ++i) a[i] = p[i]; p[0] = a[threadIdx.x & 3]; }
//// vector-volatile: none
__global__ void k(volatile float4* p) { float4 v = p[0]; p[1].x = v.x; }
//// vector-hip-typed: 6.4 7.2
__global__ void k(HIP_vector_type<float, 4>* p) { p[0] = p[1]; }
//// dim3-members: 6.4 7.2
__global__ void k(int* p) { dim3 d(1, 2, 3); p[0] = d.x * d.y * d.z; d.x = 4; }
//// texture-object: none cpu: yes
__global__ void k(hipTextureObject_t t, float* p) { p[0] = tex2D<float>(t, 1.0f, 2.0f) + tex1Dfetch<float>(t, 3); }
//// surface-object: none cpu: yes
__global__ void k(hipSurfaceObject_t s, float* p) { surf2Dread(&p[0], s, 4, 2); surf2Dwrite(p[1], s, 4, 2); }
//// printf-many: 6.4 7.2
__global__ void k(int* p) { printf("%d %f %s %p %llu\n", p[0], 1.0, "x", (void*)p, 3ull); }
//// printf-return: 6.4 7.2
__global__ void k(int* p) { p[0] = printf("x"); }
//// puts-in-kernel: none cpu: yes
__global__ void k(int* p) { puts("x"); p[0] = 1; }
//// fprintf-in-kernel: none cpu: yes
__global__ void k(int* p) { fprintf(stderr, "x"); p[0] = 1; }
//// assert-message: 6.4 7.2
#include <cassert>
__global__ void k(int* p) { assert(p[0] > 0 && "positive"); p[1] = 2; }
//// unreachable: 6.4 7.2 cpu: no
__global__ void k(int* p) { if (p[0] > 3) __builtin_unreachable(); __builtin_assume(p[1] > 0); p[2] = __builtin_expect(p[1], 1); }
//// likely-attributes: 6.4 7.2
__global__ void k(int* p) { if (p[0] > 3) [[likely]] p[1] = 1; [[maybe_unused]] int x = 2; }
//// restrict-spellings: 6.4 7.2
__global__ void k(const float* __restrict p, float* __restrict__ q) { q[0] = p[0]; }
//// noinline-spellings: 6.4 7.2
__device__ __attribute__((noinline)) int f(int x) { return x; }
__device__ __noinline__ int g(int x) { return x; }
__global__ void k(int* p) { p[0] = f(p[1]) + g(p[2]); }
//// device-constexpr-array: 6.4 7.2
__device__ constexpr float weights[4] = {1, 2, 3, 4};
__global__ void k(float* p) { p[0] = weights[threadIdx.x & 3]; }
//// device-variable-template: 6.4 7.2
template <class T> __device__ constexpr T pi = T(3.14159);
__global__ void k(float* p) { p[0] = pi<float>; }
//// static-constexpr-member: 6.4 7.2
struct Config { static constexpr int tile = 16; static constexpr float scale[2] = {1, 2}; };
__global__ void k(float* p) { p[0] = Config::tile + Config::scale[threadIdx.x & 1]; }
//// enum-class: 6.4 7.2
enum class Mode { Sum, Max };
template <Mode M> __global__ void k(float* p) { if constexpr (M == Mode::Max) p[0] = 1; }
void f(float* p) { k<Mode::Max><<<1, 64>>>(p); }
//// typeid-in-kernel: none cpu: yes
#include <typeinfo>
struct S { virtual __device__ ~S() {} };
__global__ void k(S* s, bool* p) { p[0] = typeid(*s) == typeid(S); }
//// dynamic-cast-in-kernel: none cpu: yes
struct A { virtual __device__ void f() {} };
struct B : A {};
__global__ void k(A* a, bool* p) { p[0] = dynamic_cast<B*>(a) != nullptr; }
//// try-in-kernel: none cpu: yes
__global__ void k(int* p) { try { p[0] = 1; } catch (...) { p[0] = 2; } }
//// coroutine-in-kernel: none
__global__ void k(int* p) { co_return; }
//// alloca-in-kernel: 6.4 7.2
__global__ void k(int* p) { int* q = (int*)__builtin_alloca(64); q[p[0]] = 1; p[1] = q[2]; }
//// function-table: 6.4 7.2
__device__ int f(int x) { return x; }
__device__ int g(int x) { return -x; }
__device__ int (*const table[])(int) = {f, g};
__global__ void k(int* p) { p[0] = table[p[1] & 1](p[2]); }
//// global-constructor-device: none cpu: yes
struct S { int x; __device__ S() : x(threadIdx.x) {} };
__device__ S global;
__global__ void k(int* p) { p[0] = global.x; }
//// pointer-restrict-cast: 6.4 7.2
__global__ void k(const void* p, void* q) { static_cast<float*>(q)[0] = static_cast<const float*>(p)[0]; }
//// streams-priority: 6.4 7.2
void f() { hipStream_t s; hipStreamCreateWithFlags(&s, hipStreamNonBlocking); hipStreamCreateWithPriority(&s, hipStreamNonBlocking, 0); hipStreamWaitEvent(s, nullptr, 0); hipStreamQuery(s); hipStreamDestroy(s); }
//// graphs: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f(int* p, hipStream_t s) { hipGraph_t g; hipGraphExec_t e; hipStreamBeginCapture(s, hipStreamCaptureModeGlobal); k<<<1, 64, 0, s>>>(p); hipStreamEndCapture(s, &g); hipGraphInstantiate(&e, g, nullptr, nullptr, 0); hipGraphLaunch(e, s); hipGraphExecDestroy(e); hipGraphDestroy(g); }
//// graph-wrong-arguments: none cpu: yes
void f(hipStream_t s) { hipStreamBeginCapture(s); }
//// module-wrong-arguments: none cpu: yes
void f() { hipModule_t m; hipModuleLoad(&m); }
//// host-register: 6.4 7.2
void f(void* p) { hipHostRegister(p, 64, hipHostRegisterDefault); void* d; hipHostGetDevicePointer(&d, p, 0); hipHostUnregister(p); }
//// mem-info: 6.4 7.2
size_t f() { size_t a, b; hipMemGetInfo(&a, &b); return a; }
//// mem-pitch: 6.4 7.2
void f() { void* p; size_t pitch; hipMallocPitch(&p, &pitch, 64, 4); hipMemcpy2D(p, pitch, p, pitch, 64, 4, hipMemcpyDeviceToDevice); hipFree(p); }
//// mem-prefetch: 6.4 7.2
void f(void* p) { hipMemPrefetchAsync(p, 64, 0, 0); hipMemAdvise(p, 64, hipMemAdviseSetReadMostly, 0); }
//// peek-error: 6.4 7.2
bool f() { return hipPeekAtLastError() == hipSuccess; }
//// occupancy-block-size: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
int f() { int grid, block; hipOccupancyMaxPotentialBlockSize(&grid, &block, k, 0, 0); return block; }
//// device-peer: 6.4 7.2
void f() { int can; hipDeviceCanAccessPeer(&can, 0, 1); hipDeviceEnablePeerAccess(1, 0); hipMemcpyPeer(nullptr, 0, nullptr, 1, 4); }
//// func-cache-config: 6.4 7.2
__global__ void k(int* p) { p[0] = 1; }
void f() { hipFuncSetCacheConfig((const void*)k, hipFuncCachePreferL1); hipFuncSetAttribute((const void*)k, hipFuncAttributeMaxDynamicSharedMemorySize, 65536); }
//// ext-launch: 6.4 7.2 cpu: no xray: no
#include <hip/hip_ext.h>
__global__ void k(int* p) { p[0] = 1; }
void f(int* p, hipEvent_t a, hipEvent_t b) { hipExtLaunchKernelGGL(k, dim3(1), dim3(64), 0, nullptr, a, b, 0, p); }
//// hiprtc-header: 6.4 7.2 cpu: no xray: no
#include <hip/hiprtc.h>
int f(const char* s) { hiprtcProgram p; return hiprtcCreateProgram(&p, s, "k", 0, nullptr, nullptr); }
//// triple-chevron-macro: 6.4 7.2
#define LAUNCH(kernel, n, ...) kernel<<<(n + 63) / 64, 64>>>(__VA_ARGS__)
__global__ void k(int* p, int n) { if (threadIdx.x < n) p[0] = 1; }
void f(int* p, int n) { LAUNCH(k, n, p, n); }
//// check-macro: 6.4 7.2
#include <cstdio>
#define CHECK(x) do { hipError_t e = (x); if (e != hipSuccess) std::printf("%s\n", hipGetErrorString(e)); } while (0)
void f() { void* p; CHECK(hipMalloc(&p, 64)); CHECK(hipFree(p)); }
//// complex-double: 6.4 7.2
#include <hip/hip_complex.h>
__global__ void k(hipDoubleComplex* p) { p[0] = hipCmul(p[1], p[2]); p[1] = hipCadd(p[0], p[1]); p[2].x = hipCabs(p[1]) + hipCreal(p[0]) + hipCimag(p[0]); p[3] = hipConj(p[1]); p[4] = hipCdiv(p[1], p[2]); }
//// complex-fma: 6.4 7.2
#include <hip/hip_complex.h>
__global__ void k(hipFloatComplex* p) { p[0] = hipCfmaf(p[1], p[2], p[3]); p[1] = hipConjf(p[0]); p[2] = hipCsubf(p[0], p[1]); p[3] = hipCdivf(p[0], p[1]); p[4].x = hipCsqabsf(p[0]); }
//// cuda-complex: none
#include <hip/hip_complex.h>
__global__ void k(cuFloatComplex* p) { p[0] = p[1]; }
//// math-constants-header: 6.4 7.2
#include <hip/hip_math_constants.h>
__global__ void k(float* p, double* q) { p[0] = HIP_INF_F + HIP_NAN_F + HIP_PIO2_F; q[0] = HIP_PI + HIP_INF + HIP_SQRT_TWO; }
//// m-pi: 6.4 7.2
__global__ void k(double* p) { p[0] = M_PI + M_E + M_SQRT2; }
//// float-limits-macros: 6.4 7.2
#include <cfloat>
__global__ void k(float* p) { p[0] = FLT_MAX + FLT_EPSILON + INFINITY + NAN; p[1] = HUGE_VALF; }
//// library-types-header: 6.4 7.2 cpu: no xray: no
#include <hip/library_types.h>
hipDataType f() { return HIP_R_16F; }
//// hip-header-device-functions: 6.4 7.2
#include <hip/device_functions.h>
#include <hip/math_functions.h>
#include <hip/hip_vector_types.h>
__global__ void k(float4* p) { p[0].x = __popc(3); }
//// hip-header-common: 6.4 7.2 cpu: no xray: no
#include <hip/hip_common.h>
#include <hip/hip_version.h>
#include <hip/driver_types.h>
#include <hip/channel_descriptor.h>
static_assert(HIP_VERSION_MAJOR >= 6);
__global__ void k(int* p) { p[0] = HIP_VERSION_MINOR; }
//// hip-header-texture: 6.4 7.2 cpu: no xray: no
#include <hip/texture_types.h>
#include <hip/surface_types.h>
__global__ void k(int* p) { p[0] = 1; }
//// hip-version-macro: 6.4 7.2
#include <hip/hip_version.h>
#if HIP_VERSION < 50000000
#error old
#endif
__global__ void k(int* p) { p[0] = 1; }
//// hip-platform-macros: 6.4 7.2
#if !defined(__HIP_PLATFORM_AMD__) || !defined(__HIPCC__) || !defined(__HIP__)
#error not HIP
#endif
__global__ void k(int* p) { p[0] = 1; }
//// cuda-arch-macro: 6.4 7.2
__global__ void k(int* p) {
#ifdef __CUDA_ARCH__
#error CUDA
#endif
  p[0] = 1;
}
//// gfx9-macro: 6.4 7.2
#ifdef __HIP_DEVICE_COMPILE__
#if !defined(__GFX9__) || !defined(__AMDGCN__)
#error not a GPU
#endif
#endif
__global__ void k(int* p) { p[0] = 1; }
//// cooperative-groups-cuda-header: none
#include <cooperative_groups.h>
__global__ void k(int* p) { p[0] = 1; }
//// cg-block-ops: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { cg::thread_block b = cg::this_thread_block(); b.sync(); p[0] = b.thread_rank() + b.size() + b.group_index().x + b.thread_index().x; }
//// cg-tile-shfl-half2: 7.2
#include <hip/hip_fp16.h>
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(__half2* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = t.shfl_xor(p[0], 1); }
//// cg-tile-shfl-bf16: 7.2
#include <hip/hip_bf16.h>
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(__hip_bfloat16* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); p[0] = t.shfl(p[0], 1); }
//// cg-coalesced-shfl-half: 7.2
#include <hip/hip_fp16.h>
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(__half* p) { auto t = cg::coalesced_threads(); p[0] = t.shfl(p[0], 0); }
//// cg-tile-shfl-double: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(double* p) { auto t = cg::tiled_partition<16>(cg::this_thread_block()); p[0] = t.shfl_up(p[0], 1) + t.shfl_xor(p[0], 2); }
//// cg-tile-match-all: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto t = cg::tiled_partition<32>(cg::this_thread_block()); int all; p[0] = t.match_all(p[1], all) != 0; p[1] = all; }
//// cg-coalesced-num-threads: 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::coalesced_threads(); p[0] = g.num_threads(); }
//// cg-grid-num-threads: 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { p[0] = cg::this_grid().num_threads(); }
//// cg-group-num-threads: 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ unsigned f(const cg::thread_group& g) { return g.num_threads(); }
__global__ void k(int* p) { p[0] = f(cg::this_thread_block()); }
//// cg-multi-grid: 6.4 7.2 cpu: no xray: no
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::this_multi_grid(); p[0] = g.size(); }
//// cg-async-copy: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { __shared__ int s[64]; cg::memcpy_async(cg::this_thread_block(), s, p, 64); p[0] = s[0]; }
//// cg-barrier-arrive: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto b = cg::this_thread_block(); auto token = b.barrier_arrive(); b.barrier_wait(std::move(token)); p[0] = 1; }
//// cg-coalesced-any: 6.4 7.2
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { auto g = cg::coalesced_threads(); p[0] = g.any(p[1]) + g.all(p[2]) + (g.ballot(p[3]) != 0); }
//// cg-invoke-one: none
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* p) { cg::invoke_one(cg::this_thread_block(), [&] { p[0] = 1; }); }
//// warp-primitive-cub: none
#include <cub/cub.cuh>
__global__ void k(int* p) { p[0] = 1; }
//// cuda-fp16-header: none
#include <cuda_fp16.h>
__global__ void k(int* p) { p[0] = 1; }
//// cuda-pipeline: none
#include <cuda/pipeline>
__global__ void k(int* p) { p[0] = 1; }
//// cuda-async-intrinsic: none
__global__ void k(int* p) { __shared__ int s[64]; __pipeline_memcpy_async(s, p, 16); p[0] = s[0]; }
//// ldg-vector-types: 6.4 7.2
__global__ void k(const int4* p, const float2* q, const uchar4* r, const double2* s, float* o) { o[0] = __ldg(p).x + __ldg(q).y + __ldg(r).z + __ldg(s).x; }
//// ldg-const-restrict: 6.4 7.2
__global__ void k(const unsigned char* __restrict__ p, const long long* q, int* o) { o[0] = __ldg(p) + __ldg(q); }
//// ldg-unsigned-long: 6.4 7.2
__global__ void k(const unsigned long* p, const short* q, const signed char* r, int* o) { o[0] = __ldg(p) + __ldg(q) + __ldg(r); }
//// ldg-half2: 6.4 7.2
#include <hip/hip_fp16.h>
__global__ void k(const __half2* p, __half2* q) { q[0] = __ldg(p); }
//// ldg-struct: none
struct S { int a; };
__global__ void k(const S* p, S* q) { q[0] = __ldg(p); }
//// prefetch: 6.4 7.2
__global__ void k(const float* p, float* q) { __builtin_prefetch(p + 64); q[0] = p[0]; }
//// timers: 6.4 7.2 cpu: no
__global__ void k(unsigned long long* p) { p[0] = __builtin_readcyclecounter(); p[1] = clock64(); }
//// syncthreads-in-device-function: 6.4 7.2
__device__ void wait() { __syncthreads(); }
__global__ void k(int* p) { wait(); p[0] = 1; }
//// threadfence-variants: none
__global__ void k(int* p) { __threadfence_warp(); p[0] = 1; }
//// barrier-named: none
__global__ void k(int* p) { __barrier_sync(0); p[0] = 1; }
//// uint-aliases: 6.4 7.2
__global__ void k(uint* a, ushort* b, ulong* c) { a[0] = 1; b[0] = 2; c[0] = 3; }
//// uchar-alias: 6.4 7.2
__global__ void k(uchar* a) { a[0] = 1; }
//// int-least: 6.4 7.2
__global__ void k(uint8_t* a, int16_t* b, uintptr_t* c, ptrdiff_t d) { a[0] = 1; b[0] = d; c[0] = (uintptr_t)a; }
//// host-conversions: none cpu: yes
int f(float x) { return __float2int_rn(x); }
//// host-float-bits: none cpu: yes
int f(float x) { return __float_as_int(x); }
//// host-int-as-float: none cpu: yes
float f(int x) { return __int_as_float(x); }
//// host-double-bits: none cpu: yes
long long f(double x) { return __double_as_longlong(x); }
//// host-clz: none cpu: yes
int f(int x) { return __clz(x) + __ffs(x); }
//// host-mulhi: none cpu: yes
int f(int x) { return __mulhi(x, 3) + __umulhi(x, 3); }
//// host-byte-perm: none cpu: yes
int f(int x) { return __byte_perm(x, 3, 0x3210); }
//// host-rsqrtf: 6.4 7.2
float f(float x) { return rsqrtf(x); }
//// host-fdividef: none cpu: yes
float f(float x) { return __fdividef(x, 2); }
//// host-saturatef: none cpu: yes
float f(float x) { return __saturatef(x); }
//// host-fadd-rn: none cpu: yes
float f(float x) { return __fadd_rn(x, 2); }
//// host-sincospif: none cpu: yes
void f(float x, float* p) { sincospif(x, p, p + 1); }
//// host-normcdff: none cpu: yes
float f(float x) { return normcdff(x); }
//// host-exp10f: 6.4 7.2
float f(float x) { return exp10f(x) + sinpif(x); }
//// host-sinf: 6.4 7.2
float f(float x) { return sinf(x) + expf(x) + tanhf(x) + fmaxf(x, 0.0f); }
//// host-fast-sin: 6.4 7.2
float f(float x) { return __sinf(x) + __logf(x); }
//// host-clock: none cpu: yes
long long f() { return clock64() + wall_clock64(); }
//// host-ldg: none cpu: yes
float f(const float* p) { return __ldg(p); }
//// host-lane-id: none cpu: yes
int f() { return __lane_id(); }
//// host-ballot: none cpu: yes
unsigned long long f(int x) { return __ballot(x); }
//// host-threadfence: none cpu: yes
void f() { __threadfence(); }
//// host-syncwarp: none cpu: yes
void f() { __syncwarp(); }
//// host-cg: none cpu: yes
#include <hip/hip_cooperative_groups.h>
int f() { return cooperative_groups::this_thread_block().thread_rank(); }
//// host-half-math: none cpu: yes
#include <hip/hip_fp16.h>
float f(float x) { return __half2float(hexp(__float2half(x))); }
//// host-half-add: 6.4 7.2
#include <hip/hip_fp16.h>
float f(float x) { return __half2float(__hadd(__float2half(x), __float2half(x))); }
//// host-half-fma: none cpu: yes
#include <hip/hip_fp16.h>
float f(float x) { __half h = __float2half(x); return __half2float(__hfma(h, h, h)); }
//// host-half-operators: 6.4 7.2
#include <hip/hip_fp16.h>
float f(float x) { __half h = x; h = h + h * h; return h; }
//// host-half-compare: 6.4 7.2
#include <hip/hip_fp16.h>
bool f(__half a, __half b) { return a < b || a == b; }
//// host-half-hlt: 6.4 7.2
#include <hip/hip_fp16.h>
bool f(__half a, __half b) { return __hlt(a, b); }
//// host-half2-make: 6.4 7.2
#include <hip/hip_fp16.h>
__half2 f(__half a, __half b) { return __halves2half2(a, b); }
//// host-half2-operators: 6.4 7.2
#include <hip/hip_fp16.h>
__half2 f(__half2 a, __half2 b) { return a + b; }
//// host-half2-hadd2: 6.4 7.2
#include <hip/hip_fp16.h>
__half2 f(__half2 a, __half2 b) { return __hadd2(a, b); }
//// host-half-rounding: 6.4 7.2
#include <hip/hip_fp16.h>
__half f(float a) { return __float2half_rz(a); }
//// host-half-to-int: none cpu: yes
#include <hip/hip_fp16.h>
int f(__half a) { return __half2int_rn(a); }
//// host-half-bits: 6.4 7.2
#include <hip/hip_fp16.h>
unsigned short f(__half a) { return __half_as_ushort(a); }
//// host-half-ushort-as: 6.4 7.2
#include <hip/hip_fp16.h>
__half f(unsigned short a) { return __ushort_as_half(a); }
//// host-half2-floats: 6.4 7.2
#include <hip/hip_fp16.h>
float2 f(float a) { return __half22float2(__floats2half2_rn(a, a)); }
//// host-half-ldg: none cpu: yes
#include <hip/hip_fp16.h>
__half f(const __half* a) { return __ldg(a); }
//// host-half-habs: 6.4 7.2
#include <hip/hip_fp16.h>
__half f(__half a) { return __habs(a); }
//// host-half-hmax: 6.4 7.2
#include <hip/hip_fp16.h>
__half f(__half a) { return __hmax(a, a); }
//// host-bf16-operators: 6.4 7.2
#include <hip/hip_bf16.h>
__hip_bfloat16 f(__hip_bfloat16 a) { return a + a * a; }
//// host-bf16-hadd: 6.4 7.2
#include <hip/hip_bf16.h>
__hip_bfloat16 f(__hip_bfloat16 a) { return __hadd(a, a); }
//// host-bf16-hexp: none cpu: yes
#include <hip/hip_bf16.h>
__hip_bfloat16 f(__hip_bfloat16 a) { return hexp(a); }
//// host-bf16-hmax: 6.4 7.2
#include <hip/hip_bf16.h>
__hip_bfloat16 f(__hip_bfloat16 a) { return __hmax(a, a); }
//// host-bf162: 6.4 7.2
#include <hip/hip_bf16.h>
__hip_bfloat162 f(float2 a) { return __float22bfloat162_rn(a); }
//// host-complex: 6.4 7.2
#include <hip/hip_complex.h>
float f(hipFloatComplex a) { return hipCabsf(hipCmulf(a, a)); }
//// host-printf-assert: 6.4 7.2
#include <cassert>
void f(int n) { assert(n > 0); printf("%d\n", n); }
//// host-min-max: 6.4 7.2
float f(float a, int b) { return max(a, 2.0f) + min(b, 3) + abs(b) + fabsf(a); }
//// host-amdgcn-builtin: none cpu: yes
int f(int x) { return __builtin_amdgcn_readfirstlane(x); }
//// host-hip-atomic: 6.4 7.2
int f(int* x) { return __hip_atomic_fetch_add(x, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
//// host-shared-variable: none cpu: yes
int f() { __shared__ int s; s = 1; return s; }
//// host-block-dim: none cpu: yes
int f() { return blockDim.x + gridDim.x; }
//// host-lambda-device: 6.4 7.2
template <class F> __global__ void k(F f) { f(); }
void f(int* p) { k<<<1, 64>>>([=] __device__() { p[0] = threadIdx.x; }); }
//// host-device-lambda-intrinsic: 6.4 7.2
template <class F> __global__ void k(F f) { f(); }
void f(int* p) { k<<<1, 64>>>([=] __host__ __device__() { p[0] = 1; }); }
//// host-calls-kernel-template-without-launch: none cpu: yes
template <class T> __global__ void k(T* p) { p[0] = 1; }
void f(int* p) { k<int>(p); }
//// asm-unknown-instruction: none cpu: yes
__global__ void k(int* p) { int x; asm volatile("v_foo_b32 %0, %1" : "=v"(x) : "v"(p[0])); p[1] = x; }
//// asm-unknown-second-line: none cpu: yes
__global__ void k(int* p) { asm volatile("s_nop 0\n\ts_foo 1"); p[0] = 1; }
//// asm-of-another-gpu: none cpu: yes
__global__ void k(int* p) { asm volatile("s_wait_loadcnt 0x0"); p[0] = 1; }
//// asm-wrong-operands: none cpu: yes
__global__ void k(int* p) { int x; asm volatile("v_add_f32 %0, %1" : "=v"(x) : "v"(p[0])); p[1] = x; }
//// asm-in-macro: none cpu: yes
#define FOO(x) __asm__ __volatile__("v_foo_b32 %0, %0" : "+v"(x))
__global__ void k(int* p) { int x = p[0]; FOO(x); p[1] = x; }
#undef FOO
//// asm-pasted-word: none cpu: yes
#define JOIN(a, b) a##b
__global__ void k(int* p) { JOIN(as, m) volatile("s_foo 1"); p[0] = 1; }
#undef JOIN
//// asm-duplicate-label: none cpu: yes
__device__ inline void wait() { asm volatile("again:\n\ts_nop 0"); }
__global__ void k(int* p) { wait(); p[0] = 1; wait(); }
//// asm-host: 6.4 7.2
void f() { asm volatile("nop"); }
//// asm-host-unknown: none cpu: yes
void f() { asm volatile("v_nop"); }
//// asm-outside-functions: none cpu: yes
asm("foo bar");
__global__ void k(int* p) { p[0] = 1; }
//// host-warp-size-constexpr: 6.4
int f(int n) { constexpr int w = warpSize; return n / w; }
//// host-warp-size-array: 6.4
int f(int n) { int a[warpSize]; a[0] = n; return a[0]; }
//// host-warp-size-template: 6.4
template <int N> int g() { return N; }
int f(int n) { return g<warpSize>() + n; }
//// host-warp-size-static-function: 6.4 7.2
static int f(int n) { return n / warpSize; }
//// host-warp-size-inline-function: 6.4 7.2
inline int f(int n) { return n / warpSize; }
//// host-warp-size-constexpr-function: 6.4
constexpr int f(int n) { return n / warpSize; }
//// host-warp-size-host-device: 6.4 cpu: yes
__host__ __device__ int f(int n) { return n / warpSize; }
__global__ void k(int* p) { p[0] = f(1); }
//// host-warp-size-template-function: 6.4 cpu: yes
template <class T> int f(T n) { return n / warpSize; }
int g() { return f(1); }
//// host-warp-size-block: 6.4 cpu: yes
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { dim3 b(warpSize, 4); k<<<1, b>>>(p); }
//// host-warp-size-local-constant: 6.4 cpu: yes
__global__ void k(int* p) { p[0] = 1; }
void f(int* p) { const int w = warpSize; k<<<1, w>>>(p); }
//// host-warp-size-member: 6.4 cpu: yes
struct A { int n = warpSize; };
int f() { A a; return a.n; }
//// host-warp-size-default-argument: 6.4 7.2
int f(int n = warpSize) { return n; }
//// host-warp-size-variable: 6.4 cpu: yes
static int w = warpSize;
int f() { return w; }
//// host-warp-size-static-member: 6.4 cpu: yes
struct A { static inline int w = warpSize; };
int f() { return A::w; }
//// narrowing-array: none cpu: yes
__global__ void k(float* p, int n) { int a[2] = {1.5f * n, 2}; p[0] = a[0]; }
//// narrowing-host: none cpu: yes
int f(double d) { int a[] = {d}; return a[0]; }
//// chained-comparison: none cpu: yes
__global__ void k(int* p, int n) { p[0] = 1 < n < 3; }
//// register-variable: none cpu: yes
__global__ void k(int* p, int n) { register int a = n; p[0] = a; }
//// assignment-in-condition: 6.4 7.2
__global__ void k(int* p, int n) { if (p[0] = n) p[1] = 2; }
//// constexpr-function-of-device: 6.4 7.2 cpu: no
__device__ int g(int n) { return n; }
__device__ constexpr int f(int n) { return g(n); }
__global__ void k(int* p) { p[0] = f(1); }
//// increment-bool: none
__global__ void k(int* p) { bool b = p[0]; b++; p[1] = b; }
//// string-in-varargs: none cpu: yes
#include <string>
void f(std::string s) { printf("%s", s); }
//// std-string-empty-in-kernel: 6.4 7.2
#include <string>
__global__ void k(int* p) { std::string s; p[0] = s.size(); }
//// std-string-append-in-kernel: none cpu: yes
#include <string>
__global__ void k(int* p) { std::string s; s += "x"; p[0] = s.size(); }
//// std-string-number-in-kernel: none cpu: yes
#include <string>
__global__ void k(int* p) { p[0] = std::to_string(3).size(); }
//// std-string-parameter: 6.4 7.2
#include <string>
__device__ int f(const std::string& s) { return s.size(); }
__global__ void k(int* p) { p[0] = 1; }
//// std-string-view-in-kernel: none cpu: yes
#include <string_view>
__global__ void k(int* p) { std::string_view s("abc"); p[0] = s.size() + s[p[1]]; }
//// misspelled-builtin: none
__global__ void k(int* p) { p[0] = __builtin_amdgcn_readfirstlne(p[1]); }
//// no-include-flt-max: none cpu: yes
__global__ void k(float* p) { p[0] = fminf(p[0], FLT_MAX); }
//// no-include-flt-max-in-a-macro: none cpu: yes
#define LARGEST FLT_MAX
__global__ void k(float* p) { p[0] = LARGEST; }
//// include-cfloat: 6.4 7.2
#include <cfloat>
__global__ void k(float* p) { p[0] = fminf(p[0], FLT_MAX); }
//// include-float-h: 6.4 7.2
#include <float.h>
__global__ void k(float* p) { p[0] = fminf(p[0], FLT_EPSILON); }
//// no-include-assert: 6.4 cpu: yes
__global__ void k(int* p) { assert(p[0] == 1); }
//// include-cassert: 6.4 7.2
#include <cassert>
__global__ void k(int* p) { assert(p[0] == 1); }
//// no-include-memcmp: 6.4 cpu: yes
int f(int* p) { return memcmp(p, p + 1, 4); }
//// no-include-strlen: 6.4 cpu: yes
size_t f(const char* text) { return strlen(text); }
//// no-include-host-memset: 6.4 cpu: yes
void f(int* p) { memset(p, 0, 16); }
//// no-include-host-isnan: none cpu: yes
bool f(float x) { return isnan(x); }
//// include-cstring: 6.4 7.2
#include <cstring>
int f(int* p) { memset(p, 0, 16); return memcmp(p, p + 1, 4); }
//// device-memset: 6.4 7.2
__global__ void k(int* p) { memset(p, 0, 16); }
//// no-include-optional: none
int f() { std::optional<int> x = 3; return *x; }
//// no-include-atomic: 6.4
int f() { std::atomic<int> x{3}; return x; }
//// no-include-unique-ptr: 6.4
int f() { std::unique_ptr<int> x; return x ? 1 : 0; }
//// no-include-chrono: 6.4
auto f() { return std::chrono::steady_clock::now(); }
//// other-include-thread: 6.4
#include <vector>
void f() { std::thread t([] {}); t.join(); }
//// include-memory: 6.4 7.2
#include <memory>
int f() { std::unique_ptr<int> x = std::make_unique<int>(3); return *x; }
//// no-include-vector: 7.2 cpu: no xray: no
int f() { std::vector<int> x(3); return x[0]; }
//// no-include-string: 6.4 7.2 cpu: no
size_t f() { std::string x = "abc"; return x.size(); }
//// constexpr-string-local: none cpu: no
#include <string>
size_t f() { constexpr std::string x = "abc"; return x.size(); }
//// constexpr-string-auto: none cpu: no
#include <string>
size_t f() { constexpr auto x = std::string("abc"); return x.size(); }
//// constexpr-string-static: 6.4 7.2
#include <string>
size_t f() { static constexpr std::string x = "abc"; return x.size(); }
//// constexpr-string-size: 6.4 7.2
#include <string>
size_t f() { constexpr size_t x = std::string("abc").size(); return x; }
//// opened-no-include-mutex: none
using namespace std;
void f() { mutex m; m.lock(); m.unlock(); }
//// opened-no-include-sort: 6.4 7.2
using namespace std;
void f(int* p) { sort(p, p + 4); }
//// opened-no-include-accumulate: none
using namespace std;
int f(int* p) { return accumulate(p, p + 4, 0); }
//// opened-include-sort: 6.4 7.2
#include <algorithm>
using namespace std;
void f(int* p) { sort(p, p + 4); }
//// opened-own-type: 6.4 7.2
struct mutex { int x; };
int f() { mutex m{3}; return m.x; }
//// opened-min-max: 6.4 7.2
using namespace std;
__global__ void k(int* p) { p[0] = max(p[1], min(p[2], abs(p[3]))); }
//// opened-no-include-cout: none
using namespace std;
void f() { cout << 1; }
//// opened-include-cout: 6.4 7.2
#include <iostream>
using namespace std;
void f() { cout << 1 << endl; }
