/* SPDX-License-Identifier: MIT */
/* The daemon's socket, signals and timers: one epoll loop around the core. */
#ifndef GS_SCHEDULER_SERVER_H
#define GS_SCHEDULER_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct gs_server_options {
    const char *socket;
    mode_t socket_mode;
    const char *config; /* path */
    bool config_given;  /* named by the user: it must be there */
    const char *trace;  /* null: none */
    unsigned gpus;      /* 0: as many as the machine shows; the config goes before both */
};

/* Runs until SIGTERM or SIGINT. 0, or -errno after having said why it could not start. */
int gs_server_run(const struct gs_server_options *options);

#endif
