/* SPDX-License-Identifier: MIT */
/* Why a launch wasn't split: all sentences of --stats that the shim itself finds, and what the choice says. Those of a
 * kernel's text are the translator's. docs/messages.md has each of them, with what would change it; tests/docs/messages
 * compares. The subject of each is the launch or its kernel. */
#ifndef GS_SHIM_RECORD_REASONS_H
#define GS_SHIM_RECORD_REASONS_H

/* What stands behind a reason: no split was possible; auto mode chose one device; it did so for now, and mode multi
 * would split the launch if its kernel can be. */
enum gs_left { GS_NOT_SPLIT, GS_CHOSEN, GS_CHOSEN_FOR_NOW };

/* What was asked for, and where the application runs. */
#define GS_R_ONE_DEVICE "there is one device"
#define GS_R_SHORT_RUNS "the last three processes of this command ended soon and split nothing"
#define GS_R_NOT_CHOSEN "--only or --not leaves it on one device"
#define GS_R_ONE_GRANTED "the daemon gives it one GPU"
#define GS_R_ONE_UNIT "it is so short that the daemon grants it as a whole"
#define GS_R_NO_GPU "there is no GPU, and the CPU isn't divided (--devices cpu:2 does that)"
#define GS_R_COMMAND_BUFFERS "the application uses command buffers in this context"
#define GS_R_POINTER_BY_EXTENSION "the application sets arguments by an extension in this context"
#define GS_R_UNKNOWN_FUNCTION "the application has called a function of an extension that gpusparc doesn't know"
#define GS_R_TWO_PLATFORMS "two platforms have an extension that reaches past gpusparc"
#define GS_R_REFUSED "the driver refuses it"
#define GS_R_NO_EVENT "its wait list has a null where an event should be"
#define GS_R_PART_REFUSED "a device refused its part"
#define GS_R_NO_MEMORY "there was no memory to split it"

/* Auto mode's choice. */
#define GS_R_NOT_KNOWN "how long it takes isn't known yet"
#define GS_R_TOO_SHORT "it is too short to gain"
#define GS_R_AT_ONCE "one device runs all its work-groups at once"
#define GS_R_FASTER "one device is faster"
#define GS_R_FASTER_TOGETHER "all that comes between two waits of the application is faster on one device"
#define GS_R_OPENING "the fast path between the GPUs isn't open yet"
#define GS_R_NOT_EARNED "too few launches so far to win back what a first split costs"
#define GS_R_TRANSLATING "its program is still being translated for a split"
#define GS_R_OTHERS_SLOW "on the other devices a part of it takes longer than all of it on the first"

/* The launch: its size, its arguments, its moment. */
#define GS_R_FEW_GROUPS "it has fewer work-groups than there are devices"
#define GS_R_LOCAL_SIZE "the local size is NULL and the kernel's result may depend on it"
#define GS_R_LOCAL_REQUIRED "the local size is NULL and the kernel requires one: drivers refuse that, or choose it"
#define GS_R_SVM "it uses shared virtual memory"
#define GS_R_SVM_POINTER "it takes a shared virtual memory pointer"
#define GS_R_SVM_OBJECT "a memory object lies in shared virtual memory"
#define GS_R_UNKNOWN_OBJECT "it takes a memory object that gpusparc doesn't know"
#define GS_R_NO_REPLICA "a memory object can't be copied to other devices"
#define GS_R_MAPPED "a memory object is mapped for writing"
#define GS_R_USER_EVENT "a user event of the application has no status yet"
#define GS_R_IN_CALLBACK "it was enqueued by a callback, in which no queues for its parts can be made"
#define GS_R_STILL_MERGED "an image that it writes is still being put together after an earlier split"
#define GS_R_DISTURBED "another thread reads or writes a memory object into which its parts' results would be merged"
#define GS_R_NO_HOME "its parts' results would be merged on the first device, which the daemon doesn't give it"
#define GS_R_BEYOND_END "it writes behind the end of a buffer"

