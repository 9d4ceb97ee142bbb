/* SPDX-License-Identifier: MIT */
/* Messages for the user, on stderr only, one line each: `PROGRAM: text`. */
#ifndef GS_COMMON_LOG_H
#define GS_COMMON_LOG_H

#include <stddef.h>
#include <stdint.h>

/* Makes question marks of control characters: a program's path may hold any, which a terminal would obey. The messages
 * below do so. */
void gs_plain(char *text, size_t n);

/* Sets the name that begins each line. The string must outlive all messages. */
void gs_log_init(const char *program);

/* The messages are a daemon's log from now on: with time and level, or, where journald keeps them, its priorities. A
 * line for which its reader leaves no room is dropped; the next one that is written says how many were. */
void gs_log_for_daemon(void);
uint64_t gs_log_dropped(void); /* lines, since then */

/* Something the user asked for could not be done. */
void gs_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Somebody else hears of each error, too: its sentence without what begins the line. */
void gs_log_tell_errors(void (*tell)(const char *sentence));

/* A program's exit status at its end: `status`; where not all it printed could be written, that is said, and 0 becomes
 * `failed`. */
int gs_exit_status(int status, int failed);

/* Something works less well than asked for. */
void gs_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Something that whoever runs a daemon wants to read in its log. */
void gs_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Detail for those who look for a fault; printed only where GPUSPARC_DEBUG is set and not empty. */
void gs_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
