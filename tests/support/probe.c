// The program that the sandbox tests run in a box: each command does one thing that a box must allow or prevent.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int commands, answers;

static void open_channel(void) {
    commands = open("commands", O_RDONLY);
    answers = open("answers", O_WRONLY);
}

// Reads one byte and sends it back, so that the test knows that the program runs.
static void handshake(void) {
    char byte;
    open_channel();
    if (read(commands, &byte, 1) != 1 || write(answers, &byte, 1) != 1) exit(9);
}

static int echo(void) {
    char buffer[4096];
    open_channel();
    ssize_t size = read(commands, buffer, sizeof buffer);
    return write(answers, buffer, size) == size ? 0 : 1;
}

static int answer_endlessly(void) {
    static char zeros[1 << 16];
    open_channel();
    while (write(answers, zeros, sizeof zeros) > 0) {}
    return 1;
}

static int hog(void) {
    for (;;) {
        char *block = malloc(1 << 20);
        if (!block) {
            puts("out of memory");
            return 1;
        }
        memset(block, 1, 1 << 20);
    }
}

// Fills shared memory that no page table refers to, so that the kernel's choice of a victim does not see it.
static int hoard(void) {
    for (;;) {
        char *block = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED) {
            puts("out of memory");
            return 1;
        }
        memset(block, 1, 1 << 20);
        madvise(block, 1 << 20, MADV_DONTNEED);
    }
}

static int hog_in_child(void) {
    if (fork() == 0) exit(hog());
    wait(NULL);
    return 0;
}

static int fork_endlessly(void) {
    handshake();
    for (;;) fork();
    return 1;
}

static int leave_child(void) {
    handshake();
    if (fork() == 0) for (;;) pause();
    return 0;
}

static int flood(void) {
    static char text[1 << 16];
    memset(text, 'x', sizeof text);
    for (;;) if (write(1, text, sizeof text) < 0) return 1;
}

// Prints how many bytes could be written to a file, and the error that stopped it.
static int fill(const char *path, long size) {
    static char text[1 << 16];
    signal(SIGXFSZ, SIG_IGN);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    long written = 0;
    for (errno = 0; file >= 0 && written < size;) {
        ssize_t step = write(file, text, sizeof text);
        if (step <= 0) break;
        written += step;
    }
    printf("%ld %s\n", written, errno ? strerrorname_np(errno) : "none");
    return 0;
}

static int open_many(void) {
    int count = 0;
    while (open("/dev/null", O_RDONLY) >= 0) ++count;
    printf("%d %s\n", count, strerrorname_np(errno));
    return 0;
}

static void *nothing(void *argument) { return argument; }

static int thread_and_fork(void) {
    pthread_t thread;
    printf("thread %d\n", pthread_create(&thread, NULL, nothing, NULL));
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) _exit(0);
    printf("fork %s\n", child < 0 ? strerrorname_np(errno) : "0");
    return 0;
}

// Prints the error of each system call, given by number, with all arguments 0.
static int call(int count, char **numbers) {
    for (int i = 0; i < count; ++i) {
        long result = syscall(atol(numbers[i]), 0, 0, 0, 0, 0, 0);
        printf("%s %s\n", numbers[i], result < 0 ? strerrorname_np(errno) : "0");
    }
    return 0;
}

static void *spin(void *unused) {
    for (;;) {}
    return unused;
}

// Starts threads and replaces the program by itself: each `execve` has to end the threads first.
static int exec_endlessly(char **words) {
    pthread_t thread;
    for (int i = 0; i < 4; i++) pthread_create(&thread, NULL, spin, NULL);
    execv(words[0], words);
    return 1;
}

static int clone_with(const char *flags) {
    long child = syscall(SYS_clone, strtol(flags, NULL, 0) | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    puts(child < 0 ? strerrorname_np(errno) : "0");
    return 0;
}

int main(int count, char **words) {
    const char *command = words[1];
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!strcmp(command, "nothing")) return 0;
    if (!strcmp(command, "exit")) return atoi(words[2]);
    if (!strcmp(command, "crash")) return *(volatile int *)NULL;
    if (!strcmp(command, "echo")) return echo();
    if (!strcmp(command, "answer-endlessly")) return answer_endlessly();
    if (!strcmp(command, "hold")) for (handshake();;) pause();
    if (!strcmp(command, "spin")) for (;;) {}
    if (!strcmp(command, "hog")) return hog();
    if (!strcmp(command, "hoard")) return hoard();
    if (!strcmp(command, "hog-in-child")) return hog_in_child();
    if (!strcmp(command, "fork-endlessly")) return fork_endlessly();
    if (!strcmp(command, "exec-endlessly")) return exec_endlessly(words);
    if (!strcmp(command, "leave-child")) return leave_child();
    if (!strcmp(command, "flood")) return flood();
    if (!strcmp(command, "fill")) return fill(words[2], atol(words[3]));
    if (!strcmp(command, "open-many")) return open_many();
    if (!strcmp(command, "thread-and-fork")) return thread_and_fork();
    if (!strcmp(command, "call")) return call(count - 2, words + 2);
    if (!strcmp(command, "clone")) return clone_with(words[2]);
#ifdef __x86_64__
    if (!strcmp(command, "i386")) {
        long result = 20;  // getpid on i386
        __asm__ volatile("int $0x80" : "+a"(result)::"memory");
        return 0;
    }
    if (!strcmp(command, "x32")) return syscall(0x40000000 | SYS_getpid) < 0;
#endif
    return 99;
}
