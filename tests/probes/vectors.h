/* SPDX-License-Identifier: MIT */
/* Vectors of floats that are hard to sum. */
#ifndef GS_TESTS_PROBES_VECTORS_H
#define GS_TESTS_PROBES_VECTORS_H

#include <stddef.h>
#include <stdint.h>

enum { VECTOR_MAX = 300 };

uint32_t bits_of(float x);

/* Fills x with a random vector of one of eight kinds, each of which is hard in another way; all finite. Returns its
 * length, VECTOR_MAX at most. *rng is the state of gs_probe_random. */
size_t adversarial(float *x, uint64_t *rng);
void shuffle(float *x, size_t n, uint64_t *rng);

#endif
