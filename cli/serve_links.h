/* SPDX-License-Identifier: MIT */
/* gpusparc serve: ways from this server to those of other hosts, which the near side asks for, so that bytes between
 * two hosts don't pass through the client. A port of the loopback leads through an ssh of this machine's to the same
 * port of the other one's, and one of that machine's back here; with --hosts-plain there is nothing to make, but to
 * try.
 *
 * The near side says, a line each, "link NUMBER PORT SILENT_MS HOST WHERE..." or "try NUMBER PORT SILENT_MS ADDRESS".
 * It hears "linked NUMBER" or "unlinked NUMBER WHY", and "parted NUMBER" when one that was has ended. */
#ifndef GS_CLI_SERVE_LINKS_H
#define GS_CLI_SERVE_LINKS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { GS_SERVE_LINKS_MOST = 16, GS_SERVE_WHERE_BYTES = 128, GS_SERVE_SECRET_BYTES = 33 };

struct gs_serve_links {
    unsigned own_port; /* where this server takes what others send it */
    unsigned n;
    struct gs_serve_link {
        unsigned number;
        int to, from; /* standard input and output of its process */
        bool up;
        unsigned silent_ms; /* for so long: it has ended */
        int64_t heard_ms, said_ms;
        char wants[GS_SERVE_WHERE_BYTES]; /* the line that says that it is up */
        char line[256], last[192];
        unsigned line_bytes;
    } link[GS_SERVE_LINKS_MOST];
    char line[512]; /* what has come of the near side's next one */
    unsigned line_bytes;
};

/* Which machine this is, and which loopback of it: another machine may answer to the same name. */
void gs_serve_where(char where[GS_SERVE_WHERE_BYTES]);

/* Takes in what the near side has said. */
void gs_serve_links_hear(struct gs_serve_links *links, const char *bytes, size_t n);

/* What to wait for; how many. Then takes in what of it there is. */
unsigned gs_serve_links_poll(const struct gs_serve_links *links, struct pollfd fds[GS_SERVE_LINKS_MOST]);
void gs_serve_links_attend(struct gs_serve_links *links, const struct pollfd fds[GS_SERVE_LINKS_MOST]);

#endif
