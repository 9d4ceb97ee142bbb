/* SPDX-License-Identifier: MIT */
/* Calls: of the program's own functions, which are run in place, and of OpenCL C's. */
#include "translator/access/access_build_state.h"
#include "translator/parsing/flow_tree.h"
#include "translator/parsing/flow_type.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CALL_DEPTH = 48 };

/* A call of a built-in function, its arguments evaluated. */
struct call {
    const char *name;
    CXCursor at;
    struct gs_type type; /* of its result */
    uint32_t n;
    struct gs_value *v;
    struct gs_type *t; /* before implicit conversion */
    bool want_result;
};

static struct gs_value unknown_result(struct gs_builder *b, const struct call *c, const char *why)
{
    return gs_opaque_value(b, &c->type, c->at, why);
}

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* ---- work-item functions ---- */

/* The result in a dimension that there isn't: 0, or what should be 1, of which PoCL makes 0. */
static uint32_t beyond_dimensions(struct gs_builder *b, const struct call *c, uint8_t type, uint8_t most)
{
    if (most == 0)
        return gs_node_const(b, type, 0);
    const uint32_t any = gs_node_opaque(b, type, c->at, "drivers differ about dimensions that there aren't");
    return gs_node(b, GS_N_AND, type, any, gs_node_const(b, type, most), 0);
}

static struct gs_value eval_geometry(struct gs_builder *b, const struct call *c, uint8_t op, uint8_t beyond)
{
    uint8_t type = c->type.class == GS_T_INT ? c->type.int_type : GS_U64;
    int64_t dim;
    if (op == GS_N_WORK_DIM)
        return gs_int(gs_node_geometry(b, op, type, 0));
    if (c->n != 1 || c->v[0].kind != GS_V_INT)
        return unknown_result(b, c, "its dimension is not known");
    if (gs_node_is_const(b, c->v[0].node, &dim)) {
        if (dim < 0 || dim > 2)
            return gs_int(beyond_dimensions(b, c, type, beyond));
        return gs_int(gs_node_geometry(b, op, type, (unsigned)dim));
    }
    uint32_t result = beyond_dimensions(b, c, type, beyond), of = b->nodes[c->v[0].node].type;
    for (unsigned d = 3; d-- > 0;) {
        uint32_t is = gs_node(b, GS_N_EQ, GS_I32, c->v[0].node, gs_node_const(b, (uint8_t)of, d), 0);
        result = gs_node(b, GS_N_SELECT, type, is, gs_node_geometry(b, op, type, d), result);
    }
    return gs_int(result);
}

/* get_global_linear_id and get_local_linear_id, from their definitions in the specification. */
static struct gs_value eval_linear_id(struct gs_builder *b, bool global)
{
    uint8_t id_op = global ? GS_N_GLOBAL_ID : GS_N_LOCAL_ID, size_op = global ? GS_N_GLOBAL_SIZE : GS_N_LOCAL_SIZE;
    uint32_t sum = gs_node_const(b, GS_U64, 0);
    for (unsigned d = 3; d-- > 0;) {
        uint32_t id = gs_node_geometry(b, id_op, GS_U64, d);
        if (global)
            id = gs_node(b, GS_N_SUB, GS_U64, id, gs_node_geometry(b, GS_N_GLOBAL_OFFSET, GS_U64, d), 0);
        sum = gs_node(b, GS_N_MUL, GS_U64, sum, gs_node_geometry(b, size_op, GS_U64, d), 0);
        sum = gs_node(b, GS_N_ADD, GS_U64, sum, id, 0);
    }
    return gs_int(sum);
}

static bool call_geometry(struct gs_builder *b, const struct call *c, struct gs_value *out)
{
    static const struct {
        const char *name;
        uint8_t op, beyond; /* the most in a dimension that there isn't */
    } names[] = {
        {"get_global_id", GS_N_GLOBAL_ID, 0},   {"get_group_id", GS_N_GROUP_ID, 0},
        {"get_local_id", GS_N_LOCAL_ID, 0},     {"get_global_size", GS_N_GLOBAL_SIZE, 1},
        {"get_local_size", GS_N_LOCAL_SIZE, 1}, {"get_enqueued_local_size", GS_N_ENQUEUED_LOCAL_SIZE, 1},
        {"get_num_groups", GS_N_NUM_GROUPS, 1}, {"get_global_offset", GS_N_GLOBAL_OFFSET, 0},
        {"get_work_dim", GS_N_WORK_DIM, 1},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(c->name, names[i].name) == 0) {
            *out = eval_geometry(b, c, names[i].op, names[i].beyond);
            return true;
        }
    if (strcmp(c->name, "get_global_linear_id") == 0 || strcmp(c->name, "get_local_linear_id") == 0) {
        *out = eval_linear_id(b, c->name[4] == 'g');
        return true;
    }
    return false;
}

