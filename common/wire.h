/* SPDX-License-Identifier: MIT */
/* What a client and the daemon say to each other: messages on a SOCK_SEQPACKET unix socket, and one page of shared
 * memory per client. docs/daemon.md gives the reasoning; nothing here allocates, logs or calls the system.
 *
 * Sizes and layouts are those of one machine: both sides run on it. A change to either raises GS_WIRE_VERSION. */
#ifndef GS_COMMON_WIRE_H
#define GS_COMMON_WIRE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define GS_WIRE_MAGIC 0x47535043u /* "GSPC" */
#define GS_WIRE_VERSION 11
#define GS_WIRE_TEXT 192 /* bytes of a text in a message, with its end */
#define GS_WIRE_NAME 64  /* bytes of a task's name, with its end */

/* Resources. 0 is the link to the host, 1 + i is GPU i, numbered as `gpusparc devices` numbers the machine's GPUs. */
#define GS_MAX_GPUS 16
#define GS_MAX_RESOURCES (1 + GS_MAX_GPUS)
#define GS_RESOURCE_PCI 0u
#define GS_RESOURCE_GPU(i) (1u + (unsigned)(i))
#define GS_MASK(resource) (UINT32_C(1) << (resource))
#define GS_MASK_PCI GS_MASK(GS_RESOURCE_PCI)
#define GS_MASK_ALL_GPUS(n) (((UINT32_C(1) << (n)) - 1) << 1) /* GPUs 0 ... n-1, n at most GS_MAX_GPUS */

/* Beside the socket at PATH there is one at PATH.UID for the daemon's own user, and for each whom the config names:
 * others' connections may fill the line that the kernel keeps of a socket's. */
#define GS_OWN_SOCKET "%s.%u"

/* Requests that one client may have open at a time; each has a slot in its page. */
#define GS_MAX_SLOTS 64

enum gs_msg_type {
    /* client to daemon */
    GS_MSG_HELLO = 1, /* the first message of an application: it wants to be scheduled */
    GS_MSG_REQUEST,   /* one unit of a resource, for a slot */
    GS_MSG_CHOOSE,    /* no unit: of which GPU it would get one first. Answered in a slot, at once */
    GS_MSG_CANCEL,    /* the slot's request is no longer wanted */
    GS_MSG_LOOK,      /* a lease whose word says ASK has changed: look at it */
    GS_MSG_JOBS,      /* jobs of the task have ended: their record in the page is to be read */
    GS_MSG_DRAIN,     /* the record of units in the page is filling up */
    GS_MSG_PING,      /* is the daemon alive? it answers in the page */
    GS_MSG_STATUS,    /* asks for the daemon's state; no hello needed */
    GS_MSG_RELOAD,    /* read the config again; root and the daemon's own user only */
    GS_MSG_PLAN,      /* would this task be admitted? nothing changes */
    GS_MSG_SET,       /* other values for a task; root and the daemon's own user only */
    GS_MSG_RENEW,     /* a resource that is held alone: the holder still works with it */
    GS_MSG_CLIENT_END,
    /* daemon to client */
    GS_MSG_WELCOME = 64, /* with the page's descriptor attached */
    GS_MSG_REFUSED,      /* the connection ends after this one */
    GS_MSG_NOTICE,       /* something for the application's user to know */
    GS_MSG_ANSWER,       /* to STATUS, RELOAD, PLAN and SET; a longer text comes as an attached memory file */
    GS_MSG_TASK,         /* what WELCOME said of the client's task has changed: the same again, and no descriptor */
    GS_MSG_DAEMON_END
};

/* Why a client was refused; in `code` of GS_MSG_REFUSED. */
enum gs_refusal {
    GS_REFUSED_VERSION = 1, /* the daemon speaks another version */
    GS_REFUSED_FULL,        /* too many clients */
    GS_REFUSED_PROTOCOL,    /* the client's message made no sense */
    GS_REFUSED_TASK,        /* no such task, or it belongs to another user */
    GS_REFUSED_ADMISSION /* with it the tasks' deadlines could not be met, and the config says `admission = refuse` */
};

enum gs_notice_level { GS_NOTICE_INFO, GS_NOTICE_WARNING };

/* Flags of GS_MSG_HELLO. */
#define GS_HELLO_NO_TASK 1u /* don't match a task by the executable's path either: below all tasks */
#define GS_HELLO_PACED 2u   /* its jobs are held back until their releases */
#define GS_HELLO_REFUSED 4u /* with NO_TASK: it was refused as a task just now, and may be it by another config */

