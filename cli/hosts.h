/* SPDX-License-Identifier: MIT */
/* The servers of `--hosts`: one for each host, started over ssh for one run and ended with it. */
#ifndef GS_CLI_HOSTS_H
#define GS_CLI_HOSTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/engine.h"
#include "cli/serve_links.h"
#include "common/settings.h"

enum { GS_HOSTS_MOST = 16, GS_HOST_NAME_BYTES = 128 };

enum gs_host_state {
    GS_HOST_SILENT,  /* nothing has been heard of it */
    GS_HOST_GREETED, /* its gpusparc has answered */
    GS_HOST_READY,   /* its server takes connections */
    GS_HOST_OUT,     /* left out or lost; `why` says why */
};

/* How bytes go from one host to another. */
enum gs_way_there {
    GS_WAY_AROUND, /* through this machine */
    GS_WAY_ASKED,  /* the first has been asked to reach the second, */
    GS_WAY_DIRECT, /* and does */
};

struct gs_host_device {
    unsigned index; /* the server's number */
    bool is_gpu, is_cpu;
    char name[128];
    double rate;     /* as cmd_serve.c has it; 0: it doesn't say */
    bool apart;      /* it has a server of its own, whose only one it is, ... */
    unsigned offset; /* ... at the host's port and so many */
};

struct gs_host {
    char name[GS_HOST_NAME_BYTES]; /* as ssh takes it */
    unsigned most;                 /* use so many of its GPUs; 0: all */
    bool all;                      /* use what isn't a GPU, too */
    enum gs_host_state state;
    char why[256];
    pid_t pid;                        /* of ssh, or of gpusparc serve for localhost */
    int to, from;                     /* its standard input and output */
    char address[64];                 /* where the application connects to, */
    unsigned port;                    /* at this port and the next; */
    unsigned far_port;                /* there they are these */
    unsigned pairs;                   /* so many such pairs in a row; 0: one */
    char where[GS_SERVE_WHERE_BYTES]; /* gs_serve_where() there */
    unsigned tries;                   /* with other ports */
    int64_t begun_ms;                 /* when it was started, */
    int64_t heard_ms;                 /* when it last said something, */
    int64_t said_ms;                  /* and when we did */
    int64_t parted_ms;                /* its way to another host has ended then; 0: none has */
    unsigned parted_from;
    char line[512]; /* what has come of its next line */
    unsigned line_bytes;
    char last[192]; /* its last line that is none of gpusparc serve's: ssh's own words */
    struct gs_host_device device[GS_MAX_DEVICES];
    unsigned n_devices;
};

struct gs_hosts {
    struct gs_host host[GS_HOSTS_MOST];
    unsigned n;
    bool plain; /* no ssh tunnels: the servers listen where other machines reach them */
    struct gs_engine engine;
    char secret[GS_SERVE_SECRET_BYTES]; /* of the run: connections to its servers begin with it */
    int limit_ms; /* a host that is silent for longer is unreachable, or lost; GPUSPARC_HOSTS_TIMEOUT in seconds */
    struct {
        enum gs_way_there way;
        char why[128]; /* one goes around, where it was asked for */
    } link[GS_HOSTS_MOST][GS_HOSTS_MOST];
};

/* Reads "a[:N],b:all,localhost". 0, or -EINVAL with a sentence that names `called`. */
int gs_hosts_parse(struct gs_hosts *h, const char *list, const char *called, char *why, size_t why_bytes);

/* Starts all servers and waits until each is ready or out, of which it warns. 0; -ENOENT: there is no engine;
 * -ENODEV: none of them has a device; -EHOSTUNREACH: `all` was asked for, and one is out. With one sentence. */
int gs_hosts_start(struct gs_hosts *h, bool all, char *why, size_t why_bytes);

/* Tells the driver, and the shim, which devices there are: by the environment. In the list's order, but for home, which
 * is the first. */
int gs_hosts_set_environment(const struct gs_hosts *h);

/* Takes in what the servers say, for at most so long or until `other`, a descriptor or -1, can be read; and lets them
 * hear from us. The host that is lost, or null. */
struct gs_host *gs_hosts_attend(struct gs_hosts *h, int other, int wait_ms);

/* Do bytes go from the one host to the other without this machine? */
bool gs_hosts_are_linked(const struct gs_hosts *h, unsigned i, unsigned j);

/* Ends all servers, and waits until they are gone. */
void gs_hosts_end(struct gs_hosts *h);

#endif
