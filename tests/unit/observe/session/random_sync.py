#!/usr/bin/env python3
"""Random kernels whose waves and workgroups hand LDS and global memory over by barriers, atomics, fences
and flags that are polled, for kernels.py, and which of their accesses race.

    random_sync.py COUNT SEED LISTING PAIRS

A line of PAIRS: the kernel, then MARK MARK of each two instructions that race. Model: a graph of what
every wave does, an edge from each thing to the next of its wave, from a barrier's arrivals to what follows
it, and from a flag's release to the poll that sees it. Two accesses are ordered when a path leads from
where the first one's effect is certain to the issue of the second one. Where it is certain: LDS, where a
wait proves it complete; global memory within a workgroup, at its issue; for other workgroups, where it is
complete (if it is a load, or of agent scope) or where a write-back after it is complete, or with the flag
that it is itself. A load without agent scope that another workgroup's write shall reach needs an
invalidation on the path, in its own workgroup.

A load with a scope that reads what a store with a scope or an atomic has left acquires as well, and what
it reads depends on the order in which waves run. So that the model needs no such order, the data of one
kernel are read with scopes or written with them, not both.
"""
import itertools
import random
import sys

LANES = 4  # that are on
DATA = 48  # bytes of LDS, and of global memory
FLAGS = {"lds": 64, "global": 2048}  # where they begin
NAMES = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 16: "b128"}
LOADS = {1: "ubyte", 2: "ushort", 4: "dword", 8: "dwordx2", 16: "dwordx4"}
STORES = {1: "byte", 2: "short", 4: "dword", 8: "dwordx2", 16: "dwordx4"}


class Node:
    def __init__(self, group, what=""):
        self.group, self.what, self.next = group, what, []


class Access:
    """What a race can be made of. scope: 0 none, 1 workgroup, 2 agent."""

    def __init__(self, wave, mark, space, touched, write, scope, issue):
        self.wave, self.mark, self.space, self.bytes = wave, mark, space, touched
        self.write, self.scope, self.issue = write, scope, issue
        self.done = None


class Wave:
    def __init__(self, group, number):
        self.group, self.number = group, number
        self.at = Node(group)
        self.lines, self.accesses = [], []
        self.in_flight = {"lgkm": [], "vm": []}
        self.write_backs = []
        self.ended = False

    def node(self, what=""):
        following = Node(self.group, what)
        self.at.next.append(following)
        self.at = following
        return following

    def emit(self, text):
        self.lines.append("        " + text)

    def access(self, space, text, touched, write, scope):
        mark = "m{}_{}_{}".format(self.group, self.number, len(self.accesses))
        self.lines.append("{}: {}".format(mark, text))
        access = Access(self, mark, space, touched, write, scope, self.node())
        self.accesses.append(access)
        self.in_flight["lgkm" if space == "lds" else "vm"].append(access)
        return access

    def wait(self, counter, count):
        self.emit("s_waitcnt {}cnt({})".format(counter, count))
        self.proven(counter, count)

    def proven(self, counter, count):
        node = self.node()
        queue = self.in_flight[counter]
        while len(queue) > count:
            queue.pop(0).done = node
        if counter == "vm" and count == 0:
            for write_back in self.write_backs:
                write_back.append(node)
            self.write_backs = []

    def end(self):
        self.emit("s_endpgm")
        self.proven("lgkm", 0)
        self.proven("vm", 0)
        self.ended = True


    def end_if_alive(self):
        if not self.ended:
            self.end()


