/* SPDX-License-Identifier: MIT */
/* From build options and a device to clang's arguments. */
#include "translator/parsing/options.h"

#include <stdio.h>
#include <string.h>

#include "translator/parsing/need.h"

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

bool gs_options_define(struct gs_arena *arena, const char *options, const char *name)
{
    struct gs_strings words = {0};
    size_t n = strlen(name);
    gs_split_options(arena, options, &words);
    for (uint32_t i = 0; i < words.n; i++) {
        const char *w = words.v[i];
        if ((strcmp(w, "-D") == 0 || strcmp(w, "-U") == 0) && i + 1 < words.n)
            w = words.v[++i];
        else if (strncmp(w, "-D", 2) == 0 || strncmp(w, "-U", 2) == 0)
            w += 2;
        else
            continue;
        if (strncmp(w, name, n) == 0 && (w[n] == 0 || w[n] == '='))
            return true;
    }
    return false;
}

bool gs_device_macro(struct gs_arena *arena, const char *macros, const char *name, const char **value)
{
    const size_t n = strlen(name);
    for (const char *p = macros; *p; p += strcspn(p, " "), p += *p == ' ') {
        const size_t word = strcspn(p, " ");
        if (word < n || strncmp(p, name, n) != 0 || (word > n && p[n] != '='))
            continue;
        *value = word == n ? NULL : gs_need(gs_arena_copy(arena, p + n + 1, word - n - 1));
        return true;
    }
    return false;
}

const char *gs_device_macros_header(struct gs_arena *arena, const char *macros, const char *options)
{
    const char *text = "#pragma GCC system_header\n"; /* nothing in it is the application's */
    for (const char *p = macros; *p; p += strcspn(p, " "), p += *p == ' ') {
        const size_t word = strcspn(p, " "), n = strcspn(p, "= ");
        const char *name = gs_need(gs_arena_copy(arena, p, n));
        const bool unknown = word == n + 1;
        if (gs_options_define(arena, options, name))
            continue;
        if (word == n)
            text = gs_arena_printf(arena, "%s#undef %s\n", text, name);
        else if (unknown)
            text = gs_arena_printf(arena, "%s#ifndef %s\n#define %s 1\n#endif\n", text, name, name);
        else
            text = gs_arena_printf(arena, "%s#undef %s\n#define %s %.*s\n", text, name, name, (int)(word - n - 1),
                                   p + n + 1);
        gs_need((void *)(uintptr_t)text);
    }
    return text;
}

/* "OpenCL C 1.2 …" and "OpenCL 1.2 …" to 120; 0 where it can't be read. */
static unsigned read_version(const char *s)
{
    unsigned major, minor;
    if (sscanf(s, "OpenCL C %u.%u", &major, &minor) != 2 && sscanf(s, "OpenCL %u.%u", &major, &minor) != 2)
        return 0;
    return major < 10 && minor < 10 ? major * 100 + minor * 10 : 0;
}

enum vendor { VENDOR_OTHER, VENDOR_NVIDIA, VENDOR_POCL };

/* What the language of a unit is, as its compiler sees it. */
struct dialect {
    const struct gs_translate_device *device;
    enum vendor vendor;
    unsigned standard; /* 100 … 300 */
    unsigned version;  /* __OPENCL_VERSION__ */
};

static enum vendor vendor_of(const struct gs_translate_device *d)
{
    if (strstr(d->vendor, "NVIDIA") || strstr(d->platform, "NVIDIA"))
        return VENDOR_NVIDIA;
    return strstr(d->platform, "Portable Computing Language") ? VENDOR_POCL : VENDOR_OTHER;
}

/* OpenCL C specification, section "Options Controlling the OpenCL C version": without -cl-std it is the highest 1.x
 * that the device knows. NVIDIA's compiler (driver 580) and PoCL 3.1 take 3.0 where the device is of that version. */
static void choose_standard(struct dialect *l, unsigned asked)
{
    const struct gs_translate_device *d = l->device;
    unsigned device = read_version(d->device_version ? d->device_version : ""),
             language = read_version(d->opencl_c_version);
    if (device == 0)
        device = l->vendor == VENDOR_OTHER && language ? language : 300;
    if (asked)
        l->standard = asked;
    else if (l->vendor != VENDOR_OTHER && device >= 300)
        l->standard = 300;
    else
        l->standard = language == 100 || language == 110 ? language : 120;
    l->version = l->vendor == VENDOR_NVIDIA ? l->standard : device;
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

static bool has_extension(const struct gs_translate_device *d, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = d->extensions; (p = strstr(p, name)); p += n)
        if ((p == d->extensions || p[-1] == ' ') && (p[n] == 0 || p[n] == ' '))
            return true;
    return false;
}

/* OpenCL C 3.0's features: what the compilers that we know define. clang wants those that go with an extension to be on
 * and off together with it. */
static const char *features(struct gs_arena *arena, const struct dialect *l)
{
    const struct gs_translate_device *d = l->device;
    const char *s = has_extension(d, "cl_khr_fp64") ? ",+__opencl_c_fp64" : "";
    if (has_extension(d, "cl_khr_3d_image_writes"))
        s = gs_arena_printf(arena, "%s,+__opencl_c_3d_image_writes", s);
    if (d->image_support)
        s = gs_arena_printf(arena, "%s,+__opencl_c_images", s);
    if (d->image_support && l->vendor != VENDOR_NVIDIA)
        s = gs_arena_printf(arena, "%s,+__opencl_c_read_write_images", s);
    if (l->vendor != VENDOR_NVIDIA)
        s = gs_arena_printf(arena, "%s,+__opencl_c_atomic_order_acq_rel", s);
    if (l->vendor == VENDOR_OTHER)
        s = gs_arena_printf(arena,
                            "%s,+__opencl_c_generic_address_space,+__opencl_c_atomic_order_seq_cst"
                            ",+__opencl_c_work_group_collective_functions,+__opencl_c_atomic_scope_device",
                            s);
    return gs_need((void *)(uintptr_t)s);
}

