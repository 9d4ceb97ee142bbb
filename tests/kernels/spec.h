/* SPDX-License-Identifier: MIT */
/* How the kernels of tests/kernels are launched: read from comments at the head of each file.
 *
 *   //! options TEXT                  build options; DIR in it is the folder of the file
 *   //! version N                     skip it on devices below OpenCL C N (120, 200, 300) ...
 *   //! extension NAME                ... or without that extension
 *   //! unit FILE                     another file that is compiled by itself and linked
 *   //! header NAME FILE              given to clCompileProgram
 *   //! kernel NAME global A [B [C]] [local A [B [C]]] [offset A [B [C]]]
 *                                     begins a launch; what follows describes it. Without local: NULL
 *   //! buffer TYPE COUNT FILL [N]    an argument; FILL: zero, iota, random (below N; floats in [0, N)),
 *                                   around (0, from -N), rising (from 0, by random steps below N)
 *   //! same I                        an argument: the buffer of argument I of the first launch
 *   //! value TYPE NUMBER
 *   //! shared BYTES                  a __local argument
 *   //! image read|write W H          an argument: 2D, RGBA, unsigned 32 bits
 *   //! sampler                       an argument: unnormalized, clamp to edge, nearest
 *   //! expect WORD…                  of the translator: hidden, plain (no hidden argument), refused, whole (no split
 * is expected at run time, whatever the translator says), group, nogroup, together (refused, and not even on one memory
 * may its parts run one after the other, in any order)
 */
#ifndef GS_TESTS_KERNELS_SPEC_H
#define GS_TESTS_KERNELS_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPEC_ARGS = 16, SPEC_LAUNCHES = 8, SPEC_UNITS = 4 };

enum spec_kind { SPEC_BUFFER, SPEC_SAME, SPEC_VALUE, SPEC_SHARED, SPEC_IMAGE, SPEC_SAMPLER };

struct spec_arg {
    enum spec_kind kind;
    size_t bytes;        /* of a buffer, value, local memory, or an image's pixels */
    unsigned char *data; /* the first contents of a buffer or image; of a value */
    unsigned same;
    bool writable;
    size_t width, height;
};

struct spec_launch {
    char kernel[64], expect[64];
    unsigned dims;
    size_t global[3], local[3], offset[3];
    bool has_local;
    unsigned n_args;
    struct spec_arg args[SPEC_ARGS];
};

struct spec_unit {
    char *name, *text; /* a header's name; a unit's is NULL */
};

struct spec {
    char options[512], extension[64];
    unsigned version;
    struct spec_unit units[SPEC_UNITS]; /* the file itself is the first */
    unsigned n_units;
    struct spec_unit headers[SPEC_UNITS];
    unsigned n_headers;
    struct spec_launch launches[SPEC_LAUNCHES];
    unsigned n_launches;
};

/* Reads a file; ends the program with a message where it is wrong. `seed` changes the random fills. */
void spec_read(struct spec *s, const char *path, uint64_t seed);
void spec_free(struct spec *s);

#endif
