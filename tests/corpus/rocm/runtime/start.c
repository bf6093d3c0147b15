// Starts the HIP runtime in the library that is named by the argument, and prints what it answers.
#include <dlfcn.h>
#include <stdio.h>

typedef int (*Init)(unsigned flags);
typedef int (*Count)(int* count);
typedef int (*Allocate)(void** memory, unsigned long size, unsigned flags);
typedef const char* (*ErrorName)(int error);

int main(int count, char** arguments) {
  void* hip = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (hip == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  ErrorName name = (ErrorName)dlsym(hip, "hipGetErrorName");
  int devices = 0;
  void* memory = NULL;
  printf("hipInit: %s\n", name(((Init)dlsym(hip, "hipInit"))(0)));
  printf("hipGetDeviceCount: %s\n", name(((Count)dlsym(hip, "hipGetDeviceCount"))(&devices)));
  printf("hipHostMalloc: %s\n", name(((Allocate)dlsym(hip, "hipHostMalloc"))(&memory, 4096, 0)));
  return 0;
}
