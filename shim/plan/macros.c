/* SPDX-License-Identifier: MIT */
/* See prepare.h, section macros.c. To learn which macros the compiler predefines we build a program with a kernel for
 * each that is defined, and gpusparc_macros, so that nothing has to run: gpusparc_0_3 says that macro 0, known to be a
 * number, is 3, and gpusparc_1_y that macro 1 is defined. Told are names with their values, and those that aren't
 * defined: "A=3 B= C ". */
#include "shim/plan/prepare.h"

#include <ctype.h>
#include <stdio.h>

#include "common/cache.h"
#include "common/log.h"
#include "shim/process/threads.h"

enum { MOST_NAMES = 1024 };

static const char *const numbers[] = {
    "__clang_major__",      "__clang_minor__",     "__clang_patchlevel__", "__GNUC__",
    "__GNUC_MINOR__",       "__GNUC_PATCHLEVEL__", "__STDC_VERSION__",     "__OPENCL_VERSION__",
    "__OPENCL_C_VERSION__", "__NV_CL_C_VERSION",   "__CUDA_ARCH__",        "POCL_DEVICE_ADDRESS_BITS",
    "__SIZEOF_POINTER__",   "__SIZEOF_SIZE_T__",   "__SIZEOF_LONG__",
};
/* Macros that clang or another compiler of OpenCL C is known to define, some by one compiler alone. Of extensions only
 * such as some compiler defines even if the device doesn't list them; others are asked for if the device lists them. */
static const char flags[] =
    "CL_VERSION_2_0 CL_VERSION_2_1 CL_VERSION_2_2 CL_VERSION_3_0 __IMAGE_SUPPORT__ __ENDIAN_LITTLE__ "
    "__LITTLE_ENDIAN__ __BIG_ENDIAN__ __STDC__ __STDC_HOSTED__ __STRICT_ANSI__ __LP64__ _LP64 __ILP32__ __ELF__ "
    "__CHAR_UNSIGNED__ __SIZEOF_INT128__ __FP_FAST_FMA __FP_FAST_FMAF FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMA_HALF "
    "__SSE__ __SSE2__ __SSE3__ __SSE4_1__ __SSE4_2__ __AVX__ __AVX2__ __AVX512F__ __FMA__ __F16C__ __POPCNT__ "
    "__ARM_NEON __clang__ __llvm__ __block __BLOCKS__ __OBJC_BOOL_IS_BOOL __CONSTANT_CFSTRINGS__ __SPIR__ "
    "__SPIR32__ __SPIR64__ __SPIRV__ __SPIR __SPIR64 __NVPTX__ __PTX__ __AMD__ __AMDGCN__ __AMDGPU__ __R600__ "
    "__GPU__ __CPU__ __x86_64__ __x86_64 __amd64__ __amd64 __i386__ __i386 i386 __aarch64__ __arm__ __powerpc64__ "
    "__riscv __linux__ __linux linux __gnu_linux__ __unix__ __unix unix __OPENCL_CL_H _POCL_ POCL_VERSION "
    "__INTEL_OPENCL_RUNTIME_VERSION__ __IGC_BUILD__ NVIDIA AMD CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE "
    "__opencl_subgroup_builtins __MESA__ __cl_clang_function_pointers __cl_clang_variadic_functions "
    "__cl_clang_bitfields __cl_clang_non_portable_kernel_param_types cl_clang_storage_class_specifiers "
    "__opencl_c_3d_image_writes __opencl_c_atomic_order_acq_rel __opencl_c_atomic_order_seq_cst "
    "__opencl_c_atomic_scope_all_devices __opencl_c_atomic_scope_device __opencl_c_device_enqueue __opencl_c_fp16 "
    "__opencl_c_fp64 __opencl_c_generic_address_space __opencl_c_images __opencl_c_int64 __opencl_c_pipes "
    "__opencl_c_program_scope_global_variables __opencl_c_read_write_images __opencl_c_subgroups "
    "__opencl_c_work_group_collective_functions __opencl_c_ext_fp16_global_atomic_add "
    "__opencl_c_ext_fp16_global_atomic_load_store __opencl_c_ext_fp16_global_atomic_min_max "
    "__opencl_c_ext_fp16_local_atomic_add __opencl_c_ext_fp16_local_atomic_load_store "
    "__opencl_c_ext_fp16_local_atomic_min_max __opencl_c_ext_fp32_global_atomic_add "
    "__opencl_c_ext_fp32_global_atomic_min_max __opencl_c_ext_fp32_local_atomic_add "
    "__opencl_c_ext_fp32_local_atomic_min_max __opencl_c_ext_fp64_global_atomic_add "
    "__opencl_c_ext_fp64_global_atomic_min_max __opencl_c_ext_fp64_local_atomic_add "
    "__opencl_c_ext_fp64_local_atomic_min_max __opencl_c_ext_image_raw10_raw12 "
    "__opencl_c_integer_dot_product_input_4x8bit __opencl_c_integer_dot_product_input_4x8bit_packed "
    "__opencl_c_kernel_clock_scope_device __opencl_c_kernel_clock_scope_sub_group "
    "__opencl_c_kernel_clock_scope_work_group cl_khr_3d_image_writes cl_khr_byte_addressable_store "
    "cl_khr_depth_images cl_khr_extended_bit_ops cl_khr_fp16 cl_khr_fp64 cl_khr_gl_msaa_sharing cl_khr_gl_sharing "
    "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_int64_base_atomics "
    "cl_khr_int64_extended_atomics cl_khr_integer_dot_product cl_khr_kernel_clock cl_khr_local_int32_base_atomics "
    "cl_khr_local_int32_extended_atomics cl_khr_mipmap_image cl_khr_mipmap_image_writes "
    "cl_khr_select_fprounding_mode cl_khr_srgb_image_writes cl_khr_subgroup_ballot "
    "cl_khr_subgroup_clustered_reduce cl_khr_subgroup_extended_types cl_khr_subgroup_non_uniform_arithmetic "
    "cl_khr_subgroup_non_uniform_vote cl_khr_subgroup_rotate cl_khr_subgroup_shuffle "
    "cl_khr_subgroup_shuffle_relative cl_khr_subgroups cl_ext_float_atomics";

