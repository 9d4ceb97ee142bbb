/* SPDX-License-Identifier: MIT */
/* Measures what it costs to bring bytes between the devices of the group, in a process of its own
 * (gpusparc-link-probe). */
#ifndef GS_SHIM_CHOOSE_LINK_MEASUREMENT_H
#define GS_SHIM_CHOOSE_LINK_MEASUREMENT_H

#include "shim/devices/links.h"

/* Waits for it: a tenth of a second, and over hosts what another client's connections take, a second or a few. */
bool gs_links_measure(struct gs_links *links);

/* The same by a thread, beside the application: gs_timing_links is told, if figures can be had. */
void gs_links_measure_async(void);

#endif
