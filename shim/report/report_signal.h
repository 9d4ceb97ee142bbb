/* SPDX-License-Identifier: MIT */
/* A process that a signal ends runs no destructors: what is to be written then is written before. */
#ifndef GS_SHIM_REPORT_REPORT_SIGNAL_H
#define GS_SHIM_REPORT_REPORT_SIGNAL_H

/* From now on SIGINT, SIGTERM and SIGHUP have `write` called by a thread of ours, and then end the process as they
 * would have: those that were neither handled nor ignored as the process began. A handler that the application sets
 * stands in the place of ours. A second signal ends the process at once. To be called once; for GPUSPARC_STATS alone.
 */
void gs_report_before_signals(void (*write)(void));

#endif
