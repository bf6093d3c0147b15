// Builtins of one wave and of one lane. Each CASE writes one word per lane; the test has a model of each in NumPy.
#include <hip/hip_runtime.h>

#define CASE(name, ...)                                   \
  {                                                       \
    const unsigned result = unsigned(__VA_ARGS__);        \
    out[at * 64] = result;                                \
    ++at;                                                 \
  }
#define FLOAT_CASE(name, ...) CASE(name, __float_as_uint(__VA_ARGS__))
#define DPP(name, control, rows, banks, zero) \
  CASE(name##__##control##__##rows##__##banks##__##zero, __builtin_amdgcn_update_dpp(int(b), int(a), control, rows, banks, zero))

typedef short short_pair __attribute__((ext_vector_type(2)));
typedef unsigned short ushort_pair __attribute__((ext_vector_type(2)));
typedef _Float16 half_pair __attribute__((ext_vector_type(2)));

// Operations between lanes; only the lanes of `active` take part.
__global__ void between_lanes(const unsigned* in, unsigned* out, unsigned long long active) {
  const unsigned lane = threadIdx.x % 64;
  const unsigned a = in[blockIdx.x * 256 + lane], b = in[blockIdx.x * 256 + 64 + lane];
  const unsigned c = in[blockIdx.x * 256 + 128 + lane], d = in[blockIdx.x * 256 + 192 + lane];
  out += blockIdx.x * 64 * 256 + lane;
  int at = 0;
  if (active >> lane & 1) {
    CASE(readfirstlane, __builtin_amdgcn_readfirstlane(int(a)))
    CASE(readlane_37, __builtin_amdgcn_readlane(int(a), 37))
    CASE(readlane_by_first, __builtin_amdgcn_readlane(int(a), int(c)))
    CASE(ds_bpermute, __builtin_amdgcn_ds_bpermute(int(c), int(a)))
    CASE(ds_permute, __builtin_amdgcn_ds_permute(int((lane * 5 + 3) % 64 * 4), int(a)))
    CASE(ds_permute_collisions, __builtin_amdgcn_ds_permute(int(lane / 4 * 4), int(a)))
    CASE(swizzle__0x041f, __builtin_amdgcn_ds_swizzle(int(a), 0x041f))
    CASE(swizzle__0x401f, __builtin_amdgcn_ds_swizzle(int(a), 0x401f))
    CASE(swizzle__0x1b3c, __builtin_amdgcn_ds_swizzle(int(a), 0x1b3c))
    CASE(swizzle__0x80b1, __builtin_amdgcn_ds_swizzle(int(a), 0x80b1))
    CASE(swizzle__0xc060, __builtin_amdgcn_ds_swizzle(int(a), 0xc060))
    CASE(swizzle__0xc4a3, __builtin_amdgcn_ds_swizzle(int(a), 0xc4a3))
    CASE(mbcnt_lo, __builtin_amdgcn_mbcnt_lo(a, b))
    CASE(mbcnt_hi, __builtin_amdgcn_mbcnt_hi(a, b))
    CASE(ballot_lo, __builtin_amdgcn_ballot_w64(a & 1))
    CASE(ballot_hi, __builtin_amdgcn_ballot_w64(a & 1) >> 32)
    CASE(exec_lo, __builtin_amdgcn_read_exec_lo())
    CASE(exec_hi, __builtin_amdgcn_read_exec_hi())
    CASE(exec, __builtin_amdgcn_read_exec() >> 16)
    CASE(inverse_ballot, __builtin_amdgcn_inverse_ballot_w64(0x123456789abcdef0ull))
    CASE(uicmp__34, __builtin_amdgcn_uicmp(a, b, 34) >> 8)
    CASE(uicmp__37, __builtin_amdgcn_uicmp(a, b, 37) >> 8)
    CASE(sicmp__40, __builtin_amdgcn_sicmp(int(a), int(b), 40) >> 8)
    CASE(sicmp__39, __builtin_amdgcn_sicmp(int(a), int(b), 39) >> 8)
    CASE(fcmpf__4, __builtin_amdgcn_fcmpf(__uint_as_float(c), __uint_as_float(d), 4) >> 8)
    CASE(fcmpf__11, __builtin_amdgcn_fcmpf(__uint_as_float(c), __uint_as_float(d), 11) >> 8)
    CASE(reduce_add, __builtin_amdgcn_wave_reduce_add_u32(a, 0))
    CASE(reduce_sub, __builtin_amdgcn_wave_reduce_sub_u32(a, 0))
    CASE(reduce_min_i, __builtin_amdgcn_wave_reduce_min_i32(int(a), 0))
    CASE(reduce_max_i, __builtin_amdgcn_wave_reduce_max_i32(int(a), 0))
    CASE(reduce_min_u, __builtin_amdgcn_wave_reduce_min_u32(a, 0))
    CASE(reduce_max_u, __builtin_amdgcn_wave_reduce_max_u32(a, 0))
    CASE(reduce_and, __builtin_amdgcn_wave_reduce_and_b32(a | 0x10, 0))
    CASE(reduce_or, __builtin_amdgcn_wave_reduce_or_b32(a & 0x1111, 0))
    CASE(reduce_xor, __builtin_amdgcn_wave_reduce_xor_b32(a, 0))
    const unsigned long long ab = (unsigned long long)(a) << 32 | b, ba = (unsigned long long)(b) << 32 | a;
    CASE(uicmpl, __builtin_amdgcn_uicmpl(ab, ba, 36) >> 8)
    CASE(sicmpl, __builtin_amdgcn_sicmpl((long long)(ab), (long long)(ba), 38) >> 8)
    CASE(fcmp, __builtin_amdgcn_fcmp(double(a), double(b), 2) >> 8)
    CASE(reduce_add_64, __builtin_amdgcn_wave_reduce_add_u64(ab, 0) >> 32)
    CASE(reduce_sub_64, __builtin_amdgcn_wave_reduce_sub_u64(ab, 0) >> 32)
    CASE(reduce_min_i64, __builtin_amdgcn_wave_reduce_min_i64((long long)(ab), 0) >> 32)
    CASE(reduce_max_i64, __builtin_amdgcn_wave_reduce_max_i64((long long)(ab), 0) >> 32)
    CASE(reduce_min_u64, __builtin_amdgcn_wave_reduce_min_u64(ab, 0) >> 32)
    CASE(reduce_max_u64, __builtin_amdgcn_wave_reduce_max_u64(ab, 0) >> 32)
    CASE(reduce_and_64, __builtin_amdgcn_wave_reduce_and_b64(ab | 1ull << 40, 0) >> 32)
    CASE(reduce_or_64, __builtin_amdgcn_wave_reduce_or_b64(ab & 0x1111ull << 32, 0) >> 32)
    CASE(reduce_xor_64, __builtin_amdgcn_wave_reduce_xor_b64(ab, 0) >> 32)
    CASE(mov_dpp, __builtin_amdgcn_mov_dpp(int(a), 0x121, 0xf, 0xf, true))
    FLOAT_CASE(float_dpp, __builtin_amdgcn_update_dpp(__uint_as_float(b), __uint_as_float(a), 0x112, 0xf, 0xf, false))
    const double wide = __builtin_amdgcn_update_dpp(__hiloint2double(int(a), int(b)), __hiloint2double(int(b), int(a)), 0x113, 0xf, 0xf, false);
    CASE(double_dpp_lo, __double2loint(wide))
    CASE(double_dpp_hi, __double2hiint(wide))
    DPP(dpp, 0x1b, 0xf, 0xf, false)
    DPP(dpp, 0xe4, 0xa, 0x3, true)
    DPP(dpp, 0x101, 0xf, 0xf, true)
    DPP(dpp, 0x10f, 0xf, 0xf, false)
    DPP(dpp, 0x118, 0xf, 0xf, false)
    DPP(dpp, 0x112, 0xf, 0xc, false)
    DPP(dpp, 0x12f, 0xf, 0xf, false)
    DPP(dpp, 0x130, 0xf, 0xf, true)
    DPP(dpp, 0x134, 0xf, 0xf, false)
    DPP(dpp, 0x138, 0xf, 0xf, false)
    DPP(dpp, 0x13c, 0xf, 0xf, false)
    DPP(dpp, 0x140, 0xf, 0xf, false)
    DPP(dpp, 0x141, 0xf, 0xf, false)
    DPP(dpp, 0x142, 0xa, 0xf, false)
    DPP(dpp, 0x143, 0xc, 0xf, false)
    DPP(dpp, 0x157, 0xf, 0xf, false)
  }
}

// Operations of one lane.
__global__ void in_a_lane(const unsigned* in, unsigned* out) {
  const unsigned lane = threadIdx.x % 64;
  const unsigned a = in[blockIdx.x * 256 + lane], b = in[blockIdx.x * 256 + 64 + lane];
  const unsigned c = in[blockIdx.x * 256 + 128 + lane], d = in[blockIdx.x * 256 + 192 + lane];
  const float x = __uint_as_float(c), y = __uint_as_float(d), z = __uint_as_float(a);
  const unsigned long long wide = (unsigned long long)(b) << 32 | a;
  const unsigned long long sums = (unsigned long long)(c) << 32 | d;
  out += blockIdx.x * 64 * 256 + lane;
  int at = 0;
  CASE(alignbit, __builtin_amdgcn_alignbit(a, b, c))
  CASE(alignbyte, __builtin_amdgcn_alignbyte(a, b, c))
  CASE(ubfe, __builtin_amdgcn_ubfe(a, b, c))
  CASE(sbfe, __builtin_amdgcn_sbfe(int(a), b, c))
  CASE(perm, __builtin_amdgcn_perm(a, b, c & 0x0f0f0f0f))
  CASE(lerp, __builtin_amdgcn_lerp(a, b, c))
  CASE(sad_u8, __builtin_amdgcn_sad_u8(a, b, c))
  CASE(msad_u8, __builtin_amdgcn_msad_u8(a, b & c, c))
  CASE(sad_hi_u8, __builtin_amdgcn_sad_hi_u8(a, b, c))
  CASE(sad_u16, __builtin_amdgcn_sad_u16(a, b, c))
  CASE(qsad_lo, __builtin_amdgcn_qsad_pk_u16_u8(wide, c, sums))
  CASE(qsad_hi, __builtin_amdgcn_qsad_pk_u16_u8(wide, c, sums) >> 32)
  CASE(mqsad_lo, __builtin_amdgcn_mqsad_pk_u16_u8(wide, c & d, sums))
  CASE(mqsad_hi, __builtin_amdgcn_mqsad_pk_u16_u8(wide, c & d, sums) >> 32)
  CASE(sdot4, __builtin_amdgcn_sdot4(int(a), int(b), int(c), false))
  CASE(sdot4_clamp, __builtin_amdgcn_sdot4(int(a), int(b), int(c), true))
  CASE(udot4, __builtin_amdgcn_udot4(a, b, c, false))
  CASE(udot4_clamp, __builtin_amdgcn_udot4(a, b, c, true))
  CASE(sdot8, __builtin_amdgcn_sdot8(int(a), int(b), int(c), false))
  CASE(udot8_clamp, __builtin_amdgcn_udot8(a, b, c, true))
  CASE(cvt_off, __float_as_uint(__builtin_amdgcn_cvt_off_f32_i4(int(a))))
  FLOAT_CASE(fmed3f, __builtin_amdgcn_fmed3f(x, y, z))
  FLOAT_CASE(fractf, __builtin_amdgcn_fractf(x))
  FLOAT_CASE(ldexpf, __builtin_amdgcn_ldexpf(x, int(lane) - 32))
  FLOAT_CASE(frexp_mantf, __builtin_amdgcn_frexp_mantf(x))
  CASE(frexp_expf, __builtin_amdgcn_frexp_expf(x))
  CASE(classf, __builtin_amdgcn_classf(x, 0x2a5) | __builtin_amdgcn_classf(x, 0x15a) << 1)
  FLOAT_CASE(near_rcpf, __builtin_amdgcn_rcpf(x))
  FLOAT_CASE(near_sqrtf, __builtin_amdgcn_sqrtf(x))
  FLOAT_CASE(near_rsqf, __builtin_amdgcn_rsqf(x))
  FLOAT_CASE(near_exp2f, __builtin_amdgcn_exp2f(x))
  FLOAT_CASE(near_logf, __builtin_amdgcn_logf(x))
  FLOAT_CASE(near_sinf, __builtin_amdgcn_sinf(float(int(lane) - 20) / 16.0f))
  FLOAT_CASE(near_cosf, __builtin_amdgcn_cosf(float(int(lane) - 20) / 16.0f))
  CASE(pkrtz, __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(x, y)))
  CASE(pk_i16, __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pk_i16(int(a) >> (b & 31), int(b) >> (a & 31))))
  CASE(pk_u16, __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pk_u16(a >> (b & 31), b >> (a & 31))))
  CASE(pknorm_i16, __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pknorm_i16(x, y)))
  CASE(pknorm_u16, __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pknorm_u16(x, y)))
  CASE(pk_u8, __builtin_amdgcn_cvt_pk_u8_f32(float(int(c % 1024)) - 300.0f, d, a))
  CASE(sdot2, __builtin_amdgcn_sdot2(__builtin_bit_cast(short_pair, a), __builtin_bit_cast(short_pair, b), int(c), false))
  CASE(sdot2_clamp, __builtin_amdgcn_sdot2(__builtin_bit_cast(short_pair, a), __builtin_bit_cast(short_pair, b), int(c), true))
  CASE(udot2_clamp, __builtin_amdgcn_udot2(__builtin_bit_cast(ushort_pair, a), __builtin_bit_cast(ushort_pair, b), c, true))
  CASE(sdot8_clamp, __builtin_amdgcn_sdot8(int(a), int(b), int(c), true))
  CASE(udot8, __builtin_amdgcn_udot8(a, b, c, false))
  const unsigned halves = __builtin_bit_cast(unsigned, __builtin_amdgcn_cvt_pkrtz(float(a % 256) / 16.0f, float(b % 256) / -8.0f));
  FLOAT_CASE(near_fdot2, __builtin_amdgcn_fdot2(__builtin_bit_cast(half_pair, halves), __builtin_bit_cast(half_pair, halves), 0.5f, false))
  FLOAT_CASE(near_fdot2_clamp, __builtin_amdgcn_fdot2(__builtin_bit_cast(half_pair, halves), __builtin_bit_cast(half_pair, halves), 0.5f, true))
  const double p = double(int(a)) / 1024;
  CASE(fract_64, __builtin_amdgcn_fract(p) * 1024)
  CASE(frexp_exp_64, __builtin_amdgcn_frexp_exp(p))
  FLOAT_CASE(frexp_mant_64, float(__builtin_amdgcn_frexp_mant(p)))
  FLOAT_CASE(ldexp_64, float(__builtin_amdgcn_ldexp(p, 3)))
  CASE(class_64, __builtin_amdgcn_class(p, 0x108) | __builtin_amdgcn_class(p, 0x008) << 1)
  FLOAT_CASE(near_rcp_64, float(__builtin_amdgcn_rcp(p)))
  FLOAT_CASE(near_sqrt_64, float(__builtin_amdgcn_sqrt(p)))
  FLOAT_CASE(near_rsq_64, float(__builtin_amdgcn_rsq(p)))
  CASE(ids, __builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workgroup_id_x() << 8 | __builtin_amdgcn_workgroup_size_x() << 16 | __builtin_amdgcn_grid_size_y() << 24)
  CASE(wavefrontsize, __builtin_amdgcn_wavefrontsize())
  CASE(clocks, __builtin_amdgcn_s_memtime() != 0 && __builtin_amdgcn_s_memrealtime() != 0)
}

