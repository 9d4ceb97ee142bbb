/* SPDX-License-Identifier: MIT */
/* The picture of `gpusparc simulate`. */
#ifndef GS_CLI_SIMULATE_PLOT_H
#define GS_CLI_SIMULATE_PLOT_H

#include "gema/experiment.h"

/* Figure 7 relative to the optimum where that was asked for, else schedulable sets. 0, or -errno with a message. */
int gs_simulate_draw(const char *path, const struct gs_experiment *e, const struct gs_experiment_result *r);

#endif