struct gs_msg_hello {
    uint32_t flags;
    uint32_t gpus;           /* how many GPUs the application's device group has, 1 ... GS_MAX_GPUS */
    char task[GS_WIRE_NAME]; /* empty: matched by the executable's path */
    uint32_t jobs;           /* that the process has done already, under another daemon or none */
};

/* Flags of GS_MSG_REQUEST. */
#define GS_REQUEST_ALONE 1u /* the resource for as long as a measurement takes; not while tasks run */

struct gs_msg_request {
    uint32_t slot;
    uint32_t serial; /* of this use of the slot, low 16 bits count; comes back in the slot's word */
    uint32_t client; /* the number from WELCOME: a request written for a daemon that has died since is not this one's */
    uint32_t resource;
    uint32_t flags;
    uint64_t cost_ns; /* how long the unit is expected to take; 0: unknown */
};

struct gs_msg_choose {
    uint32_t slot, serial, client; /* as a request's */
    uint32_t gpus;                 /* mask of the resources, GPUs all of them */
    uint32_t prefer;               /* the one wanted most of those that are equal (its data lies there) */
};

struct gs_msg_cancel {
    uint32_t slot;
    uint32_t serial;
};

struct gs_msg_look { /* and RENEW */
    uint32_t resource;
};

/* Flags of GS_MSG_SET: which values are given; FORCE: though deadlines could be missed then. */
#define GS_SET_PRIORITY 1u
#define GS_SET_PERIOD 2u
#define GS_SET_DEADLINE 4u
#define GS_SET_FORCE 8u

struct gs_msg_set {
    char task[GS_WIRE_NAME];
    uint32_t flags;
    int32_t priority;
    uint64_t period_ns, deadline_ns;
};

/* Flags of GS_MSG_WELCOME. */
#define GS_WELCOME_CHOOSES 1u /* the number of GPUs is the daemon's choice, and may change from job to job */
#define GS_WELCOME_MOVES 2u   /* a job with one GPU of several begins on another one than the last */

struct gs_msg_welcome {
    uint32_t client; /* the daemon's number for this client */
    uint32_t gpus;   /* GPUs of the machine */
    uint32_t depth;  /* units of one resource that a client may have at a time */
    int32_t priority;
    char task[GS_WIRE_NAME]; /* empty: an application without a task */
    uint64_t period_ns;      /* of the task; 0: it has none */
    uint32_t warmup;         /* so many jobs of a process, from its first, are its warm-up */
    uint32_t flags;
};

struct gs_msg_text {
    uint32_t code;  /* gs_refusal, gs_notice_level, or 0 / an errno value in an answer */
    uint32_t bytes; /* of the attached file; it has fewer: the answer is out of date, ask again. 0: doesn't matter */
    char text[GS_WIRE_TEXT];
};

/* Every message has this size, in both directions. */
struct gs_msg {
    uint32_t magic;
    uint16_t version;
    uint16_t type; /* enum gs_msg_type */
    union {
        struct gs_msg_hello hello;
        struct gs_msg_request request;
        struct gs_msg_choose choose;
        struct gs_msg_cancel cancel;
        struct gs_msg_look look;
        struct gs_msg_set set;
        struct gs_msg_welcome welcome;
        struct gs_msg_text text;
        char name[GS_WIRE_NAME]; /* PLAN */
        unsigned char bytes[248];
    } u;
};
_Static_assert(sizeof(struct gs_msg) == 256, "messages have a fixed size");

/* The word of a lease, one per client and resource.
 *
 * LEASED: the resource is this client's until the daemon says otherwise; it takes a unit by counting UNITS up, and
 * gives it back by counting down, both by compare-and-swap. ASK: somebody waits for the resource: take no more without
 * asking, and send GS_MSG_LOOK after every unit given back. WAITED: a thread of the client sleeps on this word. The
 * generation counts up whenever the lease begins or ends, so that a unit given back late changes nothing. */
#define GS_LEASE_UNITS 0xffu
#define GS_LEASE_LEASED 0x100u
#define GS_LEASE_ASK 0x200u
#define GS_LEASE_WAITED 0x400u
#define GS_LEASE_GENERATION(word) ((word) >> 16)
#define GS_LEASE_WORD(generation, flags) ((uint32_t)(generation) << 16 | (flags))

