/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static bool shown;

void gs_progress(const char *format, ...)
{
    va_list args;
    if (!isatty(STDERR_FILENO))
        return;
    shown = true;
    va_start(args, format);
    fputs("\r\033[K", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
}

void gs_progress_end(void)
{
    if (shown)
        fputs("\r\033[K", stderr);
    shown = false;
}
