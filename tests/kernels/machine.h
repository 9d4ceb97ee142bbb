/* SPDX-License-Identifier: MIT */
/* The OpenCL side of a test kernel: builds its program and makes its buffers. Ends the program where OpenCL fails. */
#ifndef GS_TESTS_KERNELS_MACHINE_H
#define GS_TESTS_KERNELS_MACHINE_H

#include <CL/cl.h>

#include "tests/kernels/spec.h"

struct machine {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_sampler sampler;
};

/* What a launch works on: one memory object per argument that has one. */
struct machine_memory {
    cl_mem v[SPEC_LAUNCHES][SPEC_ARGS];
};

void machine_check(cl_int err, const char *what);
void machine_open(struct machine *m);
void machine_close(struct machine *m);
char *machine_info(const struct machine *m, cl_device_info what);

/* Can the device run the program? */
bool machine_can(const struct machine *m, const struct spec *s);

/* Where the options name no -cl-std, adds the device's CL_DEVICE_OPENCL_C_VERSION. A compiler may take a later one by
 * itself, as PoCL 6.0 does; only the shim asks it, and the translator alone goes by the device's word. */
void machine_name_version(const struct machine *m, struct spec *s);

/* Builds the program from the given texts of its units. */
cl_program machine_build(const struct machine *m, const struct spec *s, const char *const *texts);

void machine_fill(const struct machine *m, const struct spec *s, struct machine_memory *mem);
void machine_release(const struct spec *s, struct machine_memory *mem);

/* Sets all arguments of a launch. */
cl_kernel machine_kernel(const struct machine *m, cl_program p, const struct spec *s, unsigned launch,
                         const struct machine_memory *mem);

/* All bytes of all memory objects, one after the other (malloc'd). */
unsigned char *machine_read(const struct machine *m, const struct spec *s, const struct machine_memory *mem,
                            size_t *bytes);

#endif
