// Included once for each NAME and FACTOR.
static int NAME(int a) { return a * FACTOR + (int)get_group_id(0); }
#undef NAME
#undef FACTOR
