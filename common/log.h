/* SPDX-License-Identifier: MIT */
/* Messages for the user, on stderr only, one line each: `PROGRAM: text`. */
#ifndef GS_COMMON_LOG_H
#define GS_COMMON_LOG_H

#include <stddef.h>
#include <stdint.h>

/* Replaces control characters by question marks: a program's path may hold any, and a terminal would obey them. The
 * messages below do so. */
void gs_plain(char *text, size_t n);

/* Sets the name that begins each line. The string must outlive all messages. */
void gs_log_init(const char *program);

/* From now on messages are a daemon's log: with time and level, or with journald's priorities. A line for which there
 * is no room is dropped, and the next line says how many were. */
void gs_log_for_daemon(void);
uint64_t gs_log_dropped(void); /* lines since gs_log_for_daemon */

/* Something the user asked for could not be done. */
void gs_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* `tell` hears of each error too: the sentence without the line's beginning. */
void gs_log_tell_errors(void (*tell)(const char *sentence));

/* The exit status of a program's end: `status`; if not all output could be written, says so, and turns 0 into
 * `failed`. */
int gs_exit_status(int status, int failed);

/* Something works less well than asked for. */
void gs_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Something for the daemon's log. */
void gs_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Detail for finding a fault; printed only if GPUSPARC_DEBUG is set and not empty. */
void gs_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
