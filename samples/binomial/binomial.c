/* SPDX-License-Identifier: MIT */
/* Prices call options by a binomial tree. */
#include "../sample.h"

static long size = 16384, steps = 254;
static const struct sample_option options[] = {
    {"size", "vectors of four options", &size, 1, 1 << 26, NULL},
    {"steps", "steps of the tree", &steps, 1, 1023, NULL},
    {0},
};

static const float rate = 0.02f, volatility = 0.30f;

/* The sum over the leaves in closed form: each weighs as the binomial distribution says. */
static float expected_price(double r, double *log_choose)
{
    const double spot = 5 + 25 * r, strike = 1 + 99 * r, years = 0.25 + 9.75 * r, n = (double)steps;
    const double dt = years / n, jump = (double)volatility * sqrt(dt), growth = exp((double)rate * dt);
    const double chance = (growth - exp(-jump)) / (exp(jump) - exp(-jump));
    const double log_up = log(chance), log_down = log(1 - chance);
    double sum = 0;
    for (long k = 0; k <= steps; k++) {
        const double value = spot * exp(jump * (2 * (double)k - n)) - strike;
        if (value > 0)
            sum += value * exp(log_choose[k] + (double)k * log_up + (n - (double)k) * log_down);
    }
    return (float)(sum * exp(-(double)rate * years));
}

static bool check(const float *random, const float *price, size_t n)
{
    double *log_choose = sample_alloc(((size_t)steps + 1) * sizeof(*log_choose));
    for (long k = 0; k <= steps; k++)
        log_choose[k] = lgamma((double)steps + 1) - lgamma((double)k + 1) - lgamma((double)(steps - k) + 1);
    bool pass = true;
    for (size_t i = 0; i < n && pass; i++)
        pass = sample_close(&price[i], &(float){expected_price((double)random[i], log_choose)}, 1, 1e-3);
    return pass;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Prices call options by a binomial tree.", options);
    const size_t n = (size_t)size * 4, bytes = n * sizeof(float);
    const size_t local = (size_t)steps + 1, global = (size_t)size * local;
    float *random = sample_alloc(bytes), *price = sample_alloc(bytes);
    for (size_t i = 0; i < n; i++)
        random[i] = sample_uniform(0, 1);
    cl_program program = sample_program("binomial.cl", "");
    cl_kernel kernel = sample_kernel(program, "binomial");
    cl_mem drandom = sample_buffer(CL_MEM_READ_ONLY, bytes), dprice = sample_buffer(CL_MEM_WRITE_ONLY, bytes);
    ARGS(kernel, A(drandom), A(dprice), A(rate), A(volatility), LOCAL(local * 4 * sizeof(float)),
         LOCAL(local * 4 * sizeof(float)));

    while (sample_next()) {
        sample_write(drandom, random, bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dprice, price, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(random, price, n);
    sample_output(price, bytes);
    return sample_end(pass, "%ld", size);
}
