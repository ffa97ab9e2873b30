"""Collectives of the substitute of RCCL on four devices against NumPy; what it refuses, in words."""

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from conftest import needs_margay

pytestmark = needs_margay

RANKS = 4
SUM, PROD, MAX, MIN, AVG = range(5)
# ncclDataType_t, numpy's type in memory, and the type in which it is reduced
TYPES = {"i8": (0, "i1", "i4"), "u8": (1, "u1", "u4"), "i32": (2, "i4", "i4"), "u32": (3, "u4", "u4"), "i64": (4, "i8", "i8"),
         "u64": (5, "u8", "u8"), "f16": (6, "f2", "f4"), "f32": (7, "f4", "f4"), "f64": (8, "f8", "f8"), "bf16": (9, "u2", "f4")}  # fmt: skip
INVALID_ARGUMENT, INVALID_USAGE, REMOTE_ERROR = 4, 5, 6


class Id(ctypes.Structure):
    """ncclUniqueId"""

    _fields_ = [("bytes", ctypes.c_char * 128)]


class Rccl:
    """The library, with a communicator, a stream and buffers for each of four devices."""

    def __init__(self):
        folder = os.path.join(os.environ["MARGAY_HOME"], "lib/margay/substitutes")
        self.hip = ctypes.CDLL(os.path.join(folder, "libamdhip64.so.7"), mode=ctypes.RTLD_GLOBAL)
        self.nccl = ctypes.CDLL(os.path.join(folder, "librccl.so.1"))
        self.nccl.ncclGetLastError.restype = ctypes.c_char_p
        count = ctypes.c_int()
        assert self.hip.hipGetDeviceCount(ctypes.byref(count)) == 0 and count.value == RANKS
        self.streams = []
        for device in range(RANKS):
            stream = ctypes.c_void_p()
            self.hip.hipSetDevice(device)
            assert self.hip.hipStreamCreate(ctypes.byref(stream)) == 0
            self.streams.append(stream)
        self.hip.hipSetDevice(0)

    def communicators(self, ranks=RANKS):
        made = (ctypes.c_void_p * ranks)()
        assert self.nccl.ncclCommInitAll(made, ranks, None) == 0
        return [ctypes.c_void_p(one) for one in made]

    def grouped(self, calls):
        """One thread calls for all ranks."""
        assert self.nccl.ncclGroupStart() == 0
        for call in calls:
            assert call() == 0
        return self.nccl.ncclGroupEnd()

    def threaded(self, calls):
        """A thread for each rank; its status, and the last error."""
        answers = [None] * len(calls)

        def one(rank):
            self.hip.hipSetDevice(rank)
            answers[rank] = (calls[rank](), self.nccl.ncclGetLastError(None).decode())

        threads = [threading.Thread(target=one, args=(rank,), daemon=True) for rank in range(len(calls))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive(), "a rank hangs"
        return answers

    def finish(self):
        for stream in self.streams:
            assert self.hip.hipStreamSynchronize(stream) == 0


@pytest.fixture(scope="module", name="rccl")
def _rccl():
    os.environ["MARGAY_DEVICES"] = str(RANKS)  # read when the first device is made
    return Rccl()


@pytest.fixture(name="world")
def _world(rccl):
    made = rccl.communicators()
    yield made
    for one in made:
        assert rccl.nccl.ncclCommDestroy(one) == 0


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def size(count):
    return ctypes.c_size_t(count)


def stored(values, name):
    """As the type has it in memory; bf16 rounded to nearest even."""
    if name != "bf16":
        return np.ascontiguousarray(values).astype(TYPES[name][1])
    bits = np.ascontiguousarray(values, "f4").view("u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2")


def loaded(memory, name):
    return (memory.astype("u4") << 16).view("f4") if name == "bf16" else memory.astype(TYPES[name][2])


def reduced(parts, name, operation):
    """In the order of the ranks, in the wide type, rounded once."""
    step = {SUM: np.add, AVG: np.add, PROD: np.multiply, MAX: np.maximum, MIN: np.minimum}[operation]
    wide = [loaded(part, name) for part in parts]
    total = wide[0]
    for part in wide[1:]:
        total = step(total, part)
    if operation == AVG:  # whole numbers toward zero
        total = total / total.dtype.type(len(parts)) if total.dtype.kind == "f" else np.trunc(total / len(parts)).astype(total.dtype)
    return stored(total, name)


def random(name, count, seed, ranks=RANKS):
    generator = np.random.default_rng(seed)
    kind = TYPES[name][1]
    if name[0] in "iu":
        low = 0 if name[0] == "u" else -60
        return [generator.integers(low, 60, count).astype(kind) for _ in range(ranks)]
    return [stored(generator.normal(size=count), name) for _ in range(ranks)]


@pytest.mark.parametrize("operation", [SUM, PROD, MAX, MIN, AVG], ids=["sum", "prod", "max", "min", "avg"])
@pytest.mark.parametrize("name", TYPES)
def test_all_reduce(rccl, world, name, operation):
    kind = TYPES[name][0]
    for count, in_place in ((1, False), (5003, True)):
        parts = random(name, count, operation)
        expected = reduced(parts, name, operation)
        results = parts if in_place else [np.zeros_like(part) for part in parts]
        calls = [
            lambda r=r: rccl.nccl.ncclAllReduce(pointer(parts[r]), pointer(results[r]), size(count), kind, operation, world[r], rccl.streams[r])
            for r in range(RANKS)
        ]
        assert rccl.grouped(calls) == 0
        rccl.finish()
        for result in results:
            np.testing.assert_array_equal(result, expected)


def test_numbers_that_are_no_numbers(rccl, world):
    """As fmaxf: the number. A sum is none."""
    parts = [np.array([np.nan, 1, np.nan], "f4"), *(np.array([2, np.nan, np.nan], "f4") for _ in range(3))]
    results = [np.zeros(3, "f4") for _ in range(RANKS)]
    for operation, expected in ((MAX, [2, 1, np.nan]), (SUM, [np.nan] * 3)):
        assert rccl.grouped([lambda r=r: rccl.nccl.ncclAllReduce(pointer(parts[r]), pointer(results[r]), size(3), 7, operation,
                                                                 world[r], rccl.streams[r]) for r in range(RANKS)]) == 0  # fmt: skip
        np.testing.assert_array_equal(results[3], np.array(expected, "f4"))


@pytest.mark.parametrize("count", [0, 1, 257])
@pytest.mark.parametrize("name", ["f32", "bf16", "u8"])
def test_the_others(rccl, world, name, count):
    """A thread for each rank, no group."""
    kind, root = TYPES[name][0], 2
    parts = random(name, count * RANKS, 3)
    whole = [np.zeros(count * RANKS * RANKS, parts[0].dtype) for _ in range(RANKS)]
    slices, sums = [np.zeros(count, p.dtype) for p in parts], [np.zeros_like(p) for p in parts]
    spread, same = [np.zeros_like(p) for p in parts], [p.copy() for p in parts]
    n, c, s = size(count * RANKS), world, rccl.streams
    nccl = rccl.nccl

    def rank(r):
        return max(
            nccl.ncclAllGather(pointer(parts[r]), pointer(whole[r]), n, kind, c[r], s[r]),
            nccl.ncclReduceScatter(pointer(parts[r]), pointer(slices[r]), size(count), kind, SUM, c[r], s[r]),
            nccl.ncclReduce(pointer(parts[r]), pointer(sums[r]), n, kind, SUM, root, c[r], s[r]),
            nccl.ncclBroadcast(pointer(parts[r]), pointer(spread[r]), n, kind, root, c[r], s[r]),
            nccl.ncclBcast(pointer(same[r]), n, kind, 1, c[r], s[r]),
        )

    assert [status for status, _ in rccl.threaded([lambda r=r: rank(r) for r in range(RANKS)])] == [0] * RANKS
    rccl.finish()
    total = reduced(parts, name, SUM)
    for r in range(RANKS):
        np.testing.assert_array_equal(whole[r], np.concatenate(parts))
        np.testing.assert_array_equal(slices[r], total[r * count : (r + 1) * count])
        np.testing.assert_array_equal(sums[r], total if r == root else np.zeros_like(total))
        np.testing.assert_array_equal(spread[r], parts[root])
        np.testing.assert_array_equal(same[r], parts[1])


def test_in_place(rccl, world):
    """Where RCCL allows it: the own part of the gathered, and of what is scattered."""
    gathered = [np.zeros(RANKS * 33, "i4") for _ in range(RANKS)]
    scattered = [np.arange(RANKS * 33, dtype="i4") * (r + 1) for r in range(RANKS)]
    for r in range(RANKS):
        gathered[r][r * 33 : (r + 1) * 33] = r + 1
    place = lambda array, r: pointer(array[r][r * 33 :])
    for call in ((lambda r: rccl.nccl.ncclAllGather(place(gathered, r), pointer(gathered[r]), size(33), 2, world[r], rccl.streams[r])),
                 (lambda r: rccl.nccl.ncclReduceScatter(pointer(scattered[r]), place(scattered, r), size(33), 2, SUM, world[r],
                                                        rccl.streams[r]))):  # fmt: skip
        assert rccl.grouped([lambda r=r, call=call: call(r) for r in range(RANKS)]) == 0
    for r in range(RANKS):
        np.testing.assert_array_equal(gathered[r], np.repeat(np.arange(1, RANKS + 1), 33))
        np.testing.assert_array_equal(scattered[r][r * 33 : (r + 1) * 33], 10 * np.arange(r * 33, (r + 1) * 33))


def test_messages(rccl, world):
    """Each rank sends a part to each, itself too, in a group of its own; then two messages one way, in order."""
    sent = [np.arange(RANKS * 5, dtype="f8") + 100 * r for r in range(RANKS)]
    received = [np.zeros(RANKS * 5) for _ in range(RANKS)]

    def rank(r):
        rccl.nccl.ncclGroupStart()
        for other in range(RANKS):
            rccl.nccl.ncclSend(pointer(sent[r][5 * other :]), size(5), 8, other, world[r], rccl.streams[r])
            rccl.nccl.ncclRecv(pointer(received[r][5 * other :]), size(5), 8, other, world[r], rccl.streams[r])
        return rccl.nccl.ncclGroupEnd()

    assert [status for status, _ in rccl.threaded([lambda r=r: rank(r) for r in range(RANKS)])] == [0] * RANKS
    for r in range(RANKS):
        np.testing.assert_array_equal(received[r].reshape(RANKS, 5), [part[5 * r : 5 * r + 5] for part in sent])
    first, second, got = np.full(3, 1, "f8"), np.full(3, 2, "f8"), np.zeros(6)
    calls = [lambda x=x: rccl.nccl.ncclSend(pointer(x), size(3), 8, 3, world[1], rccl.streams[1]) for x in (first, second)]
    calls += [lambda n=n: rccl.nccl.ncclRecv(pointer(got[n:]), size(3), 8, 1, world[3], rccl.streams[3]) for n in (0, 3)]
    assert rccl.grouped(calls) == 0
    np.testing.assert_array_equal(got, [1, 1, 1, 2, 2, 2])


def test_memory_of_devices(rccl, world):
    """Which a kernel of another device may touch only with access to its peer."""
    buffers = []
    for device in range(RANKS):
        rccl.hip.hipSetDevice(device)
        for peer in range(RANKS):
            rccl.hip.hipDeviceDisablePeerAccess(peer)
        buffers.append(ctypes.c_void_p())
        assert rccl.nccl.ncclMemAlloc(ctypes.byref(buffers[-1]), size(4000)) == 0
        assert rccl.hip.hipMemcpy(buffers[-1], pointer(np.full(1000, device + 1, "f4")), size(4000), 1) == 0
    rccl.hip.hipSetDevice(0)
    assert rccl.grouped([lambda r=r: rccl.nccl.ncclAllReduce(buffers[r], buffers[r], size(1000), 7, SUM, world[r], rccl.streams[r])
                         for r in range(RANKS)]) == 0  # fmt: skip
    device = ctypes.c_int(-1)
    assert rccl.hip.hipGetDevice(ctypes.byref(device)) == 0 and device.value == 0  # as before
    for buffer in buffers:
        got = np.zeros(1000, "f4")
        assert rccl.hip.hipMemcpy(pointer(got), buffer, size(4000), 2) == 0
        assert (got == 10).all()
        assert rccl.nccl.ncclMemFree(buffer) == 0


def test_order_of_streams(rccl, world):
    """What precedes on one rank's stream comes before the collective on all; what follows comes behind it."""
    word, news = np.zeros(1, "u4"), np.full(8, 5, "i4")
    parts, after = [np.zeros(8, "i4") for _ in range(RANKS)], np.zeros(8, "i4")
    assert rccl.hip.hipStreamWaitValue32(rccl.streams[1], pointer(word), 1, 1, ctypes.c_uint32(0xFFFFFFFF)) == 0
    assert rccl.hip.hipMemcpyAsync(pointer(parts[1]), pointer(news), size(32), 0, rccl.streams[1]) == 0
    assert rccl.grouped([lambda r=r: rccl.nccl.ncclAllReduce(pointer(parts[r]), pointer(parts[r]), size(8), 2, SUM, world[r],
                                                             rccl.streams[r]) for r in range(RANKS)]) == 0  # fmt: skip
    assert rccl.hip.hipMemcpyAsync(pointer(after), pointer(parts[3]), size(32), 0, rccl.streams[3]) == 0
    assert rccl.hip.hipStreamQuery(rccl.streams[3]) == 600  # hipErrorNotReady
    assert (after == 0).all()
    word[0] = 1
    rccl.finish()
    np.testing.assert_array_equal(after, news)


def test_communicators(rccl):
    id_, made, value = Id(), [ctypes.c_void_p() for _ in range(RANKS)], ctypes.c_int(-1)
    assert rccl.nccl.ncclGetUniqueId(ctypes.byref(id_)) == 0
    joined = rccl.threaded([lambda r=r: rccl.nccl.ncclCommInitRankConfig(ctypes.byref(made[r]), RANKS, id_, r, None) for r in range(RANKS)])
    assert [status for status, _ in joined] == [0] * RANKS
    # Two by color, in the order of the keys, and one that wants none.
    halves = [ctypes.c_void_p(7) for _ in range(RANKS)]
    colors, keys = (0, 1, -1, 0), (9, 0, 0, 1)
    splits = [lambda r=r: rccl.nccl.ncclCommSplit(made[r], colors[r], keys[r], ctypes.byref(halves[r]), None) for r in range(RANKS)]
    assert [status for status, _ in rccl.threaded(splits)] == [0] * RANKS
    assert halves[2].value is None

    def asked(call, communicator):
        assert getattr(rccl.nccl, call)(communicator, ctypes.byref(value)) == 0
        return value.value

    assert [asked("ncclCommCount", halves[r]) for r in (0, 1, 3)] == [2, 1, 2]
    assert [asked("ncclCommUserRank", halves[r]) for r in (0, 1, 3)] == [1, 0, 0]
    assert [asked("ncclCommCuDevice", halves[r]) for r in (0, 1, 3)] == [0, 1, 3]
    assert asked("ncclCommGetAsyncError", halves[0]) == 0
    parts = {r: np.full(3, r + 1, "f4") for r in (0, 3)}
    assert rccl.grouped([lambda r=r: rccl.nccl.ncclAllReduce(pointer(parts[r]), pointer(parts[r]), size(3), 7, SUM, halves[r],
                                                             rccl.streams[r]) for r in (0, 3)]) == 0  # fmt: skip
    assert (parts[0] == 5).all() and (parts[3] == 5).all()
    for one in [*made, *(halves[r] for r in (0, 1, 3))]:
        assert rccl.nccl.ncclCommDestroy(one) == 0


# A call, of which rank 2 makes an odd one; what is said of the others' and of the odd one.
DIFFERENT = {
    "count": (lambda nccl, b, c, s, odd: nccl.ncclAllReduce(b, b, size(9 if odd else 8), 7, SUM, c, s),
              "calls ncclAllReduce with 8 elements of float32, sum", "rank 2 calls ncclAllReduce with 9 elements of float32, sum"),
    "type": (lambda nccl, b, c, s, odd: nccl.ncclAllGather(b, b, size(2), 6 if odd else 7, c, s),
             "calls ncclAllGather with 2 elements of float32", "rank 2 calls ncclAllGather with 2 elements of float16"),
    "operation": (lambda nccl, b, c, s, odd: nccl.ncclReduceScatter(b, b, size(2), 7, MAX if odd else SUM, c, s),
                  "calls ncclReduceScatter with 2 elements of float32, sum", "rank 2 calls ncclReduceScatter with 2 elements of float32, max"),
    "root": (lambda nccl, b, c, s, odd: nccl.ncclBcast(b, size(8), 7, int(odd), c, s), "of float32, root 0", "of float32, root 1"),
    "function": (lambda nccl, b, c, s, odd: nccl.ncclAllGather(b, b, size(2), 7, c, s) if odd else nccl.ncclBcast(b, size(2), 7, 0, c, s),
                 "calls ncclBroadcast", "rank 2 calls ncclAllGather"),
}  # fmt: skip


@pytest.mark.parametrize("what", DIFFERENT)
def test_ranks_that_differ(rccl, what, capfd):
    """Every rank gets the error; none hangs, and nothing is computed."""
    made, (call, *said) = rccl.communicators(), DIFFERENT[what]
    buffers = [np.full(64, r, "f4") for r in range(RANKS)]
    answers = rccl.threaded([lambda r=r: call(rccl.nccl, pointer(buffers[r]), made[r], rccl.streams[r], r == 2) for r in range(RANKS)])
    for status, words in answers:
        assert status == INVALID_ARGUMENT
        assert all(part in words for part in said)
        assert words.endswith(": the ranks of a communicator must call the same, in the same order")
    assert all((buffer == r).all() for r, buffer in enumerate(buffers))
    printed = capfd.readouterr().err
    assert "of RCCL: rank" in printed and said[1] in printed
    failure = ctypes.c_int()
    assert rccl.nccl.ncclCommGetAsyncError(made[1], ctypes.byref(failure)) == 0 and failure.value == INVALID_ARGUMENT
    for one in made:
        rccl.nccl.ncclCommAbort(one)


def test_messages_that_differ(rccl, world):
    here, there = np.zeros(8, "f4"), np.ones(8, "f4")
    calls = [lambda: rccl.nccl.ncclRecv(pointer(here), size(8), 7, 1, world[0], rccl.streams[0])]
    calls += [lambda: rccl.nccl.ncclSend(pointer(there), size(7), 7, 0, world[1], rccl.streams[1])]
    for status, words in rccl.threaded(calls):
        assert status == INVALID_ARGUMENT
        assert words.endswith("rank 1 calls ncclSend with 7 elements of float32, and rank 0 calls ncclRecv with 8 elements of "
                              "float32: what is sent and what is received must have the same size")  # fmt: skip
    assert (here == 0).all()


def test_a_rank_that_leaves(rccl):
    made, buffer = rccl.communicators(2), np.zeros(8, "f4")
    calls = [lambda: rccl.nccl.ncclAllReduce(pointer(buffer), pointer(buffer), size(8), 7, SUM, made[0], rccl.streams[0]),
             lambda: rccl.nccl.ncclCommAbort(made[1])]  # fmt: skip
    (status, words), (left, _) = rccl.threaded(calls)
    assert (status, left) == (REMOTE_ERROR, 0) and "the communicator of rank 1 was destroyed" in words
    status = rccl.nccl.ncclRecv(pointer(buffer), size(8), 7, 1, made[0], rccl.streams[0])
    assert status == REMOTE_ERROR
    rccl.nccl.ncclCommDestroy(made[0])


def test_what_is_not_served(rccl, world):
    buffer, stream, out = pointer(np.zeros(64)), rccl.streams[0], ctypes.c_void_p()
    nccl, made = rccl.nccl, world[0]

    def refused(status, words, got):
        assert got == status
        assert words in nccl.ncclGetLastError(None).decode()

    refused(INVALID_USAGE, "reductions of float8e4m3", nccl.ncclAllReduce(buffer, buffer, size(8), 10, SUM, made, stream))
    refused(INVALID_USAGE, "other than sum, prod, max, min and avg", nccl.ncclAllReduce(buffer, buffer, size(8), 7, 5, made, stream))
    refused(INVALID_ARGUMENT, "77 is no ncclDataType_t", nccl.ncclAllGather(buffer, buffer, size(8), 77, made, stream))
    refused(INVALID_ARGUMENT, "there is no rank 4 in a communicator of 4", nccl.ncclSend(buffer, size(8), 7, 4, made, stream))
    refused(INVALID_ARGUMENT, "a buffer is a null pointer", nccl.ncclAllGather(None, buffer, size(8), 7, made, stream))
    refused(INVALID_ARGUMENT, "the communicator is a null pointer", nccl.ncclAllGather(buffer, buffer, size(8), 7, None, stream))
    refused(INVALID_ARGUMENT, "is one of device 2, and the communicator is on device 0",
            nccl.ncclAllGather(buffer, buffer, size(8), 7, made, rccl.streams[2]))  # fmt: skip
    refused(INVALID_USAGE, "there was no ncclGroupStart", nccl.ncclGroupEnd())
    assert nccl.ncclRedOpCreatePreMulSum() == INVALID_USAGE
    id_ = Id()
    nccl.ncclGetUniqueId(ctypes.byref(id_))
    refused(INVALID_USAGE, "needs as many devices in this process, which has 4", nccl.ncclCommInitRank(ctypes.byref(out), 5, id_, 0))
    refused(INVALID_ARGUMENT, "there is no rank 2 of 2", nccl.ncclCommInitRank(ctypes.byref(out), 2, id_, 2))
    assert nccl.ncclCommInitRank(ctypes.byref(out), 2, id_, 0) == 0
    other = ctypes.c_void_p()
    refused(INVALID_USAGE, "ranks 0 and 1 are both on device 0", nccl.ncclCommInitRank(ctypes.byref(other), 2, id_, 1))
    nccl.ncclCommDestroy(out)
    refused(INVALID_ARGUMENT, "none of ncclGetUniqueId", nccl.ncclCommInitRank(ctypes.byref(out), 2, Id(), 0))
    graph = ctypes.c_void_p()
    assert rccl.hip.hipStreamBeginCapture(stream, 2) == 0
    refused(INVALID_USAGE, "collectives in a graph", nccl.ncclAllGather(buffer, buffer, size(8), 7, made, stream))
    assert rccl.hip.hipStreamEndCapture(stream, ctypes.byref(graph)) == 0


def test_several_processes(rccl):
    id_, out = Id(), ctypes.c_void_p()
    rccl.nccl.ncclGetUniqueId(ctypes.byref(id_))
    if (child := os.fork()) == 0:
        status = rccl.nccl.ncclCommInitRank(ctypes.byref(out), 2, id_, 1)
        os._exit(0 if status == INVALID_USAGE and b"ranks in several processes" in rccl.nccl.ncclGetLastError(None) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_fp8_is_copied(rccl, world):
    parts, results = [np.full(3, r, "u1") for r in range(RANKS)], [np.zeros(12, "u1") for _ in range(RANKS)]
    assert rccl.grouped([lambda r=r: rccl.nccl.ncclAllGather(pointer(parts[r]), pointer(results[r]), size(3), 10, world[r],
                                                             rccl.streams[r]) for r in range(RANKS)]) == 0  # fmt: skip
    np.testing.assert_array_equal(results[3], np.repeat(np.arange(4), 3))


# Two devices, and an array of 100 floats on each.
CHECKED = """
import ctypes, os, sys
folder = os.path.join(sys.argv[1], "lib/margay/substitutes")
hip = ctypes.CDLL(os.path.join(folder, "libamdhip64.so.7"), mode=ctypes.RTLD_GLOBAL)
nccl = ctypes.CDLL(os.path.join(folder, "librccl.so.1"))
made, size, pointer = (ctypes.c_void_p * 2)(), ctypes.c_size_t, ctypes.c_void_p
buffers, others, streams = ([pointer(), pointer()] for _ in range(3))
for device in (0, 1):
    hip.hipSetDevice(device)
    hip.hipStreamCreateWithFlags(ctypes.byref(streams[device]), 1)
    for memory in (buffers, others):
        hip.hipMalloc(ctypes.byref(memory[device]), size(400))
        hip.hipMemset(memory[device], 0, size(400))
hip.hipDeviceSynchronize()
assert nccl.ncclCommInitAll(made, 2, None) == 0

def all_reduce(count):
    nccl.ncclGroupStart()
    for r in (0, 1):
        nccl.ncclAllReduce(buffers[r], buffers[r], size(count), 7, 0, pointer(made[r]), streams[r])
    print(count, nccl.ncclGroupEnd())
"""


def checked(tmp_path, program):
    file = tmp_path / "program.py"
    file.write_text(CHECKED + program)
    done = subprocess.run([os.environ["MARGAY_TOOL"], "check", "--", sys.executable, file, os.environ["MARGAY_HOME"]],
                          capture_output=True, text=True, check=False, env={**os.environ, "MARGAY_DEVICES": "2"})  # fmt: skip
    return done.stdout + done.stderr


def test_collectives_are_launches_that_check_sees(tmp_path):
    """A count past the end of the buffers."""
    said = checked(tmp_path, "all_reduce(101)")
    assert "kernel margay_reduce_f32" in said and "memcheck: " in said and "racecheck: " not in said


def test_streams_are_ordered_for_check(tmp_path):
    """What precedes and follows on a rank's stream, which the other rank's kernel reads and writes."""
    said = checked(tmp_path, """
for r in (0, 1):
    hip.hipMemsetAsync(buffers[r], 0, size(400), streams[r])
all_reduce(100)
for r in (0, 1):
    hip.hipMemcpyAsync(others[r], buffers[r], size(400), 3, streams[r])
hip.hipDeviceSynchronize()
""")
    assert "100 0\n" in said and "margay check: no errors" in said
