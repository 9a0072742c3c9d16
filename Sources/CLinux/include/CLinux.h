// What Swift cannot say over Glibc: headers outside its module map, variadic calls, and the address
// juggling of Unix sockets. Every function returns 0 or a descriptor, or -1 with errno set.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/types.h>
#include <sys/uio.h>

// A Unix address longer than this does not fit `sun_path`.
enum { concord_unix_path_max = 107 };

// The words of the command line, the first of which is the name of the program.
int concord_argument_count(void);
const char *concord_argument(int i);

// A thread that takes one piece of work after the other, and ends with the process. NULL where there is none to be had, or only
// one processor. It stays awake for a while between two pieces, since waking it takes as long as a small one.
typedef struct concord_second_thread concord_second_thread;
concord_second_thread *concord_second_thread_begin(void);
// Gives it a piece of work, as soon as it has done the last one.
void concord_second_thread_give(concord_second_thread *thread, void (*work)(void *), void *argument);
// Waits until all is done.
void concord_second_thread_finish(concord_second_thread *thread);

// Opens a close-on-exec listening stream socket at `path` with the permissions `mode`. A dead socket file left
// there by a crash is replaced; one that answers is not (EADDRINUSE).
int concord_unix_listen(const char *path, size_t length, mode_t mode, int backlog);
int concord_unix_connect(const char *path, size_t length);
// One datagram, as sd_notify(3) sends it; a path that begins with `@` is an abstract address.
int concord_unix_send(const char *path, size_t length, const void *bytes, size_t count);
int concord_unix_accept(int listener);
// Sends all bytes; a peer that has gone is EPIPE, and no signal.
int concord_send_all(int descriptor, const void *bytes, size_t count);
int concord_socket_timeout(int descriptor, int milliseconds);

// Routes a signal into a pipe: the handler writes the number as one byte, and nothing else, which is all that is
// safe inside a handler. Returns the reading end, the same for all signals.
int concord_signal_pipe(void);
int concord_signal_route(int number);
int concord_signal_ignore(int number);

// Starts a program in a process group of its own, with default signals and only the three descriptors given.
int concord_spawn(pid_t *pid, const char *program, char *const arguments[], char *const environment[],
                  const char *directory, int input, int output, int error);
int concord_pidfd_open(pid_t pid);
int concord_wait(pid_t pid, int *exit_code, int *signal_number);

int concord_pipe(int ends[2]);

// A file in memory that holds these bytes, to be read from its start; -1 on failure.
int concord_memory_file(const void *bytes, size_t count);
int concord_open(const char *path, int flags, mode_t mode);
