/* SPDX-License-Identifier: MIT */
/* One step of a finite difference scheme whose stencil reaches RADIUS points along each of the three axes. The volumes
 * have a margin of RADIUS all around. A work-group goes through the volume along z: it keeps the plane in local memory,
 * and each work-item keeps its own points before and behind the plane in registers. */
#define WIDTH 32
#define HEIGHT 8

__kernel __attribute__((reqd_work_group_size(WIDTH, HEIGHT, 1))) void
fdtd3d(__global float *out, __global const float *in, __constant float *weight, uint nx, uint ny, uint nz)
{
    __local float plane[HEIGHT + 2 * RADIUS][WIDTH + 2 * RADIUS];
    const uint lx = get_local_id(0), ly = get_local_id(1), x = get_global_id(0), y = get_global_id(1);
    const uint row = nx + 2 * RADIUS, rows = ny + 2 * RADIUS;
    const size_t slice = (size_t)row * rows;
    /* Work-items beyond the edge read what lies at the edge, to fill the plane's margin for the others. */
    const uint column = min(x + RADIUS, row - 1), line = min(y + RADIUS, rows - 1);
    const uint right = min(x + RADIUS + WIDTH, row - 1), below = min(y + RADIUS + HEIGHT, rows - 1);
    float before[RADIUS], behind[RADIUS], here;
    size_t at = line * row + column;

    for (int i = 0; i < RADIUS; i++) {
        before[i] = in[at + (RADIUS - 1 - i) * slice];
        behind[i] = in[at + (RADIUS + 1 + i) * slice];
    }
    here = in[at + RADIUS * slice];
    for (uint z = 0; z < nz; z++) {
        const size_t corner = (z + RADIUS) * slice;
        barrier(CLK_LOCAL_MEM_FENCE);
        plane[ly + RADIUS][lx + RADIUS] = here;
        if (ly < RADIUS) {
            plane[ly][lx + RADIUS] = in[corner + min(y, rows - 1) * row + column];
            plane[ly + RADIUS + HEIGHT][lx + RADIUS] = in[corner + below * row + column];
        }
        if (lx < RADIUS) {
            plane[ly + RADIUS][lx] = in[corner + line * row + min(x, row - 1)];
            plane[ly + RADIUS][lx + RADIUS + WIDTH] = in[corner + line * row + right];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        float sum = weight[0] * here;
        for (int i = 1; i <= RADIUS; i++)
            sum += weight[i] *
                   (before[i - 1] + behind[i - 1] + plane[ly + RADIUS - i][lx + RADIUS] +
                    plane[ly + RADIUS + i][lx + RADIUS] + plane[ly + RADIUS][lx + RADIUS - i] +
                    plane[ly + RADIUS][lx + RADIUS + i]);
        if (x < nx && y < ny)
            out[corner + at] = sum;

        for (int i = RADIUS - 1; i > 0; i--)
            before[i] = before[i - 1];
        before[0] = here;
        here = behind[0];
        for (int i = 0; i < RADIUS - 1; i++)
            behind[i] = behind[i + 1];
        if (z + 1 < nz)
            behind[RADIUS - 1] = in[at + (z + 2 * RADIUS + 1) * slice];
    }
}
