#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int address_of(const char *path, size_t length, struct sockaddr_un *address, socklen_t *size) {
    if (length == 0 || length > concord_unix_path_max) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length);
    if (path[0] == '@') address->sun_path[0] = 0;
    // An abstract address is exactly as long as its name; a path includes its terminating zero.
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '@' ? 0 : 1));
    return 0;
}

static int close_keeping_errno(int descriptor) {
    int saved = errno;
    close(descriptor);
    errno = saved;
    return -1;
}

int concord_unix_connect(const char *path, size_t length) {
    struct sockaddr_un address;
    socklen_t size;
    if (address_of(path, length, &address, &size) != 0) return -1;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    if (connect(descriptor, (struct sockaddr *)&address, size) != 0) return close_keeping_errno(descriptor);
    return descriptor;
}

int concord_unix_listen(const char *path, size_t length, mode_t mode, int backlog) {
    struct sockaddr_un address;
    socklen_t size;
    if (address_of(path, length, &address, &size) != 0) return -1;
    if (path[0] != '@') {
        struct stat status;
        if (lstat(address.sun_path, &status) == 0) {
            if (!S_ISSOCK(status.st_mode)) {
                errno = EEXIST;
                return -1;
            }
            int other = concord_unix_connect(path, length);
            if (other >= 0) {
                close(other);
                errno = EADDRINUSE;
                return -1;
            }
            if (errno == ECONNREFUSED) unlink(address.sun_path);
        }
    }
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -1;
    // The permissions of the file are those of the socket at bind (unix(7)), so there is no moment with wider ones.
    fchmod(descriptor, mode);
    if (bind(descriptor, (struct sockaddr *)&address, size) != 0) return close_keeping_errno(descriptor);
    if (path[0] != '@' && chmod(address.sun_path, mode) != 0) return close_keeping_errno(descriptor);
    if (listen(descriptor, backlog) != 0) return close_keeping_errno(descriptor);
    return descriptor;
}

int concord_unix_send(const char *path, size_t length, const void *bytes, size_t count) {
    struct sockaddr_un address;
    socklen_t size;
    if (address_of(path, length, &address, &size) != 0) return -1;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    ssize_t sent = sendto(descriptor, bytes, count, MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    if (sent < 0) return close_keeping_errno(descriptor);
    close(descriptor);
    return 0;
}

int concord_unix_accept(int listener) {
    int descriptor;
    do descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

int concord_send_all(int descriptor, const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t sent = send(descriptor, next, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return -1;
        next += sent;
        count -= (size_t)sent;
    }
    return 0;
}

int concord_socket_timeout(int descriptor, int milliseconds) {
    struct timeval bound = {.tv_sec = milliseconds / 1000, .tv_usec = (milliseconds % 1000) * 1000};
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound) != 0) return -1;
    return setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
}

static int signal_pipe[2] = {-1, -1};

int concord_signal_pipe(void) {
    if (signal_pipe[0] < 0 && pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    return signal_pipe[0];
}

static void write_number(int number) {
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    // A full pipe already holds rings that nobody has read: one more would say nothing new.
    ssize_t ignored = write(signal_pipe[1], &byte, 1);
    (void)ignored;
    errno = saved;
}

int concord_signal_route(int number) {
    struct sigaction action = {.sa_flags = SA_RESTART};
    action.sa_handler = write_number;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL);
}

int concord_signal_ignore(int number) {
    struct sigaction action = {0};
    action.sa_handler = SIG_IGN;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL);
}

int concord_spawn(pid_t *pid, const char *program, char *const arguments[], char *const environment[],
                  const char *directory, int input, int output, int error) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, error, 2);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (directory) posix_spawn_file_actions_addchdir_np(&actions, directory);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int status = posix_spawnp(pid, program, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (status == 0) return 0;
    errno = status;
    return -1;
}

int concord_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int concord_wait(pid_t pid, int *exit_code, int *signal_number) {
    int status;
    pid_t done;
    do done = waitpid(pid, &status, 0);
    while (done < 0 && errno == EINTR);
    if (done < 0) return -1;
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    *signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return 0;
}

int concord_open(const char *path, int flags, mode_t mode) {
    int descriptor;
    do descriptor = open(path, flags | O_CLOEXEC, mode);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

int concord_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int concord_memory_file(const void *bytes, size_t count) {
    int file = memfd_create("concord", MFD_CLOEXEC);
    if (file < 0) return -1;
    for (size_t done = 0; done < count;) {
        ssize_t written = write(file, (const char *)bytes + done, count - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return close_keeping_errno(file);
        done += (size_t)written;
    }
    lseek(file, 0, SEEK_SET);
    return file;
}
