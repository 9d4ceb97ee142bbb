/* SPDX-License-Identifier: MIT */
/* Finds the nearest neighbors of every point. By default 1024 points of 32 numbers and, for each, 160 neighbors with
 * their distances: 1024 x 320 numbers. */
#include "../sample.h"

static long size = 1024, neighbors = 160, group = 64;
static const struct sample_option options[] = {
    {"size", "points", &size, 2, 1 << 22, NULL},
    {"neighbors", "for each point", &neighbors, 1, 1024, NULL},
    {"group", "work-items of a work-group, which has one point", &group, 1, 1024, NULL},
    {0},
};

enum { DIMENSIONS = 32 };

static double distance(const float *a, const float *b)
{
    double sum = 0;
    for (size_t d = 0; d < DIMENSIONS; d++)
        sum += ((double)a[d] - (double)b[d]) * ((double)a[d] - (double)b[d]);
    return sum;
}

/* Are these the k nearest of `point`, sorted, each once? Ties may stand in any order, as float can't tell them apart.
 */
static bool check_point(const float *points, size_t point, const float *found, const cl_uint *index, double *all,
                        bool *seen)
{
    const size_t n = (size_t)size, k = (size_t)neighbors;
    size_t count = 0;
    for (size_t j = 0; j < n; j++)
        if (j != point)
            all[count++] = distance(points + point * DIMENSIONS, points + j * DIMENSIONS);
    qsort(all, count, sizeof(*all), sample_by_value);
    memset(seen, 0, n * sizeof(*seen));
    for (size_t i = 0; i < k; i++) {
        if (index[i] >= n || index[i] == point || seen[index[i]]) {
            fprintf(stderr, "%s: neighbor %zu of point %zu is %u\n", sample.name, i, point, index[i]);
            return false;
        }
        seen[index[i]] = true;
        const float own = (float)distance(points + point * DIMENSIONS, points + (size_t)index[i] * DIMENSIONS);
        if (!sample_close(&found[i], &own, 1, 1e-5) || !sample_close(&found[i], &(float){(float)all[i]}, 1, 1e-5))
            return false;
    }
    return true;
}

static bool check(const float *points, const float *distances, const cl_uint *index)
{
    double *all = sample_alloc((size_t)size * sizeof(*all));
    bool *seen = sample_alloc((size_t)size * sizeof(*seen)), pass = true;
    for (size_t i = 0; i < (size_t)size && pass; i++)
        pass = check_point(points, i, distances + i * (size_t)neighbors, index + i * (size_t)neighbors, all, seen);
    return pass;
}

static void find(const float *points, float *distances, cl_uint *index)
{
    const cl_uint n = (cl_uint)size, k = (cl_uint)neighbors;
    const size_t points_bytes = (size_t)n * DIMENSIONS * sizeof(float), bytes = (size_t)n * k * 4;
    const size_t local = (size_t)group, global = n * local;
    long capacity = 2; /* of local memory: the nearest so far, those of one step, and room to go on */
    while (capacity < 2 * (neighbors + group))
        capacity *= 2;
    char defines[96];
    snprintf(defines, sizeof(defines), "-DDIMENSIONS=%d -DGROUP=%ld -DCAPACITY=%ld", DIMENSIONS, group, capacity);
    cl_program program = sample_program("knn.cl", defines);
    cl_kernel kernel = sample_kernel(program, "knn");
    cl_mem dpoints = sample_buffer(CL_MEM_READ_ONLY, points_bytes);
    cl_mem ddistances = sample_buffer(CL_MEM_WRITE_ONLY, bytes), dindex = sample_buffer(CL_MEM_WRITE_ONLY, bytes);
    ARGS(kernel, A(dpoints), A(ddistances), A(dindex), A(n), A(k));

    while (sample_next()) {
        sample_write(dpoints, points, points_bytes);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(ddistances, distances, bytes);
        sample_read(dindex, index, bytes);
        sample_lap(SAMPLE_READ);
    }
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Finds the nearest neighbors of every point.", options);
    if (neighbors >= size)
        sample_die(2, "a point has %ld others at most, not %ld; give --neighbors", size - 1, neighbors);
    const size_t n = (size_t)size, results = n * (size_t)neighbors;
    float *points = sample_alloc(n * DIMENSIONS * sizeof(float)), *distances = sample_alloc(results * sizeof(float));
    cl_uint *index = sample_alloc(results * sizeof(*index));
    for (size_t i = 0; i < n * DIMENSIONS; i++)
        points[i] = sample_uniform(-1, 1);

    find(points, distances, index);
    const bool pass = sample.no_check || check(points, distances, index);
    sample_output(distances, results * sizeof(float));
    sample_output(index, results * sizeof(*index));
    return sample_end(pass, "%ld", size);
}
