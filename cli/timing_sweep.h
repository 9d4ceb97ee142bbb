/* SPDX-License-Identifier: MIT */
/* gpusparc timing --sweep: the average case by both models while one number of the profile varies, as figures 36 and 37
 * of the Fermi report have it. */
#ifndef GS_CLI_TIMING_SWEEP_H
#define GS_CLI_TIMING_SWEEP_H

#include "gema/timing.h"

struct timing_sweep {
    char key[64]; /* of the profile; "": no sweep */
    double first, last, step;
    double measured;     /* cycles that errors are against; 0: none */
    double hidden_share; /* of the loads' latencies; negative: mix.hidden cycles */
};

/* KEY=A..B or KEY=A..B/STEP. False with a message. */
bool timing_sweep_read(struct timing_sweep *s, const char *text);

/* Hong and Kim's model for one warp. */
double timing_mwp(const struct gs_timing_profile *p, const struct gs_timing_mix *mix);

/* What is hidden of the loads in the average case, where that is said as a share. */
void timing_sweep_hide(const struct timing_sweep *s, const struct gs_timing_profile *p, struct gs_timing_mix *mix);

/* Prints a table, or JSON, and draws into `svg` if it isn't null. Returns the exit status. */
int timing_sweep_run(const struct timing_sweep *s, const struct gs_timing_profile *profile,
                     const struct gs_timing_mix *mix, bool json, const char *svg);

#endif