class Kernel:
    def __init__(self, rng):
        self.rng = rng
        groups = rng.choice([1, 1, 2, 2, 3])
        count = rng.choice([2, 3, 4] if groups == 1 else [1, 2, 2, 3])
        self.groups = [[Wave(g, w) for w in range(count)] for g in range(groups)]
        self.flags = []  # dict: space, offset, counter, posts, closed, group
        self.write_backs = []  # [issue node, node where it is proven complete]
        self.handovers = 0
        self.scoped_loads = rng.random() < 0.4

    def data(self, wave):
        rng = self.rng
        space = rng.choice(["lds", "lds", "global", "global", "global"])
        kind = rng.choice(["read", "read", "write", "write", "atomic"])
        size = 4 if kind == "atomic" else rng.choice([1, 2, 4, 4, 8, 16])
        unit = min(size, 4)
        stride = rng.choice([n for n in (1, 2, 4, 8, 16) if n >= (unit if kind == "read" else size)])
        reach = stride * (LANES - 1) + size
        if reach > DATA:
            return
        self.touch(wave, space, kind, size, stride, unit * rng.randrange((DATA - reach) // unit + 1))

    def touch(self, wave, space, kind, size, stride, offset):
        rng = self.rng
        if kind == "atomic" and space == "global" and self.scoped_loads:
            kind = "write"
        touched = {offset + stride * lane + n for lane in range(LANES) for n in range(size)}
        address = "v{}".format(10 + stride.bit_length())
        wide = {8: 2, 16: 4}.get(size, 1)
        source = "v2" if wide == 1 else "v[2:{}]".format(1 + wide)
        result = "v6" if wide == 1 else "v[6:{}]".format(5 + wide)
        if space == "lds":
            if kind == "atomic":
                text, scope = "ds_add_u32 {}, v2 offset:{}".format(address, offset), 2
            elif kind == "write":
                text, scope = "ds_write_{} {}, {} offset:{}".format(NAMES[size], address, source, offset), 0
            else:
                name = {1: "u8", 2: "u16"}.get(size, NAMES[size])
                text, scope = "ds_read_{} {}, {} offset:{}".format(name, result, address, offset), 0
        else:
            scope = rng.choice([0, 0, 0, 1, 2]) if size >= 4 else 0
            if self.scoped_loads != (kind == "read"):
                scope = 0
            bits = ["", " sc0", rng.choice([" sc1", " sc0 sc1"])][scope]
            if kind == "atomic":
                text = "global_atomic_add {}, v2, s[4:5] offset:{}".format(address, offset)
                scope = 2
            elif kind == "write":
                text = "global_store_{} {}, {}, s[4:5] offset:{}{}".format(
                    STORES[size], address, source, offset, bits)
            else:
                text = "global_load_{} {}, {}, s[4:5] offset:{}{}".format(
                    LOADS[size], result, address, offset, bits)
        wave.access(space, text, touched, kind != "read", scope)

    def post(self, wave, space=None):
        """space: of a new flag; without it any that can be added to."""
        rng = self.rng
        counters = [f for f in self.flags if f["counter"] and not f["closed"]
                    and (f["space"] == "global" or f["group"] == wave.group)]
        if counters and space is None and rng.random() < 0.4:
            flag = rng.choice(counters)
        else:
            space = space or rng.choice(["lds", "global"])
            number = sum(f["space"] == space for f in self.flags)
            if number == 24:
                return None
            flag = {"space": space, "offset": FLAGS[space] + 4 * number, "counter": rng.random() < 0.4,
                    "posts": [], "closed": False, "group": wave.group}
            self.flags.append(flag)
        if rng.random() < 0.7:
            wave.wait("lgkm", rng.choice([0, 0, 0, 1]))
        if rng.random() < 0.6:
            self.write_back(wave)
        if rng.random() < 0.7:
            wave.wait("vm", rng.choice([0, 0, 0, 1]))
        wave.emit("s_mov_b64 exec, 1")
        touched = set(range(flag["offset"], flag["offset"] + 4))
        scope = 2
        if flag["space"] == "lds":
            name = "ds_add_u32" if flag["counter"] else "ds_write_b32"
            text = "{} v19, v18 offset:{}".format(name, flag["offset"])
        elif flag["counter"]:
            text = "global_atomic_add v19, v18, s[4:5] offset:{}".format(flag["offset"])
        else:
            scope = rng.choice([1, 2, 2])
            text = "global_store_dword v19, v18, s[4:5] offset:{}{}".format(
                flag["offset"], ["", " sc0", " sc1"][scope])
        post = wave.access(flag["space"], text, touched, True, scope)
        post.release = Node(wave.group)
        post.issue.next.append(post.release)
        wave.emit("s_mov_b64 exec, 15")
        flag["posts"].append(post)
        return flag

    def poll(self, wave, flag=None):
        # Workgroups run in order: what they wait for comes from those before them.
        flags = [f for f in self.flags if all(
            p.wave.group == wave.group or (f["space"] == "global" and p.wave.group < wave.group)
            for p in f["posts"])]
        if flag is None and not flags:
            return
        flag = flag or self.rng.choice(flags)
        flag["closed"] = True
        label = "p{}_{}_{}".format(wave.group, wave.number, len(wave.lines))
        wave.lines.append("{}: s_nop 0".format(label))
        touched = set(range(flag["offset"], flag["offset"] + 4))
        scope = 2
        if flag["space"] == "lds":
            text = "ds_read_b32 v20, v19 offset:{}".format(flag["offset"])
        else:
            scope = self.rng.choice([1, 2, 2])
            text = "global_load_dword v20, v19, s[4:5] offset:{}{}".format(
                flag["offset"], ["", " sc0", " sc1"][scope])
        wave.access(flag["space"], text, touched, False, scope)
        wave.wait("lgkm" if flag["space"] == "lds" else "vm", 0)
        wave.emit("v_cmp_ne_u32 vcc, {}, v20".format(len(flag["posts"])))
        wave.emit("s_cbranch_vccnz %{}".format(label))
        for post in flag["posts"]:
            if post.wave.group == wave.group or (post.scope == 2 and scope == 2):
                post.release.next.append(wave.at)
        wave.node()
        if self.rng.random() < 0.6:
            self.invalidate(wave)

    def handover(self):
        """One wave touches some bytes and tells another one, who touches them too; sometimes by way
        of a third. Nobody else has to do with these bytes."""
        rng = self.rng
        alive = [w for waves in self.groups for w in waves if not w.ended]
        if not alive or self.handovers == 16:
            return
        first = rng.choice(alive)
        later = [w for w in alive if w is not first and w.group >= first.group]
        if not later:
            return
        path = [first, rng.choice(later)]
        if rng.random() < 0.3:
            path.append(rng.choice([w for w in alive if w.group >= path[1].group]))
        one_group = first.group == path[-1].group
        space = rng.choice(["lds", "global"]) if one_group else "global"
        offset = {"lds": 512, "global": 1024}[space] + 16 * self.handovers
        self.handovers += 1
        kinds = rng.choice([("write", "read"), ("write", "read"), ("read", "write"), ("write", "write"),
                            ("atomic", "read"), ("write", "atomic"), ("read", "atomic")])
        self.touch(first, space, kinds[0], 4, 4, offset)
        for a, b in itertools.pairwise(path):
            if rng.random() < 0.2:
                self.step(rng.choice([w for w in self.groups[a.group] if not w.ended]), self.between)
            if rng.random() < 0.15 and a.group == b.group:
                self.barrier(a.group)
                continue
            if rng.random() < 0.07:  # somebody forgets to look, or to tell
                if rng.random() < 0.5:
                    self.post(a)
                continue
            flag = self.post(a, rng.choice(["lds", "global"]) if a.group == b.group else "global")
            if flag is None:
                return
            self.poll(b, flag)
        self.touch(path[-1], space, kinds[1], 4, 4, offset)

    def write_back(self, wave):
        bits = self.rng.choice([" sc1", " sc1", " sc0"])
        wave.emit("buffer_wbl2" + bits)
        if "sc1" in bits:
            entry = [wave.node()]
            self.write_backs.append(entry)
            wave.write_backs.append(entry)

    def invalidate(self, wave):
        bits = self.rng.choice([" sc1", " sc1", " sc0"])
        wave.emit("buffer_inv" + bits)
        if "sc1" in bits:
            wave.node("inv")

    def barrier(self, group):
        waves = [w for w in self.groups[group] if not w.ended]
        joint = Node(group)
        for wave in self.groups[group]:
            if wave.ended:
                wave.at.next.append(joint)
        for wave in waves:
            if self.rng.random() < 0.6:
                wave.wait("lgkm", 0)
            if self.rng.random() < 0.2:
                wave.wait("vm", 0)
            wave.emit("s_barrier")
            wave.at.next.append(joint)
        for wave in waves:
            wave.at = Node(group)
            joint.next.append(wave.at)

    anything = (["data", "post", "poll", "lgkm", "vm", "wb", "inv", "barrier", "end"],
                [9, 5, 6, 2, 2, 1, 1, 1.5, 0.4])
    between = (["post", "poll", "lgkm", "vm", "wb", "inv", "barrier"], [1, 1, 2, 2, 2, 2, 1])

    def step(self, wave, choice):
        what = self.rng.choices(*choice)[0]
        if what in ("lgkm", "vm"):
            wave.wait(what, self.rng.choice([0, 0, 1, 2]))
        elif what == "barrier":
            self.barrier(wave.group)
        elif what == "end":
            wave.end()
        else:
            {"data": self.data, "post": self.post, "poll": self.poll, "wb": self.write_back,
             "inv": self.invalidate}[what](wave)

    def generate(self):
        rng = self.rng
        if rng.random() < 0.3:
            for _ in range(rng.choice([6, 10, 14, 20])):
                alive = [w for w in rng.choice(self.groups) if not w.ended]
                if alive:
                    self.step(rng.choice(alive), self.anything)
        else:
            for _ in range(rng.choice([1, 1, 1, 2, 3])):
                self.handover()
                if rng.random() < 0.1:
                    rng.choice(rng.choice(self.groups)).end_if_alive()
        for wave in itertools.chain(*self.groups):
            wave.end_if_alive()

    def listing(self, name):
        lines = ["kernel {} waves={} grid={} lds=1024".format(name, len(self.groups[0]), len(self.groups)),
                 "        arguments", "        waves", "        v_and_b32 v11, 63, v0",
                 "        v_mov_b32 v19, 0", "        v_mov_b32 v18, 0", "        s_mov_b64 exec, 15"]
        lines += ["        v_lshlrev_b32 v{}, {}, v11".format(11 + n, n) for n in range(1, 5)]
        lines += ["        v_add_u32 v2, 1, v0"]
        lines += ["        v_add_u32 v{}, {}, v0".format(3 + n, 1000 * (n + 1)) for n in range(3)]
        # Flags are 0, in LDS by wave 0.
        lines += ["        unless_wave 0, %set", "        s_mov_b64 exec, 1"]
        lines += ["        ds_write_b32 v19, v18 offset:{}".format(f["offset"])
                  for f in self.flags if f["space"] == "lds"]
        lines += ["        s_mov_b64 exec, 15", "set:    s_waitcnt lgkmcnt(0)", "        s_barrier",
                  "        v_mov_b32 v18, 1"]
        for wave in itertools.chain(*self.groups):
            label = "not{}_{}".format(wave.group, wave.number)
            lines += ["        s_cmp_lg_u32 s2, {}".format(wave.group), "        s_cbranch_scc1 %" + label,
                      "        unless_wave {}, %{}".format(wave.number, label)]
            lines += wave.lines + ["{}: s_nop 0".format(label)]
        return lines

    # ---- Which accesses race

    def ordered(self, x, y):
        """x before y."""
        same = x.wave.group == y.wave.group
        if x.space == "lds":
            starts = [x.done]
        elif same:
            starts = [x.issue]
        else:
            from_issue = reach([x.issue], x.wave.group)
            starts = [w[1] for w in self.write_backs if w[0] in from_issue and len(w) > 1]
            if x.scope == 2 or not x.write:
                starts.append(x.done)
        if hasattr(x, "release"):
            starts.append(x.release)
        starts = [s for s in starts if s is not None]
        seen = reach(starts, x.wave.group if same else None)
        if same or y.write or y.scope == 2:
            return y.issue in seen
        invalidations = [n for n in seen if n.what == "inv" and n.group == y.wave.group]
        return y.issue in reach(invalidations, y.wave.group)

    def races(self):
        accesses = [a for waves in self.groups for w in waves for a in w.accesses]
        for x, y in itertools.combinations(accesses, 2):
            same = x.wave.group == y.wave.group
            if (x.wave is y.wave or x.space != y.space or not (x.write or y.write)
                    or not x.bytes & y.bytes or (x.space == "lds" and not same)):
                continue
            enough = 1 if same else 2
            if x.scope >= enough and y.scope >= enough:
                continue
            if not self.ordered(x, y) and not self.ordered(y, x):
                yield x.mark, y.mark


def reach(starts, group):
    """All nodes on paths from `starts`; in one workgroup unless it is None."""
    seen, todo = set(starts), list(starts)
    while todo:
        for node in todo.pop().next:
            if node not in seen and (group is None or node.group == group):
                seen.add(node)
                todo.append(node)
    return seen


def main():
    count, seed, listing_path, pairs_path = sys.argv[1:]
    rng = random.Random(int(seed))
    with open(listing_path, "w", encoding="utf-8") as listing, \
            open(pairs_path, "w", encoding="utf-8") as pairs_file:
        for n in range(int(count)):
            name = "sync_{}".format(n)
            kernel = Kernel(rng)
            kernel.generate()
            listing.write("\n".join(kernel.listing(name)) + "\n")
            pairs_file.write(" ".join([name] + [":".join(p) for p in kernel.races()]) + "\n")


main()
