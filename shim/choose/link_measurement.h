/* SPDX-License-Identifier: MIT */
/* Measures what it costs to bring bytes between the devices of the group, beside the application: in a process of its
 * own (gpusparc-link-probe), for which a thread waits. */
#ifndef GS_SHIM_CHOOSE_LINK_MEASUREMENT_H
#define GS_SHIM_CHOOSE_LINK_MEASUREMENT_H

#include "shim/record/links.h"

/* measured: called from the thread, if figures can be had. */
void gs_links_measure_async(void (*measured)(const struct gs_links *links));

#endif
