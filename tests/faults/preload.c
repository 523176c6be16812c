// Stands between the program and the system: a drive that fails or hangs, and a clock that goes backwards.
//   AGOGIC_FAULT_DRIVE   files below this folder are on the drive
//   AGOGIC_FAULT_CALL    open, stat, read, write or fsync: what fails there, as it does on a network drive that is gone; or all
//   AGOGIC_FAULT_AFTER   how many such calls succeed first
//   AGOGIC_FAULT_WHEN    they also succeed for as long as this file does not exist
//   AGOGIC_FAULT_HANG    such calls never return, as on a network drive that is waited for
//   AGOGIC_FAULT_CLOCK   the time of day goes back by an hour whenever it is asked for
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int on_drive(const char *path) {
    const char *drive = getenv("AGOGIC_FAULT_DRIVE");
    return drive && path && strncmp(path, drive, strlen(drive)) == 0;
}

static int is_on_drive(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return on_drive(path);
}

static int fails(const char *call) {
    static atomic_int calls;
    const char *failing = getenv("AGOGIC_FAULT_CALL"), *after = getenv("AGOGIC_FAULT_AFTER"), *when = getenv("AGOGIC_FAULT_WHEN");
    if (!failing || (strcmp(failing, call) != 0 && strcmp(failing, "all") != 0)) return 0;
    if (when && access(when, F_OK) != 0) return 0;
    if (atomic_fetch_add(&calls, 1) < (after ? atoi(after) : 0)) return 0;
    // A signal's handler runs, as it does on other threads of a program that waits for a drive, and the wait goes on.
    while (getenv("AGOGIC_FAULT_HANG")) pause();
    errno = EIO;
    return 1;
}

static int open_any(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    if (on_drive(path) && fails("open")) return -1;
    return real(path, flags, mode);
}
int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return open_any(REAL(open), path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    va_end(more);
    return open_any(REAL(open64), path, flags, mode);
}
int statx(int folder, const char *path, int flags, unsigned mask, struct statx *about) {
    return on_drive(path) && fails("stat") ? -1 : REAL(statx)(folder, path, flags, mask, about);
}
char *realpath(const char *path, char *resolved) {
    return on_drive(path) && fails("stat") ? NULL : REAL(realpath)(path, resolved);
}
ssize_t read(int file, void *bytes, size_t count) {
    return is_on_drive(file) && fails("read") ? -1 : REAL(read)(file, bytes, count);
}
ssize_t write(int file, const void *bytes, size_t count) {
    return is_on_drive(file) && fails("write") ? -1 : REAL(write)(file, bytes, count);
}
int fsync(int file) {
    return is_on_drive(file) && fails("fsync") ? -1 : REAL(fsync)(file);
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    static atomic_int asked;
    int done = REAL(clock_gettime)(clock, now);
    if (clock == CLOCK_REALTIME && getenv("AGOGIC_FAULT_CLOCK")) now->tv_sec -= 3600L * atomic_fetch_add(&asked, 1);
    return done;
}
