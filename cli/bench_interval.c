/* SPDX-License-Identifier: MIT */
#include "cli/bench_interval.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* p[w]: the probability that the ranks of n values of random sign that are positive add up to w. */
static double *rank_sums(size_t n)
{
    double *p = calloc(n * (n + 1) / 2 + 1, sizeof(*p));
    if (!p)
        return NULL;
    p[0] = 1;
    for (size_t rank = 1; rank <= n; rank++)
        for (size_t w = rank * (rank + 1) / 2 + 1; w-- > 0;)
            p[w] = (p[w] + (w >= rank ? p[w - rank] : 0)) / 2;
    return p;
}

long gs_interval_critical(size_t n, double alpha)
{
    double *p = n <= GS_INTERVAL_MOST ? rank_sums(n) : NULL;
    double sum = 0;
    long w = 0;
    if (!p)
        return -1;
    while ((size_t)w <= n * (n + 1) / 2 && (sum += p[w]) <= alpha / 2)
        w++;
    free(p);
    return w - 1;
}

/* The means of all pairs, each with itself too, in order. */
static double *walsh_means(const double *ratios, size_t n, size_t *count)
{
    double *mean = calloc(n * (n + 1) / 2, sizeof(*mean));
    *count = 0;
    for (size_t i = 0; mean && i < n; i++)
        for (size_t j = i; j < n; j++)
            mean[(*count)++] = (log(ratios[i]) + log(ratios[j])) / 2;
    if (mean)
        qsort(mean, *count, sizeof(*mean), by_value);
    return mean;
}

bool gs_interval(const double *ratios, size_t n, double alpha, double *low, double *high)
{
    const long critical = gs_interval_critical(n, alpha);
    size_t count;
    double *mean = critical >= 0 ? walsh_means(ratios, n, &count) : NULL;
    if (!mean)
        return false;
    *low = exp(mean[critical]);
    *high = exp(mean[count - 1 - (size_t)critical]);
    free(mean);
    return true;
}

static long next(const struct gs_looks *looks, long runs)
{
    const long more = runs + (runs + 1) / 2;
    return more < looks->most ? more : looks->most;
}

int gs_looks_count(const struct gs_looks *looks)
{
    int n = 1;
    for (long runs = looks->first; runs < looks->most; runs = next(looks, runs))
        n++;
    return n;
}

long gs_looks_at(const struct gs_looks *looks, int i)
{
    long runs = looks->first;
    while (i-- > 0)
        runs = next(looks, runs);
    return runs;
}