/* The word of a slot: the request's serial in the high half, then its state, then what was granted. */
#define GS_SLOT_FREE 0u
#define GS_SLOT_WAITING 1u
#define GS_SLOT_GRANTED 2u
#define GS_SLOT_CANCELLED 3u
#define GS_SLOT_CHOSEN 4u
#define GS_SLOT_WORD(serial, state, resource) ((uint32_t)(serial) << 16 | (state) << 8 | (resource))
#define GS_SLOT_SERIAL(word) ((word) >> 16)
#define GS_SLOT_STATE(word) ((word) >> 8 & 0xffu)
#define GS_SLOT_RESOURCE(word) ((word)&0xffu)

struct gs_lease {
    _Alignas(64) _Atomic uint32_t word;
    /* Written by the client, for the daemon's statistics alone. */
    _Atomic uint32_t longest_us; /* of the units given back since the daemon last made it 0, each from its grant */
    _Atomic uint64_t since_ns;   /* when UNITS last left 0 */
    _Atomic uint64_t busy_ns;    /* time with UNITS above 0 */
    _Atomic uint64_t taken;      /* units taken without asking */
};

/* One unit that was given back; kept while `recording` is set. */
#define GS_RECORD_ASKED 0x100u /* in `resource`: it was granted by request, not taken */
struct gs_unit_record {
    _Atomic uint32_t resource;
    _Atomic uint32_t serial; /* position in the record + 1, stored last: what has not arrived yet is not read */
    _Atomic uint64_t begin_ns;
    _Atomic uint64_t end_ns;
};
#define GS_UNIT_RECORDS 1024 /* their memory is taken once they are kept */

/* One job of a task that has ended. */
struct gs_job_record {
    _Atomic uint32_t serial;     /* as a unit's */
    _Atomic uint32_t gpus;       /* that it had been told when it began; 0: none, or it doesn't say */
    _Atomic uint64_t release_ns; /* CLOCK_MONOTONIC, as all times here */
    _Atomic uint64_t end_ns;
    _Atomic uint64_t pci_ns; /* for so long it has kept the link, and the GPU that it kept longest */
    _Atomic uint64_t gpu_ns;
};
#define GS_JOB_RECORDS 1024

/* One client's page: shared by this client and the daemon, and nobody else. The client may scribble over all of it;
 * what that changes is its own. Its size is sealed, so that neither side can make the other fault. */
struct gs_page {
    uint32_t magic;
    uint32_t version;
    /* What the daemon tells the client; `told` is odd while it writes, and counts up by 2 with each change. */
    _Alignas(64) _Atomic uint32_t told;
    _Atomic uint32_t gpus;           /* the task's number of GPUs, from its next job on */
    _Atomic uint32_t gpu_mask;       /* which resources these are; for one GPU: any one of these */
    _Atomic uint32_t kernel_chunk;   /* work-groups per compute unit */
    _Atomic uint64_t transfer_chunk; /* bytes */
    _Atomic uint32_t recording;      /* keep unit records */
    _Atomic uint32_t sole;           /* no other client is connected, and this one need not keep to small units */
    _Atomic uint32_t pong;           /* counts up with each PING */
    _Atomic uint32_t yield;          /* mask of the resources held alone that a task wants: give them back soon */
    /* Counts up when somebody begins to need the ends of units: the daemon, with ASK, or a thread of the client's that
     * waits for one. `watched`: a thread of the client sleeps on it, and is to be woken. */
    _Alignas(64) _Atomic uint32_t needed;
    _Atomic uint32_t watched;
    /* What the client tells the daemon. */
    _Atomic int64_t memory[GS_MAX_GPUS];        /* bytes that its memory objects take on each GPU */
    _Alignas(64) _Atomic uint64_t job_since_ns; /* release of the job under way; 0: none */
    struct gs_lease lease[GS_MAX_RESOURCES];
    _Alignas(64) _Atomic uint32_t slot[GS_MAX_SLOTS];
    _Alignas(64) _Atomic uint32_t records; /* units recorded so far: the next goes to records % GS_UNIT_RECORDS */
    struct gs_unit_record record[GS_UNIT_RECORDS];
    _Alignas(64) _Atomic uint32_t jobs; /* recorded so far: the next goes to jobs % GS_JOB_RECORDS */
    struct gs_job_record job[GS_JOB_RECORDS];
};
#define GS_PAGE_BYTES 73728
_Static_assert(sizeof(struct gs_page) <= GS_PAGE_BYTES, "the page fits what is mapped");

#endif
