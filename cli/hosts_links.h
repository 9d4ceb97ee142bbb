/* SPDX-License-Identifier: MIT */
/* What a device of --hosts costs to reach. */
#ifndef GS_CLI_HOSTS_LINKS_H
#define GS_CLI_HOSTS_LINKS_H

#include <stdbool.h>

#include "shim/driver/real.h"

struct gs_host_link {
    double round_trip_us; /* of a blocking write of 4 bytes */
    double launch_us;     /* of a launch of an empty kernel and the wait for its end */
    double gb_per_s;      /* of writes of 4 MiB */
};

/* Medians of several. False: something of it failed. */
bool gs_host_link_measure(cl_device_id dev, struct gs_host_link *link);

#endif
