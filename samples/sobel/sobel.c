/* SPDX-License-Identifier: MIT */
/* Finds the edges of a picture, which is an image object that the kernel reads through a sampler. */
#include "../picture.h"

static long width = 512, height = 512;
static const struct sample_option options[] = {
    {"width", "columns of the picture", &width, 1, 16384, NULL},
    {"height", "rows of the picture", &height, 1, 16384, NULL},
    {0},
};

enum { CHANNELS = 4, SIDE = 16 };

static int at(const uint8_t *in, long x, long y, long channel)
{
    x = x < 0 ? 0 : (x < width ? x : width - 1);
    y = y < 0 ? 0 : (y < height ? y : height - 1);
    return in[(y * width + x) * CHANNELS + channel];
}

static bool check(const uint8_t *in, const uint8_t *out)
{
    static const int mask[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
    for (long i = 0; i < width * height * CHANNELS; i++) {
        int across = 0, down = 0;
        for (long dy = 0; dy < 3; dy++)
            for (long dx = 0; dx < 3; dx++) {
                const int value = at(in, i / CHANNELS % width + dx - 1, i / CHANNELS / width + dy - 1, i % CHANNELS);
                across += mask[dy][dx] * value;
                down += mask[dx][dy] * value;
            }
        const double steep = fmin(255, sqrt((double)(across * across + down * down)));
        if (fabs(out[i] - (i % CHANNELS == 3 ? 255 : steep)) > 0.5001)
            return sample_same(&out[i], &(uint8_t){(uint8_t)lround(steep)}, 1);
    }
    return true;
}

static cl_mem make_image(cl_mem_flags flags)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc description = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = (size_t)width, .image_height = (size_t)height};
    cl_int error;
    cl_mem image = clCreateImage(sample.context, flags, &format, &description, NULL, &error);
    CHECK(error);
    return sample_keep(image);
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Finds the edges of a picture.", options);
    const size_t w = (size_t)width, h = (size_t)height, origin[3] = {0, 0, 0}, region[3] = {w, h, 1};
    const size_t local[2] = {SIDE, SIDE}, global[2] = {sample_round_up(w, SIDE), sample_round_up(h, SIDE)};
    cl_bool images;
    CHECK(clGetDeviceInfo(sample.device, CL_DEVICE_IMAGE_SUPPORT, sizeof(images), &images, NULL));
    if (!images)
        sample_die(1, "the device has no images");
    uint8_t *in = picture_load(w, h, CHANNELS), *out = sample_alloc(w * h * CHANNELS);
    cl_kernel kernel = sample_kernel(sample_program("sobel.cl", ""), "sobel");
    cl_mem din = make_image(CL_MEM_READ_ONLY), dout = make_image(CL_MEM_WRITE_ONLY);
    ARGS(kernel, A(din), A(dout));

    while (sample_next()) {
        CHECK(clEnqueueWriteImage(sample.queue, din, CL_FALSE, origin, region, 0, 0, in, 0, NULL, NULL));
        sample_lap(SAMPLE_WRITE);
        LAUNCH(kernel, 2, global, local);
        sample_lap(SAMPLE_KERNEL);
        CHECK(clEnqueueReadImage(sample.queue, dout, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL));
        sample_lap(SAMPLE_READ);
    }
    const bool pass = sample.no_check || check(in, out);
    sample_output(out, w * h * CHANNELS);
    return sample_end(pass, "%ldx%ld", width, height);
}
