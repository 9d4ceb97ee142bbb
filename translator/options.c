/* SPDX-License-Identifier: MIT */
/* From build options and a device to clang's arguments. */
#include "translator/options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "translator/need.h"

void gs_strings_add(struct gs_arena *arena, struct gs_strings *s, const char *text)
{
    GS_GROW(arena, s->v, s->n, s->cap);
    s->v[s->n++] = gs_need((void *)(uintptr_t)text);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

void gs_split_options(struct gs_arena *arena, const char *options, struct gs_strings *out)
{
    const char *p = options;
    char *word = gs_need_array(arena, strlen(options) + 1, 1);
    for (;;) {
        while (is_blank(*p))
            p++;
        if (!*p)
            return;
        size_t n = 0;
        for (char quote = 0; *p && (quote || !is_blank(*p)); p++) {
            if (quote ? *p == quote : *p == '"' || *p == '\'')
                quote = quote ? 0 : *p;
            else if (*p == '\\' && (p[1] == '"' || p[1] == '\\'))
                word[n++] = *++p;
            else
                word[n++] = *p;
        }
        gs_strings_add(arena, out, gs_arena_copy(arena, word, n));
    }
}

/* "OpenCL C 1.2 …" to 120; 0 where it can't be read. */
static unsigned language_version(const char *s)
{
    unsigned major, minor;
    return sscanf(s, "OpenCL C %u.%u", &major, &minor) == 2 && major < 10 && minor < 10 ? major * 100 + minor * 10 : 0;
}

/* OpenCL C specification, section "Options Controlling the OpenCL C version": without -cl-std it is the highest 1.x
 * that the device knows. */
static const char *default_standard(const char *version)
{
    unsigned v = language_version(version);
    return v == 100 ? "-cl-std=CL1.0" : v == 110 ? "-cl-std=CL1.1" : "-cl-std=CL1.2";
}

/* Extensions that clang itself knows; it turns their types and functions on and off. All others are mere macros to it.
 */
static const char *const clang_extensions[] = {
    "cl_khr_3d_image_writes",
    "cl_khr_byte_addressable_store",
    "cl_khr_depth_images",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_gl_msaa_sharing",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_mipmap_image",
    "cl_khr_mipmap_image_writes",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_select_fprounding_mode",
    "cl_khr_srgb_image_writes",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_subgroups",
    "cl_khr_local_int32_extended_atomics",
};

static bool clang_knows(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof clang_extensions / sizeof *clang_extensions; i++)
        if (strlen(clang_extensions[i]) == n && memcmp(clang_extensions[i], name, n) == 0)
            return true;
    return false;
}

static bool is_identifier(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || (s[i] >= '0' && s[i] <= '9') ||
              s[i] == '_'))
            return false;
    return n > 0 && !(s[0] >= '0' && s[0] <= '9');
}

static void add_extensions(struct gs_arena *arena, const char *extensions, struct gs_strings *out)
{
    const char *known = "-cl-ext=-all";
    for (const char *p = extensions; *p;) {
        size_t n = strcspn(p, " ");
        if (clang_knows(p, n))
            known = gs_arena_printf(arena, "%s,+%.*s", known, (int)n, p);
        else if (is_identifier(p, n))
            gs_strings_add(arena, out, gs_arena_printf(arena, "-D%.*s=1", (int)n, p));
        p += n + (p[n] == ' ');
    }
    gs_strings_add(arena, out, "-Xclang");
    gs_strings_add(arena, out, known);
}

/* What the vendors' compilers predefine beyond the specification. */
static void add_vendor_macros(struct gs_arena *arena, const struct gs_translate_device *d, struct gs_strings *out)
{
    if (strstr(d->vendor, "NVIDIA") || strstr(d->platform, "NVIDIA")) {
        gs_strings_add(arena, out, "-D__NV_CL_C_VERSION=120");
        gs_strings_add(arena, out, "-Dcl_nv_pragma_unroll=1");
    }
}

