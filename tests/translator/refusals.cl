// Kernels that are never split, and the words for it.
//! it waits for other work-groups
__kernel void k01(__global volatile int *f, __global int *o) { while (f[0] == 0) ; o[get_global_id(0)] = 1; f[0] = 1; }
//! it may wait for what other work-groups write to a volatile buffer
__kernel void k02(__global volatile int *f, __global int *o) { for (int i = 0; ; i++) { if (o[i]) break; } o[1] = f[0]; }
//! it uses the result of an atomic on global memory
__kernel void k03(__global int *n, __global int *o) { o[atomic_inc(n) & 63] = 1; }
//! it uses an atomic on global memory that is no plain sum, minimum, maximum or bit operation
__kernel void k04(__global int *n) { atomic_xchg(n, (int)get_global_id(0)); }
//! it uses several kinds of atomics on the same buffer
__kernel void k05(__global int *n) { atomic_add(n, 1); atomic_max(n, 5); }
//! it uses atomics and plain accesses on the same buffer
__kernel void k06(__global int *n) { atomic_add(n, 1); n[get_global_id(0)] = 5; }
//! it uses an atomic that isn't OpenCL's
__kernel void k07(__global int *n) { __sync_fetch_and_add(n, 1); }
//! it uses a variable that lasts from one launch to the next
__global int last; __kernel void k08(__global int *o) { o[get_global_id(0)] = last; last = 7; }
//! the address of a buffer is stored or used as a number
__kernel void k09(__global int *o, __global ulong *w) { w[get_global_id(0)] = (ulong)o; }
//! it takes a pointer out of a buffer
typedef struct { __global int *p; } hidden; __kernel void k10(__global hidden *h) { h->p[get_global_id(0)] = 1; }
//! it makes a pointer from a number
__kernel void k11(ulong a) { *(__global int *)(a + 4 * get_global_id(0)) = 1; }
//! it uses an expression whose pointers can't be followed
__kernel void k12(__global int *o) { o[get_global_id(0)] = __builtin_choose_expr(1, 2, o); }
//! its argument %s is of type %s
__kernel void k13(__global int *o, queue_t q) { o[get_global_id(0)] = 1; }
//! it uses pipes
__kernel void k14(read_only pipe int p, __global int *o) { int v; read_pipe(p, &v); o[get_global_id(0)] = v; }
//! it enqueues kernels from the device
void within(__global int *o) { o[0] = 1; } __kernel void k15(__global int *o) { enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(64), ^{ within(o); }); }
//! it uses blocks or pointers to functions
__kernel void k16(__global int *o) { void (^put)(void) = ^{ o[get_global_id(0)] = 1; }; put(); }
//! it calls a function that the program doesn't define
int elsewhere(int x); __kernel void k17(__global int *o) { o[get_global_id(0)] = elsewhere(3); }
//! it prints, and a split would change the order of the lines
__kernel void k18(__global int *o) { printf("%d\n", o[0]); }
//! its inline assembly reaches beyond the work-item
__kernel void k19(__global int *o) { int x; __asm__("mov.u32 %0, %%ctaid.x;" : "=r"(x)); o[get_global_id(0)] = x; }
