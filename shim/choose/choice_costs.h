/* SPDX-License-Identifier: MIT */
/* What the choice (choice.c) and what it learns (choice_learn.c) have in common: costs, and what counts as known. */
#ifndef GS_SHIM_CHOOSE_CHOICE_COSTS_H
#define GS_SHIM_CHOOSE_CHOICE_COSTS_H

#include "shim/choose/choice.h"

/* So many splits have to be measured: the first doesn't count, it makes replicas and kernels. */
enum { GS_CHOICE_KNOWN = GS_CHOICE_TRIES - 1 };

/* What moves costs at most what it does between hosts far apart: 80 Mbit/s, a round trip of 50 ms. */
#define GS_MOST_BYTE_NS 100.0
#define GS_MOST_NS 1e8

static const double gs_hopeless = 4; /* times as long as one device: it isn't tried twice */
static const double gs_small_bytes = 65536, gs_large_bytes = 16777216;

static inline double gs_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double gs_min(double a, double b)
{
    return a < b ? a : b;
}

/* What the application's reads of its outputs take where these lie on one device, and how much less where they lie on
 * several: each has a link of its own, and what the host's memory makes of that is measured. */
struct gs_reads {
    double one, gain;
};
struct gs_reads gs_reads_of(const struct gs_history *h, const struct gs_machine *m);

#endif
