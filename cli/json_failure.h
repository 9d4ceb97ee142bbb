/* SPDX-License-Identifier: MIT */
/* With --json a command that fails says so in JSON, too: {"error": "...", "errors": ["...", ...], "status": N} on
 * stdout, where it has printed nothing else there. The sentences are those on stderr; what another
 * program has written there (gpusparc-probe) isn't among them. */
#ifndef GS_CLI_JSON_FAILURE_H
#define GS_CLI_JSON_FAILURE_H

/* Before the command runs: from now on what goes to stdout is counted, and errors are kept. */
void gs_json_failure_begin(void);

/* The command has ended with that status. */
void gs_json_failure_end(int status);

#endif
