// Functions and kernels that macros define: their names as arguments, pasted, and behind a macro.
//! kernel run_int global 48 local 4
//! buffer int 48 iota
//! expect hidden group
//! kernel run_float global 48 local 4
//! buffer float 48 iota
//! expect hidden group
#define DEFINE(name) int name(int q) { return q + (int)get_num_groups(0); }
DEFINE(plain_name)
#define PREFIXED(n) prefix_##n
int PREFIXED(one)(int a) { return a + (int)get_group_id(0); }
int PREFIXED(two)(void) { return (int)get_global_size(0); }
#define PAIR(T)                                                        \
    T first_##T(T a) { return a * (T)2; }                              \
    static T second_##T(T a) { return first_##T(a) + (T)get_group_id(0); }
PAIR(int)
PAIR(float)
#define KERNEL(T)                                                                        \
    __kernel void run_##T(__global T *a)                                                 \
    {                                                                                    \
        size_t i = get_global_id(0);                                                     \
        a[i] += second_##T((T)plain_name(1)) + (T)(PREFIXED(one)(3) + PREFIXED(two)()); \
    }
KERNEL(int)
KERNEL(float)