/* The same, as the device's compiler has said. */
static const char *told_features(struct gs_arena *arena, const char *macros)
{
    static const char *const known[] = {"__opencl_c_3d_image_writes",
                                        "__opencl_c_atomic_order_acq_rel",
                                        "__opencl_c_atomic_order_seq_cst",
                                        "__opencl_c_atomic_scope_all_devices",
                                        "__opencl_c_atomic_scope_device",
                                        "__opencl_c_device_enqueue",
                                        "__opencl_c_fp64",
                                        "__opencl_c_generic_address_space",
                                        "__opencl_c_images",
                                        "__opencl_c_pipes",
                                        "__opencl_c_program_scope_global_variables",
                                        "__opencl_c_read_write_images",
                                        "__opencl_c_subgroups",
                                        "__opencl_c_work_group_collective_functions"};
    const char *s = "", *value;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (gs_device_macro(arena, macros, known[i], &value) && value)
            s = gs_need(gs_arena_printf(arena, "%s,+%s", s, known[i]));
    return s;
}

static void add_extensions(struct gs_arena *arena, const struct dialect *l, const char *macros, struct gs_strings *out)
{
    const char *known = "-cl-ext=-all";
    for (const char *p = l->device->extensions; *p;) {
        size_t n = strcspn(p, " ");
        if (clang_knows(p, n))
            known = gs_arena_printf(arena, "%s,+%.*s", known, (int)n, p);
        else if (is_identifier(p, n))
            gs_strings_add(arena, out, gs_arena_printf(arena, "-D%.*s=1", (int)n, p));
        p += n + (p[n] == ' ');
    }
    gs_strings_add(arena, out, "-Xclang");
    gs_strings_add(arena, out,
                   l->standard < 300 ? known
                                     : gs_arena_printf(arena, "%s%s", known,
                                                       *macros ? told_features(arena, macros) : features(arena, l)));
}

/* What the vendors' compilers predefine beyond the specification, as their own compilers were asked. */
static void add_vendor_macros(struct gs_arena *arena, const struct dialect *l, struct gs_strings *out)
{
    if (l->vendor == VENDOR_NVIDIA) {
        gs_strings_add(arena, out, gs_arena_printf(arena, "-D__NV_CL_C_VERSION=%u", l->standard));
        gs_strings_add(arena, out, "-D__PTX__=1");
        gs_strings_add(arena, out, "-D__NVPTX__=1");
        gs_strings_add(arena, out, "-Dcl_khr_gl_sharing=1");
    }
    if (l->vendor == VENDOR_POCL)
        gs_strings_add(arena, out, gs_arena_printf(arena, "-DPOCL_DEVICE_ADDRESS_BITS=%u", l->device->address_bits));
}

static void add_device(struct gs_arena *arena, const struct dialect *l, const char *macros, struct gs_strings *out)
{
    gs_strings_add(arena, out, "-target");
    gs_strings_add(arena, out, l->device->address_bits == 32 ? "spir-unknown-unknown" : "spir64-unknown-unknown");
    add_extensions(arena, l, macros, out);
    add_vendor_macros(arena, l, out);
    gs_strings_add(arena, out, gs_arena_printf(arena, "-D__OPENCL_VERSION__=%u", l->version));
    gs_strings_add(arena, out, gs_arena_printf(arena, "-cl-std=CL%u.%u", l->standard / 100, l->standard / 10 % 10));
    gs_strings_add(arena, out, l->device->image_support ? "-D__IMAGE_SUPPORT__=1" : "-U__IMAGE_SUPPORT__");
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
                             struct gs_strings *out, unsigned *standard, const char **why)
{
    const char *w = words->v[*i], *v;
    if (strncmp(w, "-cl-std=", 8) == 0) {
        unsigned major, minor;
        if (sscanf(w + 8, "CL%u.%u", &major, &minor) == 2 && major >= 1 && major <= 3 && minor < 10)
            *standard = major * 100 + minor * 10;
        else
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

void gs_clang_arguments(struct gs_arena *arena, const struct gs_translate_unit *unit,
                        const struct gs_translate_device *device, const char *header_dir, const char *macros,
                        struct gs_strings *out, const char **why)
{
    static const char *const fixed[] = {"-x",
                                        "cl",
                                        "-Xclang",
                                        "-fdeclare-opencl-builtins",
                                        "-Xclang",
                                        "-finclude-default-header",
                                        "-nostdinc",
                                        "-isystem",
                                        GS_CLANG_HEADERS,
                                        "-w",
                                        "-ferror-limit=8"};
    struct dialect l = {.device = device, .vendor = vendor_of(device)};
    struct gs_strings words = {0}, own = {0};
    unsigned standard = 0;
    gs_split_options(arena, unit->options, &words);
    for (uint32_t i = 0; i < words.n; i++)
        add_build_option(arena, &words, &i, &own, &standard, why);
    choose_standard(&l, standard);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        gs_strings_add(arena, out, fixed[i]);
    add_device(arena, &l, macros, out);
    if (*macros) {
        gs_strings_add(arena, out, "-include");
        gs_strings_add(arena, out, GS_DEVICE_MACROS);
    }
    if (unit->n_headers > 0)
        gs_strings_add(arena, out, gs_arena_printf(arena, "-I%s", header_dir));
    for (uint32_t i = 0; i < own.n; i++)
        gs_strings_add(arena, out, own.v[i]);
    gs_strings_add(arena, out, "-I."); /* last: where the drivers look for "file.h" that no -I has */
}
