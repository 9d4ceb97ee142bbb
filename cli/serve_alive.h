/* SPDX-License-Identifier: MIT */
/* gpusparc serve: whether a server still answers. It is asked by a connection that says no secret, which a server lets
 * go of at once: by its thread that hears all connections, so that this one lives is what is known. */
#ifndef GS_CLI_SERVE_ALIVE_H
#define GS_CLI_SERVE_ALIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gs_serve_alive {
    int fd;           /* the question that is asked; -1: none is */
    int64_t asked_ms; /* when it, or the last one, was */
    bool said;
    uint64_t ran_ns; /* of that thread's time, by then */
};

/* A connection to a server, or the server's place bound to; -1: no. `flags`: of socket(), such as SOCK_NONBLOCK. */
int gs_serve_socket(const char *address, unsigned port, bool connects, int flags);

/* Called now and then. False: process `pid`, which listens there, hasn't answered for 2 s, while that thread slept, or
 * for 10 s. Servers of an engine that doesn't name that thread are said to answer. */
bool gs_serve_alive(struct gs_serve_alive *a, pid_t pid, const char *address, unsigned port);

#endif