/* ---- integers ---- */

/* |x - y|, in 64 bits, where none of it wraps around. That it isn't below 0 is said, since bounds don't tell. */
static uint32_t distance(struct gs_builder *b, uint8_t type, uint32_t x, uint32_t y)
{
    const uint32_t zero = gs_node_const(b, GS_I64, 0);
    const uint32_t d = gs_node(b, GS_N_SUB, GS_I64, gs_node_cast(b, GS_I64, x), gs_node_cast(b, GS_I64, y), 0);
    const uint32_t both = gs_node(b, GS_N_MAX, GS_I64, d, gs_node(b, GS_N_SUB, GS_I64, zero, d, 0), 0);
    return gs_node_cast(b, type, gs_node(b, GS_N_MAX, GS_I64, both, zero, 0));
}

/* select(no, yes, which): of numbers yes where `which` isn't 0, of vectors' components where it is negative. */
static bool selected(struct gs_builder *b, uint8_t type, bool vector, const uint32_t *x, uint32_t *out)
{
    const uint8_t of = b->nodes[x[2]].type;
    if (vector && !gs_int_signed(of))
        return false;
    const uint32_t is =
        vector ? gs_node(b, GS_N_LT, GS_I32, x[2], gs_node_const(b, of, 0), 0) : gs_node_not(b, gs_node_not(b, x[2]));
    *out = gs_node(b, GS_N_SELECT, type, is, gs_node_cast(b, type, x[1]), gs_node_cast(b, type, x[0]));
    return true;
}

static bool one_component(struct gs_builder *b, const struct call *c, uint8_t type, const uint32_t *x, uint32_t *out)
{
    const char *n = c->name;
    if (c->n == 2 && (strcmp(n, "min") == 0 || strcmp(n, "max") == 0)) {
        *out = gs_node(b, n[1] == 'i' ? GS_N_MIN : GS_N_MAX, type, x[0], x[1], 0);
    } else if (c->n == 3 && strcmp(n, "clamp") == 0) {
        *out = gs_node(b, GS_N_MIN, type, gs_node(b, GS_N_MAX, type, x[0], x[1], 0), x[2], 0);
    } else if (c->n == 2 && strcmp(n, "mul24") == 0) {
        *out = gs_node(b, GS_N_MUL24, type, x[0], x[1], 0);
    } else if (c->n == 3 && strcmp(n, "mad24") == 0) {
        *out = gs_node(b, GS_N_ADD, type, gs_node(b, GS_N_MUL24, type, x[0], x[1], 0), x[2], 0);
    } else if (c->n == 1 && strcmp(n, "abs") == 0 && b->nodes[x[0]].type == type) {
        *out = x[0]; /* abs of an unsigned number */
    } else if (c->n == 1 && strcmp(n, "abs") == 0 && gs_int_bits(type) <= 32) {
        *out = distance(b, type, x[0], gs_node_const(b, GS_I64, 0));
    } else if (c->n == 2 && strcmp(n, "abs_diff") == 0 && gs_int_bits(type) <= 32) {
        *out = distance(b, type, x[0], x[1]);
    } else if (c->n == 3 && strcmp(n, "select") == 0) {
        return selected(b, type, c->type.class == GS_T_VECTOR, x, out);
    } else {
        return false;
    }
    return true;
}

static uint32_t part_of(const struct gs_value *v, uint32_t i)
{
    if (v->kind == GS_V_INT)
        return v->node;
    return v->kind == GS_V_VECTOR && i < v->n ? v->parts[i] : GS_NO_NODE;
}

