/* SPDX-License-Identifier: MIT */
/* cmocka, after the headers that it needs to have been included. */
#ifndef GS_TESTS_SUITE_H
#define GS_TESTS_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