struct question {
    const char *name[MOST_NAMES];
    unsigned n, n_numbers;
};

static bool is_identifier(const char *s)
{
    for (const char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return *s && !isdigit((unsigned char)*s);
}

/* The numbers above, and these names, which are cut apart. One that is asked for twice is answered twice. */
static void make_question(struct question *q, char *names)
{
    char *rest = NULL;
    *q = (struct question){.n_numbers = sizeof numbers / sizeof *numbers};
    for (size_t i = 0; i < q->n_numbers; i++)
        q->name[q->n++] = numbers[i];
    for (char *word = strtok_r(names, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (q->n < MOST_NAMES && is_identifier(word))
            q->name[q->n++] = word;
}

/* NULL: no memory. */
static char *text_of(const struct question *q)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    if (!f)
        return NULL;
    fprintf(f, "#define P_(i, value) gpusparc_##i##_##value\n#define P(i, value) P_(i, value)\n"
               "__kernel void gpusparc_macros(__global int *unused)\n{\n}\n");
    for (unsigned i = 0; i < q->n; i++)
        fprintf(f, "#ifdef %s\n__kernel void P(%u, %s)(__global int *unused)\n{\n}\n#endif\n", q->name[i], i,
                i < q->n_numbers ? q->name[i] : "y");
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* The names of the kernels, with a ';' between them. NULL: the compiler has refused. */
static char *build(struct gs_context *ctx, const char *text, const char *options)
{
    cl_int err;
    size_t bytes = 0;
    char *names = NULL;
    cl_program program = gs_own_program(ctx->o.handle, ctx->dev, 1, text, options, &err);
    if (!err)
        err = gs_real()->clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &bytes);
    if (!err && (names = calloc(1, bytes + 1)))
        err = gs_real()->clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, bytes, names, NULL);
    GS_RELEASE(Program, program);
    if (!err)
        return names;
    free(names);
    return NULL;
}

/* Makes the answer from the kernels' names; NULL: no memory. */
static char *read_answer(const struct question *q, const char *names)
{
    char *answer = NULL;
    size_t bytes;
    FILE *f = open_memstream(&answer, &bytes);
    if (!f)
        return NULL;
    for (unsigned i = 0; i < q->n; i++) {
        char begin[32];
        snprintf(begin, sizeof begin, "gpusparc_%u_", i);
        const char *at = strstr(names, begin), *value = at ? at + strlen(begin) : "";
        fprintf(f, at ? "%s=%.*s " : "%s ", q->name[i], i < q->n_numbers ? (int)strcspn(value, ";") : 0, value);
    }
    if (fclose(f) == 0)
        return answer;
    free(answer);
    return NULL;
}

/* The option that chooses the language, "" where there is none. */
static void language_of(const char *options, char *out, size_t bytes)
{
    static const char begin[] = "-cl-std=";
    const char *last = NULL;
    for (const char *p = options; (p = strstr(p, begin)); p++)
        last = p;
    snprintf(out, bytes, "%.*s", last ? (int)strcspn(last, " \t\n") : 0, last ? last : "");
}

/* From the cache, or by asking the compiler; "": it doesn't say. */
static char *find_out(struct gs_context *ctx, const struct question *q, const char *text, const char *language)
{
    char name[GS_HASH_HEX_BYTES + 16] = "macros-", platform[256] = "";
    struct gs_hash h;
    size_t bytes = 0;
    gs_real()->clGetPlatformInfo(gs_group()->platform, CL_PLATFORM_VERSION, sizeof platform - 1, platform, NULL);
    gs_hash_begin(&h);
    gs_hash_add_text(&h, platform);
    gs_devices_hash(ctx->dev, ctx->n, &h);
    gs_hash_add_text(&h, language);
    gs_hash_add_text(&h, text);
    gs_hash_end_hex(&h, name + strlen(name));
    char *answer = gs_cache_read(name, &bytes);
    if (answer || !gs_threads_enter())
        return answer;
    gs_threads_compile(true);
    char *kernels = build(ctx, text, language);
    gs_threads_compile(false);
    answer = kernels && strstr(kernels, "gpusparc_macros") ? read_answer(q, kernels) : NULL;
    gs_debug("the device's compiler %s which macros it defines", answer ? "has said" : "doesn't say");
    free(kernels);
    answer = answer ? answer : calloc(1, 1);
    if (answer)
        gs_cache_write(name, answer, strlen(answer) + 1);
    gs_threads_leave();
    return answer;
}

char *gs_device_macros(struct gs_context *ctx, const char *options)
{
    struct question q;
    char language[32], *names = NULL, *answer = NULL;
    char *extensions = gs_device_text(ctx->dev[0], CL_DEVICE_EXTENSIONS);
    language_of(options, language, sizeof language);
    if (extensions && asprintf(&names, "%s %s", flags, extensions) < 0)
        names = NULL;
    if (names) {
        make_question(&q, names);
        char *text = text_of(&q);
        answer = text ? find_out(ctx, &q, text, language) : NULL;
        free(text);
    }
    free(names);
    free(extensions);
    if (answer && *answer)
        return answer;
    free(answer);
    return NULL;
}