static bool call_integer(struct gs_builder *b, const struct call *c, struct gs_value *out)
{
    bool vector = c->type.class == GS_T_VECTOR && c->type.of_ints;
    if ((c->type.class != GS_T_INT && !vector) || c->n == 0 || c->n > 3)
        return false;
    *out = (struct gs_value){.kind = vector ? GS_V_VECTOR : GS_V_INT, .n = vector ? c->type.count : 1};
    for (uint32_t i = 0; i < out->n; i++) {
        uint32_t x[3], result;
        bool own_types = starts(c->name, "abs") || strcmp(c->name, "select") == 0;
        for (uint32_t j = 0; j < c->n; j++) {
            x[j] = part_of(&c->v[j], i);
            if (x[j] == GS_NO_NODE)
                return false;
            if (!own_types)
                x[j] = gs_node_cast(b, c->type.int_type, x[j]);
        }
        if (!one_component(b, c, c->type.int_type, x, &result))
            return false;
        out->parts[i] = out->node = result;
    }
    return true;
}

/* convert_int4_sat(x) and its like, as_uint(x). */
static bool call_convert(struct gs_builder *b, const struct call *c, struct gs_value *out)
{
    bool reinterprets = starts(c->name, "as_");
    if ((!reinterprets && !starts(c->name, "convert_")) || c->n != 1)
        return false;
    bool same = c->v[0].kind == GS_V_INT ? c->type.class == GS_T_INT
                                         : c->v[0].kind == GS_V_VECTOR && c->type.class == GS_T_VECTOR &&
                                               c->type.of_ints && c->type.count == c->v[0].n;
    if (c->v[0].kind == GS_V_POINTER || (reinterprets && (!same || c->type.size != c->t[0].size)) ||
        (strstr(c->name, "_sat") && same)) {
        *out = unknown_result(b, c, "it is reinterpreted or saturated");
        return true;
    }
    *out = gs_convert(b, &c->v[0], &c->t[0], &c->type, c->at);
    return true;
}

/* ---- memory ---- */

/* A struct gs_type of `count` numbers of which the pointer's element is one. */
static struct gs_type several(const struct gs_type *element, uint32_t count)
{
    struct gs_type t = *element;
    t.class = GS_T_VECTOR;
    t.of_ints = element->class == GS_T_INT;
    t.component = element->size;
    t.count = count;
    t.size = element->size * count;
    return t;
}

/* vloadN, vstoreN and their half forms: N numbers at p + offset * N, which needn't be aligned as a vector is. */
static bool call_vector_memory(struct gs_builder *b, const struct call *c, struct gs_value *out)
{
    bool load = starts(c->name, "vload"), aligned = starts(c->name, "vloada_") || starts(c->name, "vstorea_");
    if (!load && !starts(c->name, "vstore"))
        return false;
    const char *digits = c->name + strcspn(c->name, "0123456789");
    uint32_t count = *digits ? (uint32_t)strtoul(digits, NULL, 10) : 1, at = load ? 1 : 2;
    if (c->n != at + 1 || count > 16)
        return false;
    struct gs_type element = gs_type_pointee(&c->t[at]);
    const bool padded = aligned && count == 3; /* vloada_half3 steps by four, and the fourth may be touched */
    const uint32_t apart = padded ? 4 : count;
    uint32_t index = c->v[at - 1].kind == GS_V_INT ? gs_node_cast(b, GS_I64, c->v[at - 1].node)
                                                   : gs_node_opaque(b, GS_I64, c->at, "the index is not known");
    uint32_t by = gs_node(b, GS_N_MUL, GS_I64, index, gs_node_const(b, GS_I64, (int64_t)element.size * apart), 0);
    struct gs_value pointer = gs_move(b, &c->v[at], by);
    struct gs_type t = several(&element, apart);
    if (padded)
        t.class = GS_T_OTHER;
    if (load) {
        *out = gs_load(b, &pointer, &t, c->at);
        if (c->type.class != GS_T_VECTOR || !c->type.of_ints)
            *out = unknown_result(b, c, "it is loaded from a buffer");
        return true;
    }
    const bool three =
        count == 3 && !padded; /* exactly three are written: not partial, as a store of a vector of three would be */
    struct gs_value any = c->v[0];
    if (three)
        t = several(&element, 1);
    for (uint32_t i = 0; i < (three ? 3u : 1u); i++) {
        struct gs_value to = gs_move(b, &pointer, gs_node_const(b, GS_I64, (int64_t)i * t.size));
        struct gs_value part = three && any.kind == GS_V_VECTOR
                                   ? (struct gs_value){.kind = GS_V_VECTOR, .n = 1, .parts = {any.parts[i]}}
                                   : any;
        t.clang = element.clang;
        gs_store(b, &to, &t, &part, c->at);
    }
    *out = gs_any();
    return true;
}

