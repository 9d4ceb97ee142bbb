/* SPDX-License-Identifier: MIT */
/* Figures as people write them. */
#ifndef GS_CLI_SHOW_H
#define GS_CLI_SHOW_H

#include <stdint.h>

enum { GS_SHOW = 24 };

/* "1.5 MiB": three digits that matter. Returns buf. */
char *gs_show_bytes(uint64_t bytes, char buf[GS_SHOW]);

#endif
