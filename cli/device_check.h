/* SPDX-License-Identifier: MIT */
/* gpusparc devices --check: does gpusparc work here? */
#ifndef GS_CLI_DEVICE_CHECK_H
#define GS_CLI_DEVICE_CHECK_H

#include <stdbool.h>

#include "shim/devices/group.h"

/* Tries the cache, the translator, windows, a built-in application plain and split over the group, and the daemon; a
 * line on stdout for each, or JSON. `devices` and `gpus` are the words of --devices and --gpus, or NULL. A step that
 * has not ended after limit_s seconds is ended. The environment is changed for the applications. The exit status: 0
 * where the split run has left the plain run's bytes, and nothing else that is needed has failed. */
int gs_device_check(const struct gs_group *group, const struct gs_settings *settings, const char *devices,
                    const char *gpus, double limit_s, bool as_json);

#endif
