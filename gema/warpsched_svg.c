/* SPDX-License-Identifier: MIT */
/* The picture of a warp schedule: which instruction each warp has reached, over time. */
#include "gema/warpsched.h"

enum { WIDTH = 900, HEIGHT = 480, LEFT = 70, TOP = 50, RIGHT = 130, BOTTOM = 60, TICKS = 8 };

static double x_of(const struct gs_warpsched_result *r, uint64_t cycle)
{
    return LEFT + (double)cycle / (double)(r->cycles ? r->cycles : 1) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct gs_timing_program *p, size_t op)
{
    return HEIGHT - BOTTOM - (double)op / (double)(p->n ? p->n : 1) * (HEIGHT - TOP - BOTTOM);
}

/* A step of about n / TICKS that reads well: 1, 2 or 5 times a power of ten. */
static uint64_t tick_step(uint64_t n)
{
    uint64_t power = 1;
    while (n / power > TICKS * 10)
        power *= 10;
    const uint64_t factors[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++)
        if (n / (power * factors[i]) <= TICKS)
            return power * factors[i];
    return power * 10;
}

static void write_axes(const struct gs_timing_program *p, const struct gs_warpsched_result *r, FILE *out)
{
    fprintf(out, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#333\"/>\n", LEFT, TOP, HEIGHT - BOTTOM,
            WIDTH - RIGHT);
    for (uint64_t t = 0; t <= r->cycles; t += tick_step(r->cycles))
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%llu</text>\n", x_of(r, t), HEIGHT - BOTTOM + 18,
                (unsigned long long)t);
    for (uint64_t i = 0; i <= p->n; i += tick_step(p->n))
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%llu</text>\n", LEFT - 8, y_of(p, i) + 4,
                (unsigned long long)i);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">clock cycles</text>\n", (LEFT + WIDTH - RIGHT) / 2,
            HEIGHT - 18);
    fprintf(out, "<text x=\"18\" y=\"%d\" text-anchor=\"middle\" transform=\"rotate(-90 18 %d)\">instruction</text>\n",
            (TOP + HEIGHT - BOTTOM) / 2, (TOP + HEIGHT - BOTTOM) / 2);
}

/* The warp's progress: level while it waits, a step up at each issue. */
static void write_warp(const struct gs_timing_program *p, const struct gs_warpsched_result *r, unsigned warp,
                       unsigned hue, unsigned row, FILE *out)
{
    fprintf(out, "<path fill=\"none\" stroke=\"hsl(%u 70%% 40%%)\" stroke-width=\"1.5\" d=\"M%d %d", hue, LEFT,
            HEIGHT - BOTTOM);
    for (uint64_t i = 0; i < r->instructions; i++)
        if (r->issue[i].warp == warp)
            fprintf(out, "H%.1fV%.1f", x_of(r, r->issue[i].cycle), y_of(p, r->issue[i].op + 1));
    fprintf(out, "H%.1f\"/>\n", x_of(r, r->finish[warp]));
    int y = TOP + 16 * (int)row;
    if (y < HEIGHT - BOTTOM)
        fprintf(
            out,
            "<path d=\"M%d %dh20\" stroke=\"hsl(%u 70%% 40%%)\" stroke-width=\"3\"/><text x=\"%d\" y=\"%d\">W%u: %llu"
            "</text>\n",
            WIDTH - RIGHT + 12, y, hue, WIDTH - RIGHT + 38, y + 4, warp, (unsigned long long)r->finish[warp]);
}

void gs_warpsched_write_svg(const struct gs_timing_program *program, const struct gs_timing_profile *profile,
                            const struct gs_warpsched_options *options, const struct gs_warpsched_result *result,
                            unsigned scheduler, FILE *out)
{
    unsigned step = profile->warp_schedulers, n = 0;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"28\" font-size=\"15\">%s: scheduler %u of %u, %u warps of %zu instructions, %.3f "
            "instructions "
            "per cycle</text>\n",
            WIDTH, HEIGHT, LEFT, gs_warpsched_policy_name(options->policy), scheduler, step, options->warps, program->n,
            result->cycles ? (double)result->instructions / (double)result->cycles : 0);
    write_axes(program, result, out);
    for (unsigned w = scheduler; w < options->warps; w += step, n++)
        write_warp(program, result, w, (n * 137) % 360, n, out);
    fputs("</svg>\n", out);
}
