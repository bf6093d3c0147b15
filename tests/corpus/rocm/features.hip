// One-feature probes. A line `//// name: versions` begins each: the ROCm versions whose compilers accept it.
// `cpu: yes` or `cpu: no` follows where the CPU runtime differs from the newest: it does not tell host from device code,
// and has no GPU instructions. tests/rocm compares both compilers, the X-ray and the CPU runtime with these lines.
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
__global__ void k(__hip_bfloat16* p, int* q) { q[0] = __bfloat162int_rn(p[0]); p[1] = __int2bfloat16_rn(q[0]); }
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
//// device-variable-initialised: 6.4 7.2
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
//// shared-initialised: none cpu: yes
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
//// amdgcn-builtin: 6.4 7.2 cpu: no
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
//// ext-vector: 6.4 7.2 cpu: no
typedef float v4 __attribute__((ext_vector_type(4)));
__global__ void k(v4* p) { p[0] = p[0] * p[1]; p[0][1] = 2; }
//// mfma: 6.4 7.2 cpu: no
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
