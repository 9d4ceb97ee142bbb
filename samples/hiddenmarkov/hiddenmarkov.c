/* SPDX-License-Identifier: MIT */
/* Finds the most probable states of a hidden Markov model behind a sequence of observations. */
#include "../sample.h"

static long size = 4096, length = 100, symbols = 16, group = 256;
static const struct sample_option options[] = {
    {"size", "states", &size, 1, 65536, NULL},
    {"length", "observations", &length, 1, 100000, NULL},
    {"symbols", "different observations", &symbols, 1, 4096, NULL},
    {"group", "work-items of a work-group, a power of two", &group, 1, 1024, NULL},
    {0},
};

struct model {
    float *initial, *transition, *emission; /* [to][from] and [symbol][state] */
    cl_uint *observed;
    size_t states;
};

static struct model make_model(void)
{
    const size_t n = (size_t)size, k = (size_t)symbols;
    struct model m = {.states = n};
    double *sum = sample_alloc(n * sizeof(*sum));
    m.initial = sample_alloc(n * sizeof(float));
    m.transition = sample_alloc(n * n * sizeof(float));
    m.emission = sample_alloc(k * n * sizeof(float));
    m.observed = sample_alloc((size_t)length * sizeof(cl_uint));
    for (size_t i = 0; i < n * n; i++) {
        m.transition[i] = sample_uniform(1e-6f, 1);
        sum[i % n] += (double)m.transition[i];
    }
    for (size_t i = 0; i < n * n; i++)
        m.transition[i] = logf(m.transition[i] / (float)sum[i % n]);
    for (size_t i = 0; i < n; i++)
        m.initial[i] = logf(sample_uniform(1e-6f, 1) * 2 / (float)n);
    for (size_t i = 0; i < k * n; i++)
        m.emission[i] = logf(sample_uniform(1e-6f, 1) * 2 / (float)k);
    for (long i = 0; i < length; i++)
        m.observed[i] = sample_random() % (cl_uint)symbols;
    return m;
}

static double at(const float *table, size_t row, size_t column, size_t columns)
{
    return (double)table[row * columns + column];
}

/* The probability of the best path, and of the one found: equal but for rounding, whichever path it is. */
static bool check(const struct model *m, const cl_uint *path)
{
    const size_t n = m->states;
    double *now = sample_alloc(n * sizeof(double)), *next = sample_alloc(n * sizeof(double)), best = -HUGE_VAL;
    for (size_t s = 0; s < n; s++)
        now[s] = (double)m->initial[s] + at(m->emission, m->observed[0], s, n);
    for (long step = 1; step < length; step++) {
        for (size_t to = 0; to < n; to++) {
            next[to] = -HUGE_VAL;
            for (size_t from = 0; from < n; from++)
                next[to] = fmax(next[to], now[from] + at(m->transition, to, from, n));
            next[to] += at(m->emission, m->observed[step], to, n);
        }
        double *swap = now;
        now = next;
        next = swap;
    }
    for (size_t s = 0; s < n; s++)
        best = fmax(best, now[s]);
    double found = 0;
    for (long step = 0; step < length; step++) {
        if (path[step] >= n)
            return false;
        found += step ? at(m->transition, path[step], path[step - 1], n) : (double)m->initial[path[0]];
        found += at(m->emission, m->observed[step], path[step], n);
    }
    return sample_close(&(float){(float)found}, &(float){(float)best}, 1, 1e-5);
}

struct buffers {
    cl_mem before, after, came_from, transition, emission, path;
    size_t row_bytes, emission_bytes, path_bytes;
};

static struct buffers make_buffers(size_t n)
{
    struct buffers b = {.row_bytes = n * sizeof(float),
                        .emission_bytes = (size_t)symbols * n * sizeof(float),
                        .path_bytes = (size_t)length * sizeof(cl_uint)};
    b.before = sample_buffer(CL_MEM_READ_WRITE, b.row_bytes);
    b.after = sample_buffer(CL_MEM_READ_WRITE, b.row_bytes);
    b.came_from = sample_buffer(CL_MEM_READ_WRITE, b.path_bytes * n);
    b.transition = sample_buffer(CL_MEM_READ_ONLY, b.row_bytes * n);
    b.emission = sample_buffer(CL_MEM_READ_ONLY, b.emission_bytes);
    b.path = sample_buffer(CL_MEM_WRITE_ONLY, b.path_bytes);
    return b;
}

static void find_path(const struct model *m, cl_uint *path)
{
    const size_t n = m->states, local = (size_t)group, global = n * local, one = 1;
    const cl_uint states = (cl_uint)n, observations = (cl_uint)length;
    cl_program program = sample_program("hiddenmarkov.cl", "");
    cl_kernel step = sample_kernel(program, "viterbi_step"), back = sample_kernel(program, "viterbi_path");
    struct buffers b = make_buffers(n);
    float *first = sample_alloc(b.row_bytes);
    for (size_t s = 0; s < n; s++)
        first[s] = m->initial[s] + m->emission[m->observed[0] * n + s];

    while (sample_next()) {
        sample_write(b.before, first, b.row_bytes);
        sample_write(b.transition, m->transition, b.row_bytes * n);
        sample_write(b.emission, m->emission, b.emission_bytes);
        sample_lap(SAMPLE_WRITE);
        for (cl_uint t = 1; t < observations; t++) {
            const cl_uint observed = m->observed[t];
            ARGS(step, A(b.before), A(b.after), A(b.came_from), A(b.transition), A(b.emission), A(states), A(observed),
                 A(t), LOCAL(local * sizeof(float)), LOCAL(local * sizeof(cl_uint)));
            LAUNCH(step, 1, &global, &local);
            cl_mem swap = b.before;
            b.before = b.after;
            b.after = swap;
        }
        ARGS(back, A(b.before), A(b.came_from), A(b.path), A(states), A(observations));
        LAUNCH(back, 1, &one, &one);
        sample_lap(SAMPLE_KERNEL);
        sample_read(b.path, path, b.path_bytes);
        sample_lap(SAMPLE_READ);
    }
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Finds the most probable states of a hidden Markov model.", options);
    if (group & (group - 1))
        sample_die(2, "--group wants a power of two, not %ld", group);
    const struct model m = make_model();
    cl_uint *path = sample_alloc((size_t)length * sizeof(*path));
    find_path(&m, path);
    const bool pass = sample.no_check || check(&m, path);
    sample_output(path, (size_t)length * sizeof(*path));
    return sample_end(pass, "%ld", size);
}
