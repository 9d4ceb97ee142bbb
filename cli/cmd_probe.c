/* SPDX-License-Identifier: MIT */
/* gpusparc probe: starts the worker that measures a device's predictability. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/paths.h"
#include "common/json_failure.h"
#include "common/log.h"

static const char usage[] =
    "Usage: gpusparc probe order   [--by clock|atomic] [--of group|warp] [--count N|A..B] [--runs C] [OPTION...]\n"
    "       gpusparc probe sum     [--elements N] [--condition K] [--runs C] [OPTION...]\n"
    "       gpusparc probe latency [--warps N|A..B] [--runs C] [OPTION...]\n"
    "       gpusparc probe starts  [--warps N] [--runs C] [--schedulers N] [OPTION...]\n"
    "       gpusparc probe handover [--runs C] [--kernel US] [--margin P] [OPTION...]\n"
    "Measures how predictable a device is. docs/probes.md says what the numbers mean. Nothing else should use the "
    "device.\n"
    "\norder: in which order a device runs work-groups, or the warps of a group\n"
    "  --by clock|atomic    by a clock that each reads (default), or by the place each draws from a counter\n"
    "  --of group|warp      groups of one warp (default), or the warps of one group on each compute unit\n"
    "  --count N|A..B       how many groups, or warps in a group (default 1..32)\n"
    "  --runs C             launches for each (default 1000)\n"
    "  --sync               a barrier first\n"
    "  --init               the context is destroyed and made anew before each launch\n"
    "  --distinct N         different vectors counted exactly; memory grows with it (default 4194304)\n"
    "\nsum: the same floats summed again and again\n"
    "  --elements N         how many (default 1024)\n"
    "  --condition K        condition number of the sum, 1 to 1e30 (default 1e8)\n"
    "  --methods LIST       of atomic, warp, tree, exact (default all)\n"
    "  --runs C             sums by each method (default 1000)\n"
    "  --input FILE         the floats of a file (4 bytes each, as in memory) instead\n"
    "  --permute            another order of the elements for each run\n"
    "  --groups G, --local L  the launch (default: 8 groups per compute unit, of 256)\n"
    "  --seed S             of the vector (default 1)\n"
    "\nlatency: cycles per instruction\n"
    "  --warps N|A..B       also with so many warps in a group (default 1)\n"
    "  --runs C             (default 100)\n"
    "  --memory MIB         walked through by global loads (default 256)\n"
    "  --profile FILE       writes a device profile for `gpusparc timing --profile FILE`\n"
    "  --schedulers N, --scheduler-cycles N  of a compute unit, for the profile (default 4 and 1 on NVIDIA, else 1 and "
    "1)\n"
    "\nstarts: when each warp of a group starts, and how often that differs\n"
    "  --warps N            in the group (default 16)\n"
    "  --runs C             (default 100)\n"
    "  --schedulers N       of a compute unit, for the table: warp w belongs to w mod N (default 4 on NVIDIA, else 1)\n"
    "\nhandover: how long a device idles when it passes from one process to another, for the config\n"
    "  --runs C             turns (default 2000)\n"
    "  --kernel US          what each turn's kernel takes, in microseconds (default 200)\n"
    "  --margin P           percent on top of the longest time seen (default 20)\n"
    "\nall:\n"
    "  --device I           GPUs of all platforms first (default 0)\n"
    "  --json               instead of the table\n"
    "  --plot FILE          a picture: FILE ends in .svg, .png or .pdf\n"
    "  --note TEXT          kept in the JSON, such as the clock that is set\n"
    "  --state FILE         keeps what was measured in FILE, once a minute too\n"
    "  --resume             goes on from --state FILE\n"
    "  --force              without asking gpusparcd\n"
    "Ctrl-C stops a probe, which then reports what it has, marked as cut short, and exits with 130.\n"
    "Where gpusparcd runs, a probe asks it for the GPU and the link alone, from the first run to the last: it waits "
    "for\n"
    "the end of all tasks, pauses when one comes, and other applications wait. --force measures without asking.\n";

/* The worker, once it is known, and the signal that came before. */
static volatile sig_atomic_t worker, early;

static void on_signal(int number)
{
    if (worker > 0)
        kill((pid_t)worker, number);
    else
        early = number;
}

/* Ctrl-Z stops both, and what goes on from there goes on with both. */
static void on_stop(int number)
{
    (void)number;
    if (worker > 0)
        kill((pid_t)worker, SIGSTOP);
    raise(SIGSTOP);
    if (worker > 0)
        kill((pid_t)worker, SIGCONT);
}

enum { CAUGHT = 3 };

static const int caught[CAUGHT] = {SIGINT, SIGTERM, SIGTSTP};

static void catch_signals(struct sigaction old[CAUGHT])
{
    struct sigaction a = {.sa_flags = SA_RESTART};
    for (int i = 0; i < CAUGHT; i++) {
        a.sa_handler = caught[i] == SIGTSTP ? on_stop : on_signal;
        sigaction(caught[i], &a, &old[i]);
    }
}

/* The worker's exit status; it is a process of its own so that its end, whatever it is, can be told. */
static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return GS_EXIT_FAILED;
    if (WIFEXITED(status)) {
        gs_json_failure_is_said();
        return WEXITSTATUS(status);
    }
    gs_error(
        "the probe's worker (process %d) was ended by signal %d (%s) in the middle: the device is free again; what "
        "it had measured since the last --state is lost",
        (int)pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
    return GS_EXIT_FAILED;
}

/* In the child: becomes the worker, which ends with its parent. It has a process group of its own: Ctrl-C is for the
 * probe, not for the linker that a driver's compiler may have started. */
static _Noreturn void become_worker(pid_t parent, const char *path, char **argv)
{
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN); /* it may write to the terminal all the same */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent) {
        execv(path, argv);
        gs_error("the probe's worker %s could not be started: %s", path, strerror(errno));
        gs_json_failure_end(GS_EXIT_FAILED);
    }
    _exit(GS_EXIT_FAILED);
}

static int run(int argc, char **argv)
{
    char path[PATH_MAX];
    struct sigaction old[CAUGHT];
    (void)argc;
    int rc = gs_library_path("gpusparc-probe", path, sizeof(path));
    if (rc < 0) {
        gs_error("the probe's worker was not found: %s", strerror(-rc));
        return GS_EXIT_FAILED;
    }
    argv[0] = path;
    catch_signals(old);
    const pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        for (int i = 0; i < CAUGHT; i++)
            sigaction(caught[i], &old[i], NULL);
        become_worker(self, path, argv);
    }
    if (pid < 0) {
        gs_error("the probe's worker could not be started: %s", strerror(errno));
        return GS_EXIT_FAILED;
    }
    worker = pid;
    if (early)
        kill(pid, early);
    return wait_for(pid);
}

const struct gs_command gs_cmd_probe = {
    .name = "probe",
    .summary = "how predictable a device is: order, summation, latency",
    .usage = usage,
    .run = run,
};
