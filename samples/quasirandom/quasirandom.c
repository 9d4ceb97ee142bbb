/* SPDX-License-Identifier: MIT */
/* Points that fill a cube evenly: Sobol's sequence. */
#include "../sample.h"

static long vectors = 1024, dimensions = 8, group = 256;
static const struct sample_option options[] = {
    {"vectors", "points", &vectors, 1, 1 << 24, NULL},
    {"dimensions", "of the cube; beyond 16 the sequences of the first ones come again, shifted", &dimensions, 1, 65536,
     NULL},
    {"group", "work-items of a work-group", &group, 1, 1024, NULL},
    {0},
};

enum { BITS = 32, KNOWN = 16, SPAN = 4096 }; /* SPAN: numbers of a work-group at most */

/* Degree and coefficients of a primitive polynomial, and the first direction numbers that Joe and Kuo chose for it
 * (Constructing Sobol sequences with better two-dimensional projections, 2008). The first dimension needs none. */
static const struct {
    unsigned degree, coefficients, first[6];
} primitive[KNOWN] = {
    {0, 0, {0}},
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
};

static void make_directions(size_t dimension, cl_uint direction[BITS])
{
    const unsigned known = (unsigned)(dimension % KNOWN), degree = primitive[known].degree;
    for (unsigned i = 0; i < BITS; i++) {
        if (i < degree || degree == 0) {
            direction[i] = (degree ? primitive[known].first[i] : 1) << (31 - i);
            continue;
        }
        direction[i] = direction[i - degree] ^ direction[i - degree] >> degree;
        for (unsigned k = 1; k < degree; k++)
            if (primitive[known].coefficients >> (degree - 1 - k) & 1)
                direction[i] ^= direction[i - k];
    }
    const unsigned turn = (unsigned)(dimension / KNOWN) % BITS; /* the same numbers in another order */
    cl_uint turned[BITS];
    for (unsigned i = 0; i < BITS; i++)
        turned[i] = direction[(i + turn) % BITS];
    memcpy(direction, turned, sizeof(turned));
}

/* Point by point, each from the one before (Antonov and Saleev); and the points of a dimension are all different as
 * far as its direction numbers promise: one in each of 2^k equal parts among the first 2^k. */
static bool check(cl_uint (*directions)[BITS], const float *got)
{
    bool *seen = sample_alloc((size_t)vectors);
    size_t parts = 1;
    while (parts * 2 <= (size_t)vectors)
        parts *= 2;
    for (size_t d = 0; d < (size_t)dimensions; d++) {
        cl_uint x = 0;
        memset(seen, 0, (size_t)vectors);
        for (size_t i = 0; i < (size_t)vectors; i++) {
            const float value = got[d * (size_t)vectors + i], want = (float)(x >> 8) / 16777216.0f;
            if (!sample_same(&value, &want, sizeof(want)))
                return false;
            const size_t part = (size_t)(value * (float)parts);
            if (i < parts && d < KNOWN && seen[part])
                return sample_close(&value, &(float){-1}, 1, 0);
            seen[part] = true;
            x ^= directions[d][__builtin_ctzl(i + 1)];
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Points that fill a cube evenly: Sobol's sequence.", options);
    const size_t rows = (size_t)dimensions, bytes = rows * (size_t)vectors * sizeof(float);
    const size_t local[2] = {(size_t)group, 1}, global[2] = {((size_t)vectors + SPAN - 1) / SPAN * local[0], rows};
    const cl_uint columns = (cl_uint)vectors, span = SPAN;
    cl_uint(*directions)[BITS] = sample_alloc(rows * sizeof(*directions));
    float *points = sample_alloc(bytes);
    cl_int error;
    for (size_t d = 0; d < rows; d++)
        make_directions(d, directions[d]);
    cl_kernel kernel = sample_kernel(sample_program("quasirandom.cl", ""), "sobol");
    cl_mem dpoints = sample_buffer(CL_MEM_WRITE_ONLY, bytes);

    while (sample_next()) {
        cl_mem ddirections = clCreateBuffer(sample.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                            rows * sizeof(*directions), directions, &error);
        CHECK(error);
        sample_lap(SAMPLE_WRITE);
        ARGS(kernel, A(ddirections), A(dpoints), A(columns), A(span));
        LAUNCH(kernel, 2, global, local);
        CHECK(clReleaseMemObject(ddirections)); /* the launch keeps it as long as it needs it */
        sample_lap(SAMPLE_KERNEL);
        sample_read(dpoints, points, bytes);
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(directions, points);
    sample_output(points, bytes);
    return sample_end(pass, "%ldx%ld", vectors, dimensions);
}
