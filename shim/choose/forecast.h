/* SPDX-License-Identifier: MIT */
/* What a launch would have to move, on one device and in parts: from its plan and from what is valid where. With the
 * context's lock held. */
#ifndef GS_SHIM_CHOOSE_FORECAST_H
#define GS_SHIM_CHOOSE_FORECAST_H

#include "shim/choose/timing.h"

/* Fills trial->forecast, ->all and ->return_rate. -ENOMEM. */
int gs_forecast(struct gs_trial *trial, const struct gs_plan *plan);

/* The same for a plan that takes the place of the trial's: what else is known of the trial stays. */
void gs_forecast_again(struct gs_trial *trial, const struct gs_plan *plan);

/* Is anything of these memory objects missing at home? mems[i] may be NULL. */
bool gs_forecast_away(struct gs_mem *const *mems, unsigned n);

#endif
