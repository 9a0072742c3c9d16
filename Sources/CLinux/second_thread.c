#define _GNU_SOURCE
#include "CLinux.h"

#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct concord_second_thread {
    // How many pieces of work were given, and how many are done.
    atomic_uint given, done;
    void (*work)(void *);
    void *argument;
};

static void pause_a_moment(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// Waits until the counter has come so far: awake for some tenths of a millisecond, then asleep.
static void wait_for(atomic_uint *counter, unsigned count) {
    for (int i = 0; i < 10000; i++) {
        if (atomic_load_explicit(counter, memory_order_acquire) == count) return;
        pause_a_moment();
    }
    unsigned seen;
    while ((seen = atomic_load_explicit(counter, memory_order_acquire)) != count)
        syscall(SYS_futex, counter, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static void count_up(atomic_uint *counter) {
    atomic_fetch_add_explicit(counter, 1, memory_order_release);
    syscall(SYS_futex, counter, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *work_on(void *argument) {
    concord_second_thread *thread = argument;
    for (unsigned count = 1;; count++) {
        wait_for(&thread->given, count);
        thread->work(thread->argument);
        count_up(&thread->done);
    }
    return NULL;
}

concord_second_thread *concord_second_thread_begin(void) {
    cpu_set_t processors;
    if (sched_getaffinity(0, sizeof processors, &processors) != 0 || CPU_COUNT(&processors) < 2) return NULL;
    // On any processor but this one: otherwise it mostly waits here for its turn, longer than a small merge takes.
    const int here = sched_getcpu();
    if (here >= 0 && here < CPU_SETSIZE) CPU_CLR(here, &processors);
    // Giving the thread a heap of its own costs more than waiting for each other now and then.
    mallopt(M_ARENA_MAX, 1);
    concord_second_thread *thread = calloc(1, sizeof *thread);
    pthread_attr_t attributes;
    pthread_t handle;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof processors, &processors);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const bool began = thread && pthread_create(&handle, &attributes, work_on, thread) == 0;
    pthread_attr_destroy(&attributes);
    if (began) return thread;
    free(thread);
    return NULL;
}

void concord_second_thread_give(concord_second_thread *thread, void (*work)(void *), void *argument) {
    concord_second_thread_finish(thread);
    thread->work = work;
    thread->argument = argument;
    count_up(&thread->given);
}

void concord_second_thread_finish(concord_second_thread *thread) {
    wait_for(&thread->done, atomic_load_explicit(&thread->given, memory_order_relaxed));
}
