// Comments, strings, splices and spaces in the places that are changed.
//! kernel comments global 32 local 4
//! buffer int 32 zero
//! expect hidden group
int /* ( */ odd /* " */ ( /* , */ void /* ) */ ) // (
{
    return (int)get_group_id /* ( */ (0);
}
int
split\
_name
(int a, // first )
 int b  /* second ( */
 )
{
    return a + b + odd ( );
}
__kernel
/* '" */
void comments (
    __global int *out // the only one
)
{
    out[get_global_id(0)] = split_name(1, (int)get_num_groups(0)) /* " */ + odd
        ();
}
