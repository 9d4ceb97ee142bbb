/* SPDX-License-Identifier: MIT */
/* How far a command is: a line on stderr that replaces itself. Nothing where stderr is no terminal. */
#ifndef GS_CLI_PROGRESS_H
#define GS_CLI_PROGRESS_H

void gs_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes the line away: before anything else is said. */
void gs_progress_end(void);

#endif
