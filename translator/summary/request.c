/* SPDX-License-Identifier: MIT */
/* The text forms of a request and of a reply's head. */
#include "translator/summary/request.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void put_text(struct gs_writer *w, const char *s)
{
    gs_put_cstring(w, s ? s : "");
}

static void put_unit(struct gs_writer *w, const struct gs_translate_unit *u)
{
    gs_put_word(w, "unit");
    put_text(w, u->source);
    put_text(w, u->options);
    put_text(w, u->macros);
    gs_put_u64(w, u->n_headers);
    gs_put_line(w);
    for (size_t i = 0; i < u->n_headers; i++) {
        gs_put_word(w, "header");
        put_text(w, u->headers[i].name);
        put_text(w, u->headers[i].text);
        gs_put_line(w);
    }
}

void gs_put_request(struct gs_writer *w, const struct gs_translate_request *req)
{
    const struct gs_translate_device *d = &req->device;
    gs_put_word(w, "gpusparc-request");
    gs_put_u64(w, GS_TRANSLATION_FORMAT);
    put_text(w, d->extensions);
    put_text(w, d->opencl_c_version);
    put_text(w, d->vendor);
    put_text(w, d->platform);
    put_text(w, d->device_version);
    gs_put_u64(w, d->address_bits);
    gs_put_u64(w, d->image_support != 0);
    gs_put_u64(w, req->windows != 0);
    gs_put_u64(w, req->n_units);
    gs_put_line(w);
    for (size_t i = 0; i < req->n_units; i++)
        put_unit(w, &req->units[i]);
    gs_put_word(w, "end");
    gs_put_line(w);
}

static void get_unit(struct gs_reader *r, struct gs_translate_unit *u)
{
    gs_get_word(r, "unit");
    u->source = gs_get_string(r, NULL);
    u->options = gs_get_string(r, NULL);
    u->macros = gs_get_string(r, NULL);
    u->n_headers = (size_t)gs_get_u64(r);
    struct gs_translate_header *headers = gs_get_alloc(r, u->n_headers, sizeof *headers);
    for (size_t i = 0; i < u->n_headers && !r->why; i++) {
        gs_get_word(r, "header");
        headers[i].name = gs_get_string(r, NULL);
        headers[i].text = gs_get_string(r, NULL);
    }
    u->headers = headers;
}

void gs_get_request(struct gs_reader *r, struct gs_translate_request *req)
{
    struct gs_translate_device *d = &req->device;
    gs_get_word(r, "gpusparc-request");
    if (gs_get_u64(r) != GS_TRANSLATION_FORMAT)
        gs_get_fail(r, "it is of another version");
    d->extensions = gs_get_string(r, NULL);
    d->opencl_c_version = gs_get_string(r, NULL);
    d->vendor = gs_get_string(r, NULL);
    d->platform = gs_get_string(r, NULL);
    d->device_version = gs_get_string(r, NULL);
    d->address_bits = (unsigned)gs_get_below(r, 65);
    d->image_support = gs_get_bool(r);
    req->windows = gs_get_bool(r);
    req->n_units = (size_t)gs_get_u64(r);
    struct gs_translate_unit *units = gs_get_alloc(r, req->n_units, sizeof *units);
    for (size_t i = 0; i < req->n_units && !r->why; i++)
        get_unit(r, &units[i]);
    req->units = units;
    gs_get_word(r, "end");
}

void gs_put_reply(struct gs_writer *w, const struct gs_reply *reply)
{
    gs_put_word(w, "gpusparc-reply");
    gs_put_u64(w, GS_TRANSLATION_FORMAT);
    gs_put_u64(w, reply->cacheable);
    gs_put_u64(w, reply->n_dependencies);
    gs_put_line(w);
    for (uint32_t i = 0; i < reply->n_dependencies; i++) {
        gs_put_word(w, "file");
        gs_put_cstring(w, reply->dependencies[i].path);
        gs_put_cstring(w, reply->dependencies[i].hash);
        gs_put_line(w);
    }
}

void gs_get_reply(struct gs_reader *r, struct gs_reply *reply)
{
    gs_get_word(r, "gpusparc-reply");
    if (gs_get_u64(r) != GS_TRANSLATION_FORMAT)
        gs_get_fail(r, "it is of another version");
    reply->cacheable = gs_get_bool(r);
    reply->n_dependencies = (uint32_t)gs_get_below(r, UINT32_MAX);
    struct gs_dependency *v = gs_get_alloc(r, reply->n_dependencies, sizeof *v);
    for (uint32_t i = 0; i < reply->n_dependencies && !r->why; i++) {
        gs_get_word(r, "file");
        v[i].path = gs_get_string(r, NULL);
        v[i].hash = gs_get_string(r, NULL);
    }
    reply->dependencies = v;
}

int gs_hash_file(const char *path, char hex[GS_HASH_HEX_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    struct gs_hash h;
    gs_hash_begin(&h);
    char buf[16384];
    ssize_t n;
    while ((n = read(fd, buf, sizeof buf)) > 0)
        gs_hash_add(&h, buf, (size_t)n);
    int err = n < 0 ? -errno : 0;
    close(fd);
    gs_hash_end_hex(&h, hex);
    return err;
}
