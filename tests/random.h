/* SPDX-License-Identifier: MIT */
/* Random numbers of a test: the same for the same seed. */
#ifndef GS_TESTS_RANDOM_H
#define GS_TESTS_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t random_state;

static inline uint32_t random_bits(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

/* 0 .. n - 1 */
static inline unsigned rnd(unsigned n)
{
    return random_bits() % n;
}

/* From 0 on, below 1. */
static inline double random_part(void)
{
    return (double)random_bits() / (double)(1u << 31);
}

/* Begins with the program's first argument, $GS_SEED, or `otherwise`; says which, and returns it. */
static inline uint64_t seed_run(int argc, char **argv, uint64_t otherwise)
{
    const char *given = argc > 1 ? argv[1] : getenv("GS_SEED");
    random_state = given ? strtoull(given, NULL, 0) : otherwise;
    printf("GS_SEED=%llu\n", (unsigned long long)random_state);
    return random_state;
}

#endif