/* A loop of `count` iterations without code: an access within it stands for `count` ones. */
static uint32_t enter_counted(struct gs_builder *b, const struct gs_value *count, CXCursor at)
{
    if (b->n_loops >= GS_MAX_LOOPS) {
        gs_give_up(b, at, "the kernel has too many loops for the analysis");
        return gs_node_const(b, GS_U64, 0);
    }
    if (b->n_loops == b->loops_cap)
        b->loops = gs_grow(b, b->loops, b->n_loops, &b->loops_cap, sizeof *b->loops);
    uint32_t zero = gs_node_const(b, GS_U64, 0), one = gs_node_const(b, GS_U64, 1), loop = b->n_loops++;
    uint32_t limit = count->kind == GS_V_INT ? gs_node_cast(b, GS_U64, count->node)
                                             : gs_node_opaque(b, GS_U64, at, "the count is not known");
    uint32_t iv = gs_node_iv(b, GS_N_IV, GS_U64, zero, one, loop);
    uint32_t more = gs_node(b, GS_N_LT, GS_I32, iv, limit, 0);
    b->loops[loop] = (struct gs_loop){.cmp = GS_LOOP_LT,
                                      .type = GS_U64,
                                      .cmp_type = GS_U64,
                                      .init = zero,
                                      .step = one,
                                      .limit = limit,
                                      .condition = more};
    gs_scope_push(b, GS_C_LOOP, loop, true);
    gs_scope_push(b, GS_C_GUARD, more, true);
    return iv;
}

/* async_work_group_copy(dst, src, count, event) and the strided form, whose stride is of the side in global memory. The
 * whole work-group does it with the same arguments. */
static bool call_async(struct gs_builder *b, const struct call *c, struct gs_value *out)
{
    bool strided = strcmp(c->name, "async_work_group_strided_copy") == 0;
    if (!strided && strcmp(c->name, "async_work_group_copy") != 0)
        return false;
    if (c->n != (strided ? 5u : 4u))
        return false;
    struct gs_type to = gs_type_pointee(&c->t[0]), from = gs_type_pointee(&c->t[1]);
    uint32_t outside = b->context, iv = gs_node_cast(b, GS_I64, enter_counted(b, &c->v[2], c->at));
    uint32_t step = gs_node_const(b, GS_I64, to.size), global = step;
    if (strided) {
        uint32_t stride = c->v[3].kind == GS_V_INT ? gs_node_cast(b, GS_I64, c->v[3].node)
                                                   : gs_node_opaque(b, GS_I64, c->at, "the stride is not known");
        global = gs_node(b, GS_N_MUL, GS_I64, stride, step, 0);
    }
    bool to_global = c->v[0].kind == GS_V_POINTER && c->v[0].place.base == GS_B_ARG;
    struct gs_value dst = gs_move(b, &c->v[0], gs_node(b, GS_N_MUL, GS_I64, iv, to_global ? global : step, 0));
    struct gs_value src = gs_move(b, &c->v[1], gs_node(b, GS_N_MUL, GS_I64, iv, to_global ? step : global, 0));
    struct gs_value v = gs_load(b, &src, &from, c->at);
    gs_store(b, &dst, &to, &v, c->at);
    b->context = outside;
    *out = c->v[c->n - 1];
    return true;
}

/* Functions that read or write what their pointers lead to, and nothing beside it. Others, as __builtin_memcpy or
 * intel_sub_group_block_write, may touch more than one element. */
