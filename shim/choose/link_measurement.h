/* SPDX-License-Identifier: MIT */
/* Measures what it costs to bring bytes between the devices of the group, beside the application: in a process of its
 * own (gpusparc-link-probe), for which a thread waits. */
#ifndef GS_SHIM_CHOOSE_LINK_MEASUREMENT_H
#define GS_SHIM_CHOOSE_LINK_MEASUREMENT_H

/* From a thread: gs_timing_links is told, if figures can be had. */
void gs_links_measure_async(void);

#endif
