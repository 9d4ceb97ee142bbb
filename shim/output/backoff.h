/* SPDX-License-Identifier: MIT */
/* How often launches of a kernel are tried in parts that may have to be done over (shim/output/speculation.h). Pure;
 * the owner locks. */
#ifndef GS_SHIM_OUTPUT_BACKOFF_H
#define GS_SHIM_OUTPUT_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/* All zeros: nothing is known. */
struct gs_backoff {
    uint64_t pause;    /* launches that aren't tried yet */
    unsigned failures; /* less those made up for */
    unsigned good;     /* trials since the last failure that ended well */
    unsigned open;     /* that haven't ended */
};

/* Why the next launch isn't to be tried, or NULL. Counts it. After the first trial in vain 4 launches aren't, then 16,
 * 64, ... 4096; eight good ones make up for one. No more trials are open than have ended well: one at first, 16 at
 * most. */
const char *gs_backoff_refuses(struct gs_backoff *c);

void gs_backoff_begin(struct gs_backoff *c);
void gs_backoff_end(struct gs_backoff *c, bool good);

/* Of so many kernels; the one that was asked for longest ago is forgotten first. All zeros: of none. */
enum { GS_BACKOFFS = 256 };
struct gs_backoffs {
    struct {
        uint64_t kernel, asked; /* asked: when, counted in calls; 0: the place is free */
        struct gs_backoff caution;
    } of[GS_BACKOFFS];
    uint64_t calls;
};

struct gs_backoff *gs_backoff_of(struct gs_backoffs *t, uint64_t kernel);

#endif
