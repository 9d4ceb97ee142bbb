/* SPDX-License-Identifier: MIT */
/* What comes between two waits of the application's, taken together: a split may gain by what it takes itself and lose
 * by what lies between it and its neighbours. docs/choice.md says how that is judged. Pure: the owner locks. */
#ifndef GS_SHIM_CHOOSE_STRETCH_H
#define GS_SHIM_CHOOSE_STRETCH_H

#include <stdbool.h>
#include <stdint.h>

enum { GS_STRETCHES_KEPT = 8, GS_STRETCHES_MOST = 64 };

/* So many, each by how many times as long it took as its kernels do on one device. */
struct gs_stretches {
    unsigned n;
    double sum, longest, next; /* next: the longest but one */
};

enum gs_stretch_state {
    GS_STRETCH_FREE,  /* each launch is chosen for by itself */
    GS_STRETCH_ASKED, /* on one device, to see what that takes */
    GS_STRETCH_LEFT,  /* on one device, which took less */
};

/* Of one kernel at one size. All zeros: nothing is known. */
struct gs_together {
    enum gs_stretch_state state;
    struct gs_stretches one, split;
    double once_ns;    /* lost by the first splits of this process, which no other of them loses again */
    double lost_ns;    /* by splits, since it was last decided */
    double owed_ns;    /* so much is to run on one device before splits are tried again */
    uint64_t n, until; /* stretches so far; how many there must have been before it is asked again */
    unsigned asked;    /* in vain */
    bool last_split;   /* the last one was */
};

/* A stretch in which launches of it were: it took all_ns, where its kernels take single_ns on one device. `split`: any
 * of its launches was; `first`: one was its kernel's first here, and tells nothing of later ones. In ns, above 0. */
void gs_stretch_learn(struct gs_together *g, double all_ns, double single_ns, bool split, bool first);

/* keep: what is owed at this process's end, its first split's loss included, for the next. load: begins with that. */
double gs_stretch_keep(const struct gs_together *g);
void gs_stretch_load(struct gs_together *g, double owed_ns);

#endif
