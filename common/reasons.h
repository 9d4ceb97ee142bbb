/* SPDX-License-Identifier: MIT */
/* Why a launch wasn't split: all sentences of --stats that the shim itself finds, and auto mode's. The translator has
 * the sentences about a kernel's text. docs/messages.md lists each, and what would change it; tests/docs/messages
 * compares. A sentence's subject is the launch or its kernel. */
#ifndef GS_REASONS_H
#define GS_REASONS_H

/* The kind of a reason: no split was possible; auto mode chose one device; or auto mode chose so for now, and multi
 * mode would split the launch if its kernel can be split. */
enum gs_left { GS_NOT_SPLIT, GS_CHOSEN, GS_CHOSEN_FOR_NOW };

/* What was asked for, and where the application runs. */
#define GS_R_ONE_DEVICE "there is one device"
#define GS_R_SVM_ALONE "the program uses shared virtual memory, which this driver has in contexts of one device alone"
#define GS_R_SHORT_RUNS "the last three runs of this command were short and split nothing"
#define GS_R_NOT_CHOSEN "--only or --not leaves it on one device"
#define GS_R_ONE_GRANTED "the daemon gives it one GPU"
#define GS_R_ONE_UNIT "it is so short that the daemon grants it as a whole"
#define GS_R_NO_GPU "there is no GPU, and the CPU isn't divided (--devices cpu:2 does that)"
#define GS_R_COMMAND_BUFFERS "the application uses command buffers in this context"
#define GS_R_POINTER_BY_EXTENSION "the application sets arguments by an extension in this context"
#define GS_R_UNKNOWN_FUNCTION "the application has called a function of an extension that gpusparc doesn't know"
#define GS_R_TWO_PLATFORMS "two OpenCL platforms have the same extension, whose calls can bypass gpusparc"
#define GS_R_REFUSED "the driver refuses the launch"
#define GS_R_NO_EVENT "its wait list holds a null instead of an event"
#define GS_R_PART_REFUSED "the driver of one device refused its part"
#define GS_R_NO_MEMORY "there was too little memory to split it"

/* Auto mode's choice. */
#define GS_R_NOT_KNOWN "how long it takes isn't known yet"
#define GS_R_TOO_SHORT "it is too short to gain"
#define GS_R_AT_ONCE "it has so few work-groups that one device runs all of them at once"
#define GS_R_FASTER "one device is faster"
#define GS_R_FASTER_TOGETHER "all launches between two waits of the application together are faster on one device"
#define GS_R_OPENING "the direct path between the GPUs is still being set up"
#define GS_R_NOT_EARNED "too few launches so far to win back what a first split costs"
#define GS_R_TRANSLATING "its program is still being translated for a split"

/* The launch: its size, its arguments, its moment. */
#define GS_R_FEW_GROUPS "it has fewer work-groups than there are devices"
#define GS_R_LOCAL_SIZE "the local size is NULL and the kernel's result may depend on it"
#define GS_R_LOCAL_REQUIRED "the local size is NULL, but the kernel requires a certain one"
#define GS_R_SVM "it uses shared virtual memory"
#define GS_R_SVM_POINTER "it takes a shared virtual memory pointer"
#define GS_R_SVM_OBJECT "a memory object lies in shared virtual memory"
#define GS_R_UNKNOWN_OBJECT "it takes a memory object that gpusparc doesn't know"
#define GS_R_NO_REPLICA "a memory object can't be copied to other devices"
#define GS_R_MAPPED "a memory object is mapped for writing"
#define GS_R_USER_EVENT "it waits for a user event that the application has not set yet"
#define GS_R_IN_CALLBACK "it was enqueued within a callback, where gpusparc can't create queues for its parts"
#define GS_R_DISTURBED "another thread is using one of its memory objects"
#define GS_R_NO_HOME "its parts' results would be merged on the first device, which the daemon doesn't give it"
#define GS_R_BEYOND_END "it writes past the end of a buffer"

