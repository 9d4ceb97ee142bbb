/* SPDX-License-Identifier: MIT */
#include "cli/hosts_config.h"

#include <string.h>
#include <unistd.h>

#include "common/config.h"

char *gs_hosts_from_config(const char *path)
{
    struct gs_config config = {0};
    struct gs_mistakes mistakes = {0};
    char *list = NULL;
    if (access(path, R_OK) < 0)
        return NULL;
    if (gs_config_load_regular(path, &config, &mistakes) == 0 && config.system.hosts)
        list = strdup(config.system.hosts);
    gs_mistakes_free(&mistakes);
    gs_config_free(&config);
    return list;
}
