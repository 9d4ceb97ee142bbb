/* SPDX-License-Identifier: MIT */
/* `hosts =` of the config. */
#ifndef GS_CLI_HOSTS_CONFIG_H
#define GS_CLI_HOSTS_CONFIG_H

/* The list (malloc'd), or null: the config has none, is not there or is wrong (which gpusparc check says). */
char *gs_hosts_from_config(const char *path);

#endif