/* Pooled memory (docs/memory.md): why a launch is one turn, on one device, or fails. */
#define GS_R_WHOLE_IMAGE "it uses images, which --memory pooled doesn't cut"
#define GS_R_NO_WINDOWS "it has too many arguments: gpusparc can't pass it parts of its buffers"
#define GS_R_IN_TURNS "its parts may write the same bytes or read each other's, and it fits on one device"
#define GS_R_TOO_LARGE "one work-group may touch more bytes than fit on a device"

/* The kernel, beside what the translator says of it. */
#define GS_R_REORDERS                                                                                                  \
    "its build options or pragmas let the compiler reorder floating-point operations, and a split compiles another "   \
    "text: the last bits may differ; --allow reorder permits it"
#define GS_R_REORDERS_SUMS                                                                                             \
    "a split changes the order of its floating-point atomics: the last bits may differ; --allow reorder permits it"
#define GS_R_CLASH "its atomics and its plain accesses touch the same bytes"
#define GS_R_RACE                                                                                                      \
    "a part may read what another part writes, so the result depends on the order of work-groups; --allow race "       \
    "permits it"
#define GS_R_IMAGE_WRITES "its parts may write anywhere in an image"
#define GS_R_TOO_FAR "a part would begin at a work-item of 2^31 or more, which this driver gets wrong"
#define GS_R_UNKNOWN_KERNEL "the translator doesn't know the kernel"
#define GS_R_ANSWER "the translator's answer doesn't fit the program"
#define GS_R_HEADERS "its program was made from a binary, and headers that it was built with have changed since"
#define GS_R_DOES_NOT_COMPILE "its translation doesn't compile on every device of the group (error %d): %s"

/* Where its program comes from. */
#define GS_R_BY_EXTENSION "its program was made by an extension that gpusparc doesn't know"
#define GS_R_NOT_BUILT "it was not built"
#define GS_R_BUILT_IN "its kernel is built into the device"
#define GS_R_INTERMEDIATE "its program was made from an intermediate language"
#define GS_R_FOREIGN_BINARY                                                                                            \
    "its program was made from a binary whose source gpusparc doesn't know (if the application keeps it in a cache: "  \
    "emptying that once lets it be split)"
#define GS_R_BUILT_AGAIN "its program was built again while it had kernels"
#define GS_R_NOT_LINKED "it was compiled but not linked"
#define GS_R_LINKED_FROM_BINARY "a program that it is linked from was not compiled from source"

/* What else the table says: behind a kernel's reasons, and below. */
#define GS_S_EXPECTED "auto expects %.3f ms on one device, %.3f ms split"
#define GS_S_EXPECTED_AT_LEAST "auto expects %.3f ms on one device, at least %.3f ms split"
#define GS_S_LATER                                                                                                     \
    "launches that auto mode has left on one device for now: %llu; --mode multi would split them, whether it pays or " \
    "not"

#define GS_S_COMPILED_LATER "programs that are compiled for splits once this process has ended, for later ones: %llu"
#define GS_S_COMPILED_BEFORE "programs that were compiled for splits after an earlier process: %llu"

/* What --verify says at the end. */
#define GS_S_VERIFIED "verify: split launches compared with one device: %llu, all alike"
#define GS_S_VERIFIED_WRONG "verify: split launches compared with one device: %llu, not alike: %llu"
#define GS_S_VERIFIED_FREE                                                                                             \
    "verify: split launches not compared: %llu (with --allow reorder, or in memory that the host can't read)"
#define GS_S_VERIFIED_NONE "verify: nothing compared: no launch was split"
#define GS_S_VERIFIED_NO_KERNEL "verify: nothing compared: %s made no OpenCL kernel under gpusparc"

/* At the end of a process, of --only and --not. */
#define GS_S_UNMATCHED "%s: no kernel is called %s; %s has %s%s"

#endif
