// A state with pointers to other private structs, of which a loop changes members: what is stored through the pointers
// is private still. As path tracers do it, and with pointers to local memory. In OpenCL C 1.2: what is stored through a
// generic pointer, as PoCL 6.0 takes them by itself, may be a buffer's.
//! options -cl-std=CL1.2
//! kernel trace global 64 local 8
//! buffer int 256 random 1000
//! buffer int 64 zero
//! buffer int 64 zero
//! value int 5
//! expect plain
//! kernel tile global 64 local 8
//! buffer int 64 random 1000
//! buffer int 64 zero
//! shared 32
//! value int 5
//! expect plain
struct hit {
    int object, t;
};
struct state {
    int bounce, sum;
    struct hit *hit;
};
struct scene {
    __global const int *objects;
    int n;
};
void find(const struct scene *scene, struct hit *h, int from)
{
    h->t = 1000;
    for (int i = 0; i < scene->n; i++)
        if (scene->objects[from + i] < h->t) {
            h->t = scene->objects[from + i];
            h->object = i;
        }
}
void shade(struct state *s)
{
    struct hit *h = s->hit;
    s->sum += h->object * 3 + h->t;
    h->object = 0;
}
__kernel void trace(__global const int *objects, __global int *out, __global int *last, int n)
{
    const int i = get_global_id(0);
    struct scene scene = {objects, n};
    struct hit hit = {0, 0};
    struct state s = {0, i, &hit};
    for (s.bounce = 0; s.bounce < 4; s.bounce++) {
        find(&scene, s.hit, 2 * i + s.bounce);
        shade(&s);
    }
    out[i] = s.sum;
    last[i] = hit.t;
}
struct shared {
    int round;
    __local int *at;
};
void turn(struct shared *s) { s->round += 2; }
__kernel void tile(__global const int *in, __global int *out, __local int *tile, int n)
{
    const int i = get_global_id(0), l = get_local_id(0);
    struct shared s = {0, tile};
    s.at[l] = 0;
    for (int k = 0; k < n; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        atomic_add(&s.at[(l + k) & 7], in[i]);
        turn(&s);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k == 2)
            s.at[l] = s.round;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[l];
}
