/* SPDX-License-Identifier: MIT */
/* gpusparc devices --check: a program that may hang or crash. */
#ifndef GS_CLI_DEVICE_CHECK_RUN_H
#define GS_CLI_DEVICE_CHECK_RUN_H

#include <stdbool.h>
#include <stddef.h>

/* Until gs_check_end, Ctrl-C and SIGTERM end the program under way instead of this process. */
void gs_check_begin(void);
void gs_check_end(void);
bool gs_check_interrupted(void);

/* Runs argv with no input, its output into the files of these paths. Its exit status, or 128 + the number of the signal
 * that ended it; -ETIMEDOUT: killed after limit_s seconds (a process that a driver doesn't let die is left behind);
 * -EINTR: interrupted; -errno: it can't be started. */
int gs_check_run(char *const argv[], const char *out, const char *err, double limit_s);

/* How it ended, as half a sentence ("it crashed: ..."), with the last line of the file of its error output. */
void gs_check_describe(int status, const char *err, double limit_s, char *text, size_t bytes);

#endif
