#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws picture.ppm, the scene that the samples work on: a lake before mountains at sunset.

Smooth parts (sky), edges (ridges), fine noise (forest) and repetition (waves) are all there, as in a photograph.
Usage: make_picture.py > picture.ppm
"""
import math
import sys

SIDE = 256
HORIZON = 150


def noise(x, y=0):
    n = (int(x) * 374761393 + int(y) * 668265263 + 1013904223) & 0xFFFFFFFF
    n = ((n ^ (n >> 13)) * 1274126177) & 0xFFFFFFFF
    return ((n ^ (n >> 16)) & 0xFFFF) / 65535.0


def smooth(x, seed):
    i = math.floor(x)
    t = x - i
    t = t * t * (3 - 2 * t)
    return noise(i, seed) * (1 - t) + noise(i + 1, seed) * t


def ridge(x, seed, scale, height):
    h = sum(smooth(x / scale * 2**o, seed + o) / 2**o for o in range(6))
    return HORIZON - height * (h / 2 + 0.15)


def mix(a, b, t):
    return tuple(p + (q - p) * t for p, q in zip(a, b))


def scene(x, y):
    distance = math.hypot(x - 176, y - 88)
    color = mix((38, 60, 122), (246, 168, 96), min(1.0, y / HORIZON) ** 1.4)
    color = mix(color, (255, 240, 190), max(0.0, 1 - distance / 90) ** 2)
    if distance < 13:
        color = (255, 250, 222)
    for seed, scale, height, near in ((1, 90, 80, 0.35), (11, 60, 52, 0.65), (23, 33, 26, 0.95)):
        top = ridge(x, seed, scale, height)
        if y > top:
            rock = mix((150, 120, 128), (24, 38, 34), near)
            grain = (noise(x, y + 977 * seed) - 0.5) * 46 * near
            color = tuple(c + grain + (y - top) * 0.12 for c in rock)
            if near < 0.5 and y - top < 9 * smooth(x / 7, seed + 50):
                color = (236, 230, 236)
    return color


def pixel(x, y):
    if y < HORIZON:
        return scene(x, y)
    depth = y - HORIZON
    wave = math.sin(depth * depth * 0.021 + 3 * smooth(x / 19, depth // 3)) * (1 + depth * 0.05)
    mirrored = scene(max(0, min(SIDE - 1, x + wave)), max(0, HORIZON - 1 - depth * 1.35 + wave))
    glint = 60 if wave > 1.2 and noise(x, y) > 0.82 else 0
    return tuple(c * 0.72 + s + glint for c, s in zip(mirrored, (4, 12, 26)))


def main():
    data = bytearray()
    for y in range(SIDE):
        for x in range(SIDE):
            data += bytes(max(0, min(255, round(c))) for c in pixel(x, y))
    sys.stdout.buffer.write(b"P6\n%d %d\n255\n" % (SIDE, SIDE) + data)


if __name__ == "__main__":
    main()
