/* SPDX-License-Identifier: MIT */
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_INFO, LEVEL_DEBUG };
enum style { STYLE_USER, STYLE_JOURNAL, STYLE_FILE };

static const char *program_name = "gpusparc";
static enum style style;

void gs_log_init(const char *program)
{
    program_name = program;
}

void gs_plain(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            text[i] = '?';
}

/* journald says so of the stream that it has given us, by device and inode. */
static bool goes_to_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    char own[64];
    struct stat st;
    if (!stream || fstat(STDERR_FILENO, &st) < 0)
        return false;
    snprintf(own, sizeof own, "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
    return strcmp(stream, own) == 0;
}

/* Where a daemon's lines go: stderr, or the same pipe or terminal opened again, so that it needn't wait there and those
 * who share stderr don't notice. */
static int daemon_fd = STDERR_FILENO;
static bool is_socket;
static _Atomic uint64_t dropped, dropped_in_all;

static void open_without_waiting(void)
{
    struct stat st;
    if (fstat(STDERR_FILENO, &st) < 0 || S_ISREG(st.st_mode))
        return;
    is_socket = S_ISSOCK(st.st_mode);
    const int flags = O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const int fd = is_socket ? -1 : open("/proc/self/fd/2", flags);
    if (fd >= 0)
        daemon_fd = fd;
}

/* False: it is lost, for want of room or of a reader. */
static bool write_now(const char *line, size_t n)
{
    if (is_socket)
        return send(STDERR_FILENO, line, n, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
    /* Where it couldn't be opened again: there is room for a line, unless another writer is faster. */
    struct pollfd p = {.fd = daemon_fd, .events = POLLOUT};
    if (daemon_fd == STDERR_FILENO && poll(&p, 1, 0) == 0)
        return false;
    return write(daemon_fd, line, n) >= 0;
}

/* Never waits for who reads the log. The next line that there is room for says how many there was none for. */
static void write_daemon_line(const char *line, size_t n)
{
    char text[64];
    const uint64_t lost = atomic_exchange(&dropped, 0);
    const int m = lost ? snprintf(text, sizeof text, "%" PRIu64 " lines of this log were dropped\n", lost) : 0;
    const bool said = !lost || write_now(text, (size_t)m), written = said && write_now(line, n);
    atomic_fetch_add(&dropped, (said ? 0 : lost) + !written);
    atomic_fetch_add(&dropped_in_all, !written);
}

uint64_t gs_log_dropped(void)
{
    return atomic_load(&dropped_in_all);
}

void gs_log_for_daemon(void)
{
    open_without_waiting();
    style = goes_to_journal() ? STYLE_JOURNAL : STYLE_FILE;
}

/* What stands before the text. For journald the priority, of which it makes a field, as of the time and the name. */
static int print_head(char *line, size_t bytes, enum level level)
{
    static const char *const words[] = {"", "warning: ", "", "debug: "}, *const all[] = {"error", "warning", "info",
                                                                                         "debug"};
    static const int priorities[] = {3, 4, 6, 7};
    struct timespec t;
    struct tm tm;
    char when[32];
    if (style == STYLE_JOURNAL)
        return snprintf(line, bytes, "<%d>", priorities[level]);
    if (style == STYLE_USER)
        return snprintf(line, bytes, "%s: %s", program_name, words[level]);
    clock_gettime(CLOCK_REALTIME, &t);
    localtime_r(&t.tv_sec, &tm);
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    return snprintf(line, bytes, "%s.%03ld %s: %s: ", when, t.tv_nsec / 1000000, program_name, all[level]);
}

static void (*tell_error)(const char *sentence);

void gs_log_tell_errors(void (*tell)(const char *sentence))
{
    tell_error = tell;
}

/* One write(2) per line, so that lines of several threads and processes don't mix. */
__attribute__((format(printf, 2, 0))) static void print_line(enum level level, const char *fmt, va_list ap)
{
    int saved = errno;
    char line[2048];
    int n = print_head(line, sizeof line - 1, level);
    const int head = n;
    if (n > 0 && (size_t)n < sizeof line - 1) {
        int m = vsnprintf(line + n, sizeof line - 1 - (size_t)n, fmt, ap);
        if (m > 0)
            n += m;
    }
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    gs_plain(line, n > 0 ? (size_t)n : 0);
    line[n] = '\0';
    if (level == LEVEL_ERROR && tell_error && head >= 0 && head <= n)
        tell_error(line + head);
    line[n++] = '\n';
    if (style != STYLE_USER)
        write_daemon_line(line, (size_t)n);
    else if (write(STDERR_FILENO, line, (size_t)n) < 0) {
        /* Nobody is left to tell. */
    }
    errno = saved;
}

void gs_error(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_line(LEVEL_ERROR, fmt, ap);
    va_end(ap);
}

void gs_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_line(LEVEL_WARNING, fmt, ap);
    va_end(ap);
}

void gs_info(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_line(LEVEL_INFO, fmt, ap);
    va_end(ap);
}

void gs_debug(const char *fmt, ...)
{
    const char *on = secure_getenv("GPUSPARC_DEBUG");
    if (!on || !*on)
        return;
    va_list ap;
    va_start(ap, fmt);
    print_line(LEVEL_DEBUG, fmt, ap);
    va_end(ap);
}

int gs_exit_status(int status, int failed)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    gs_error("can't write to standard output: %s", strerror(errno));
    return status ? status : failed;
}