/* Pooled memory (docs/memory.md): why a launch is one turn, on one device, or fails. */
#define GS_R_NO_WINDOWS "it has so many arguments that windows of its buffers can't be told to it"
#define GS_R_IN_TURNS "its parts touch what others write, and it fits one device"
#define GS_R_TOO_LARGE "what a work-group may touch is more than a device has room for"

/* The kernel, beside what the translator says of it. */
#define GS_R_REORDERS                                                                                                  \
    "its options or pragmas let the compiler reorder, and parts take another text, which may change bits; --allow "    \
    "reorder permits it"
#define GS_R_REORDERS_SUMS                                                                                             \
    "a split changes the order of its floating-point atomics, and so bits; --allow reorder permits it"
#define GS_R_CLASH "its atomics and other accesses meet in the same bytes"
#define GS_R_RACE                                                                                                      \
    "a part may read what another writes, and one device's order of work-groups decides; --allow race permits it"
#define GS_R_TOO_FAR "a part would begin at a work-item of 2^31 or more, which this driver gets wrong"
#define GS_R_UNKNOWN_KERNEL "the translator doesn't know the kernel"
#define GS_R_ANSWER "the translator's answer doesn't fit the program"
#define GS_R_HEADERS "its program was made from a binary, and headers that it was built with have changed"
#define GS_R_DOES_NOT_COMPILE "its translation doesn't compile on every device of the group (error %d): %s"

/* Where its program comes from. */
#define GS_R_BY_EXTENSION "its program was made by an extension that gpusparc doesn't know"
#define GS_R_NOT_BUILT "it was not built"
#define GS_R_BUILT_IN "its kernel is built into the device"
#define GS_R_INTERMEDIATE "its program was made from an intermediate language"
#define GS_R_FOREIGN_BINARY                                                                                            \
    "its program was made from a binary that wasn't made under gpusparc (if the application keeps it in a cache: "     \
    "emptying that once lets it be split)"
#define GS_R_BUILT_AGAIN "its program was built again while it had kernels"
#define GS_R_NOT_LINKED "it was compiled but not linked"
#define GS_R_LINKED_FROM_BINARY "a program that it is linked from was not compiled from source"

/* Splits on trial. */
#define GS_R_REPEATED                                                                                                  \
    "it was split on trial, and done over by one device: several parts had changed what its atomics work on"
#define GS_R_TRIAL_BY_UNITS "it could be split only on trial, which isn't done under the daemon"
#define GS_R_TRIAL_IMAGE "it could be split only on trial, and what it writes to an image isn't kept for that"
#define GS_R_TRIAL_BYTES "it could be split only on trial, and to undo that takes copies of too many bytes"
#define GS_R_TRIAL_VAIN "it could be split only on trial, and the last trials were in vain"
#define GS_R_TRIAL_OPEN "it could be split only on trial, and how the last one ends isn't known yet"

/* What else the table says: behind a kernel's reasons, and below. */
#define GS_S_EXPECTED "auto expects %.3f ms on one device, %.3f ms split"
#define GS_S_ESTIMATE "estimated before any launch was measured: at least %.3f ms"
#define GS_S_TRIALS "splits on trial: %llu kept, %llu done over by one device"
#define GS_S_LATER                                                                                                     \
    "auto mode has left %llu launches on one device for now; --mode multi would split them, whether it "               \
    "pays or not"
#define GS_S_MULTI                                                                                                     \
    "mode multi has split %llu launches; to move bytes between the devices for them took %.3f ms. What one "           \
    "device takes, --mode single shows"

/* What --verify says at the end. */
#define GS_S_VERIFIED "verify: split launches compared with one device: %llu, all alike"
#define GS_S_VERIFIED_WRONG "verify: split launches compared with one device: %llu, not alike: %llu"
#define GS_S_VERIFIED_FREE                                                                                             \
    "verify: split launches not compared: %llu (on trial, with --allow reorder, or in memory that the host can't "     \
    "read)"
#define GS_S_VERIFIED_NONE "verify: nothing compared: no launch was split"
#define GS_S_VERIFIED_NO_KERNEL "verify: nothing compared: %s made no OpenCL kernel under gpusparc"

/* At the end of a process, of --only and --not. */
#define GS_S_UNMATCHED "%s: no kernel is called %s; %s has %s%s"

#endif
