/* SPDX-License-Identifier: MIT */
#include "common/machine.h"

#include <dirent.h>
#include <unistd.h>

#include "common/config.h"
#include "common/wire.h"

unsigned gs_machine_gpus(void)
{
    unsigned n = 0;
    DIR *dir = opendir("/proc/driver/nvidia/gpus");
    for (struct dirent *e; dir && (e = readdir(dir));)
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n == 0 ? 1 : n > GS_MAX_GPUS ? GS_MAX_GPUS : n;
}

int gs_machine_cpus(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > GS_CONFIG_MAX_SERVERS ? GS_CONFIG_MAX_SERVERS : (int)n;
}
