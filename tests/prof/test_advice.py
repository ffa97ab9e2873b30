"""What margay prof says limits each kernel of corpus.hip, and what it advises: all of it, in order."""

import json
import os
import subprocess

import pytest

MARGAY = os.environ["MARGAY_TOOL"]
CORPUS = os.environ["MARGAY_PROF_CORPUS"]

ONCE = "each byte moves once: fewer bytes make it faster (narrower types, more done with what is in registers), nothing else does"
IN_FLIGHT = "a wave has {} in flight when it waits for a load, a CU {} in {}"

# word: the limit, what it means where that depends on the kernel, the advice.
VERDICTS = {
    "saxpy": ("memory", ONCE, []),
    "table": ("memory", ONCE, []),
    "same_xcd": ("memory", ONCE, []),
    "small_saxpy": ("load latency", None, ["only 4 of 304 CUs get a workgroup"]),
    "strided": (
        "memory",
        "25 % of the bytes that are read are used",
        ["global_load_dword at corpus.hip:LINE uses 6 % of the 64-byte sectors it touches"],
    ),
    "transposed": (
        "L2",
        None,
        ["global_store_dword at corpus.hip:LINE uses 6 % of the 64-byte sectors it touches"],
    ),
    "ragged": ("load latency", None, [IN_FLIGHT.format("250 B", "4.00 kB", "16 waves")]),
    "other_xcds": (
        "memory",
        "each byte moves 4.50 times; once is the least",
        ["each byte of in is fetched by 8.0 XCDs, each for its own L2"],
    ),
    "many_registers": (
        "load latency",
        None,
        [
            IN_FLIGHT.format("256 B", "2.05 kB", "8 waves"),
            "VGPRs limit the kernel to 8 workgroups per CU (8 waves of 32)",
        ],
    ),
    "much_lds": (
        "load latency",
        None,
        [
            "LDS limits the kernel to 1 workgroup per CU (1 wave of 32)",
            IN_FLIGHT.format("256 B", "256 B", "1 wave"),
        ],
    ),
    "spilling": (
        "memory",
        None,
        ["8 scratch instructions ran 16.4 k times, most often at corpus.hip:LINE (2.05 k times)"],
    ),
    "arithmetic": (
        "vector ALU",
        None,
        ["98 % of the vector ALU's cycles are f32 arithmetic on one element, most of them v_fma_f32 at corpus.hip:LINE"],
    ),
    "packed": ("vector ALU", None, []),
    "half_the_lanes": (
        "vector ALU",
        None,
        [
            "32 of 64 lanes are active in a VALU instruction, on average",
            "20 % of the vector ALU's cycles are f32 arithmetic on one element, most of them v_add_f32_e32 at corpus.hip:LINE",
        ],
    ),
    "matrix": (
        "matrix units",
        "all else has to hide behind them; fewer or narrower matrix operations make it faster",
        [],
    ),
    "conflicting": (
        "LDS",
        None,
        ["every ds_read_b128 at corpus.hip:LINE conflicts 8 ways: lanes 0, 1, 2, 3, 20, 21, 22 and 23 meet in bank 0"],
    ),
    "padded": ("LDS", None, []),
}

# What has to be in the remedy, and what must not: the first advice of the kernel, or of `spilling` the second, which
# saves as much: memory is the limit then.
REMEDIES = {
    "small_saxpy": ("more work in one launch", "tile"),
    "strided": ("let consecutive lanes read", "write"),
    "transposed": ("let consecutive lanes write", "read"),
    "other_xcds": ("same XCD", None),
    "many_registers": ("issue more loads", None),
    "spilling": ("smaller register tiles", None),
    "arithmetic": ("float2", None),
    "conflicting": ("pad the rows", None),
}


def without_lines(text):
    """corpus.hip:84 as corpus.hip:LINE."""
    words = text.split("corpus.hip:")
    return words[0] + "".join("corpus.hip:LINE" + word.lstrip("0123456789") for word in words[1:])


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    known = {}

    def find(word):
        if word not in known:
            path = folder / f"{word}.json"
            command = [MARGAY, "prof", "--quiet", "--json", path, "--", CORPUS, word]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
            assert done.returncode == 0, done.stderr
            known[word] = json.loads(path.read_text())["kernels"][0]
        return known[word]

    return find


@pytest.mark.parametrize("word", VERDICTS)
def test_verdict(kernel, word):
    limit, meaning, advice = VERDICTS[word]
    found = kernel(word)
    assert found["limit"]["part"] == limit
    if meaning:
        assert found["limit"]["meaning"] == meaning
    assert [without_lines(a["what"]) for a in found["advice"]] == advice
    # The one that saves most comes first, with the amount.
    gains = [a["gain"] for a in found["advice"]]
    assert gains == sorted(gains, reverse=True)
    assert all(a["effect"].startswith("saves up to") for a in found["advice"] if a["gain"] > 0)


@pytest.mark.parametrize("word", REMEDIES)
def test_remedy(kernel, word):
    wanted, unwanted = REMEDIES[word]
    fix = kernel(word)["advice"][0]["fix"]
    assert wanted in fix
    assert unwanted is None or unwanted not in fix


@pytest.mark.parametrize(
    "before, after, at_least",
    [("other_xcds", "same_xcd", 0.75), ("conflicting", "padded", 0.85), ("arithmetic", "packed", 0)],
)
def test_following_the_advice(kernel, before, after, at_least):
    """What is advised is not said of the kernel that follows it, and saves what was promised."""

    def least_time(word):
        what = kernel(word)["limit"]["what"].split(" with ")[1].split(";")[0].split()
        return float(what[0]) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[what[1]]

    first = kernel(before)["advice"][0]
    assert first["what"] not in [a["what"] for a in kernel(after)["advice"]]
    assert first["gain"] >= at_least
    if at_least:
        assert least_time(after) / least_time(before) == pytest.approx(1 - first["gain"], rel=0.1)