static void add_device(struct gs_arena *arena, const struct gs_translate_device *d, struct gs_strings *out)
{
    gs_strings_add(arena, out, "-target");
    gs_strings_add(arena, out, d->address_bits == 32 ? "spir-unknown-unknown" : "spir64-unknown-unknown");
    add_extensions(arena, d->extensions, out);
    add_vendor_macros(arena, d, out);
    unsigned v = language_version(d->opencl_c_version);
    gs_strings_add(arena, out, gs_arena_printf(arena, "-D__OPENCL_VERSION__=%u", v ? v : 120));
    if (d->image_support)
        gs_strings_add(arena, out, "-D__IMAGE_SUPPORT__=1");
    else
        gs_strings_add(arena, out, "-U__IMAGE_SUPPORT__");
}

/* An option that takes its value from the same word or from the next: the value, or NULL. */
static const char *option_value(const struct gs_strings *words, uint32_t *i, const char *name)
{
    const char *w = words->v[*i];
    size_t n = strlen(name);
    if (strncmp(w, name, n) != 0)
        return NULL;
    if (w[n])
        return w + n;
    return *i + 1 < words->n ? words->v[++*i] : NULL;
}

static void add_build_option(struct gs_arena *arena, const struct gs_strings *words, uint32_t *i,
                             struct gs_strings *out, const char **standard, const char **why)
{
    const char *w = words->v[*i], *v;
    if (strncmp(w, "-cl-std=", 8) == 0) {
        *standard = w;
        if (strncmp(w + 8, "CL", 2) != 0 || strncmp(w + 8, "CLC", 3) == 0)
            *why = gs_arena_printf(arena, "it is not written in OpenCL C (%s)", w);
    } else if (strcmp(w, "-cl-single-precision-constant") == 0 || strcmp(w, "-cl-fast-relaxed-math") == 0 ||
               strcmp(w, "-cl-finite-math-only") == 0) {
        gs_strings_add(arena, out, w);
    } else if (strcmp(w, "-x") == 0) {
        *why = "it is not written in OpenCL C (-x)";
    } else if ((v = option_value(words, i, "-D"))) {
        gs_strings_add(arena, out, gs_arena_printf(arena, "-D%s", v));
    } else if ((v = option_value(words, i, "-U"))) {
        gs_strings_add(arena, out, gs_arena_printf(arena, "-U%s", v));
    } else if ((v = option_value(words, i, "-I"))) {
        gs_strings_add(arena, out, gs_arena_printf(arena, "-I%s", v));
    }
}

/* libclang's package comes without the header of the OpenCL types, so ours lies beside the translator; a program that
 * is elsewhere (a test) has libclang's own. */
static void add_header_dir(struct gs_arena *arena, struct gs_strings *out)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return;
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    const char *dir = gs_arena_printf(arena, "%s/clang/include", self);
    if (access(gs_arena_printf(arena, "%s/opencl-c-base.h", dir), R_OK) < 0)
        return;
    gs_strings_add(arena, out, "-isystem"); /* -resource-dir is libclang's own to set */
    gs_strings_add(arena, out, dir);
}

void gs_clang_arguments(struct gs_arena *arena, const struct gs_translate_unit *unit,
                        const struct gs_translate_device *device, const char *header_dir, struct gs_strings *out,
                        const char **why)
{
    static const char *const fixed[] = {"-x",      "cl",
                                        "-Xclang", "-fdeclare-opencl-builtins",
                                        "-Xclang", "-finclude-default-header",
                                        "-w",      "-ferror-limit=8"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        gs_strings_add(arena, out, fixed[i]);
    add_header_dir(arena, out);
    add_device(arena, device, out);
    if (unit->n_headers > 0)
        gs_strings_add(arena, out, gs_arena_printf(arena, "-I%s", header_dir));
    const char *standard = default_standard(device->opencl_c_version);
    struct gs_strings words = {0};
    gs_split_options(arena, unit->options, &words);
    for (uint32_t i = 0; i < words.n; i++)
        add_build_option(arena, &words, &i, out, &standard, why);
    gs_strings_add(arena, out, standard);
    gs_strings_add(arena, out, "-I."); /* last: where the drivers look for "file.h" that no -I has */
}
