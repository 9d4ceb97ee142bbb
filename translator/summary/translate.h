/* SPDX-License-Identifier: MIT */
/* Asks for a translation: from the cache on disk, else from a `gpusparc-translate` process. No libclang behind this
 * header. */
#ifndef GS_TRANSLATOR_SUMMARY_TRANSLATE_H
#define GS_TRANSLATOR_SUMMARY_TRANSLATE_H

#include <stddef.h>

#include "translator/summary/summary.h"

/* A header given to clCompileProgram. */
struct gs_translate_header {
    const char *name, *text;
};

/* One clBuildProgram, or one clCompileProgram among those that a clLinkProgram joins. */
struct gs_translate_unit {
    const char *source; /* all strings of clCreateProgramWithSource, joined */
    const char *options;
    const struct gs_translate_header *headers;
    size_t n_headers;
    /* The device compiler's answers about its own macros, with this unit's -cl-std: words NAME=VALUE, NAME= (defined,
     * value unknown) and NAME (not defined). Other macros are guessed. May be NULL. */
    const char *macros;
};

/* What the device's own compiler would predefine. */
struct gs_translate_device {
    const char *extensions;       /* CL_DEVICE_EXTENSIONS */
    const char *opencl_c_version; /* CL_DEVICE_OPENCL_C_VERSION, whole string */
    const char *vendor;           /* CL_DEVICE_VENDOR */
    const char *platform;         /* CL_PLATFORM_NAME */
    unsigned address_bits;
    int image_support;
    const char *device_version; /* CL_DEVICE_VERSION, whole string; may be NULL */
};

struct gs_translate_request {
    const struct gs_translate_unit *units;
    size_t n_units;
    struct gs_translate_device device;
    int windows; /* each kernel is to take hidden shifts of its pointers: GS_SHIFTS */
};

/* Translates. `translator` is the path of gpusparc-translate. On success *out is owned by the caller (gs_summary_free).
 * Thread-safe. Leaves no child behind, raises no SIGCHLD in this process, and returns within `timeout_ms`.
 * 0; -ETIME: the translator hung and was killed; -EPIPE: it crashed or could not be started; -ENOMEM. For each failure
 * `why` is one sentence without a newline. A cache that can't be read or written is no failure. */
int gs_translate(const struct gs_translate_request *req, const char *translator, int timeout_ms,
                 struct gs_summary **out, char *why, size_t why_bytes);

#endif
