/* SPDX-License-Identifier: MIT */
/* What a launch would have to move, on one device and in parts: from its plan and from what is valid where. With the
 * context's lock held. */
#ifndef GS_SHIM_CHOOSE_FORECAST_H
#define GS_SHIM_CHOOSE_FORECAST_H

#include "shim/choose/timing.h"

/* Fills trial->forecast, but for the link, ->all and ->return_rate for a launch of `of`: once more where another plan
 * takes the place of the trial's. -ENOMEM. */
int gs_forecast(struct gs_trial *trial, struct gs_timing *of, const struct gs_plan *plan);

/* Where each part ends, as a share of plan->dim. */
void gs_forecast_cut(const struct gs_plan *plan, double cut[GS_MAX_DEVICES]);

/* How much of the launch each part's device could have done in the time that its part takes. With fewer work-groups
 * than compute units it may as well have had one on each of these; the mean of the two, as parts to come will tell. */
void gs_forecast_shares(const struct gs_plan *plan, double share[GS_MAX_DEVICES]);

/* Is anything of these memory objects missing at home? mems[i] may be NULL. */
bool gs_forecast_gathers(struct gs_mem *const *mems, unsigned n);

#endif
