/* SPDX-License-Identifier: MIT */
/* gpusparc --complete: what the words of a command line may become, for the completions of shells. */
#ifndef GS_CLI_COMPLETE_H
#define GS_CLI_COMPLETE_H

/* The words behind "gpusparc", the last of which is to be completed and may be empty. Prints a candidate a line: the
 * word, a tab, for an option what its value is called (if that stands in a word of its own), a tab, and what it is for.
 * Those that don't begin as the last word does are left out. One line ":files" where it is a file, ":app N" where it
 * belongs to an application, which is word N of those given. The options are those that --help names. */
void gs_complete(int argc, char **argv);

#endif
