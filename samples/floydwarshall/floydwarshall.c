/* SPDX-License-Identifier: MIT */
/* The shortest ways between all nodes of a graph by Floyd and Warshall: as many dependent launches as nodes. The
 * OpenCL implementation chooses the work-groups. */
#include "../sample.h"

static long size = 256, links = 8;
static const struct sample_option options[] = {
    {"size", "nodes", &size, 2, 16384, NULL},
    {"links", "from each node", &links, 1, 1024, NULL},
    {0},
};

static const cl_uint nowhere = 1u << 30, direct = ~0u; /* two nowheres still fit into a number */

/* Dijkstra's algorithm from one node. */
static void shortest_from(const cl_uint *length, size_t n, size_t from, cl_uint *distance, bool *done)
{
    for (size_t i = 0; i < n; i++) {
        distance[i] = nowhere;
        done[i] = false;
    }
    distance[from] = 0;
    for (size_t step = 0; step < n; step++) {
        size_t next = n;
        for (size_t i = 0; i < n; i++)
            if (!done[i] && (next == n || distance[i] < distance[next]))
                next = i;
        done[next] = true;
        for (size_t i = 0; i < n; i++) {
            const cl_uint detour = distance[next] + length[next * n + i];
            if (length[next * n + i] < nowhere && detour < distance[i])
                distance[i] = detour;
        }
    }
}

static bool check(const cl_uint *length, const cl_uint *distance, const cl_uint *through, size_t n)
{
    cl_uint *want = sample_alloc(n * sizeof(*want));
    bool *done = sample_alloc(n);
    for (size_t from = 0; from < n; from++) {
        shortest_from(length, n, from, want, done);
        for (size_t to = 0; to < n; to++) {
            const cl_uint by = through[from * n + to], got = distance[from * n + to];
            const cl_uint sum = by == direct ? length[from * n + to]
                                : by < n     ? distance[from * n + by] + distance[by * n + to]
                                             : 0;
            if (got != want[to] || got != sum) {
                fprintf(stderr, "%s: from %zu to %zu in %u by %u, expected %u\n", sample.name, from, to, got, by,
                        want[to]);
                return false;
            }
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "The shortest ways between all nodes of a graph by Floyd and Warshall.", options);
    const size_t n = (size_t)size, bytes = n * n * sizeof(cl_uint), global[2] = {n, n};
    const cl_uint nodes = (cl_uint)n;
    cl_uint *length = sample_alloc(bytes), *distance = sample_alloc(bytes), *through = sample_alloc(bytes);
    for (size_t i = 0; i < n * n; i++)
        length[i] = i / n == i % n ? 0 : nowhere;
    for (size_t from = 0; from < n; from++)
        for (long l = 0; l < links; l++) {
            const size_t to = sample_random() % n;
            if (to != from)
                length[from * n + to] = 1 + sample_random() % 1000;
        }
    cl_kernel kernel = sample_kernel(sample_program("floydwarshall.cl", ""), "shorten");
    cl_mem ddistance = sample_buffer(CL_MEM_READ_WRITE, bytes), dthrough = sample_buffer(CL_MEM_READ_WRITE, bytes);

    while (sample_next()) {
        sample_write(ddistance, length, bytes);
        CHECK(clEnqueueFillBuffer(sample.queue, dthrough, &direct, sizeof(direct), 0, bytes, 0, NULL, NULL));
        sample_lap(SAMPLE_WRITE);
        for (cl_uint by = 0; by < nodes; by++) {
            ARGS(kernel, A(ddistance), A(dthrough), A(nodes), A(by));
            LAUNCH(kernel, 2, global, NULL);
        }
        sample_lap(SAMPLE_KERNEL);
        sample_read(ddistance, distance, bytes);
        sample_read(dthrough, through, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(length, distance, through, n);
    sample_output(distance, bytes);
    sample_output(through, bytes);
    return sample_end(pass, "%ld", size);
}
