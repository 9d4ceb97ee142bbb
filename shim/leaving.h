/* SPDX-License-Identifier: MIT */
/* Sees to it that the end of the process, however it comes, waits for our threads first. */
#ifndef GS_SHIM_LEAVING_H
#define GS_SHIM_LEAVING_H

/* Registers a handler of exit() that calls gs_beside_settle: of those that are registered by now it runs first. */
void gs_leaving_first(void);

#endif
