// Buffers, loads to LDS, atomics and inline assembly. Each CASE writes one word per lane; the test has the models.
#include <hip/hip_runtime.h>

#define CASE(name, ...)                            \
  {                                                \
    const unsigned result = unsigned(__VA_ARGS__); \
    out[at * 64] = result;                         \
    ++at;                                          \
  }
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))

struct alignas(16) int32x4_t {
  int x, y, z, w;
};
struct alignas(16) Four {
  unsigned x, y, z, w;
};

typedef _Float16 pair __attribute__((ext_vector_type(2)));
typedef short short_pair __attribute__((ext_vector_type(2)));

// Only 100 of 128 words belong to the buffer.
constexpr int kBytes = 400;

__global__ void buffers(const unsigned* in, unsigned* out, unsigned* scratch) {
  __shared__ unsigned shared[64];
  const unsigned lane = threadIdx.x;
  const unsigned a = in[lane];
  out += lane;
  int at = 0;
  __amdgpu_buffer_rsrc_t source = __builtin_amdgcn_make_buffer_rsrc((void*)in, (short)0, kBytes, 0x00027000);
  __amdgpu_buffer_rsrc_t target = __builtin_amdgcn_make_buffer_rsrc(scratch, (short)0, kBytes, 0x00020000);
  CASE(load_b32, __builtin_amdgcn_raw_buffer_load_b32(source, lane * 8, 0, 0))
  CASE(load_b32_scalar, __builtin_amdgcn_raw_buffer_load_b32(source, lane * 4, 192, 0))
  CASE(load_b32_negative, __builtin_amdgcn_raw_buffer_load_b32(source, -4, 0, 0))
  CASE(load_b8, __builtin_amdgcn_raw_buffer_load_b8(source, lane * 7, 0, 0))
  CASE(load_b16, __builtin_amdgcn_raw_buffer_load_b16(source, lane * 6, 4, 0))
  const auto two = __builtin_amdgcn_raw_buffer_load_b64(source, lane * 8, 0, 3);
  CASE(load_b64_0, two[0])
  CASE(load_b64_1, two[1])
  const auto three = __builtin_amdgcn_raw_buffer_load_b96(source, lane * 8, 0, 0);
  CASE(load_b96_2, three[2])
  const auto four = __builtin_amdgcn_raw_buffer_load_b128(source, lane * 8, 4, 0);
  CASE(load_b128_0, four[0])
  CASE(load_b128_3, four[3])
  __builtin_amdgcn_raw_buffer_store_b32(a, target, lane * 8, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b8((unsigned char)a, target, lane * 8 + 5, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b16((unsigned short)a, target, lane * 8 + 6, 0, 0);
  CASE(stored_0, scratch[lane * 2])
  CASE(stored_1, scratch[lane * 2 + 1])
  __syncthreads();
  __builtin_amdgcn_raw_buffer_store_b128(four, target, lane * 16, 0, 0);
  __syncthreads();
  CASE(stored_wide_0, scratch[lane * 2])
  CASE(stored_wide_1, scratch[lane * 2 + 1])
  __syncthreads();
  scratch[lane * 2] = lane;
  scratch[lane * 2 + 1] = 0;
  __syncthreads();
  CASE(atomic_add_old, __builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(int(a), target, lane * 8, 0, 0))
  CASE(atomic_add, scratch[lane * 2])
  CASE(atomic_fadd_old, __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_f32(1.5f, target, lane * 8 + 4, 0, 0))
  CASE(atomic_fadd, scratch[lane * 2 + 1])
  float* sum = reinterpret_cast<float*>(scratch + 128) + lane;
  double* wide = reinterpret_cast<double*>(scratch + 256) + lane;
  pair* halves = reinterpret_cast<pair*>(scratch + 192) + lane;
  CASE(global_fadd_old, __builtin_amdgcn_global_atomic_fadd_f32((GLOBAL float*)sum, float(lane)))
  CASE(flat_fadd_old, __builtin_amdgcn_flat_atomic_fadd_f32(sum, 0.5f))
  CASE(fadd, __float_as_uint(*sum))
  __builtin_amdgcn_global_atomic_fadd_f64((GLOBAL double*)wide, double(lane));
  __builtin_amdgcn_global_atomic_fmax_f64((GLOBAL double*)wide, 20.0);
  __builtin_amdgcn_flat_atomic_fmin_f64(wide, 40.0);
  CASE(bounded_64, *wide)
  const pair one_and_half = {(_Float16)1.5f, (_Float16)lane};
  __builtin_amdgcn_global_atomic_fadd_v2f16((GLOBAL pair*)halves, one_and_half);
  __builtin_amdgcn_global_atomic_fadd_v2f16((GLOBAL pair*)halves, one_and_half);
  CASE(fadd_v2f16, *reinterpret_cast<unsigned*>(halves))
  *reinterpret_cast<unsigned*>(halves) = 0x3f804000;
  const short_pair one_and_two = {0x3f80, 0x4000};
  __builtin_amdgcn_flat_atomic_fadd_v2bf16(reinterpret_cast<short_pair*>(halves), one_and_two);
  CASE(fadd_v2bf16, *reinterpret_cast<unsigned*>(halves))
  shared[lane] = 0;
  __builtin_amdgcn_ds_atomic_fadd_f32((LDS float*)(shared + lane), 2.5f);
  CASE(ds_fadd, shared[lane])
  __syncthreads();
  __builtin_amdgcn_load_to_lds((void*)(in + (lane ^ 2)), (LDS void*)shared, 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  __syncthreads();
  CASE(load_to_lds, shared[63 - lane])
  __syncthreads();
  __builtin_amdgcn_global_load_lds((GLOBAL void*)(in + (lane ^ 1)), (LDS void*)shared, 4, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  __syncthreads();
  CASE(global_load_lds, shared[63 - lane])
  __syncthreads();
  __builtin_amdgcn_raw_ptr_buffer_load_lds(source, (LDS void*)shared, 4, lane * 8, 0, 0, 0);
  __builtin_amdgcn_s_waitcnt(0);
  __syncthreads();
  CASE(buffer_load_lds, shared[63 - lane])
}

typedef float FourFloats __attribute__((ext_vector_type(4)));

__global__ void assembly(const unsigned* in, unsigned* out, unsigned* scratch) {
  __shared__ __attribute__((aligned(16))) unsigned shared[256];
  extern __shared__ unsigned dynamic[];
  const unsigned lane = threadIdx.x;
  const unsigned a = in[lane], b = in[64 + lane];
  const float x = float(int(a % 4096)) / 16.0f, y = float(int(b % 4096)) / -8.0f;
  out += lane;
  int at = 0;
  unsigned r = 0;
  float f = 0;
  Four four;
  float2 left2 = {1.0f, 2.0f};
  asm volatile("s_nop 0\n\ts_setprio 1\n\ts_waitcnt vmcnt(0) & lgkmcnt(0)" ::: "memory");
  asm volatile("" : "+v"(r));
  asm volatile("v_add_u32 %0, %1, %2" : "=v"(r) : "v"(a), "v"(b));
  CASE(add_u32, r)
  asm volatile("v_lshl_add_u32 %[to], %[from], 3, %[add]" : [to] "=v"(r) : [from] "v"(a), [add] "v"(b));
  CASE(lshl_add, r)
  asm("v_mul_f32_e32 %0, 2.0, %1\n\tv_add_f32 %0, %0, %2" : "=&v"(f) : "v"(x), "v"(y));
  CASE(mul_add, __float_as_uint(f))
  f = x;
  asm volatile("v_fma_f32 %0, %1, %2, %0" : "+v"(f) : "v"(x), "v"(y));
  CASE(fma, __float_as_uint(f))
  asm volatile("v_cvt_pkrtz_f16_f32 %0, %1, %2" : "=v"(r) : "v"(x), "v"(y));
  CASE(pkrtz, r)
  asm volatile("v_cvt_i32_f32 %0, %1" : "=v"(r) : "v"(y));
  CASE(cvt_i32, r)
  asm volatile("v_bfi_b32 %0, %1, %2, %3" : "=v"(r) : "v"(a), "v"(b), "v"(0xff00ffu));
  CASE(bfi, r)
  asm volatile("v_max_f32 %0, %1, 0" : "=v"(f) : "v"(y));
  CASE(max_zero, __float_as_uint(f))
  unsigned words[2] = {a, b};
  asm volatile("v_xor_b32 %0, %0, %2\n\tv_mov_b64 %1, 0" : "+v"(words[1]), "=v"(left2) : "v"(words[0]));
  CASE(element, words[1] ^ __float_as_uint(left2.x))
  float2 pair, left = {x, y}, right = {2.0f, 4.0f};
  asm volatile("v_pk_mul_f32 %0, %1, %2" : "=v"(pair) : "v"(left), "v"(right));
  CASE(pk_mul, __float_as_uint(pair.x) ^ __float_as_uint(pair.y))
  asm volatile("global_load_dwordx4 %0, %1, off offset:16\n" : "=v"(four) : "v"(in + lane) : "memory");
  asm volatile("s_waitcnt vmcnt(%0)" ::"n"(0) : "memory");
  CASE(global_load_x, four.x)
  CASE(global_load_w, four.w)
  asm volatile("global_load_ushort %0, %1, %2 offset:2\n\ts_waitcnt vmcnt(0)" : "=v"(r) : "v"(lane * 4), "s"(in) : "memory");
  CASE(global_load_ushort, r)
  asm volatile("global_store_dword %0, %1, off sc0 nt" ::"v"(scratch + lane), "v"(b) : "memory");
  asm volatile("s_waitcnt vmcnt(0)");
  CASE(global_store, scratch[lane])
  const unsigned address = unsigned(reinterpret_cast<unsigned long long>(shared + 4 * (lane % 60)));
  shared[lane] = a;
  shared[64 + lane] = b;
  shared[128 + lane] = a ^ b;
  shared[192 + lane] = a + b;
  asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier" ::: "memory");
  asm volatile("ds_read_b128 %0, %1 offset:%2" : "=v"(four) : "v"(address), "i"(16) : "memory");
  asm volatile("s_waitcnt lgkmcnt(0)");
  CASE(ds_read_y, four.y)
  asm volatile("ds_read_u8 %0, %1 offset:3\n\ts_waitcnt lgkmcnt(0)" : "=v"(r) : "v"(address) : "memory");
  CASE(ds_read_u8, r)
  float2 two;
  asm volatile("ds_read2_b32 %0, %1 offset0:3 offset1:7\n\ts_waitcnt lgkmcnt(0)" : "=v"(two) : "v"(address) : "memory");
  CASE(ds_read2, __float_as_uint(two.x) ^ 3 * __float_as_uint(two.y))
  asm volatile("s_barrier");
  const unsigned to = unsigned(reinterpret_cast<unsigned long long>(dynamic + lane));
  asm volatile("ds_write_b32 %0, %1 offset:256" ::"v"(to), "v"(b) : "memory");
  __syncthreads();
  CASE(ds_write, dynamic[64 + 63 - lane])
  __syncthreads();
  asm volatile("ds_write2st64_b32 %0, %1, %2 offset0:2 offset1:%3" ::"v"(to), "v"(a), "v"(b), "n"(3) : "memory");
  __syncthreads();
  CASE(ds_write2, dynamic[128 + 63 - lane] ^ 3 * dynamic[192 + lane])
  unsigned long long mask = 0;
  asm volatile("v_cmp_lt_u32_e64 %0, %2, %3\n\tv_cndmask_b32 %1, %3, %2, %0" : "=&s"(mask), "=&v"(r) : "v"(a), "v"(b));
  CASE(cndmask, r)
  CASE(cmp, unsigned(mask) ^ unsigned(mask >> 32))
  f = 1.0f;
  asm volatile("v_dot2c_f32_f16 %0, %2, %3" : "=v"(f) : "0"(f), "v"(0x40003c00u + (lane & 1)), "v"(0x44004200u));
  CASE(dot2c, __float_as_uint(f) & 0xffff0000u)
  asm volatile("v_pk_max_f16 %0, %1, %2\n\tv_add_f16 %0, %0, %2" : "=&v"(r) : "v"(0x40003c00u), "v"(0x3c004000u));
  CASE(halves, r & 0xffffu)
  // One product of 16 x 4 by 4 x 16, in the spelling of gfx940 and, added to it, in the older one.
  const float left_item = float(a % 8), right_item = float(b % 8);
  FourFloats sum;
  asm volatile("s_nop 1\n\tv_mfma_f32_16x16x4_f32 %0, %1, %2, 0\n\ts_nop 15\n\t"
               "v_mfma_f32_16x16x4f32 %0, %2, %1, %0 cbsz:0\n\ts_nop 15"
               : "=&v"(sum)
               : "v"(left_item), "v"(right_item));
  CASE(mfma, __float_as_uint(sum[0] + 1024.0f * sum[3]))
}

// Intrinsics of LLVM, declared by the author; in the order that the names of the cases have in the test.
typedef unsigned word;
__device__ Four load_four(int32x4_t buffer, int offset, int scalar, int policy) __asm("llvm.amdgcn.raw.buffer.load.v4i32");
__device__ word load_one(int32x4_t, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.i32");
__device__ void store_one(word value, int32x4_t buffer, int offset,
                          int scalar, int policy) __asm("llvm.amdgcn.raw.buffer.store.i32");
__device__ int write_lane(int value, int lane, int old) __asm("llvm.amdgcn.writelane.i32");

// host
#include <fstream>
#include <vector>

__global__ void intrinsics(const unsigned* in, unsigned* out, unsigned* scratch) {
  const unsigned lane = threadIdx.x;
  out += lane;
  int at = 0;
  union {
    struct {
      const void* address;
      unsigned bytes, flags;
    };
    int32x4_t content;
  } source = {{in, kBytes, 0x00020000}}, target = {{scratch, kBytes, 0x00020000}};
  const Four four = load_four(source.content, lane * 8, 0, 0);
  CASE(intrinsic_load_four, four.w)
  CASE(intrinsic_load_one, load_one(source.content, lane * 4, 200, 0))
  store_one(in[lane], target.content, lane * 8, 0, 0);
  CASE(intrinsic_store, scratch[lane * 2])
  CASE(intrinsic_writelane, write_lane(77, 9, int(in[lane])))
}

__global__ void bad_descriptor(unsigned* out, const unsigned* in, unsigned shift, unsigned flags) {
  const auto buffer = __builtin_amdgcn_make_buffer_rsrc((char*)in + shift, 0, kBytes, flags);
  out[threadIdx.x] = __builtin_amdgcn_raw_buffer_load_b32(buffer, 0, 0, 0);
}

// arguments: kernel, output
int main(int, char** args) {
  const std::string kernel = args[1];
  std::vector<unsigned> in(256), result(64 * 64);
  for (unsigned i = 0; i < in.size(); ++i) in[i] = i * 2654435761u + 12345;
  unsigned *device_in, *device_out, *scratch;
  hipMalloc(&device_in, in.size() * 4);
  hipMalloc(&device_out, result.size() * 4);
  hipMalloc(&scratch, 512 * 4);
  hipMemcpy(device_in, in.data(), in.size() * 4, hipMemcpyHostToDevice);
  hipMemset(device_out, 0, result.size() * 4);
  hipMemset(scratch, 0, 512 * 4);
  if (kernel == "buffers") buffers<<<1, 64>>>(device_in, device_out, scratch);
  if (kernel == "assembly") assembly<<<1, 64, 1024>>>(device_in, device_out, scratch);
  if (kernel == "intrinsics") intrinsics<<<1, 64>>>(device_in, device_out, scratch);
  if (kernel == "unaligned") bad_descriptor<<<1, 64>>>(device_out, device_in, 2, 0x27000);
  if (kernel == "without_format") bad_descriptor<<<1, 64>>>(device_out, device_in, 0, 0);
  hipMemcpy(result.data(), device_out, result.size() * 4, hipMemcpyDeviceToHost);
  std::ofstream(args[2], std::ios::binary).write(reinterpret_cast<const char*>(result.data()), result.size() * 4);
  return hipGetLastError() != hipSuccess;
}
