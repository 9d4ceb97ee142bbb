/* SPDX-License-Identifier: MIT */
#ifndef GS_SHIM_PROCESS_CLOCK_H
#define GS_SHIM_PROCESS_CLOCK_H

#include <stdint.h>

/* By CLOCK_MONOTONIC. */
uint64_t gs_now_ns(void);

/* What the calling thread has computed: its processor time. */
uint64_t gs_thread_ns(void);

#endif
