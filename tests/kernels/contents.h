/* SPDX-License-Identifier: MIT */
/* Buffers of a test kernel as the evaluation of a summary asks for them: see gs_contents (translator/summary/summary.h). */
#ifndef GS_TESTS_KERNELS_CONTENTS_H
#define GS_TESTS_KERNELS_CONTENTS_H

#include "translator/summary/summary.h"

struct test_contents {
    struct gs_contents contents;
    const unsigned char *data;
    size_t bytes;
};

/* Ends the program where a word outside of the data is asked for. */
void test_contents_set(struct test_contents *c, const unsigned char *data, size_t bytes);

#endif
