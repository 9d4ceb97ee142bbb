/* SPDX-License-Identifier: MIT */
/* Ranks the pages of a made-up web by their links: two kernels that depend on each other, until nothing changes. */
#include "../sample.h"

static long size = 4194304, links = 4, steps = 20, group = 1024;
static const struct sample_option options[] = {
    {"size", "pages", &size, 1, 1 << 28, NULL},
    {"links", "of a page, on average", &links, 1, 64, NULL},
    {"steps", "at most", &steps, 1, 1000, NULL},
    {"group", "work-items of a work-group, a power of two", &group, 1, 1024, NULL},
    {0},
};

static const float damping = 0.85f;
static const double converged = 1e-4; /* mean change of a page's rank */

/* The pages that link to page p are source[first[p]] to source[first[p + 1] - 1]. */
struct web {
    cl_uint pages, link_count;
    cl_uint *links_out, *first, *source;
};

/* Popular pages get more links: the square of a uniform number chooses the target, a prime scatters the popular ones.
 */
static void make_web(struct web *web)
{
    const size_t n = (size_t)size;
    web->pages = (cl_uint)n;
    web->links_out = sample_alloc(n * sizeof(cl_uint));
    web->first = sample_alloc((n + 1) * sizeof(cl_uint));
    for (size_t p = 0; p < n; p++)
        web->link_count += web->links_out[p] = 1 + sample_random() % (cl_uint)(2 * links - 1);
    cl_uint *target = sample_alloc(web->link_count * sizeof(cl_uint));
    for (size_t i = 0; i < web->link_count; i++) {
        const double u = (double)sample_random() / 4294967296.0;
        target[i] = (cl_uint)((uint64_t)(u * u * (double)n) * 2654435761u % n);
        web->first[target[i] + 1]++;
    }
    for (size_t p = 0; p < n; p++)
        web->first[p + 1] += web->first[p];
    web->source = sample_alloc(web->link_count * sizeof(cl_uint));
    cl_uint *next = sample_alloc(n * sizeof(cl_uint));
    memcpy(next, web->first, n * sizeof(cl_uint));
    for (size_t p = 0, i = 0; p < n; p++)
        for (cl_uint l = 0; l < web->links_out[p]; l++, i++)
            web->source[next[target[i]]++] = (cl_uint)p;
}

/* As many steps as the device took, in double precision. */
static bool check(const struct web *web, const float *rank, long taken)
{
    const size_t n = web->pages;
    double *now = sample_alloc(n * sizeof(double)), *next = sample_alloc(n * sizeof(double));
    float *want = sample_alloc(n * sizeof(float));
    for (size_t p = 0; p < n; p++)
        now[p] = 1;
    for (long step = 0; step < taken; step++) {
        for (size_t p = 0; p < n; p++)
            next[p] = 1 - (double)damping;
        for (size_t p = 0; p < n; p++)
            for (cl_uint i = web->first[p]; i < web->first[p + 1]; i++)
                next[p] += (double)damping * now[web->source[i]] / web->links_out[web->source[i]];
        double *swap = now;
        now = next;
        next = swap;
    }
    for (size_t p = 0; p < n; p++)
        want[p] = (float)now[p];
    const bool pass = sample_close(rank, want, n, 1e-4);
    return pass;
}

struct buffers {
    cl_mem rank, share, links_out, first, source, change;
    size_t rank_bytes, first_bytes, source_bytes, change_bytes;
};

static struct buffers make_buffers(const struct web *web, size_t groups)
{
    struct buffers b = {.rank_bytes = web->pages * sizeof(float),
                        .first_bytes = (web->pages + (size_t)1) * sizeof(cl_uint),
                        .source_bytes = web->link_count * sizeof(cl_uint),
                        .change_bytes = groups * sizeof(float)};
    b.rank = sample_buffer(CL_MEM_READ_WRITE, b.rank_bytes);
    b.share = sample_buffer(CL_MEM_READ_WRITE, b.rank_bytes);
    b.links_out = sample_buffer(CL_MEM_READ_ONLY, b.rank_bytes);
    b.first = sample_buffer(CL_MEM_READ_ONLY, b.first_bytes);
    b.source = sample_buffer(CL_MEM_READ_ONLY, b.source_bytes);
    b.change = sample_buffer(CL_MEM_WRITE_ONLY, b.change_bytes);
    return b;
}

static void set_arguments(cl_kernel share, cl_kernel gather, const struct buffers *b, cl_uint pages)
{
    ARGS(share, A(b->rank), A(b->links_out), A(b->share), A(pages));
    ARGS(gather, A(b->share), A(b->first), A(b->source), A(b->rank), A(b->change), A(damping), A(pages),
         LOCAL((size_t)group * sizeof(float)));
}

/* Returns the steps taken until the ranks settled. */
static long rank_pages(const struct web *web, float *rank)
{
    const size_t local = (size_t)group, global = sample_round_up(web->pages, local), groups = global / local;
    cl_program program = sample_program("pagerank.cl", "");
    cl_kernel share = sample_kernel(program, "share_rank"), gather = sample_kernel(program, "gather_rank");
    struct buffers b = make_buffers(web, groups);
    float *change = sample_alloc(b.change_bytes);
    long step = 0;
    set_arguments(share, gather, &b, web->pages);

    while (sample_next()) {
        for (size_t p = 0; p < web->pages; p++)
            rank[p] = 1;
        sample_write(b.rank, rank, b.rank_bytes);
        sample_write(b.links_out, web->links_out, b.rank_bytes);
        sample_write(b.first, web->first, b.first_bytes);
        sample_write(b.source, web->source, b.source_bytes);
        sample_lap(SAMPLE_WRITE);
        double total = HUGE_VAL;
        for (step = 0; step < steps && total > converged * (double)web->pages; step++) {
            LAUNCH(share, 1, &global, &local);
            LAUNCH(gather, 1, &global, &local);
            sample_lap(SAMPLE_KERNEL);
            sample_read(b.change, change, b.change_bytes);
            total = 0;
            for (size_t i = 0; i < groups; i++)
                total += (double)change[i];
            sample_lap(SAMPLE_READ);
        }
        sample_read(b.rank, rank, b.rank_bytes);
        sample_lap(SAMPLE_READ);
    }
    return step;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Ranks the pages of a made-up web by their links.", options);
    if (group & (group - 1))
        sample_die(2, "--group wants a power of two, not %ld", group);
    struct web web = {0};
    make_web(&web);
    float *rank = sample_alloc(web.pages * sizeof(float));
    const long taken = rank_pages(&web, rank);
    const bool pass = sample.no_check || check(&web, rank, taken);
    sample_output(rank, web.pages * sizeof(float));
    return sample_end(pass, "%ld", size);
}
