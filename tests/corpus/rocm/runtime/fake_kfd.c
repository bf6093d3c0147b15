// Preloaded: answers the requests to /dev/kfd of a machine whose topology has a CPU and no GPU, so that the real runtime starts its threads
// and events. Each request is also made for real, so that a filter of system calls sees it. Prints the request numbers that it gets.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { GET_VERSION = 0x01, CREATE_EVENT = 0x08, WAIT_EVENTS = 0x0c };

int ioctl(int descriptor, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  char* fields = va_arg(list, char*);
  va_end(list);
  const long result = syscall(SYS_ioctl, descriptor, request, fields);
  if ((request >> 8 & 0xff) != 'K') return (int)result;
  static uint32_t events;
  fprintf(stderr, "kfd %02lx\n", request & 0xff);
  switch (request & 0xff) {
    case GET_VERSION: {
      const uint32_t version[] = {1, 17};
      memcpy(fields, version, sizeof version);
      break;
    }
    case CREATE_EVENT: {  // the trigger, the id and the slot of the event
      const uint32_t number = __atomic_fetch_add(&events, 1, __ATOMIC_RELAXED);
      memcpy(fields + 8, &number, sizeof number);
      memcpy(fields + 24, &number, sizeof number);
      memcpy(fields + 28, &number, sizeof number);
      break;
    }
    case WAIT_EVENTS: {
      const uint32_t timed_out = 1;
      usleep(1000);
      memcpy(fields + 20, &timed_out, sizeof timed_out);
      break;
    }
  }
  return 0;
}
