// Times each kernel and its loop alternately, so that both run under the same conditions, and compares their results.
// Prints one line of JSON per kernel: {"name": ..., "hip_ms": [...], "loop_ms": [...], "difference": ...}.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "shapes.h"

struct Bench {
  const char* name;
  Run hip, loop;
  int outputs;  // the number of elements of c that it writes
};

#define BENCH_ROW(name, outputs) {#name, hip_##name, loop_##name, outputs},
static const Bench benches[] = {BENCH_KERNELS(BENCH_ROW)};
#undef BENCH_ROW

static double time_ms(Run run, const float* a, const float* b, float* c) {
  const auto start = std::chrono::steady_clock::now();
  run(a, b, c);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

static void print_all(const char* key, const std::vector<double>& values) {
  std::printf(", \"%s\": [", key);
  for (size_t i = 0; i < values.size(); ++i) std::printf("%s%.4f", i ? ", " : "", values[i]);
  std::printf("]");
}

static double largest_difference(const std::vector<float>& x, const std::vector<float>& y, int count) {
  double worst = 0;
  for (int i = 0; i < count; ++i) worst = std::fmax(worst, std::fabs(double(x[i]) - y[i]) / (1 + std::fabs(y[i])));
  return worst;
}

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 10;
  std::vector<float> a(kCount), b(kCount), from_hip(kCount), from_loop(kCount);
  for (unsigned i = 0; i < unsigned(kCount); ++i) {
    a[i] = (i * 2654435761u >> 8) / 16777216.f - 0.25f;  // not centered on 0, so that sums do not cancel
    b[i] = (i * 2246822519u >> 8) / 16777216.f - 0.5f;
  }
  for (const Bench& bench : benches) {
    std::vector<double> hip_ms, loop_ms;
    time_ms(bench.hip, a.data(), b.data(), from_hip.data());
    time_ms(bench.loop, a.data(), b.data(), from_loop.data());
    for (int i = 0; i < repetitions; ++i) {
      hip_ms.push_back(time_ms(bench.hip, a.data(), b.data(), from_hip.data()));
      loop_ms.push_back(time_ms(bench.loop, a.data(), b.data(), from_loop.data()));
    }
    std::printf("{\"name\": \"%s\"", bench.name);
    print_all("hip_ms", hip_ms);
    print_all("loop_ms", loop_ms);
    std::printf(", \"difference\": %.3g}\n", largest_difference(from_hip, from_loop, bench.outputs));
  }
  std::fflush(stdout);
}
