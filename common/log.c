/* SPDX-License-Identifier: MIT */
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program_name = "gpusparc";

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

/* One write(2) per line, so that lines of several threads and processes don't mix. */
__attribute__((format(printf, 2, 0))) static void print_line(const char *prefix, const char *fmt, va_list ap)
{
    int saved = errno;
    char line[2048];
    int n = snprintf(line, sizeof line - 1, "%s: %s", program_name, prefix);
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
    print_line("", fmt, ap);
    va_end(ap);
}

void gs_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_line("warning: ", fmt, ap);
    va_end(ap);
}

void gs_info(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    print_line("", fmt, ap);
    va_end(ap);
}

void gs_debug(const char *fmt, ...)
{
    const char *on = getenv("GPUSPARC_DEBUG");
    if (!on || !*on)
        return;
    va_list ap;
    va_start(ap, fmt);
    print_line("debug: ", fmt, ap);
    va_end(ap);
}

int gs_exit_status(int status, int failed)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    gs_error("can't write to standard output: %s", strerror(errno));
    return status ? status : failed;
}
