/* SPDX-License-Identifier: MIT */
/* gpusparc: finds the subcommand and hands over to it. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/complete.h"
#include "common/json_failure.h"
#include "common/log.h"
#include "common/options.h"
#include "common/variables.h"

static void print_help(FILE *out)
{
    fputs("Usage: gpusparc COMMAND [ARGUMENT...]\n"
          "Runs OpenCL applications written for one GPU on all GPUs of the machine.\n\nCommands:\n",
          out);
    for (int i = 0; gs_commands[i]; i++)
        fprintf(out, "  %-10s %s\n", gs_commands[i]->name, gs_commands[i]->summary);
    fputs("\n`gpusparc COMMAND --help` tells more of a command, and so does its page, `man gpusparc-COMMAND`.\n"
          "`gpusparc --version` (-V) prints the version.\n",
          out);
}

static const struct gs_command *find_command(const char *name)
{
    for (int i = 0; gs_commands[i]; i++)
        if (strcmp(gs_commands[i]->name, name) == 0)
            return gs_commands[i];
    return NULL;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* Is help asked for, anywhere among the command's own words? An application's are none of ours. */
static bool asks_for_help(const struct gs_command *cmd, int argc, char **argv)
{
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (is_help(argv[i]))
            return true;
        else if (cmd->starts_app)
            return false;
    return false;
}

static bool asks_for_json(const struct gs_command *cmd, int argc, char **argv)
{
    if (!strstr(cmd->usage, "--json"))
        return false;
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

static const char *command_name(const void *list, size_t i)
{
    const struct gs_command *cmd = ((const struct gs_command *const *)list)[i];
    return cmd ? cmd->name : NULL;
}

static int no_such_command(const char *name)
{
    const char *meant = gs_nearest(name, command_name, gs_commands);
    if (meant)
        gs_error("there is no command '%s'; did you mean %s? see gpusparc --help", name, meant);
    else
        gs_error("there is no command '%s'; see gpusparc --help", name);
    return GS_EXIT_USAGE;
}

static int run(int argc, char **argv)
{
    const struct gs_command *cmd;
    if (argc < 2) {
        print_help(stderr);
        return GS_EXIT_USAGE;
    }
    if (is_help(argv[1]) || strcmp(argv[1], "help") == 0) {
        cmd = argc > 2 ? find_command(argv[2]) : NULL;
        if (argc > 2 && !cmd)
            return no_such_command(argv[2]);
        if (cmd)
            fputs(cmd->usage, stdout);
        else
            print_help(stdout);
        return GS_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("gpusparc " GS_VERSION);
        return GS_EXIT_OK;
    }
    if (strcmp(argv[1], "--complete") == 0) {
        gs_complete(argc - 2, argv + 2);
        return GS_EXIT_OK;
    }
    cmd = find_command(argv[1]);
    if (!cmd)
        return no_such_command(argv[1]);
    if (asks_for_help(cmd, argc, argv)) {
        fputs(cmd->usage, stdout);
        return GS_EXIT_OK;
    }
    gs_say_unknown_variables();
    if (!asks_for_json(cmd, argc, argv))
        return cmd->run(argc - 1, argv + 1);
    gs_json_failure_begin();
    const int status = cmd->run(argc - 1, argv + 1);
    gs_json_failure_end(status);
    return status;
}

int main(int argc, char **argv)
{
    gs_log_init("gpusparc");
    return gs_exit_status(run(argc, argv), GS_EXIT_FAILED);
}
