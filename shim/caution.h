/* SPDX-License-Identifier: MIT */
/* How often launches of a kernel are tried in parts that may have to be done over (shim/contest.h). Pure; the owner
 * locks. */
#ifndef GS_SHIM_CAUTION_H
#define GS_SHIM_CAUTION_H

#include <stdbool.h>
#include <stdint.h>

/* All zeros: nothing is known. */
struct gs_caution {
    uint64_t pause;    /* launches that aren't tried yet */
    unsigned failures; /* less those made up for */
    unsigned good;     /* trials since the last failure that ended well */
    unsigned open;     /* that haven't ended */
};

/* Why the next launch isn't to be tried, or NULL. Counts it. After the first trial in vain 4 launches aren't, then 16,
 * 64, ... 4096; eight good ones make up for one. No more trials are open than have ended well: one at first, 16 at
 * most. */
const char *gs_caution_forbids(struct gs_caution *c);

void gs_caution_begun(struct gs_caution *c);
void gs_caution_ended(struct gs_caution *c, bool good);

#endif
