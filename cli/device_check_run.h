/* SPDX-License-Identifier: MIT */
/* gpusparc devices --check: a program that may hang or crash. */
#ifndef GS_CLI_DEVICE_CHECK_RUN_H
#define GS_CLI_DEVICE_CHECK_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Until gs_check_end, Ctrl-C and SIGTERM end the program under way instead of this process. */
void gs_check_begin(void);
void gs_check_end(void);
bool gs_check_interrupted(void);

struct gs_check_process {
    pid_t pid;
    int failed; /* it couldn't be started: -errno, or -EINTR: it was not to be */
    int64_t begin_ms;
};

/* Starts argv with no input, its output into the files of these paths. */
struct gs_check_process gs_check_start(char *const argv[], const char *out, const char *err);

/* Waits for its end. Its exit status, or 128 + the number of the signal that ended it; -ETIMEDOUT: killed limit_s
 * seconds after its start (a process that a driver doesn't let die is left behind); -EINTR: interrupted; -errno: it
 * couldn't be started. */
int gs_check_await(const struct gs_check_process *p, double limit_s);

/* How it ended, as half a sentence ("it crashed: ..."), with the last line of the file of its error output. */
void gs_check_describe(int status, const char *err, double limit_s, char *text, size_t bytes);

#endif