// Scheduling: no effect on results, and s_barrier is a barrier.
__global__ void scheduled(const unsigned* in, unsigned* out) {
  __shared__ unsigned shared[256];
  __builtin_amdgcn_sched_barrier(0);
  shared[threadIdx.x] = in[threadIdx.x];
  __builtin_amdgcn_s_waitcnt(0);
  __builtin_amdgcn_s_setprio(1);
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  __builtin_amdgcn_sched_group_barrier(0x8, 1, 0);
  __builtin_amdgcn_iglp_opt(0);
  __builtin_amdgcn_s_sleep(1);
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_s_setprio(0);
  out[threadIdx.x] = shared[255 - threadIdx.x];
}

// host
#include <fstream>
#include <vector>

// All controls of DPP, with both kinds of bounds and all masks, by the function that the builtin calls.
__global__ void all_dpp(const unsigned* in, unsigned* out, const unsigned* controls, unsigned long long active) {
  const unsigned lane = threadIdx.x;
  const unsigned control = controls[blockIdx.x], zero = blockIdx.y / 4, which = blockIdx.y % 4;
  const unsigned rows = which == 1 ? 0xa : which == 3 ? 0x6 : 0xf, banks = which == 2 ? 0x5 : which == 3 ? 0x9 : 0xf;
  if (active >> lane & 1)
    out[(blockIdx.y * gridDim.x + blockIdx.x) * 64 + lane] =
        hipcpu::move_dpp(in[64 + lane], in[lane], control, rows, banks, zero != 0, 1);
}

