/* SPDX-License-Identifier: MIT */
/* What the tests of the daemon's core share: a core without its sockets, and clients as it sees them. */
#ifndef GS_TESTS_SCHEDULER_DESK_H
#define GS_TESTS_SCHEDULER_DESK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "scheduler/session.h"
#include "tests/scheduler/says.h"

#define MS UINT64_C(1000000)

/* A client as the core sees it: what it was sent last of each kind. */
struct desk {
    struct gs_session *session;
    struct gs_msg welcome, task, refused, notice, answer;
    unsigned welcomes, tasks, refusals, notices;
    int cpu_priority;
};

struct bench {
    struct gs_core *core;
    uint64_t now;
    int realtime_calls, realtime_error;
    struct gs_question *question; /* of a slow analysis: not answered yet */
    struct desk *at[200];         /* who sits */
    unsigned sit;
    char log[2048];
};

/* A config of three tasks. */
#define TASKS                                                                                                          \
    "[system]\ngpus = 2\ncpus = 2\n"                                                                                   \
    "[task slow]\nperiod = 100ms\nuser = 1001\nkernel_chunk = 3\ntransfer_chunk = 1MiB\n"                              \
    "[task fast]\nperiod = 10ms\nmatch = */fast\nuser = 1001\nmode = single\n"                                         \
    "[task mine]\nperiod = 50ms\nmatch = */mine\n"

/* A core with that config; another config for it, which is what gs_core_configure says; its end. */
struct bench *start(const char *text);
struct bench *start_crowd(const char *text); /* with places for 32 */
struct bench *start_slow(const char *text);  /* it analyses when `analyse` is called */
struct bench *start_large(const char *text); /* as well, with places for 200 */
void work_off(struct bench *b);              /* what waits for no analysis, but for its turn */
void analyse(struct bench *b);               /* and what waits for it */
int configure(struct bench *b, const char *text);
void stop(struct bench *b); /* whoever sits gets up before */

/* A client comes, says something, and leaves; what the core makes of a message. */
void sit_down(struct bench *b, struct desk *d, uid_t uid, const char *exe);
void get_up(struct bench *b, struct desk *d);
struct gs_msg message(enum gs_msg_type type);
int say(struct bench *b, struct desk *d, const struct gs_msg *m);
int hello(struct bench *b, struct desk *d, const char *task, uint32_t gpus);
int join(struct bench *b, struct desk *d, const char *task, uint32_t gpus); /* user 1001 sits down and says hello */

/* It wants the resource; has it been granted one; gives a unit back as the client library does. */
int request(struct bench *b, struct desk *d, uint32_t slot, unsigned resource);
struct gs_page *page_of(const struct desk *d);
bool granted(const struct desk *d, uint32_t slot, unsigned resource);
void give_back(struct bench *b, struct desk *d, unsigned resource);

/* A job of its task has ended, as the page says; the daemon hasn't been told to look. */
struct ended {
    uint64_t release_ns, end_ns, pci_ns, gpu_ns;
    uint32_t gpus;
};
void record_job(struct desk *d, const struct ended *job);

#endif
