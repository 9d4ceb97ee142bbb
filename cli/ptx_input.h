/* SPDX-License-Identifier: MIT */
/* The options --ptx, --kernel, --path, --loop and --expand, which `makespan` and `timing` share. */
#ifndef GS_CLI_PTX_INPUT_H
#define GS_CLI_PTX_INPUT_H

#include "gema/ptx.h"

#define PTX_INPUT_USAGE                                                                                                \
    "  --ptx FILE           PTX text, as clGetProgramInfo(CL_PROGRAM_BINARIES) gives it on NVIDIA\n"                   \
    "  --kernel NAME        which kernel (default: the only one)\n"                                                    \
    "  --path STRING        t (taken) or n for each predicated branch or return met, loops apart\n"                    \
    "  --loop LABEL=N       the loop that begins at LABEL has N turns, the one in which it is left included; one\n"    \
    "                       option for each loop. If a single branch inside leaves it, that is taken in turn N\n"      \
    "  --expand OPCODE=N    OPCODE stands for N machine instructions (div, rem, sqrt.rn, ... are emulated)\n"

enum { PTX_FILE = 1024, PTX_KERNEL, PTX_PATH, PTX_LOOP, PTX_EXPAND };

#define PTX_INPUT_OPTIONS                                                                                              \
    {"ptx", required_argument, NULL, PTX_FILE}, {"kernel", required_argument, NULL, PTX_KERNEL},                       \
        {"path", required_argument, NULL, PTX_PATH}, {"loop", required_argument, NULL, PTX_LOOP},                      \
    {                                                                                                                  \
        "expand", required_argument, NULL, PTX_EXPAND                                                                  \
    }

struct ptx_input {
    const char *file, *kernel;
    struct gs_ptx_walk_options walk;
    char **owned; /* copies of the labels and opcodes */
    size_t n_owned;
    struct gs_ptx_loop *loop;
    struct gs_ptx_expand *expand;
};

/* Takes one of the options above. False with a message. */
bool ptx_input_option(struct ptx_input *p, int option, const char *argument);
void ptx_input_free(struct ptx_input *p);

/* Reads the file and walks the path. False with a message. The caller frees both. */
bool ptx_input_read(const struct ptx_input *p, struct gs_ptx_kernel *kernel, struct gs_ptx_trace *trace);

/* A whole decimal number between the limits. False with a message that names the option. */
bool cli_read_number(const char *text, uint64_t least, uint64_t most, const char *option, uint64_t *value);

/* The whole file as a string, or null with a message. The caller frees. */
char *cli_read_file(const char *path);

#endif
