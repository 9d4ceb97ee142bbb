/* SPDX-License-Identifier: MIT */
/* Mersenne twisters of 607 bits: each work-item runs one, with its own seed and one of TWISTS twists. The numbers of a
 * generator stand in a column of the result. find_twists.py found the twists. */
#define WORDS 19
#define MIDDLE 9
#define TWISTS 64

__constant uint twists[TWISTS] = {
    0xd6a20000, 0xf4210001, 0xbb140002, 0xc7900003, 0x8ff20004, 0xb0620005, 0x9a7c0006, 0xd2e60007,
    0xcb090008, 0xace90009, 0xbfae000a, 0x8faf000b, 0xf7fe000c, 0xb753000d, 0xbd0a000e, 0xd2c6000f,
    0xcba60010, 0xe7600011, 0xec320012, 0x9f7c0013, 0xca550014, 0x82dd0015, 0xfbad0016, 0xcf9d0017,
    0xac040018, 0xe0170019, 0xa0d4001a, 0xa28d001b, 0xcec6001c, 0xd264001d, 0xd15e001e, 0xafa0001f,
    0xf9640020, 0xa4a50021, 0xd0230022, 0xcae40023, 0xd9250024, 0xf4d40025, 0xf4bf0026, 0xca100027,
    0xb3100028, 0xac950029, 0x9e02002a, 0xcd85002b, 0xeca3002c, 0xd6e4002d, 0xb839002e, 0xf80d002f,
    0xbc6c0030, 0xaec40031, 0x8a4e0032, 0xfdda0033, 0xfcb00034, 0xf0770035, 0xe4d80036, 0xbd6d0037,
    0xcabd0038, 0xc47a0039, 0xe9f7003a, 0xfe9d003b, 0xff16003c, 0xd881003d, 0xa8a1003e, 0xbb7a003f,
};

static uint temper(uint x)
{
    x ^= x >> 12;
    x ^= x << 7 & 0x9d2c5680;
    x ^= x << 15 & 0xefc60000;
    return x ^ x >> 18;
}

/* Uniform numbers above 0, up to 1. */
__kernel void twister(__global const uint *seeds, __global float *out, uint generators, uint each)
{
    const uint generator = get_global_id(0);
    if (generator >= generators)
        return;
    const uint twist = twists[generator % TWISTS];
    uint state[WORDS];
    state[0] = seeds[generator];
    for (uint i = 1; i < WORDS; i++)
        state[i] = 1812433253u * (state[i - 1] ^ state[i - 1] >> 30) + i;

    uint at = 0, next = 1, middle = MIDDLE;
    for (uint i = 0; i < each; i++) {
        const uint x = (state[at] & ~1u) | (state[next] & 1u);
        state[at] = state[middle] ^ x >> 1 ^ (x & 1 ? twist : 0);
        out[(size_t)i * generators + generator] = ((float)temper(state[at]) + 1.0f) / 4294967296.0f;
        at = next;
        next = next + 1 == WORDS ? 0 : next + 1;
        middle = middle + 1 == WORDS ? 0 : middle + 1;
    }
}

/* Makes pairs of uniform numbers normal, in place. */
__kernel void box_muller(__global float *numbers, uint generators, uint each)
{
    const uint generator = get_global_id(0);
    if (generator >= generators)
        return;
    for (uint i = 0; i < each; i += 2) {
        __global float *u = numbers + (size_t)i * generators + generator, *v = u + generators;
        const float radius = sqrt(-2.0f * log(*u)), angle = 2.0f * M_PI_F * *v;
        *u = radius * cos(angle);
        *v = radius * sin(angle);
    }
}
