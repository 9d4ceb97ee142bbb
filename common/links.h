/* SPDX-License-Identifier: MIT */
/* The measured cost of bringing bytes from one device of a group to another: by `gpusparc devices --measure`, or over
 * hosts before the first launch. Kept in the cache by driver, devices and way. */
#ifndef GS_COMMON_LINKS_H
#define GS_COMMON_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/hash.h"
#include "common/settings.h"

/* A transfer takes piece_ns, and byte_ns for each byte; zeros: not known. */
struct gs_link_cost {
    double piece_ns, byte_ns;
};

/* Through the host's memory (or by the driver's own copy, where that is asked for), and by windows. */
struct gs_links {
    struct gs_link_cost host, peer;
};

struct gs_link_cost gs_link_cost(double latency_us, double gb_per_s);

/* The cache's entry for a group of devices: gs_links_name() in shim/devices/group.h. */
enum { GS_LINKS_NAME_BYTES = sizeof "links-" + GS_HASH_HEX_BYTES };

/* Reads the entry; zeros: none. */
struct gs_links gs_links_read(const char *name);
/* Writes the costs that are known, and keeps the others of the entry. */
void gs_links_write(const char *name, const struct gs_links *links);

/* As text: a line for each cost that is known. Other lines are passed over. Returns the length. */
enum { GS_LINKS_TEXT_BYTES = 256 };
size_t gs_links_print(const struct gs_links *links, char text[GS_LINKS_TEXT_BYTES]);
struct gs_links gs_links_parse(const char *text, size_t bytes);

/* The input of gpusparc-link-probe: the group's settings, and what to measure. Returns the length. */
size_t gs_links_request(const struct gs_settings *s, const char *what, char *out, size_t room);

#endif
