/* SPDX-License-Identifier: MIT */
/* What a launch of a size that was never measured should take, by one of another size of the same kernel: its time and
 * its split's, by the work-groups. An application whose sizes shrink with every launch (a factorisation) has no other
 * way to be known. Pure. */
#ifndef GS_SHIM_CHOOSE_NEAR_H
#define GS_SHIM_CHOOSE_NEAR_H

#include "shim/choose/choice.h"

/* How much larger, or smaller (below 1), is a launch of size a than one of size b? 0: they can't be compared, as their
 * work-groups differ or one is more than twice the other. Sizes as in struct gs_size. */
double gs_near_ratio(const uint64_t a[6], const uint64_t b[6]);

/* Is `ratio` nearer to 1 than `than` (0: none)? */
bool gs_near_is_nearer(double ratio, double than);

/* Has it been measured, so that others can be told by it? */
bool gs_near_tells(const struct gs_history *of);

/* The kernel's other sizes, together: each has counted those before it. */
struct gs_near_others {
    uint64_t launches;
    bool split; /* has a split of any been measured in this process? */
};

void gs_near_count(struct gs_near_others *others, const struct gs_history *of);

/* h, of which nothing has been measured, is `ratio` times as large as `of`; `others`: the kernel's other sizes,
 * together. What was tried there in vain isn't tried again here. */
void gs_near_learn(struct gs_history *h, const struct gs_history *of, const struct gs_machine *m, unsigned n,
                   double ratio, const struct gs_near_others *others);

#endif
