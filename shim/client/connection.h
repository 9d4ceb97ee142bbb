/* SPDX-License-Identifier: MIT */
/* The process's connection to the daemon: what client.c, which makes it, and job.c know of each other. */
#ifndef GS_SHIM_CLIENT_CONNECTION_H
#define GS_SHIM_CLIENT_CONNECTION_H

#include "shim/client/client.h"

static inline bool gs_online(void)
{
    const struct gs_client *c = atomic_load_explicit(&gs_connection, memory_order_acquire);
    return c && gs_client_scheduled(c);
}

/* Is a job under way? Read without its lock where a late answer will do. */
extern atomic_bool gs_job_open;

/* Jobs of the process that have ended. */
unsigned gs_jobs_ended(void);

/* The daemon has gone in the middle of a job: nobody wants to know its end. */
void gs_job_drop(void);

#endif
