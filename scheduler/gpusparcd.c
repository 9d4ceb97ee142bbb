/* SPDX-License-Identifier: MIT */
/* gpusparcd: reads its options and runs the server. It never calls OpenCL. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/options.h"
#include "common/wire.h"
#include "scheduler/server.h"

static const char usage[] =
    "Usage: gpusparcd [--socket PATH] [--config FILE] [--trace FILE] [--gpus N] [--mode OCTAL]\n"
    "Schedules the applications that run under gpusparc on this machine's GPUs.\n\n"
    "  --socket PATH  where applications find it; default: /run/gpusparc.sock for root,\n"
    "                 else gpusparc.sock in $XDG_RUNTIME_DIR; also $GPUSPARC_SOCKET\n"
    "  --config FILE  default: /etc/gpusparc.conf, if there is one\n"
    "  --trace FILE   writes a timeline, for Perfetto or chrome://tracing\n"
    "  --gpus N       how many GPUs, where the config doesn't say; default: NVIDIA's, else 1\n"
    "  --mode OCTAL   of the socket's file; default: 666 for root, else 600\n\n"
    "SIGHUP or `gpusparc reload` reads the config again; SIGTERM ends it.\n";

static const char *default_socket(void)
{
    static char path[4096];
    const char *env = getenv("GPUSPARC_SOCKET"), *dir = getenv("XDG_RUNTIME_DIR");
    if (env && *env)
        return env;
    if (geteuid() == 0)
        return "/run/gpusparc.sock";
    if (!dir || *dir != '/')
        return NULL;
    snprintf(path, sizeof path, "%s/gpusparc.sock", dir);
    return path;
}

static int number(const char *text, int base, long max, long *out)
{
    char *end;
    errno = 0;
    *out = strtol(text, &end, base);
    return errno || end == text || *end || *out < 1 || *out > max ? -EINVAL : 0;
}

/* 0; 1: all is said and done; 2: wrong usage. */
static int read_options(int argc, char **argv, struct gs_server_options *o)
{
    static const struct option options[] = {
        {"socket", required_argument, NULL, 's'}, {"config", required_argument, NULL, 'c'},
        {"trace", required_argument, NULL, 't'},  {"gpus", required_argument, NULL, 'g'},
        {"mode", required_argument, NULL, 'm'},   {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},      {0}};
    long v;
    opterr = 0;
    for (int opt; (opt = getopt_long(argc, argv, "hV", options, NULL)) != -1;) {
        switch (opt) {
        case 's':
            o->socket = optarg;
            break;
        case 'c':
            o->config = optarg;
            o->config_given = true;
            break;
        case 't':
            o->trace = optarg;
            break;
        case 'g':
            if (number(optarg, 10, GS_MAX_GPUS, &v) < 0) {
                gs_error("--gpus takes a number from 1 to %d, not '%s'", GS_MAX_GPUS, optarg);
                return 2;
            }
            o->gpus = (unsigned)v;
            break;
        case 'm':
            if (number(optarg, 8, 0777, &v) < 0) {
                gs_error("--mode takes a file mode as 660, not '%s'", optarg);
                return 2;
            }
            o->socket_mode = (mode_t)v;
            break;
        case 'h':
            fputs(usage, stdout);
            return 1;
        case 'V':
        case 'v':
            puts("gpusparcd " GS_VERSION);
            return 1;
        default:
            gs_option_error(argv, options, "gpusparcd");
            return 2;
        }
    }
    if (optind < argc) {
        gs_error("takes no argument '%s'; see gpusparcd --help", argv[optind]);
        return 2;
    }
    return 0;
}

int main(int argc, char **argv)
{
    gs_log_init("gpusparcd");
    struct gs_server_options o = {.socket = default_socket(), .config = "/etc/gpusparc.conf"};
    o.socket_mode = geteuid() == 0 ? 0666 : 0600;
    int rc = read_options(argc, argv, &o);
    if (rc)
        return rc == 1 ? 0 : rc;
    if (!o.socket) {
        gs_error("has no place for its socket: set XDG_RUNTIME_DIR, or give --socket PATH");
        return 1;
    }
    gs_log_for_daemon();
    return gs_server_run(&o) < 0 ? 1 : 0;
}
