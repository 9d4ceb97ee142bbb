/* SPDX-License-Identifier: MIT */
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

void gs_log_for_daemon(void)
{
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

/* One write(2) per line, so that lines of several threads and processes don't mix. */
__attribute__((format(printf, 2, 0))) static void print_line(enum level level, const char *fmt, va_list ap)
{
    int saved = errno;
    char line[2048];
    int n = print_head(line, sizeof line - 1, level);
    if (n > 0 && (size_t)n < sizeof line - 1) {
        int m = vsnprintf(line + n, sizeof line - 1 - (size_t)n, fmt, ap);
        if (m > 0)
            n += m;
    }
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    gs_plain(line, n > 0 ? (size_t)n : 0);
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n) < 0) {
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
