/* SPDX-License-Identifier: MIT */
/* Where to cut a launch so that its parts end together, from what the parts of earlier ones took. Pure. */
#ifndef GS_SHIM_CHOOSE_BALANCE_H
#define GS_SHIM_CHOOSE_BALANCE_H

#include "common/settings.h"

/* The state for one kernel at one size. All zeros: parts of equal size. */
struct gs_balance {
    unsigned n;                 /* parts; 0: equal ones */
    unsigned dim;               /* that the cut holds for */
    double cut[GS_MAX_DEVICES]; /* cut[p]: the end of part p, as a share of the dimension; the last is 1 */
    /* Under this cut: */
    unsigned measured;
    uint64_t part_ns[GS_MAX_DEVICES]; /* the lowest */
    uint64_t longest_ns;              /* the lowest of the longest parts' times */
    unsigned slow;                    /* the last so many took far longer than that */
    double share[GS_MAX_DEVICES];     /* of the launch, that each part's time was enough for */
    bool unlike;                      /* the devices differ */
    /* The cut before: it comes back if the new one isn't better. */
    double before[GS_MAX_DEVICES];
    uint64_t before_ns;
    unsigned moves;
    unsigned since;   /* moves before what is known now began to be learnt */
    unsigned in_vain; /* moves since `before` */
    bool settled;     /* the cut is moved no more */
};

/* One launch in n parts along `dim`: part p took part_ns[p] and reached up to cut[p]. `share`: the devices differ, and
 * in that time each could have done share[p] of the launch. NULL: they are alike. */
void gs_balance_learn(struct gs_balance *b, unsigned dim, unsigned n, const double *cut, const uint64_t *part_ns,
                      const double *share);

/* The devices may have changed: begins to learn again, from this cut. */
void gs_balance_begin_again(struct gs_balance *b);

/* Part p's share of the dimension. */
static inline double gs_cut_width(const double *cut, unsigned p)
{
    return cut[p] - (p ? cut[p - 1] : 0);
}

/* What all of the parts would take on the first device, one after the other; 0: nothing is known. */
double gs_balance_single_ns(const struct gs_balance *b);

/* Between devices that differ, with a known cut: each one's speed, the first's being 1, as measured, or by the cut. */
double gs_balance_speed(const struct gs_balance *b, unsigned p);

/* Moves the cut if that gains. Between devices that are alike the parts' times say where in the launch there is more to
 * do; between others, which device is faster: then one launch says enough, and it is moved all the way, and on
 * from there if that was in vain. `bytes_ns` is what it would take to move everything that the launch needs and
 * writes, `launches` how many more are expected. True: it has been moved. */
bool gs_balance_move(struct gs_balance *b, double bytes_ns, double launches);

/* What a launch takes beyond the mean of its parts; 0: nothing is known. */
uint64_t gs_balance_over(const struct gs_balance *b);

#endif
