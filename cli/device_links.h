/* SPDX-License-Identifier: MIT */
/* gpusparc devices: what the links of the group carry; measured on demand, and kept in the cache. */
#ifndef GS_CLI_DEVICE_LINKS_H
#define GS_CLI_DEVICE_LINKS_H

#include <jansson.h>
#include <stdbool.h>

#include "shim/devices/group.h"

/* The links of a group as {measured: a date, links: [{from, to, path, latency_us, gb_per_s}]}, of which from and to are
 * places in the group or "host"; those between two devices that need none are left out. Measures them where `measure`
 * is set and keeps them, otherwise gives those that are kept. NULL: not measured so far; or it failed, said on stderr.
 */
json_t *gs_device_links(const struct gs_group *group, const struct gs_settings *settings, bool measure);

#endif
