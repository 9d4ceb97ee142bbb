/* SPDX-License-Identifier: MIT */
/* One window for all segments that a chain has on one kind of server: docs/analysis.md, theorem 11. Internal to the
 * analyses. */
#ifndef GS_GEMA_WINDOW_H
#define GS_GEMA_WINDOW_H

#include "gema/analysis.h"
#include "gema/delay.h"

/* The window of one kind of server, from where the chain's first segment there becomes ready to where its last one
 * waits no more. The first two are given, the others are made of the chain. */
struct gs_window {
    struct gs_wait wait; /* of any of the segments; prepared */
    int64_t excess;      /* by so much together may lower priorities hold servers longer than wait.lower says */
    int segments;
    int asks;                     /* how often one of them begins to wait: once, and again after each pause */
    int64_t own;                  /* sum of their worst times */
    int64_t apart;                /* sum of what each of them waits at most in a window of its own */
    int64_t inside;               /* sum of worst times and pauses of the chain in the window */
    int64_t others[GS_RESOURCES]; /* sums of what segments on other kinds of servers wait in the window, each at most */
    int64_t searched;             /* with how much inside, others included, `waits` was searched for; -1: not yet */
    int64_t waits;                /* what all the segments wait together, at most */
};

/* What all segments of the chain wait together, at most, or `limit`; delays[j].delay_ns of that each by itself. */
int64_t gs_window_waits(struct gs_window *windows, struct gs_servers *servers, const struct gs_chain *c,
                        const struct gs_segment_result *delays, int64_t limit);

/* The most that one task's segments do together on one server in a window of length x, if none counts that became ready
 * more than `reach` before it: lemma 11. *length: for how long beyond x that grows by one for each unit. */
int64_t gs_joint_work(const struct gs_servers *s, const struct gs_group *g, int64_t x, int64_t reach, int64_t *length);

#endif
