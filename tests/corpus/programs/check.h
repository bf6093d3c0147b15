// A program of named cases: `program NAME` runs one and exits with 0 if all its checks held.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

struct Case {
  const char* name;
  void (*run)();
  Case* next;
  static inline Case* all = nullptr;
  Case(const char* name, void (*run)()) : name(name), run(run), next(all) { all = this; }
};

#define CASE(name)                                    \
  static void case_##name();                          \
  static Case register_##name(#name, case_##name);    \
  static void case_##name()

inline int failures = 0;

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition) && failures++ < 5) std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
  } while (0)

#define OK(call) CHECK((call) == hipSuccess)

// Device memory that is filled from a vector, and copied back to one.
template <class T>
T* upload(const std::vector<T>& values) {
  T* device = nullptr;
  OK(hipMalloc(&device, values.size() * sizeof(T)));
  OK(hipMemcpy(device, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  return device;
}

template <class T>
T* zeros(size_t count) {
  return upload(std::vector<T>(count));
}

template <class T>
std::vector<T> download(const T* device, size_t count) {
  std::vector<T> values(count);
  OK(hipDeviceSynchronize());
  OK(hipMemcpy(values.data(), device, count * sizeof(T), hipMemcpyDeviceToHost));
  return values;
}

inline std::vector<float> noise(size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

inline bool near(const std::vector<float>& actual, const std::vector<float>& expected, float tolerance) {
  if (actual.size() != expected.size()) return false;
  for (size_t i = 0; i < actual.size(); ++i)
    if (!(std::fabs(actual[i] - expected[i]) <= tolerance * (1 + std::fabs(expected[i])))) return false;
  return true;
}

int main(int argc, char** argv) {
  for (Case* c = Case::all; c; c = c->next)
    if (argc == 2 && std::strcmp(argv[1], c->name) == 0) {
      c->run();
      OK(hipDeviceSynchronize());
      return failures != 0;
    }
  std::printf("no such case\n");
  return 2;
}
