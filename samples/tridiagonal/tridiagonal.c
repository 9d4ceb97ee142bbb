/* SPDX-License-Identifier: MIT */
/* Solves many tridiagonal systems and refines the solutions once. The program is made of several sources. */
#include "../sample.h"

static long systems = 16384, unknowns = 128;
static const struct sample_option options[] = {
    {"systems", "to solve", &systems, 1, 1L << 28, NULL},
    {"unknowns", "of a system, which is a work-group", &unknowns, 2, 1024, NULL},
    {0},
};

enum { LOWER, DIAGONAL, UPPER, RIGHT, PARTS };

/* Thomas's algorithm, in double precision. */
static void solve(const float *const part[PARTS], size_t start, double *c, double *d)
{
    const long n = unknowns;
    for (long i = 0; i < n; i++) {
        const double a = i > 0 ? (double)part[LOWER][start + (size_t)i] : 0;
        const double m = (double)part[DIAGONAL][start + (size_t)i] - (i > 0 ? a * c[i - 1] : 0);
        c[i] = (double)part[UPPER][start + (size_t)i] / m;
        d[i] = ((double)part[RIGHT][start + (size_t)i] - (i > 0 ? a * d[i - 1] : 0)) / m;
    }
    for (long i = n - 2; i >= 0; i--)
        d[i] -= c[i] * d[i + 1];
}

static bool check(const float *const part[PARTS], const float *x)
{
    const size_t n = (size_t)unknowns;
    double *c = sample_alloc(n * sizeof(*c)), *d = sample_alloc(n * sizeof(*d));
    for (size_t s = 0; s < (size_t)systems; s++) {
        solve(part, s * n, c, d);
        for (size_t i = 0; i < n; i++)
            if (!sample_close(&x[s * n + i], &(float){(float)d[i]}, 1, 1e-5))
                return false;
    }
    return true;
}

static cl_program build(void)
{
    const char *files[] = {"tridiagonal.cl", "refine.cl"}, *texts[3] = {"#pragma OPENCL FP_CONTRACT ON\n"};
    char define[32];
    size_t bytes;
    cl_int error;
    for (int i = 0; i < 2; i++)
        texts[i + 1] = sample_file(files[i], &bytes);
    cl_program program = clCreateProgramWithSource(sample.context, 3, texts, NULL, &error);
    CHECK(error);
    sample.programs[sample.program_count++] = program;
    snprintf(define, sizeof(define), "-D SIZE=%ld", unknowns);
    sample_build(program, define);
    return program;
}

static void solve_on_device(const float *const part[PARTS], float *x)
{
    const size_t local = (size_t)unknowns, global = (size_t)systems * local, bytes = global * sizeof(float);
    cl_program program = build();
    cl_kernel first = sample_kernel(program, "solve"), again = sample_kernel(program, "solve");
    cl_kernel residual = sample_kernel(program, "residual"), correct = sample_kernel(program, "correct");
    cl_mem dx = sample_buffer(CL_MEM_READ_WRITE, bytes), left = sample_buffer(CL_MEM_READ_WRITE, bytes);
    cl_mem correction = sample_buffer(CL_MEM_READ_WRITE, bytes), dpart[PARTS];
    for (int i = 0; i < PARTS; i++)
        dpart[i] = sample_buffer(CL_MEM_READ_ONLY, bytes);
    ARGS(first, A(dpart[LOWER]), A(dpart[DIAGONAL]), A(dpart[UPPER]), A(dpart[RIGHT]), A(dx));
    ARGS(residual, A(dpart[LOWER]), A(dpart[DIAGONAL]), A(dpart[UPPER]), A(dpart[RIGHT]), A(dx), A(left));
    ARGS(again, A(dpart[LOWER]), A(dpart[DIAGONAL]), A(dpart[UPPER]), A(left), A(correction));
    ARGS(correct, A(dx), A(correction));

    while (sample_next()) {
        for (int i = 0; i < PARTS; i++)
            sample_write(dpart[i], part[i], bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(first, 1, &global, &local);
        LAUNCH(residual, 1, &global, &local);
        LAUNCH(again, 1, &global, &local);
        LAUNCH(correct, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dx, x, bytes);
        sample_lap(SAMPLE_READ);
    }
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Solves many tridiagonal systems.", options);
    const size_t count = (size_t)systems * (size_t)unknowns;
    float *part[PARTS], *x = sample_alloc(count * sizeof(float));
    for (int i = 0; i < PARTS; i++) {
        part[i] = sample_alloc(count * sizeof(float));
        for (size_t j = 0; j < count; j++)
            part[i][j] = i == DIAGONAL ? sample_uniform(2.5f, 4) : sample_uniform(-1, 1);
    }
    const float *const parts[PARTS] = {part[LOWER], part[DIAGONAL], part[UPPER], part[RIGHT]};
    solve_on_device(parts, x);
    const bool pass = sample.no_check || check(parts, x);
    sample_output(x, count * sizeof(float));
    return sample_end(pass, "%ldx%ld", systems, unknowns);
}
