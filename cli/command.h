/* SPDX-License-Identifier: MIT */
/* One subcommand of `gpusparc`. Each cli/cmd_NAME.c defines one `const struct gs_command gs_cmd_NAME`. */
#ifndef GS_CLI_COMMAND_H
#define GS_CLI_COMMAND_H

#include <stdbool.h>

struct gs_command {
    const char *name;    /* as typed */
    const char *summary; /* one line, for `gpusparc --help` */
    const char *usage;   /* whole text of `gpusparc NAME --help`, ends in a newline */
    /* argv[0] is the command's name. Returns the exit status: GS_EXIT_OK, GS_EXIT_FAILED or GS_EXIT_USAGE, or what the
     * command documents. That standard output couldn't be written is said afterwards. `--help` has been answered
     * before, but where the command starts an application (whose words may follow): there only as the first argument.
     */
    int (*run)(int argc, char **argv);
    bool starts_app;
};

enum { GS_EXIT_OK = 0, GS_EXIT_FAILED = 1, GS_EXIT_USAGE = 2 };

/* Ends in a null pointer. */
extern const struct gs_command *const gs_commands[];

#endif