template <class T>
static std::vector<T> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// arguments: kernel, input, active lanes, output, its words
int main(int, char** args) {
  const std::string kernel = args[1];
  const std::vector<unsigned> in = read<unsigned>(args[2]);
  const unsigned long long active = std::strtoull(args[3], nullptr, 0);
  std::vector<unsigned> result(std::strtoull(args[5], nullptr, 0));
  unsigned *device_in, *device_out;
  hipMalloc(&device_in, in.size() * 4);
  hipMalloc(&device_out, result.size() * 4);
  hipMemcpy(device_in, in.data(), in.size() * 4, hipMemcpyHostToDevice);
  hipMemset(device_out, 0, result.size() * 4);
  const unsigned blocks = in.size() / 256;
  if (kernel == "between_lanes") between_lanes<<<blocks, 64>>>(device_in, device_out, active);
  if (kernel == "in_a_lane") in_a_lane<<<blocks, 64>>>(device_in, device_out);
  if (kernel == "scheduled") scheduled<<<1, 256>>>(device_in, device_out);
  if (kernel == "all_dpp") all_dpp<<<dim3(in.size() - 128, 8), 64>>>(device_in, device_out, device_in + 128, active);
  hipMemcpy(result.data(), device_out, result.size() * 4, hipMemcpyDeviceToHost);
  std::ofstream(args[4], std::ios::binary).write(reinterpret_cast<const char*>(result.data()), result.size() * 4);
  return hipGetLastError() != hipSuccess;
}
