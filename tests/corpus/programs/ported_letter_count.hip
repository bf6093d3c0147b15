// Counting letters: private counts per warp in shared memory, a table in constant memory, symbols.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

typedef unsigned char byte_t;

#define WARPS 4
#define CLASSES 27

__constant__ byte_t class_of[256];
__device__ unsigned long long letters_seen;

__device__ inline void count_word(unsigned *counts, unsigned word) {
  for (int shift = 0; shift < 32; shift += 8) atomicAdd(&counts[class_of[word >> shift & 0xFFU]], 1);
}

__global__ void count_letters(const unsigned *__restrict__ text, unsigned words, unsigned *totals) {
  __shared__ unsigned counts[WARPS][CLASSES];
  for (int i = threadIdx.x; i < WARPS * CLASSES; i += blockDim.x) (&counts[0][0])[i] = 0;
  __syncthreads();
  unsigned *mine = counts[threadIdx.x >> 5];
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += blockDim.x * gridDim.x)
    count_word(mine, text[i]);
  __syncthreads();
  if (threadIdx.x < CLASSES) {
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) sum += counts[w][threadIdx.x];
    atomicAdd(totals + threadIdx.x, sum);
    if (threadIdx.x > 0) atomicAdd(&letters_seen, (unsigned long long)sum);
  }
}

int main(int argc, char **argv) {
  const unsigned size = 400000;
  byte_t *text = (byte_t *)malloc(size), table[256] = {0};
  for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = (byte_t)(c - 'a' + 1);
  unsigned want[CLASSES] = {0}, got[CLASSES];
  unsigned long long want_letters = 0, got_letters = 0;
  srand(42);
  for (unsigned i = 0; i < size; ++i) {
    text[i] = rand() % 3 ? "The quick brown fox, "[i % 21] : (byte_t)(rand() % 256);
    want[table[text[i]]]++;
    want_letters += table[text[i]] != 0;
  }
  unsigned *d_text, *d_totals;
  hipMalloc((void **)&d_text, size);
  hipMalloc((void **)&d_totals, sizeof(got));
  hipMemcpy(d_text, text, size, hipMemcpyHostToDevice);
  hipMemset(d_totals, 0, sizeof(got));
  hipMemcpyToSymbol(HIP_SYMBOL(class_of), table, sizeof(table));
  hipMemcpyToSymbol(HIP_SYMBOL(letters_seen), &got_letters, sizeof(got_letters));
  count_letters<<<24, WARPS * 32>>>(d_text, size / sizeof(unsigned), d_totals);
  hipMemcpy(got, d_totals, sizeof(got), hipMemcpyDeviceToHost);
  hipMemcpyFromSymbol(&got_letters, HIP_SYMBOL(letters_seen), sizeof(got_letters));
  bool ok = memcmp(got, want, sizeof(got)) == 0 && got_letters == want_letters;
  printf("%s: %llu letters\n", ok ? "PASSED" : "FAILED", got_letters);
  hipFree(d_text);
  hipFree(d_totals);
  free(text);
  return ok ? 0 : 1;
}
