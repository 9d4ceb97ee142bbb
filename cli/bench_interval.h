/* SPDX-License-Identifier: MIT */
/* gpusparc bench: how sure a speed-up is. Pure.
 *
 * Runs stand in pairs, one of the base beside one of the mode. The logarithm of a pair's ratio is the speed-up's
 * logarithm and the difference of two disturbances of the same kind, so it lies evenly about the speed-up's: what
 * Wilcoxon's signed ranks ask for, and all they ask for (F. Wilcoxon, Individual comparisons by ranking methods, 1945;
 * the interval that belongs to them: M. Hollander, D. A. Wolfe, Nonparametric Statistical Methods, section 3.3). */
#ifndef GS_CLI_BENCH_INTERVAL_H
#define GS_CLI_BENCH_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>

/* The interval in which the ratio lies, but for a probability of `alpha` at most: exact, whatever the disturbances'
 * distribution is. ratios: n of them, above 0. False where so few can't say it (below 6 for 0.05), where there are more
 * than GS_INTERVAL_MOST, or without memory. */
enum { GS_INTERVAL_MOST = 400 };
bool gs_interval(const double *ratios, size_t n, double alpha, double *low, double *high);

/* The largest sum of ranks W for which the probability of W or less, where all signs are equally likely, is alpha / 2
 * at most; -1: there is none. What tables of the signed-rank test show. */
long gs_interval_critical(size_t n, double alpha);

/* When runs are made until something is sure, each look at them may find it by chance. So they are looked at only a few
 * times, each with its share of what may go wrong: after `first` runs, after half as many again, and so on to `most`.
 */
struct gs_looks {
    long first, most;
};

/* How many looks there are. */
int gs_looks_count(const struct gs_looks *looks);

/* The runs at which look i (from 0) is. */
long gs_looks_at(const struct gs_looks *looks, int i);

#endif
