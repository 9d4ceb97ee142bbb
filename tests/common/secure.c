/* SPDX-License-Identifier: MIT */
/* A setuid program takes nothing from the environment of who has started it: no settings, no socket, no cache. Needs
 * root, to make one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cache.h"
#include "common/client/client.h"
#include "common/settings.h"

enum { SKIPPED = 77 };

/* Where it is built with the sanitizer: a setuid program can't be traced, which looking for leaks does. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* What the program finds: 0: nothing; a bit for each thing that it takes from the environment. */
static int look(void)
{
    struct gs_settings s;
    char why[256], path[256];
    size_t bytes;
    if (gs_settings_from_env(&s, why, sizeof why) != 0)
        return 1;
    gs_client_socket_path(path, sizeof path);
    gs_cache_write("vain-1", "text", 4);
    char *text = gs_cache_read("vain-1", &bytes);
    free(text);
    return (s.mode == GS_MODE_MULTI) << 1 | (strcmp(path, "/nowhere") == 0) << 2 | (text != NULL) << 3;
}

static int copy_to(const char *to)
{
    char buf[65536];
    const int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    ssize_t n = -1;
    while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof buf)) > 0 && write(out, buf, (size_t)n) == n)
        ;
    close(in);
    return close(out) < 0 ? -1 : (int)n;
}

/* The program's answer, started by another user than its owner. */
static int run_as_other(const char *program)
{
    int st;
    const pid_t pid = fork();
    if (pid == 0) {
        if (setgid(1002) == 0 && setuid(1002) == 0)
            execl(program, program, "look", (char *)NULL);
        _exit(99);
    }
    return waitpid(pid, &st, 0) == pid && WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/gs-secure-test.XXXXXX", program[64], cache[64], command[128];
    if (argc > 1)
        return getauxval(AT_SECURE) || getenv("PLAIN") ? look() : SKIPPED;
    if (geteuid() != 0 || !mkdtemp(dir)) {
        puts("left out: that takes root");
        return SKIPPED;
    }
    chmod(dir, 0755);
    snprintf(program, sizeof program, "%s/program", dir);
    snprintf(cache, sizeof cache, "%s/cache", dir);
    mkdir(cache, 0700);
    setenv("GPUSPARC_MODE", "multi", 1);
    setenv("GPUSPARC_SOCKET", "/nowhere", 1);
    setenv("XDG_CACHE_HOME", cache, 1);
    int plain = -1, secure = -1;
    if (copy_to(program) == 0) {
        setenv("PLAIN", "1", 1);
        if (chown(cache, 1002, 1002) == 0)
            plain = run_as_other(program);
        unsetenv("PLAIN");
        snprintf(command, sizeof command, "rm -rf '%s/gpusparc'", cache); /* it was 1002's, and so not to be used */
        if (system(command) == 0 && chown(cache, 1001, 1001) == 0 && chown(program, 1001, 1001) == 0 &&
            chmod(program, 04755) == 0)
            secure = run_as_other(program);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command) != 0)
        return 1;
    printf("plain: %d, setuid: %d\n", plain, secure);
    if (secure == SKIPPED) {
        puts("left out: a file system without setuid");
        return SKIPPED;
    }
    return plain == (1 << 1 | 1 << 2 | 1 << 3) && secure == 0 ? 0 : 1;
}
