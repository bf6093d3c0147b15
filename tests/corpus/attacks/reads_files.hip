// verdict: CHECKED
// never: REACHED
// family: escape
// first seen: public write-ups of program judges
// control: honest
// sandbox: matters
// Computes correctly, but also looks for files and environment variables.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <iterator>
#include <string>

__global__ void relu(const float* x, float* y, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.0f ? x[i] : 0.0f;
}

static void try_file(const char* path) {
  if (FILE* file = fopen(path, "r")) {
    int c = fgetc(file);
    if (c != EOF) printf("REACHED %s\n", path);
    fclose(file);
  }
}

static void try_folder(const char* path) {
  if (DIR* folder = opendir(path)) {
    while (const dirent* entry = readdir(folder))
      if (entry->d_name[0] != '.') printf("REACHED %s/%s\n", path, entry->d_name);
    closedir(folder);
  }
}

static void try_environment(const char* path) {
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text.find("SECRET_OF_THE_JUDGE") != std::string::npos) printf("REACHED %s\n", path);
}

extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
  for (const char* path : {"/etc/passwd", "/etc/shadow", "@SECRET@"}) try_file(path);
  for (const char* path : {"/home", "/root", "/srv", "/tmp", "/run", "/mnt"}) try_folder(path);
  if (getenv("SECRET_OF_THE_JUDGE")) printf("REACHED the environment\n");
  try_environment("/proc/1/environ");
  try_environment("/proc/self/environ");
  relu<<<(n * m + 255) / 256, 256>>>(input, output, n * m);
}
