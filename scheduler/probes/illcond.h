/* SPDX-License-Identifier: MIT */
/* Vectors of floats whose sum is ill-conditioned, after Ogita, Rump and Oishi, "Accurate sum and dot product" (2005),
 * algorithm 6.1, for a sum instead of a dot product and with an exact accumulator instead of a wide one. */
#ifndef GS_PROBES_ILLCOND_H
#define GS_PROBES_ILLCOND_H

#include <stddef.h>
#include <stdint.h>

#include "scheduler/probes/longacc.h"

/* xorshift64*; the state must not be 0. */
uint64_t gs_probe_random(uint64_t *state);

/* Fills x with n >= 6 finite floats in random order whose condition number, sum |x| / |sum x|, is near `condition`
 * (1 to 1e30); *reached is what it is, *sum the exact sum, which is not zero. 0, or -EINVAL for an n or a condition
 * outside these limits. */
int gs_illcond_generate(float *x, size_t n, double condition, uint64_t seed, struct gs_longacc *sum, double *reached);

#endif
