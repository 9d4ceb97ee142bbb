/* SPDX-License-Identifier: MIT */
/* freeze PID [NAME]: stops all threads of the process, or the one of that name, without the process's parent noticing
 * (SIGSTOP it would), until the process ends. Prints how many. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

static int freeze(pid_t tid)
{
    return ptrace(PTRACE_SEIZE, tid, NULL, NULL) == 0 && ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) == 0;
}

static int is_meant(const char *pid, const char *thread, const char *name)
{
    char path[320], line[64] = "";
    snprintf(path, sizeof path, "/proc/%s/task/%s/comm", pid, thread);
    FILE *f = fopen(path, "re");
    if (f && !fgets(line, sizeof line, f))
        *line = '\0';
    if (f)
        fclose(f);
    line[strcspn(line, "\n")] = '\0';
    return *thread != '.' && (!name || strcmp(line, name) == 0);
}

int main(int argc, char **argv)
{
    char path[64];
    int n = 0, status;
    snprintf(path, sizeof path, "/proc/%s/task", argc > 1 ? argv[1] : "none");
    DIR *dir = opendir(path);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        if (is_meant(argv[1], e->d_name, argv[2]))
            n += freeze((pid_t)atoi(e->d_name));
    printf("%d threads\n", n);
    fflush(stdout);
    while (n > 0 && (waitpid(-1, &status, __WALL) > 0 || errno == EINTR)) {
        /* A stop stays until it is let go on: that is never. */
    }
    return n > 0 ? 0 : 1;
}
