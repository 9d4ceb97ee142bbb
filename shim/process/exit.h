/* SPDX-License-Identifier: MIT */
/* Sees to it that the end of the process, however it comes, waits for our threads first. */
#ifndef GS_SHIM_PROCESS_EXIT_H
#define GS_SHIM_PROCESS_EXIT_H

/* Registers a handler of exit() that calls gs_threads_settle: of those that are registered by now it runs first. */
void gs_exit_handler_first(void);

#endif
