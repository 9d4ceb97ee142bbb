/* SPDX-License-Identifier: MIT */
/* The picture that lies beside the samples, at the size that a sample asks for. */
#ifndef SAMPLE_PICTURE_H
#define SAMPLE_PICTURE_H
#include "sample.h"

/* One channel of the picture at a place between its pixels, mixed from the four around it. */
static inline double picture_at(const uint8_t *rgb, int w, int h, double x, double y, size_t channel)
{
    const int x0 = (int)x, y0 = (int)y, x1 = x0 + 1 < w ? x0 + 1 : x0, y1 = y0 + 1 < h ? y0 + 1 : y0;
    const double tx = x - x0, ty = y - y0;
#define AT(px, py) ((double)rgb[((size_t)(py) * (size_t)w + (size_t)(px)) * 3 + channel])
    return (AT(x0, y0) * (1 - tx) + AT(x1, y0) * tx) * (1 - ty) + (AT(x0, y1) * (1 - tx) + AT(x1, y1) * tx) * ty;
#undef AT
}

/* Rows of pixels of 1 (gray), 3 (red, green, blue) or 4 (and an alpha of 255) bytes. */
static inline uint8_t *picture_load(size_t width, size_t height, size_t channels)
{
    size_t bytes;
    char *file = sample_file("picture.ppm", &bytes);
    int w, h, header = 0;
    if (sscanf(file, "P6 %d %d 255%n", &w, &h, &header) != 2 || header == 0 || w < 1 || h < 1 ||
        bytes < (size_t)header + 1 + (size_t)w * (size_t)h * 3)
        sample_die(1, "picture.ppm is no picture");
    const uint8_t *rgb = (const uint8_t *)file + header + 1;
    uint8_t *pixels = sample_alloc(width * height * channels);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            const double px = (double)x * w / (double)width, py = (double)y * h / (double)height;
            uint8_t *pixel = pixels + (y * width + x) * channels;
            double c[3];
            for (size_t i = 0; i < 3; i++)
                c[i] = picture_at(rgb, w, h, px, py, i);
            if (channels == 1)
                pixel[0] = (uint8_t)lround(0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2]);
            for (size_t i = 0; i < channels && channels > 1; i++)
                pixel[i] = i < 3 ? (uint8_t)lround(c[i]) : 255;
        }
    return pixels;
}

#endif