static bool touches_one_element(const char *name)
{
    static const char *const names[] = {"fract",  "frexp",    "lgamma_r",   "modf",      "remquo",
                                        "sincos", "to_local", "to_private", "to_global", "get_fence"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Whatever a pointer leads to may be read, and written unless it is to const. */
static void touch_pointer(struct gs_builder *b, const struct call *c, uint32_t i, CXType declared)
{
    struct gs_type element = gs_type_pointee(&c->t[i]);
    gs_load(b, &c->v[i], &element, c->at);
    if (clang_isConstQualifiedType(clang_getPointeeType(declared)))
        return;
    struct gs_value v = gs_opaque_value(b, &element, c->at, "a function has computed it");
    gs_store(b, &c->v[i], &element, &v, c->at);
}

/* Which component of a coordinate tells the layer, the slice, the row of an image, or the texel of one with neither;
 * -1: its texels are those of a buffer. */
static int last_component(CXType image)
{
    /* In clang's order, once each for images that are read, written, and both. */
    static const int8_t last[] = {
        0,            /* 1d */
        1,            /* 1d array */
        -1,           /* 1d buffer */
        1,            /* 2d */
        2,            /* 2d array */
        1,            /* 2d depth */
        2,            /* 2d array depth */
        -1,           /* the four with several samples */
        -1, -1, -1, 2 /* 3d */
    };
    _Static_assert(CXType_OCLImage1dWO - CXType_OCLImage1dRO == sizeof last &&
                       CXType_OCLImage3dRO - CXType_OCLImage1dRO == sizeof last - 1,
                   "clang's kinds of images");
    CXType t = clang_getCanonicalType(image);
    if (t.kind < CXType_OCLImage1dRO || t.kind > CXType_OCLImage3dRW)
        return -1;
    return last[(size_t)(t.kind - CXType_OCLImage1dRO) % sizeof last];
}

/* The texels that a read or write touches, by the last component of an integer coordinate. With a floating-point one it
 * may be any. */
static void image_access(struct gs_builder *b, const struct call *c, enum gs_access_kind kind)
{
    const uint32_t i = c->n > 1 && c->t[1].class == GS_T_OTHER ? 2 : 1; /* behind a sampler */
    const int last = last_component(c->t[0].clang);
    struct gs_place place = {GS_B_ARG, c->v[0].place.index, GS_NO_NODE};
    if (last >= 0 && i < c->n && (c->t[i].class == GS_T_INT || (c->t[i].class == GS_T_VECTOR && c->t[i].of_ints))) {
        uint32_t at = last == 0 && c->v[i].kind == GS_V_INT ? c->v[i].node
                      : c->v[i].kind == GS_V_VECTOR         ? part_of(&c->v[i], (uint32_t)last)
                                                            : GS_NO_NODE;
        if (at != GS_NO_NODE)
            place.offset = gs_node_cast(b, GS_I64, gs_node_cast(b, GS_I32, at));
    }
    if (place.offset == GS_NO_NODE)
        place.offset = gs_node_opaque(b, GS_I64, c->at, "the coordinate is not known");
    gs_record(b, kind, &place, 1, false, c->at);
}

static bool call_image(struct gs_builder *b, const struct call *c, struct gs_value *out)
{
    bool write = starts(c->name, "write_image"), query = starts(c->name, "get_image_");
    if ((!write && !query && !starts(c->name, "read_image")) || c->n == 0)
        return false;
    if (c->v[0].kind == GS_V_POINTER && c->v[0].place.base == GS_B_IMAGE && !query)
        image_access(b, c, write ? GS_A_WRITE : GS_A_READ);
    else if (!query)
        gs_lost_pointer(b, c->at);
    *out = unknown_result(b, c, "it is read from an image");
    return true;
}

/* An image is handed to a function that isn't known. */
static void touch_image(struct gs_builder *b, const struct call *c, uint32_t i)
{
    struct gs_place place = {GS_B_ARG, c->v[i].place.index,
                             gs_node_opaque(b, GS_I64, c->at, "a function that isn't known uses the image")};
    if (b->args[place.index].may_read)
        gs_record(b, GS_A_READ, &place, 1, false, c->at);
    if (b->args[place.index].may_write)
        gs_record(b, GS_A_WRITE, &place, 1, false, c->at);
}

/* ---- atomics ---- */

/* Which operation it is, and whether its result is used, the flow has found (flow_kernel.c). */
static void atomic_access(struct gs_builder *b, const struct call *c, const struct gs_value *p, uint32_t bytes)
{
    if (p->kind != GS_V_POINTER || p->place.base == GS_B_UNKNOWN) {
        if (clang_getAddressSpace(gs_type_pointee(&c->t[0]).clang) != GS_AS_LOCAL)
            gs_lost_pointer(b, c->at);
        return;
    }
    if (p->otherwise) {
        uint32_t outside = b->context;
        struct gs_value first = *p;
        first.otherwise = NULL;
        gs_scope_push(b, GS_C_GUARD, p->node, true);
        atomic_access(b, c, &first, bytes);
        b->context = outside;
        gs_scope_push(b, GS_C_GUARD, p->node, false);
        atomic_access(b, c, p->otherwise, bytes);
        b->context = outside;
        return;
    }
    if (p->place.base == GS_B_OBJECT)
        gs_private_forget(b, p->place.index);
    if (p->place.base != GS_B_ARG)
        return;
    gs_record(b, GS_A_ATOMIC, &p->place, bytes, true, c->at);
    b->atomics[p->place.index] = true;
}

static bool call_atomic(struct gs_builder *b, const struct call *c, struct gs_value *out)
{
    if ((!starts(c->name, "atomic_") && !starts(c->name, "atom_")) || c->n == 0 || !gs_type_is_address(&c->t[0]))
        return starts(c->name, "atomic_work_item_fence") ? (*out = gs_any(), true) : false;
    struct gs_type element = gs_type_pointee(&c->t[0]);
    atomic_access(b, c, &c->v[0], element.size ? element.size : 8);
    for (uint32_t i = 1; i < c->n; i++) /* the expected value of a compare-and-exchange */
        if (gs_type_is_address(&c->t[i]))
            touch_pointer(b, c, i, c->t[i].clang);
    *out = unknown_result(b, c, "it is the result of an atomic operation");
    return true;
}

/* ---- the others ---- */

static bool call_nothing(struct gs_builder *b, const struct call *c, struct gs_value *out)
{
    static const char *const names[] = {"barrier",           "work_group_barrier", "sub_group_barrier",
                                        "mem_fence",         "read_mem_fence",     "write_mem_fence",
                                        "wait_group_events", "prefetch",           "printf"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(c->name, names[i]) == 0) {
            *out = unknown_result(b, c, "its value is not known");
            return true;
        }
    return false;
}

static struct gs_value call_builtin(struct gs_builder *b, CXCursor callee, const struct call *c)
{
    struct gs_value out;
    if (call_geometry(b, c, &out) || call_integer(b, c, &out) || call_convert(b, c, &out) ||
        call_vector_memory(b, c, &out) || call_async(b, c, &out) || call_image(b, c, &out) || call_atomic(b, c, &out) ||
        call_nothing(b, c, &out))
        return out;
    for (uint32_t i = 0; i < c->n; i++) {
        CXType declared = clang_getArgType(clang_getCursorType(callee), i);
        if (gs_type_is_address(&c->t[i]) && !touches_one_element(c->name))
            gs_give_up(b, c->at, "it hands a pointer to a function that the analysis doesn't know");
        else if (gs_type_is_address(&c->t[i]))
            touch_pointer(b, c, i, declared.kind == CXType_Pointer ? declared : c->t[i].clang);
        else if (c->v[i].kind == GS_V_POINTER && c->v[i].place.base == GS_B_IMAGE)
            touch_image(b, c, i);
    }
    return unknown_result(b, c, "a function has computed it");
}

/* ---- the program's own functions ---- */

static void bind_parameter(struct gs_builder *b, CXCursor parameter, const struct gs_value *v)
{
    struct gs_type t = gs_type_of_cursor(parameter);
    if (t.class == GS_T_OTHER && v->kind == GS_V_POINTER) {
        gs_variable_add(b, parameter, v->place);
        return;
    }
    if (t.class == GS_T_ARRAY) { /* clang calls a pointer so that was written as an array: what it points to is one */
        if (v->kind == GS_V_POINTER && !v->otherwise && v->place.base != GS_B_UNKNOWN)
            gs_variable_add(b, parameter, v->place);
        else
            gs_give_up(b, parameter, "it hands an array to a function in a way that the analysis doesn't know");
        return;
    }
    uint32_t object = gs_private_new(b, t.size);
    gs_variable_add(b, parameter, gs_private_place(b, object));
    if (!b->failed)
        gs_private_init(b, object, &t, v, parameter);
}

static void run_body(struct gs_builder *b, CXCursor function)
{
    struct gs_kids k = gs_kids(b, function);
    for (uint32_t i = 0; i < k.n; i++)
        if (k.v[i].kind == CXCursor_CompoundStmt)
            gs_exec(b, k.v[i]);
}

static struct gs_value call_own(struct gs_builder *b, CXCursor function, uint32_t unit, struct call *c)
{
    if (b->call_depth >= MAX_CALL_DEPTH) {
        gs_give_up(b, c->at, "its functions call each other too deeply, or themselves");
        return gs_any();
    }
    struct gs_frame frame = {.caller = b->frame,
                             .function = function,
                             .unit = unit,
                             .context = b->context,
                             .mark = b->n_trail,
                             .want_result = c->want_result};
    uint32_t n_parameters = (uint32_t)clang_Cursor_getNumArguments(function), variables = b->n_variables;
    for (uint32_t i = 0; i < n_parameters && i < c->n; i++) {
        CXCursor parameter = clang_Cursor_getArgument(function, i);
        struct gs_type t = gs_type_of_cursor(parameter);
        if (t.class != GS_T_OTHER && t.class != GS_T_ARRAY)
            c->v[i] = gs_convert(b, &c->v[i], &c->t[i], &t, c->at);
        bind_parameter(b, parameter, &c->v[i]);
    }
    frame.variables = variables;
    struct gs_target *target = b->target;
    b->target = NULL;
    b->frame = &frame;
    b->call_depth++;
    run_body(b, function);
    if (!b->dead) {
        struct gs_value none = gs_any();
        gs_exit_add(b, &frame.exits, gs_path_condition(b, b->context, frame.context, c->at), frame.mark, &none);
    }
    b->call_depth--;
    b->frame = frame.caller;
    b->target = target;
    b->n_variables = variables;
    b->context = frame.context;
    gs_rollback(b, frame.mark);
    b->dead = frame.exits.n == 0; /* it never returns */
    return gs_exits_join(b, &frame.exits);
}

/* The function's own name: libclang gives it to the call. */
static void callee_name(CXCursor callee, char *out, size_t size)
{
    CXString s = clang_getCursorSpelling(callee);
    const char *name = clang_getCString(s);
    strncpy(out, name ? name : "", size - 1);
    out[size - 1] = 0;
    clang_disposeString(s);
}

static bool is_forbidden(const char *name)
{
    static const char *const names[] = {"enqueue_kernel", "enqueue_marker",   "read_pipe",          "write_pipe",
                                        "reserve_",       "commit_",          "work_group_reserve", "work_group_commit",
                                        "setjmp",         "create_user_event"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (starts(name, names[i]))
            return true;
    return false;
}

struct gs_value gs_call(struct gs_builder *b, CXCursor c, bool want_result)
{
    CXCursor callee = gs_callee(&b->arena, c);
    char name[64];
    callee_name(callee, name, sizeof name);
    struct call call = {.name = name, .at = c, .type = gs_type_of_cursor(c), .want_result = want_result};
    uint32_t n = (uint32_t)clang_Cursor_getNumArguments(c);
    call.v = gs_arena_alloc(&b->arena, n ? n : 1, sizeof *call.v);
    call.t = gs_arena_alloc(&b->arena, n ? n : 1, sizeof *call.t);
    if (callee.kind != CXCursor_FunctionDecl || !call.v || !call.t) {
        gs_give_up(b, c, "it calls something that the analysis can't follow");
        return gs_any();
    }
    if (is_forbidden(name)) {
        gs_give_up(b, c, "it uses pipes or launches kernels itself");
        return gs_any();
    }
    for (uint32_t i = 0; i < n; i++) {
        CXCursor arg = clang_Cursor_getArgument(c, i);
        call.v[i] = gs_eval(b, arg, true);
        call.t[i] = gs_type_of_cursor(arg);
        call.n++;
    }
    if (b->failed)
        return gs_any();
    uint32_t unit = b->frame->unit;
    CXCursor function = b->tree->definition(b->tree->ctx, callee, &unit);
    if (!clang_Cursor_isNull(function))
        return call_own(b, function, unit, &call);
    return call_builtin(b, callee, &call);
}
