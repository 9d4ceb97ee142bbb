/* SPDX-License-Identifier: MIT */
/* Call and put prices by the formula of Black and Scholes. The work-items stride over the options. */

/* The cumulative normal distribution by the polynomial of Abramowitz and Stegun, 26.2.17. */
static float normal(float d)
{
    const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    const float tail =
        exp(-0.5f * d * d) * 0.39894228040143267794f * k *
        (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    return d > 0.0f ? 1.0f - tail : tail;
}

__kernel void black_scholes(__global const float *spot, __global const float *strike, __global const float *years,
                            __global float *call, __global float *put, float rate, float volatility, uint n)
{
    for (size_t i = get_global_id(0); i < n; i += get_global_size(0)) {
        const float deviation = volatility * sqrt(years[i]);
        const float d1 =
            (log(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / deviation;
        const float n1 = normal(d1), n2 = normal(d1 - deviation), discounted = strike[i] * exp(-rate * years[i]);
        call[i] = spot[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - spot[i] * (1.0f - n1);
    }
}
