#!/usr/bin/env python3
"""Random kernels in which waves read and write LDS, for kernels.py, and which of their accesses race.

    random_races.py COUNT SEED LISTING PAIRS

A line of PAIRS: the kernel, then MARK:WAVE MARK:WAVE of each two instructions that race. Model: an
access is under way from the phase (between two barriers) in which it is issued to the phase in which
a wait proves it complete. Accesses of two waves race when the phases they are under way in meet,
they share a byte, and one of them writes.
"""
import itertools
import random
import sys

LANES = 4  # that are on
LDS = 64
NEVER = 10**6
NAMES = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 16: "b128"}


class Wave:
    """One wave's instructions, and what it has in flight."""

    def __init__(self, number):
        self.number = number
        self.phase = 0
        self.lines = []
        self.accesses = []
        self.in_flight = {"lgkm": [], "vm": []}

    def access(self, counter, text, touched, write):
        mark = "m{}_{}".format(self.number, len(self.accesses))
        self.lines.append("{}: {}".format(mark, text))
        access = {"mark": mark, "wave": self.number, "bytes": touched, "write": write,
                  "begin": self.phase, "end": NEVER}
        self.accesses.append(access)
        self.in_flight[counter].append(access)

    def wait(self, counter, count):
        self.lines.append("        s_waitcnt {}cnt({})".format(counter, count))
        queue = self.in_flight[counter]
        while len(queue) > count:
            queue.pop(0)["end"] = self.phase

    def step(self, rng):
        kind = rng.choices(["read", "write", "direct", "lgkm", "vm"], [5, 5, 1, 4, 1])[0]
        if kind in self.in_flight:
            return self.wait(kind, rng.choice([0, 0, 0, 1, 2]))
        if kind == "direct":  # 4 bytes per lane from m0 on, which is 0
            offset = 4 * rng.randrange(LDS // 4 - LANES + 1)
            return self.access("vm", "global_load_lds_dword v1, s[4:5] offset:{}".format(offset),
                               set(range(offset, offset + 4 * LANES)), True)
        size = rng.choice([1, 2, 4, 4, 8, 16])
        unit = min(size, 4)
        strides = [n for n in (1, 2, 4, 8, 16) if n >= (unit if kind == "read" else size)]
        stride = rng.choice(strides)
        reach = stride * (LANES - 1) + size
        if reach > LDS:
            return None
        offset = unit * rng.randrange((LDS - reach) // unit + 1)
        address = "v{}".format(10 + stride.bit_length())
        touched = {offset + stride * lane + n for lane in range(LANES) for n in range(size)}
        if kind == "write":
            data = {8: "v[2:3]", 16: "v[2:5]"}.get(size, "v2")
            return self.access("lgkm", "ds_write_{} {}, {} offset:{}".format(
                NAMES[size], address, data, offset), touched, True)
        name = {1: "u8", 2: "u16"}.get(size, NAMES[size])
        data = {8: "v[6:7]", 16: "v[6:9]"}.get(size, "v6")
        return self.access("lgkm", "ds_read_{} {}, {} offset:{}".format(
            name, data, address, offset), touched, False)


def make(rng, name):
    """The listing of one kernel, and the pairs that race."""
    waves = [Wave(n) for n in range(rng.choice([2, 2, 3, 4]))]
    phases = rng.choice([1, 2, 3, 4])
    for phase in range(phases):
        for wave in waves:
            for _ in range(rng.choice([0, 0, 1, 1, 2, 3])):
                wave.step(rng)
            if phase + 1 < phases:
                if rng.random() < 0.7:
                    wave.wait("lgkm", 0)
                if rng.random() < 0.7:
                    wave.wait("vm", 0)
                wave.lines.append("        s_barrier")
                wave.phase += 1
    lines = ["kernel {} waves={} lds={}".format(name, len(waves), LDS), "        arguments",
             "        waves", "        v_and_b32 v11, 63, v0", "        v_mov_b32 v1, 0",
             "        s_mov_b32 m0, 0", "        s_mov_b64 exec, 15"]
    lines += ["        v_lshlrev_b32 v{}, {}, v11".format(11 + n, n) for n in range(1, 5)]
    # What is written differs from wave to wave.
    lines += ["        v_add_u32 v2, 1, v0"]
    lines += ["        v_add_u32 v{}, {}, v0".format(3 + n, 1000 * (n + 1)) for n in range(3)]
    for wave in waves:
        lines += ["        unless_wave {}, %not{}".format(wave.number, wave.number)]
        lines += wave.lines + ["        s_endpgm", "not{}:   s_nop 0".format(wave.number)]
    pairs = []
    for a, b in itertools.combinations([x for wave in waves for x in wave.accesses], 2):
        apart = a["end"] < b["begin"] or b["end"] < a["begin"]
        if (a["wave"] != b["wave"] and (a["write"] or b["write"]) and not apart
                and a["bytes"] & b["bytes"]):
            pairs.append("{mark}:{wave}".format(**a) + " {mark}:{wave}".format(**b))
    return lines, pairs


def main():
    count, seed, listing_path, pairs_path = sys.argv[1:]
    rng = random.Random(int(seed))
    with open(listing_path, "w", encoding="utf-8") as listing, \
            open(pairs_path, "w", encoding="utf-8") as pairs_file:
        for n in range(int(count)):
            name = "random_{}".format(n)
            lines, pairs = make(rng, name)
            listing.write("\n".join(lines) + "\n")
            pairs_file.write(" ".join([name] + pairs) + "\n")


main()
