/* SPDX-License-Identifier: MIT */
/* The environment variables whose names begin with GPUSPARC_. */
#ifndef GS_COMMON_VARIABLES_H
#define GS_COMMON_VARIABLES_H

/* Warns of each that nothing reads, and names the one that was probably meant. */
void gs_say_unknown_variables(void);

#endif
