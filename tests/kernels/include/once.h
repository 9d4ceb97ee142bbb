#pragma once
static int from_once(int a)
{
    return a * (int)get_num_groups(0);
}