// Lists whose inner braces are left out: each value is for the next number, vector or struct that is whole.
//! kernel k global 64 local 8
//! buffer int 4096 zero
struct pair { int a, b; };
struct item { struct pair x; int z; int row[2]; };
struct nested { struct item i[2]; int last; };
union either { int n; struct pair p; };
struct tagged { union either e; int tag; };
__kernel void k(__global int *out)
{
    const int i = get_global_id(0);
    const struct pair p = {6, 7};
    struct item one = {1, 2, 3, 4, 5};
    struct item two = {p, 8, {9}};
    struct nested all = {1, 2, 3, 4, 5, {p, 8, 9, 10}, 11};
    int table[3][2] = {1, {2}, 3};
    struct tagged t[2] = {1, 2, 3, 4};
    int2 v[2] = {1, 2};
    out[one.z * 64 + i] = 0;                     // 3
    out[two.z * 64 + i] = 0;                     // 8
    out[all.last * 64 + i] = 0;                  // 11
    out[(all.i[1].x.b + all.i[1].row[1]) * 64 + i] = 0; // 17
    out[(t[1].tag + 15) * 64 + i] = 0;           // 19
    out[(table[1][0] + 20) * 64 + i] = 0;        // 22
    out[(v[1].x + 22) * 64 + i] = 0;             // 24
}
