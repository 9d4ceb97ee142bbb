// Three kinds of an array library: elements go to places that lists name; a dense matrix, column by column, becomes
// compressed rows; and compressed rows become coordinates. Each group of the last takes every 8th row.
//! kernel prepare global 96 local 16
//! buffer float 2048 around 3
//! buffer uint 2048 zero
//! buffer uint 64 zero
//! value int 64
//! value int 32
//! expect plain nogroup
//! kernel assign global 192 64 local 16 4
//! buffer uint 27648 iota
//! buffer uint 9216 random 100000
//! buffer uint 96 iota
//! buffer uint 48 iota
//! value int 90
//! value int 40
//! value int 2
//! value int 6
//! expect hidden group
//! kernel squeeze global 64 32 local 16 8
//! buffer float 2048 zero
//! buffer uint 2048 zero
//! same 0
//! same 1
//! same 2
//! value int 64
//! value int 32
//! expect plain nogroup
//! kernel coordinates global 256 local 32
//! buffer uint 2048 zero
//! buffer uint 2048 zero
//! buffer uint 65 rising 32
//! buffer uint 2048 random 500
//! value int 64
//! expect hidden group
// Where each row's elements that count go: `place` is how many there are up to this one.
__kernel void prepare(__global const float *dense, __global uint *place, __global uint *row, int rows, int columns)
{
    int i = get_global_id(0);
    uint n = 0u;
    if (i >= rows)
        return;
    for (int c = 0; c < columns; c++) {
        n += dense[i + c * rows] > 1.0f;
        place[i + c * rows] = n;
    }
    row[i] = (uint)(i * columns);
}
int into(int i, int n)
{
    int j = i < 0 ? -i - 1 : i;
    return j < n ? j : n - 1 - (j - n) % n;
}
// Each row and column has a place of its own. A plane for each `columns` groups of the first dimension.
__kernel void assign(__global uint *out, __global const uint *in, __global const uint *x, __global const uint *y,
                     int width, int height, int planes, int columns)
{
    int plane = get_group_id(0) / columns;
    int i = (get_group_id(0) - plane * columns) * get_local_size(0) + get_local_id(0), j = get_global_id(1);
    if (i >= width || j >= height || plane >= planes)
        return;
    int to_column = into((int)(x[i] * 7u + 2u) % 96, 96), to_row = into((int)(y[j] * 5u + 3u) % 48, 48);
    out[to_column + 96 * (to_row + 48 * plane)] = in[(i + width * j) % 9216];
}
__kernel void squeeze(__global float *value, __global uint *column, __global const float *dense,
                      __global const uint *place, __global const uint *row, int rows, int columns)
{
    int r = get_global_id(0), c = get_global_id(1);
    if (r >= rows || c >= columns)
        return;
    float v = dense[r + c * rows];
    uint at = row[r] + place[r + c * rows] - 1u;
    if (v > 1.0f && at < 2048u) {
        value[at] = v;
        column[at] = (uint)c;
    }
}
__kernel void coordinates(__global uint *to_row, __global uint *to_column, __global const uint *row,
                          __global const uint *column, int rows)
{
    for (int r = get_group_id(0); r < rows; r += get_num_groups(0))
        for (uint j = row[r] + get_local_id(0); j < row[r + 1]; j += get_local_size(0)) {
            to_row[j] = r;
            to_column[j] = column[j];
        }
}
