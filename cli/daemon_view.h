/* SPDX-License-Identifier: MIT */
/* The daemon's state as people read it: what `status` prints once and `top` again and again. */
#ifndef GS_CLI_DAEMON_VIEW_H
#define GS_CLI_DAEMON_VIEW_H

#include <jansson.h>
#include <stdbool.h>

/* Asks the daemon (socket null: the usual places). Null: an error has been said, unless `quiet`. */
json_t *gs_daemon_state(const char *socket, bool quiet);

/* The tables, as text in lines; the caller frees it. Utilisation is that between the two states, which are of one
 * daemon, or since its start where `before` is null. narrow: what fits 80 columns. Null: out
 * of memory. */
char *gs_daemon_tables(const json_t *before, const json_t *now, bool narrow);

/* Says why a question to the daemon got no answer. */
void gs_daemon_error(int err, const char *socket, const char *text);

/* JSON on stdout: the daemon's answer to a change, and the config file that was written, or NULL. */
void gs_daemon_print_change(const char *text, const char *written);

#endif
