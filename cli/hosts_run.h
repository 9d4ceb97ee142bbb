/* SPDX-License-Identifier: MIT */
/* Runs an application on the devices of several hosts, and watches over their servers meanwhile. */
#ifndef GS_CLI_HOSTS_RUN_H
#define GS_CLI_HOSTS_RUN_H

#include "cli/hosts.h"

struct gs_hosts_wishes {
    bool all;   /* --hosts-required: a host that can't be used is an error */
    bool retry; /* --hosts-retry: begins again without a host that is lost */
};

/* The application's exit status; 125 where a host is lost, or none can be used, with one sentence. `start` becomes the
 * application in a process of its own, and doesn't return. */
int gs_hosts_run(struct gs_hosts *hosts, const struct gs_hosts_wishes *wishes, void (*start)(void *arg), void *arg);

#endif
