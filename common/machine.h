/* SPDX-License-Identifier: MIT */
/* What the daemon takes for `gpus` and `cpus` where the config doesn't say. */
#ifndef GS_COMMON_MACHINE_H
#define GS_COMMON_MACHINE_H

/* NVIDIA's GPUs, by /proc; 1 where there is none, GS_MAX_GPUS at most. */
unsigned gs_machine_gpus(void);

/* The processors that are online, 1 to GS_CONFIG_MAX_SERVERS. */
int gs_machine_cpus(void);

#endif
