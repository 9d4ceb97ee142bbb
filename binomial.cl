/* SPDX-License-Identifier: MIT */
/* European call options by the binomial tree of Cox, Ross and Rubinstein. A work-group of steps + 1 work-items prices
 * four options at once: each work-item begins at one leaf, and each step back to the root drops the last of them.
 * A number between 0 and 1 stands for an option: price 5 to 30, strike 1 to 100, 1/4 to 10 years. */
__kernel void binomial(__global const float4 *in, __global float4 *price, float rate, float volatility,
                       __local float4 *now, __local float4 *before)
{
    const uint leaf = get_local_id(0), steps = get_local_size(0) - 1;
    const float4 r = in[get_group_id(0)];
    const float4 spot = 5.0f + 25.0f * r, strike = 1.0f + 99.0f * r, years = 0.25f + 9.75f * r;
    const float4 dt = years / (float)steps, jump = volatility * sqrt(dt), growth = exp(rate * dt);
    const float4 up = exp(jump), down = 1.0f / up, chance = (growth - down) / (up - down);
    const float4 to_up = chance / growth, to_down = (1.0f - chance) / growth;

    now[leaf] = fmax(spot * exp(jump * (2.0f * (float)leaf - (float)steps)) - strike, 0.0f);
    for (uint step = steps; step > 0; step--) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (leaf < step)
            before[leaf] = to_up * now[leaf + 1] + to_down * now[leaf];
        __local float4 *swap = now;
        now = before;
        before = swap;
    }
    if (leaf == 0)
        price[get_group_id(0)] = now[0];
}
