// Nothing that a split changes: the text must stay as it is.
//! kernel plain global 33 7
//! buffer float 231 iota
//! value float 0.5
//! expect plain nogroup
__kernel void plain(__global float *a, float by)
{
    a[get_global_id(1) * 33 + get_global_id(0)] *= by;
}
