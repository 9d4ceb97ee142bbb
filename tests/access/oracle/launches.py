# SPDX-License-Identifier: MIT
"""How a random kernel is launched: geometries, values, contents; as the lines that plan.c reads."""

WIDTH = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "size_t": 8, "float": 4}
MOST_ITEMS = 512


def geometry(k):
    """Offset, global and local size; few work-items and fewer groups."""
    while True:
        local = [1, 1, 1]
        groups = [1, 1, 1]
        offset = [0, 0, 0]
        for d in range(k.dims):
            local[d] = k.pick([1, 2, 4, 8, 16, 32, 64] if k.dims == 1 else [1, 2, 3, 4, 8] if k.dims == 2 else [1, 2, 4])
            groups[d] = k.pick([1, 2, 3, 4, 5, 7, 8, 16] if k.dims == 1 else [1, 2, 3, 4, 5])
            if k.reqd:
                local[d] = k.reqd[d]
            if k.chance(0.15):
                offset[d] = k.pick([1, 3, 16, local[d], 5])
        total = groups[0] * groups[1] * groups[2]
        size = [groups[d] * local[d] for d in range(3)]
        if k.std == "CL3.0" and not k.reqd and k.chance(0.25):
            d = k.dim()
            size[d] -= int(k.random() * local[d])
        if total <= 64 and size[0] * size[1] * size[2] <= MOST_ITEMS:
            return offset, size, local


def number(k, count, of_x):
    return k.pick([count, count, count - 1, count + 1, count // 2, of_x, of_x - 1, 0, 1, 2, 3, 4, 8, 15, 16, 17, 16, 8, 5, -1, 100,
                   int(k.random() * (count + 2)), int(k.random() * 20)] + ([1 << 31, (1 << 32) - 4, -100] if k.chance(0.1) else []))


def value(k, t, count, of_x, v):
    """The bytes of a by-value argument: v, or a struct or vector of such numbers."""
    members = {"struct plain": [4, 4], "int4": [4] * 4, "uint2": [4, 4], "struct tight": [1, 4, 2], "struct grid": [4] * 6}
    if t in members:
        return b"".join((number(k, count, of_x) % (1 << 8 * w)).to_bytes(w, "little") for w in members[t])
    if WIDTH[t] == 8 and k.chance(0.03):
        v = k.pick([(1 << 63) - 1, -(1 << 63), 1 << 40, (1 << 62) + 1])
    return (v % (1 << 8 * WIDTH[t])).to_bytes(WIDTH[t], "little")


def launches_of(k):
    lines = [f"K {k.seed} work{k.seed} {len(k.outs) + len(k.ins) + len(k.values)} {int(k.barriers)}"]
    for _ in range(k.pick([2, 3, 3, 4])):
        offset, size, local = geometry(k)
        count = size[0] * size[1] * size[2]
        slack = k.pick([0, 0, 0, 4, 64, 1000, 5])
        lines.append("L " + " ".join(map(str, [k.dims, *offset, *size, *local, slack, int(k.random() * (1 << 31))])))
        same = [i for i, t in enumerate(k.outs.values()) if i and t == next(iter(k.outs.values()))]
        for i, t in enumerate(k.outs):
            lines.append("s 0" if i in same and k.chance(0.05) else "b u 1 0 255" if k.chance(0.8) else "b u 4 0 9")
        for n, t in k.ins.items():
            if n == "in" and k.chance(0.03):
                lines.append("s 0")
            elif n == "ps":
                lines.append("b u 4 0 50")
            elif n == "idx":
                lines.append(k.pick([f"b u {WIDTH[t]} 0 60", f"b u {WIDTH[t]} 3 40", f"b m {WIDTH[t]} 0 3"]))
            else:
                lines.append(k.pick([f"b u {WIDTH[t]} 0 5", f"b u {WIDTH[t]} 0 30", f"b u {WIDTH[t]} 4 4"]))
        for n, t in k.values.items():
            v = number(k, count, size[0]) if n != "base" else k.pick([0, 0, 1, 2, 3, 4, 8, 16, count // 2, -1])
            lines.append("v " + value(k, t, count, size[0], v).hex())
    return "\n".join(lines)
