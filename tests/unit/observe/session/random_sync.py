#!/usr/bin/env python3
"""Random kernels whose waves and workgroups hand LDS and global memory over by barriers, atomics, fences,
flags that are polled, and values that atomics return, for kernels.py; and for each a graph of what its
waves do, from which handover_model.cpp finds the accesses that race.

    random_sync.py COUNT SEED LISTING GRAPHS

A line of GRAPHS is one of:

    kernel NAME
    nodes GROUP ...                           the workgroup of each node, from node 0 on
    edges KIND FROM TO ...                    KIND: program, barrier, ended (at a barrier), lds (between
                                              a wave's releases by LDS)
    access MARK GROUP WAVE SPACE WRITE SCOPE ISSUE DONE RELEASE GUARD BEGIN:END,...
    inv NODE SC1 GUARD                        buffer_inv; SC1: of agent scope
    wb ISSUE DONE SC1 GUARD                   buffer_wbl2
    poll SCOPE NODE ACCESS ...                at NODE it is known that these accesses were read
    atomic ACCESS WORD OPERATION OPERAND OTHER RECORD NODE

Accesses are counted from 0; -1: none. SCOPE: 0 none, 1 workgroup, 2 agent. A GUARD, RECORD=VALUE: what it
belongs to ran if the record holds VALUE (* any but 0). A record is a dword of the results, where a wave
leaves what an atomic returned, plus 256. OPERATION of a WORD that begins as 0: add, swap, cas (OTHER: what
it compares with), store; OTHER of an addition without RECORD: what it found, -1 where that is what no
other one found. NODE: where the wave knows what was returned. The values of one word are all different.

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
WORDS = {"lds": 256, "global": 2560}  # that atomics look at
RECORDS, MOST_RECORDS = 3072, 250
NAMES = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 16: "b128"}
LOADS = {1: "ubyte", 2: "ushort", 4: "dword", 8: "dwordx2", 16: "dwordx4"}
STORES = {1: "byte", 2: "short", 4: "dword", 8: "dwordx2", 16: "dwordx4"}


class Access:
    """What a race can be made of. scope: 0 none, 1 workgroup, 2 agent. issue, done, release: nodes."""

    def __init__(self, wave, mark, space, touched, write, scope):
        self.wave, self.mark, self.space, self.bytes = wave, mark, space, touched
        self.write, self.scope, self.issue = write, scope, wave.node()
        self.done = self.release = -1
        self.guard = wave.guard
        self.number = wave.kernel.accesses
        wave.kernel.accesses += 1

    def line(self):
        ranges, begin = [], None
        for n in sorted(self.bytes):
            if n - 1 not in self.bytes:
                begin = n
            if n + 1 not in self.bytes:
                ranges.append("{}:{}".format(begin, n + 1))
        return "access {} {} {} {} {} {} {} {} {} {} {}".format(
            self.mark, self.wave.group, self.wave.number, self.space, int(self.write), self.scope,
            self.issue, self.done, self.release, self.guard, ",".join(ranges))


class Wave:
    def __init__(self, kernel, group, number):
        self.kernel, self.group, self.number = kernel, group, number
        self.at = kernel.new_node(group)
        self.lines, self.accesses = [], []
        self.in_flight = {"lgkm": [], "vm": []}
        self.write_backs = []
        self.ended = False
        self.lds_release = None
        self.guard = "-"

    def node(self):
        following = self.kernel.new_node(self.group)
        self.kernel.edges["program"] += [self.at, following]
        self.at = following
        return following

    def emit(self, text):
        self.lines.append("        " + text)

    def access(self, space, text, touched, write, scope):
        mark = "m{}_{}_{}".format(self.group, self.number, len(self.accesses))
        self.lines.append("{}: {}".format(mark, text))
        access = Access(self, mark, space, touched, write, scope)
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
                write_back["done"] = node
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
        self.nodes, self.edges = [], {"program": [], "barrier": [], "ended": [], "lds": []}
        self.accesses = self.records = 0
        self.atomics, self.polls, self.invalidations = [], [], []  # lines
        self.words = {"lds": 0, "global": 0}
        groups = rng.choice([1, 1, 2, 2, 2, 3])
        count = rng.choice([2, 3, 4] if groups == 1 else [1, 2, 2, 3])
        self.groups = [[Wave(self, g, w) for w in range(count)] for g in range(groups)]
        self.flags = []  # dict: space, offset, counter, posts, closed, group
        self.write_backs = []
        self.handovers = 0
        self.scoped_loads = rng.random() < 0.4

    def new_node(self, group):
        self.nodes.append(group)
        return len(self.nodes) - 1

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
        access = wave.access(space, text, touched, kind != "read", scope)
        if kind == "atomic" and space == "lds":
            self.releases(access)

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
        self.before_release(wave)
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
        self.releases(post)
        wave.emit("s_mov_b64 exec, 15")
        flag["posts"].append(post)
        return flag

    def before_release(self, wave):
        rng = self.rng
        if rng.random() < 0.7:
            wave.wait("lgkm", rng.choice([0, 0, 0, 1]))
        if rng.random() < 0.6:
            self.write_back(wave)
        if rng.random() < 0.7:
            wave.wait("vm", rng.choice([0, 0, 0, 1]))

    def releases(self, access):
        access.release = self.new_node(access.wave.group)
        self.edges["program"] += [access.issue, access.release]
        if access.space == "lds":  # LDS makes the instructions of a wave in order
            if access.wave.lds_release is not None:
                self.edges["lds"] += [access.wave.lds_release, access.release]
            access.wave.lds_release = access.release

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
        self.polls.append("poll {} {} {}".format(
            scope, wave.at, " ".join(str(p.number) for p in flag["posts"])))
        wave.node()
        if self.rng.random() < 0.6:
            self.invalidate(wave)
        if flag["space"] == "global" and self.rng.random() < 0.1:
            self.plain(wave, "global", flag["offset"], "read")

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
            others = [w for w in self.groups[a.group] if not w.ended]
            if rng.random() < 0.2 and others:
                self.step(rng.choice(others), self.between)
            if rng.random() < 0.2 and a.group == b.group:
                if rng.random() < 0.3 and a is not path[-1]:
                    a.end_if_alive()
                self.barrier(a.group)
                continue
            if rng.random() < 0.07 or a.ended:  # somebody forgets to look, or to tell
                if rng.random() < 0.5 and not a.ended:
                    self.post(a)
                continue
            flag = self.post(a, rng.choice(["lds", "global"]) if a.group == b.group else "global")
            if flag is None:
                return
            self.poll(b, flag)
        self.touch(path[-1], space, kinds[1], 4, 4, offset)

    # ---- Words whose value decides

    def new_word(self, space):
        self.words[space] += 1
        return WORDS[space] + 4 * (self.words[space] - 1)

    def atomic(self, wave, space, word, operation, operand, other=-1, returns=True):
        """Releases; where it returns, what is complete then is known and v20 is recorded. Gives the record."""
        wave.emit("s_mov_b64 exec, 1")
        wave.emit("v_mov_b32 v22, {}".format(operand))
        wave.emit("v_mov_b32 v23, {}".format(other))
        scope = 2
        if operation == "store":
            scope = self.rng.choice([1, 2, 2, 2])
            text = "global_store_dword v19, v22, s[4:5] offset:{}{}".format(word, ["", " sc0", " sc1"][scope])
        elif space == "lds":
            name = {"add": "add", "swap": "wrxchg", "cas": "cmpst"}[operation]
            values = "v23, v22" if operation == "cas" else "v22"
            text = ("ds_{}_rtn_{} v20, v19, {} offset:{}".format(name, "u32" if name == "add" else "b32", values, word)
                    if returns else "ds_add_u32 v19, v22 offset:{}".format(word))
        else:
            name = {"add": "add", "swap": "swap", "cas": "cmpswap"}[operation]
            text = "global_atomic_{} {}v19, {}, s[4:5] offset:{}{}".format(
                name, "v20, " if returns else "", "v[22:23]" if operation == "cas" else "v22", word,
                " sc0" if returns else "")
        access = wave.access(space, text, set(range(word, word + 4)), True, scope)
        self.releases(access)
        record = -1
        if returns:
            record = self.records
            self.records += 1
            counter = "lgkm" if space == "lds" else "vm"
            wave.wait(counter, 0)
            if wave.guard == "-":
                access.guard = "{}=*".format(record)
        self.atomics.append("atomic {} {}{}.{} {} {} {} {} {}".format(
            access.number, space, wave.group if space == "lds" else "", word, operation, operand, other,
            record, wave.at if returns else -1))
        if returns:
            wave.node()
            wave.emit("v_add_u32 v24, 0x100, v20")
            self.store_record(wave, record)
        wave.emit("s_mov_b64 exec, 15")
        return record

    @staticmethod
    def store_record(wave, record):
        at = RECORDS + 4 * record
        wave.access("global", "global_store_dword v19, v24, s[4:5] offset:{}".format(at),
                    set(range(at, at + 4)), True, 0)

    def when(self, wave, record, value, then, leave=False):
        """`then` if v20 is `value`. What it issues is complete before the branches meet again.
        leave: the others end."""
        wave.wait("vm", 0)
        wave.wait("lgkm", 0)
        label = "w{}_{}_{}".format(wave.group, wave.number, len(wave.lines))
        wave.emit("v_readfirstlane_b32 s10, v20")
        wave.emit("s_cmp_lg_u32 s10, {}".format(value))
        if leave:
            wave.emit("s_cbranch_scc0 %{}".format(label))
            wave.emit("s_endpgm")
            wave.lines.append("{}: s_nop 0".format(label))
        else:
            wave.emit("s_cbranch_scc1 %{}".format(label))
        wave.guard = "{}={}".format(record, 256 + value)
        then()
        wave.wait("vm", 0)
        wave.wait("lgkm", 0)
        wave.guard = "-"
        if leave:
            wave.end()
        else:
            wave.lines.append("{}: s_nop 0".format(label))

    def plain(self, wave, space, word, kind):
        """Looks at a word, or sets it back, without an atomic."""
        wave.emit("s_mov_b64 exec, 1")
        touched = set(range(word, word + 4))
        if space == "lds":
            text = "ds_write_b32 v19, v19 offset:{}" if kind == "write" else "ds_read_b32 v6, v19 offset:{}"
        else:
            text = ("global_store_dword v19, v19, s[4:5] offset:{}" if kind == "write"
                    else "global_load_dword v6, v19, s[4:5] offset:{}")
        wave.access(space, text.format(word), touched, kind == "write", 0)
        wave.emit("s_mov_b64 exec, 15")

    def participants(self, most):
        """Waves, a space for a word, one for data, and 16 bytes of data for each."""
        rng = self.rng
        space = rng.choice(["lds", "global", "global"])
        group = rng.choice(self.groups)
        alive = [w for w in (group if space == "lds" else itertools.chain(*self.groups)) if not w.ended]
        count = min(len(alive), rng.randint(2, most))
        if count < 2 or self.handovers + count > 16 or self.words[space] == 8:
            return [], space, space, []
        waves = rng.sample(alive, count)
        one_group = len({w.group for w in waves}) == 1
        data = rng.choice(["lds", "global"]) if one_group else "global"
        slots = [{"lds": 512, "global": 1024}[data] + 16 * (self.handovers + n) for n in range(count)]
        self.handovers += count
        return waves, space, data, slots

    def after_acquire(self, wave):
        if self.rng.random() < 0.75:
            self.invalidate(wave)

    def ticket(self):
        """Each wave leaves something and counts; who is the last one looks at it."""
        rng = self.rng
        waves, space, data, slots = self.participants(4)
        if not waves:
            return
        word = self.new_word(space)
        silent = rng.choice(waves) if rng.random() < 0.2 else None
        first, then = rng.choice([("write", "read"), ("write", "read"), ("read", "write"), ("atomic", "read"),
                                  ("write", "write")])
        for wave, slot in zip(waves, slots):
            self.touch(wave, data, first, 4, 4, slot)
            if rng.random() < 0.2:
                self.step(wave, self.between)
            self.before_release(wave)
            record = self.atomic(wave, space, word, "add", 1, returns=wave is not silent)
            if wave is silent:
                continue
            last = len(waves) - 1 if rng.random() < 0.85 else rng.randrange(len(waves))

            def look(wave=wave, last=last):
                self.after_acquire(wave)
                for other in slots if rng.random() < 0.7 else rng.sample(slots, 1):
                    self.touch(wave, data, then, 4, 4, other)
                if last == len(waves) - 1 and rng.random() < 0.3:
                    self.plain(wave, space, word, rng.choice(["read", "write"]))
            self.when(wave, record, last, look, leave=rng.random() < 0.15)

    def exchange(self):
        """Each wave leaves something and its number, and looks at what the one before it left; one may
        leave its number without a look."""
        rng = self.rng
        waves, space, data, slots = self.participants(3)
        if not waves:
            return
        word = self.new_word(space)
        stored = rng.randrange(len(waves)) if space == "global" and rng.random() < 0.4 else None
        for n, wave in enumerate(waves):
            self.touch(wave, data, "write", 4, 4, slots[n])
            self.before_release(wave)
            if n == stored:
                self.atomic(wave, space, word, "store", n + 1, returns=False)
                continue
            record = self.atomic(wave, space, word, "swap", n + 1)
            for other in range(len(waves)):
                if other == n or rng.random() < 0.2:
                    continue
                seen = other if rng.random() < 0.75 else rng.randrange(len(waves))

                def look(wave=wave, seen=seen):
                    self.after_acquire(wave)
                    self.touch(wave, data, rng.choice(["read", "read", "write"]), 4, 4, slots[seen])
                self.when(wave, record, other + 1, look)

    def lock(self):
        """Compare and swap of 2n with 2n + 1 takes a lock for the n-th time; 2n + 2 gives it back."""
        rng = self.rng
        waves, space, data, slots = self.participants(3)
        if not waves:
            return
        word = self.new_word(space)
        quits = rng.choice(waves) if rng.random() < 0.4 else None  # after one try
        for wave, slot in zip(waves, slots):
            if rng.random() < 0.6:
                self.touch(wave, data, "write", 4, 4, slot if rng.random() < 0.6 else slots[-1])
            self.before_release(wave)
            out = "out{}_{}_{}".format(wave.group, wave.number, len(wave.lines))
            for turn in range(1 if wave is quits else len(waves)):
                record = self.atomic(wave, space, word, "cas", 2 * turn + 1, 2 * turn)

                def section(wave=wave, turn=turn):
                    self.after_acquire(wave)
                    for slot in rng.sample(slots, 1 if quits else rng.randint(1, len(slots))):
                        self.touch(wave, data, rng.choice(["read", "write"]), 4, 4, slot)
                    self.before_release(wave)
                    how = rng.choice(["add", "swap"] + ["store", "store"] * (space == "global"))
                    if how == "add":
                        self.atomic(wave, space, word, "add", 1, 2 * turn + 1, returns=False)
                    else:
                        self.atomic(wave, space, word, how, 2 * turn + 2, returns=how == "swap")
                    wave.wait("vm", 0)
                    wave.wait("lgkm", 0)
                    wave.emit("s_branch %" + out)
                self.when(wave, record, 2 * turn, section)
                if rng.random() < 0.5:  # what a failed one has read may be looked at too
                    def look(wave=wave):
                        self.after_acquire(wave)
                        self.touch(wave, data, "read", 4, 4, rng.choice(slots))
                    seen = [n for n in range(2 * len(waves) + 1) if n != 2 * turn]
                    self.when(wave, record, rng.choice(seen), look)
            wave.lines.append("{}: s_nop 0".format(out))

    def nothing_released(self):
        """One wave leaves something, another one does what releases nothing of it, a third one looks: a
        store hides the number that the first one left, or the first one's compare-and-swap fails."""
        rng = self.rng
        waves, space, data, slots = self.participants(3)
        if len(waves) < 3:
            return
        # Waves mostly run in this order.
        waves.sort(key=lambda w: (w.group, w.number))
        hides = space == "global" and rng.random() < 0.5
        word = self.new_word(space)
        if not hides:
            self.atomic(waves[0], space, word, "cas", 1, 0)
        first = waves[0 if hides else 1]
        self.touch(first, data, "write", 4, 4, slots[0])
        self.before_release(first)
        if hides:
            self.atomic(first, space, word, "swap", 1)
            self.atomic(waves[1], space, word, "store", 2, returns=False)
        else:
            self.atomic(first, space, word, "cas", 2, 0)
        record = (self.atomic(waves[2], space, word, "swap", 3) if hides
                  else self.atomic(waves[2], space, word, "cas", 3, 0))

        def look():
            self.after_acquire(waves[2])
            self.touch(waves[2], data, "read", 4, 4, slots[0])
        self.when(waves[2], record, rng.choice([2, 2, 1] if hides else [1, 1, 2]), look)

    # ---- Fences and barriers

    def write_back(self, wave):
        bits = self.rng.choice([" sc1", " sc1", " sc0"])
        wave.emit("buffer_wbl2" + bits)
        entry = {"issue": wave.node(), "done": -1, "sc1": int("sc1" in bits), "guard": wave.guard}
        self.write_backs.append(entry)
        wave.write_backs.append(entry)

    def invalidate(self, wave):
        bits = self.rng.choice([" sc1", " sc1", " sc0"])
        wave.emit("buffer_inv" + bits)
        self.invalidations.append("inv {} {} {}".format(wave.node(), int("sc1" in bits), wave.guard))

    def barrier(self, group):
        waves = [w for w in self.groups[group] if not w.ended]
        joint = self.new_node(group)
        for wave in self.groups[group]:
            if wave.ended:
                self.edges["ended"] += [wave.at, joint]
        for wave in waves:
            if self.rng.random() < 0.6:
                wave.wait("lgkm", 0)
            if self.rng.random() < 0.2:
                wave.wait("vm", 0)
            wave.emit("s_barrier")
            self.edges["barrier"] += [wave.at, joint]
        for wave in waves:
            wave.at = self.new_node(group)
            self.edges["program"] += [joint, wave.at]

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
        kind = rng.random()
        if kind < 0.25:
            for _ in range(rng.choice([6, 10, 14, 20])):
                alive = [w for w in rng.choice(self.groups) if not w.ended]
                if alive:
                    self.step(rng.choice(alive), self.anything)
        elif kind < 0.6:
            for _ in range(rng.choice([1, 1, 1, 2])):
                rng.choices([self.ticket, self.exchange, self.lock, self.nothing_released],
                            [3, 3, 3, 2])[0]()
                if rng.random() < 0.2:
                    self.handover()
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
        lines += ["        ds_write_b32 v19, v18 offset:{}".format(WORDS["lds"] + 4 * n)
                  for n in range(self.words["lds"])]
        lines += ["        s_mov_b64 exec, 15", "set:    s_waitcnt lgkmcnt(0)", "        s_barrier",
                  "        v_mov_b32 v18, 1"]
        for wave in itertools.chain(*self.groups):
            label = "not{}_{}".format(wave.group, wave.number)
            lines += ["        s_cmp_lg_u32 s2, {}".format(wave.group), "        s_cbranch_scc1 %" + label,
                      "        unless_wave {}, %{}".format(wave.number, label)]
            lines += wave.lines + ["{}: s_nop 0".format(label)]
        return lines

    def graph(self, name):
        yield "kernel {}".format(name)
        yield "nodes " + " ".join(map(str, self.nodes))
        for kind, edges in self.edges.items():
            if edges:
                yield "edges {} {}".format(kind, " ".join(map(str, edges)))
        accesses = [a for waves in self.groups for w in waves for a in w.accesses]
        yield from (a.line() for a in sorted(accesses, key=lambda a: a.number))
        yield from self.invalidations
        yield from ("wb {issue} {done} {sc1} {guard}".format(**w) for w in self.write_backs)
        yield from self.polls
        yield from self.atomics


def main():
    count, seed, listing_path, graphs_path = sys.argv[1:]
    rng = random.Random(int(seed))
    with open(listing_path, "w", encoding="utf-8") as listing, \
            open(graphs_path, "w", encoding="utf-8") as graphs:
        for n in range(int(count)):
            name = "sync_{}".format(n)
            kernel = Kernel(rng)
            kernel.generate()
            listing.write("\n".join(kernel.listing(name)) + "\n")
            graphs.writelines(line + "\n" for line in kernel.graph(name))


main()
