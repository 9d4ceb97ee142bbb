/* SPDX-License-Identifier: MIT */
/* cmocka, after the headers that it needs to have been included. */
#ifndef GS_TESTS_SUITE_H
#define GS_TESTS_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Ends a test that has nothing to assert here, and says why. */
#define LEFT_OUT(why)                                                                                                  \
    do {                                                                                                               \
        print_message("left out: %s\n", why);                                                                          \
        skip();                                                                                                        \
    } while (0)

#endif
