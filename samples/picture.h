/* SPDX-License-Identifier: MIT */
/* The picture that lies beside the samples, at the size that a sample asks for. */
#ifndef SAMPLE_PICTURE_H
#define SAMPLE_PICTURE_H
#include "sample.h"

/* The picture of the file as it is: red, green and blue, or gray alone. */
static inline float *picture_read(int *w, int *h, size_t channels)
{
    size_t bytes;
    char *file = sample_file("picture.ppm", &bytes);
    int header = 0;
    if (sscanf(file, "P6 %d %d 255%n", w, h, &header) != 2 || header == 0 || *w < 1 || *h < 1 ||
        bytes < (size_t)header + 1 + (size_t)*w * (size_t)*h * 3)
        sample_die(1, "picture.ppm is no picture");
    const size_t pixels = (size_t)*w * (size_t)*h;
    float *picture = (float *)sample_alloc(pixels * channels * sizeof(float));
    for (size_t i = 0; i < pixels; i++) {
        const uint8_t *rgb = (const uint8_t *)file + header + 1 + 3 * i;
        if (channels == 1)
            picture[i] = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
        for (size_t c = 0; c < 3 && channels > 1; c++)
            picture[i * channels + c] = rgb[c];
    }
    return picture;
}

/* A row between two rows of the picture, mixed along both directions from the four pixels around each. */
static inline void picture_row(const float *above, const float *below, float down, int w, size_t channels, uint8_t *row,
                               size_t width)
{
    for (size_t x = 0; x < width; x++) {
        const float at = (float)x * (float)w / (float)width;
        const size_t left = (size_t)at, right = left + 1 < (size_t)w ? left + 1 : left;
        for (size_t c = 0; c < channels; c++) {
            const size_t l = left * channels + c, r = right * channels + c;
            const float first = above[l] + (below[l] - above[l]) * down,
                        second = above[r] + (below[r] - above[r]) * down;
            row[x * channels + c] = (uint8_t)(first + (second - first) * (at - (float)left) + 0.5f);
        }
    }
}

/* Rows of pixels of 1 (gray), 3 (red, green, blue) or 4 (and an alpha of 255) bytes. */
static inline uint8_t *picture_load(size_t width, size_t height, size_t channels)
{
    int w, h;
    const float *picture = picture_read(&w, &h, channels);
    const size_t stride = (size_t)w * channels;
    uint8_t *pixels = (uint8_t *)sample_alloc(width * height * channels);
    for (size_t y = 0; y < height; y++) {
        const float at = (float)y * (float)h / (float)height;
        const size_t above = (size_t)at, below = above + 1 < (size_t)h ? above + 1 : above;
        picture_row(picture + above * stride, picture + below * stride, at - (float)above, w, channels,
                    pixels + y * width * channels, width);
    }
    for (size_t i = 3; i < width * height * channels && channels == 4; i += 4)
        pixels[i] = 255;
    return pixels;
}

#endif
