/* SPDX-License-Identifier: MIT */
/* Multiplies a matrix by a vector. The matrix comes in slabs: one queue brings them in while another multiplies the
 * slabs that are there. */
#include "../sample.h"

static long width = 1100, height = 60981, slabs = 4, group = 256;
static const struct sample_option options[] = {
    {"width", "columns of the matrix", &width, 1, 1L << 30, NULL},
    {"height", "rows of the matrix", &height, 1, 1L << 30, NULL},
    {"slabs", "in which the matrix comes", &slabs, 1, 16, NULL},
    {"group", "work-items of a work-group, a power of two", &group, 1, 1024, NULL},
    {0},
};

static bool check(const float *m, const float *x, const float *y)
{
    for (long row = 0; row < height; row++) {
        double sum = 0;
        for (long i = 0; i < width; i++)
            sum += (double)m[row * width + i] * (double)x[i];
        if (!sample_close(&y[row], &(float){(float)sum}, 1, 1e-4))
            return false;
    }
    return true;
}

struct slab {
    cl_mem m, y;
    cl_uint rows;
    size_t first, global;
    cl_event written;
};

static void make_slabs(struct slab *slab)
{
    const size_t rows = ((size_t)height + (size_t)slabs - 1) / (size_t)slabs;
    for (long s = 0; s < slabs; s++) {
        const size_t first = (size_t)s * rows;
        const size_t left = first < (size_t)height ? (size_t)height - first : 0;
        slab[s].first = first;
        slab[s].rows = (cl_uint)(left < rows ? left : rows);
        slab[s].global = (slab[s].rows + (size_t)255) / 256 * (size_t)group;
        if (slab[s].rows == 0)
            continue;
        slab[s].m = sample_buffer(CL_MEM_READ_ONLY, slab[s].rows * (size_t)width * sizeof(float));
        slab[s].y = sample_buffer(CL_MEM_WRITE_ONLY, slab[s].rows * sizeof(float));
    }
}

static void multiply(const float *m, const float *x, float *y, struct slab *slab)
{
    const size_t local = (size_t)group, x_bytes = (size_t)width * sizeof(float);
    const cl_uint columns = (cl_uint)width;
    cl_int error;
    cl_kernel kernel = sample_kernel(sample_program("matvecmul.cl", ""), "mat_vec_mul");
    cl_command_queue compute = clCreateCommandQueue(sample.context, sample.device, 0, &error);
    CHECK(error);
    cl_mem dx = sample_buffer(CL_MEM_READ_ONLY, x_bytes);

    while (sample_next()) {
        sample_write(dx, x, x_bytes);
        for (long s = 0; s < slabs && slab[s].rows; s++) {
            CHECK(clEnqueueWriteBuffer(sample.queue, slab[s].m, CL_FALSE, 0, slab[s].rows * x_bytes,
                                       m + slab[s].first * (size_t)width, 0, NULL, &slab[s].written));
            CHECK(clFlush(sample.queue));
            ARGS(kernel, A(slab[s].m), A(dx), A(slab[s].y), A(columns), A(slab[s].rows), LOCAL(local * sizeof(float)));
            CHECK(clEnqueueNDRangeKernel(compute, kernel, 1, NULL, &slab[s].global, &local, 1, &slab[s].written, NULL));
            CHECK(clFlush(compute));
            CHECK(clReleaseEvent(slab[s].written));
        }
        sample_lap(SAMPLE_WRITE);
        CHECK(clFinish(compute));
        sample_lap(SAMPLE_KERNEL);
        for (long s = 0; s < slabs && slab[s].rows; s++)
            sample_read(slab[s].y, y + slab[s].first, slab[s].rows * sizeof(float));
        sample_lap(SAMPLE_READ);
    }
    CHECK(clReleaseCommandQueue(compute));
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Multiplies a matrix by a vector.", options);
    if (group & (group - 1))
        sample_die(2, "--group wants a power of two, not %ld", group);
    const size_t cells = (size_t)width * (size_t)height;
    float *m = sample_alloc(cells * sizeof(float)), *x = sample_alloc((size_t)width * sizeof(float));
    float *y = sample_alloc((size_t)height * sizeof(float));
    for (size_t i = 0; i < cells; i++)
        m[i] = sample_uniform(-1, 1);
    for (long i = 0; i < width; i++)
        x[i] = sample_uniform(-1, 1);
    struct slab *slab = sample_alloc((size_t)slabs * sizeof(*slab));
    make_slabs(slab);

    multiply(m, x, y, slab);
    const bool pass = sample.no_check || check(m, x, y);
    sample_output(y, (size_t)height * sizeof(float));
    return sample_end(pass, "%ldx%ld", width, height);
}
