/* SPDX-License-Identifier: MIT */
/* Real daemons and real processes that play applications, for the tests of this folder. */
#ifndef GS_TESTS_SCHEDULER_PLAYERS_H
#define GS_TESTS_SCHEDULER_PLAYERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/client/client.h"

#define GPU0 GS_RESOURCE_GPU(0)
#define MS UINT64_C(1000000)

enum { PLAYERS = 128 };

/* Seen by the test and all its children. */
struct stage {
    _Atomic uint64_t said[PLAYERS]; /* a number that each player counts up or sets */
    _Atomic uint32_t flag[PLAYERS]; /* what the test tells each player */
    _Atomic int inside;             /* players that hold GPU 0 now, by the daemon's grant */
    _Atomic int most_inside;
};
extern struct stage *stage;

/* A private folder with a socket name in it, exported as GPUSPARC_SOCKET. Kills what is left over at exit. */
void stage_open(void);
void stage_reset(void);
const char *stage_path(const char *name); /* in the folder; a static buffer */

/* A test that begins with an empty stage, and leaves neither players nor the daemon's files. */
#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_set_up, stage_tear_down)
int stage_set_up(void **state);
int stage_tear_down(void **state);

/* Starts build/bin/gpusparcd with this config and an extra argument or two (null: none), waits until it answers, and
 * gives its pid; its stderr goes to the folder's `log`. */
pid_t start_daemon(const char *config, const char *arg1, const char *arg2);
void write_config(const char *config);
/* Sends the signal and waits for the end; gives the exit status, or minus the signal. */
int end_process(pid_t pid, int sig);
bool log_contains(const char *text);
bool log_says(const char *sentence); /* of docs/messages.md */

/* A child that runs the function and exits. */
pid_t play(void (*role)(unsigned self), unsigned self);
void end_players(void); /* kills and reaps all that are left */

/* In a child: a client that has joined (`task` null: none), or the child's death. */
struct gs_client *joined_client(const char *task);
/* Waits until the value is there. False after a minute: it hangs; how long it takes is no matter of the tests, whose
 * machine has other things to do. */
bool until(_Atomic uint64_t *v, uint64_t at_least);
/* The same of a number in the daemon's status, which is to be exactly this. */
bool until_status(const char *path, long long n);
void rest_ms(unsigned ms);
/* A connection to the daemon of one that speaks for itself; -1: none is had. flags: SOCK_NONBLOCK, or 0. */
int raw_connection(int flags);
uint64_t clock_ns(void);

/* A number in the daemon's status: "daemon.taken_back", "clients", "resources.1.units", … -1: not there. */
long long status_number(const char *path);

#endif
