"""Profiles: reading, choosing kernels, values by name, the text; with one that was recorded.

Recorded from kernels.hip: copy; exchange with a stride of 32 floats, twice, in one workgroup;
exchange with a stride of 1 in four. Of copy's tensors the names and the traffic are made up.
"""

import copy
import json

import pytest
from conftest import RECORDED_PROFILE

from margay import MemoryTraffic, NotInProfile, Profile

COPY = "(anonymous namespace)::copy(float const*, float*, int)"


@pytest.fixture
def recorded():
    return Profile.load(RECORDED_PROFILE)


@pytest.fixture
def conflicting(recorded):
    return recorded.kernel("exchange", grid=1)


def test_kernels(recorded):
    assert recorded.device == "AMD Instinct MI325X"
    assert [k.name.split("::")[1][:4] for k in recorded.kernels] == ["copy", "exch", "exch"]
    k = recorded.kernel("copy")
    assert (k.name, k.grid, k.workgroup, k.launches) == (COPY, (1, 1, 1), (256, 1, 1), 1)
    assert k is recorded.kernel(COPY)
    assert recorded.kernel("exchange", grid=4).launches == 1
    assert recorded.kernel("exchange", grid=(1, 1), workgroup=64).launches == 2
    assert recorded.kernel(workgroup=(256,)) is k


def test_kernels_by_the_name_that_reports_print(recorded):
    k = recorded.kernel("copy")
    k.name = f"void ns::(anonymous namespace)::tiled<{48 * 'x'}>(int*)"
    assert recorded.kernel("ns::tiled<...>") is k
    assert recorded.kernel("tiled<xxx") is k
    with pytest.raises(NotInProfile):
        recorded.kernel("ns::tiled<y")


def test_unknown_and_ambiguous_kernels(recorded):
    with pytest.raises(NotInProfile) as error:
        recorded.kernel("gemm")
    assert str(error.value).splitlines() == [
        'no kernel that ran has "gemm" in its name; there are:',
        f"  {COPY}, grid 1, workgroup 256",
        "  (anonymous namespace)::exchange(float*, int), grid 1, workgroup 64",
        "  (anonymous namespace)::exchange(float*, int), grid 4, workgroup 64",
    ]
    with pytest.raises(NotInProfile, match="with grid \\(2, 1, 1\\) with workgroup \\(64, 1, 1\\)"):
        recorded.kernel("exchange", grid=2, workgroup=64)
    with pytest.raises(KeyError, match='2 kernels or launch sizes fit "exchange"') as error:
        recorded.kernel("exchange")
    assert len(str(error.value).splitlines()) == 3
    with pytest.raises(LookupError, match="no kernel was launched"):
        Profile().kernel("copy")


def test_a_whole_name_comes_before_longer_ones(recorded):
    longer = copy.copy(recorded.kernels[0])
    recorded.kernels.append(longer)
    longer.name = "copy_twice(float*)"
    recorded.kernels[0].name = "copy(float*)"
    assert recorded.kernel("copy") is recorded.kernels[0]
    assert recorded.kernel("copy_t") is longer


def test_values_by_name(conflicting):
    k = conflicting
    # Two waves write and read 64 floats in strides of 128 bytes, 32 lanes at a time in one bank.
    assert k.lds_bank_conflicts == k["lds_bank_conflicts"] == 2 * 2 * 2 * 31
    assert k["SQ_LDS_BANK_CONFLICT"] == k.metrics["lds_bank_conflicts"] == 248
    assert k.counters["SQ_WAVES"] == k.SQ_WAVES == k["SQ_WAVES"] == 2
    assert k["TCP_TOTAL_ACCESSES"] == k["TCP_TOTAL_ACCESSES_sum"] == k.vl1d_requests
    assert k.lds_bank_conflicts_per_access == 31.0
    assert k.coalescing == 1.0
    assert k.mfma_instruction_cycles is None
    assert k.launches == 2
    assert {"coalescing", "SQ_WAVES", "name"} <= set(dir(k))


def test_unknown_names_have_neighbours(conflicting):
    with pytest.raises(AttributeError, match="did you mean lds_bank_conflicts, "):
        _ = conflicting.lds_bank_conflict
    with pytest.raises(NotInProfile, match='no .* "SQ_WAVE"; did you mean SQ_WAVES,'):
        _ = conflicting["SQ_WAVE"]
    assert not hasattr(conflicting, "_no_such_thing")


def test_resources(recorded, conflicting):
    assert conflicting.resources.static_lds_bytes == 64 * 32 * 4
    assert conflicting.resources.limit == "LDS"
    assert conflicting.waves_per_cu == conflicting.resources.waves_per_cu == 8
    assert recorded.kernel("copy").resources.vgprs == 6


def test_tensors(recorded):
    k = recorded.kernel("copy")
    a = k.tensor("g.a")
    assert (a.shape, a.element) == ((1, 1, 16, 16), "float")
    assert (a.read_bytes, a.touched_read_bytes) == (1024, 1024)
    assert a.fetched_from_memory == 3.0
    assert a.fetched_from_l2 == 4.0
    assert a.asked_for == 1.0
    assert a.written_to_memory is None
    assert k.tensor("g.b").written_to_memory == 1.0
    with pytest.raises(NotInProfile, match='no tensor "g.c"; there are: g.a, g.b'):
        k.tensor("g.c")


def test_lines(conflicting):
    lines = conflicting.lines()
    assert [line.line for line in lines] == [15, 17, 16, 18]
    write, read, barrier, _ = lines
    assert write.file == "tests/python/kernels.hip"
    assert (write.lds_cycles, write.lds_conflict_cycles) == (128, 124)
    assert [site.text.split()[0] for site in write.sites if site.lds] == ["ds_write_b32"]
    assert (read.memory.lane_bytes, read.memory.coalescing) == (512, 1.0)
    assert barrier.memory == MemoryTraffic() and barrier.memory.coalescing is None
    assert sum(line.instructions for line in lines) == conflicting["SQ_INSTS"]
    [site] = [site for site in read.sites if site.lds]
    assert (site.instruction_class, site.is_read, site.is_write) == ("LDS", True, False)
    assert (site.lds.worst_ways, len(site.lds.worst_lanes)) == (32, 32)
    assert len(site.lds.bank_dwords) == 32


def test_lines_without_line_tables(conflicting):
    for site in conflicting.sites:
        site.frames.clear()
    [line] = conflicting.lines()
    assert (line.file, line.line, line.place) == ("", 0, "(no source line)")
    assert "by source line" not in str(conflicting)


def test_text(recorded, conflicting):
    text = str(conflicting)
    assert text.startswith("exchange, grid 1, workgroup 64, 2 launches\n")
    assert "256 cycles, of them 248 lost to bank conflicts (31.00 per access)" in text
    assert "kernels.hip:15 in exchange   (124 LDS cycles lost" in text
    assert "8.0 KiB of LDS; 8 waves per CU, limited by LDS" in text
    text = str(recorded.kernel("copy"))
    [row] = [line for line in text.splitlines() if "g.a" in line]
    assert row.split() == "g.a float 1 x 1 x 16 x 16 1.00 x 4.00 x 3.00 x -".split()
    assert "bank" not in text  # it uses no LDS
    assert len(text.splitlines()) < 24
    assert str(recorded).count("issue cycles, by source line") == 3
    assert str(Profile()) == "no kernel was launched"
    assert repr(conflicting) == (
        "<KernelProfile exchange, grid 1, workgroup 64>"
    )


def test_file_and_back(recorded, tmp_path):
    recorded.to_json(tmp_path / "profile.json")
    assert Profile.load(tmp_path / "profile.json") == recorded
    written = json.loads((tmp_path / "profile.json").read_text())
    assert written == json.loads(RECORDED_PROFILE.read_text())


def test_limit_and_advice(recorded, conflicting):
    assert conflicting.limit is None and conflicting.advice == []  # recorded before there were any
    document = copy.deepcopy(recorded.document)
    kernel = document["kernels"][0]
    kernel["limit"] = {"part": "LDS", "what": "LDS is the limit with 2 us", "meaning": "fewer bytes"}
    kernel["advice"] = [{"what": "pad", "why": "it conflicts", "fix": "", "effect": "saves half", "gain": 0.5}]
    kernel["tensors"][0]["xcd_read_bytes"] = 77
    k = Profile.from_json(json.dumps(document)).kernels[0]
    assert str(k.limit) == "LDS is the limit with 2 us\nfewer bytes"
    assert str(k.advice[0]) == "pad\nit conflicts\nsaves half" and k.advice[0].gain == 0.5
    text = str(k).splitlines()
    at = text.index("  limit          LDS is the limit with 2 us")
    assert text[at + 1].split() == ["fewer", "bytes"] and "  advice         pad" in text
    assert "  limit  " not in str(conflicting)
    assert k.tensors[0].xcd_read_bytes == 77 and k.sampled_workgroups == 0
    del document["kernels"][0]["tensors"][0]["l2_read_bytes"]  # what all versions have
    with pytest.raises(ValueError, match="l2_read_bytes"):
        Profile.from_json(json.dumps(document))


def test_copies(conflicting):
    assert copy.deepcopy(conflicting) == conflicting


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 1}',
        '{"version": 1, "device": "", "schedule": "", "mfma": "", "frames": [], "kernels": [{}]}',
        '{"version": 1, "device": "", "schedule": "", "mfma": "", "frames": [], "kernels": [3]}',
    ],
)
def test_malformed(text):
    with pytest.raises(ValueError):
        Profile.from_json(text)


def test_another_version():
    with pytest.raises(ValueError, match="version 2, not 1"):
        Profile.from_json('{"version": 2}')


def test_fields_that_are_not_known_are_passed_over(recorded):
    document = json.loads(RECORDED_PROFILE.read_text())
    kernel = document["kernels"][0]
    document["new"] = kernel["new"] = kernel["sites"][0]["new"] = kernel["tensors"][0]["new"] = 1
    assert Profile.from_json(json.dumps(document)) == recorded


# --- margay.profile, with stand-ins for the library ---

BLOCK = """
import ctypes, os, margay
"""


def test_the_block_and_its_options(python, stand_ins):
    done = python(
        BLOCK
        + """
library = ctypes.CDLL(os.environ["STAND_INS"] + "/margay/lib/libamdhip64.so.5")
library.standInOptions.restype = ctypes.c_char_p
with margay.profile() as p:
    assert p.kernels == []
print(library.standInOptions().decode(), len(p.kernels), p.kernel("exchange", grid=1).SQ_WAVES)
with margay.profile(kernel="copy", trace=2):
    pass
print(library.standInOptions().decode())
with margay.profile(launches="1,4-6", workgroups=64):
    pass
print(library.standInOptions().decode())
"""
    )
    assert done.stdout == "trace=0 3 2\ntrace=2;kernel=copy\ntrace=0;launches=1,4-6;workgroups=64\n", done.stderr


def test_the_blocks_own_exception_goes_on(python, stand_ins):
    done = python(
        BLOCK
        + """
try:
    with margay.profile() as p:
        raise KeyError("mine")
except KeyError as error:
    print(error, len(p.kernels))
""",
        MARGAY_HOME=stand_ins / "margay",
    )
    assert done.stdout == "'mine' 3\n", done.stderr


def test_what_cannot_begin_says_why(python, stand_ins):
    done = python(
        BLOCK
        + """
with margay.profile():
    for what in lambda: margay.profile().__enter__(), lambda: margay.profile(kernel="a;b"):
        try:
            what()
        except ValueError as error:
            print(error)
""",
        MARGAY_HOME=stand_ins / "margay",
    )
    assert done.stdout == (
        "margay.profile cannot begin: a profile is running already\n"
        "a kernel's name has no semicolon: 'a;b'\n"
    ), done.stderr


def test_libraries_that_cannot_profile(python, stand_ins):
    script = (
        BLOCK
        + """
try:
    with margay.profile():
        raise SystemExit("the block ran")
except margay.LibraryError as error:
    print(error)
"""
    )
    done = python(script, MARGAY_HOME=stand_ins / "old")
    assert "old/lib/libamdhip64.so is Margay's, but too old to profile" in done.stdout, done.stderr
    load_rocms = 'ctypes.CDLL(os.environ["STAND_INS"] + "/rocm/lib/libamdhip64.so.5")\n'
    done = python(script.replace("try:", load_rocms + "try:", 1))
    assert "rocm/lib/libamdhip64.so.5, which is not Margay's" in done.stdout, done.stderr


def test_no_profile_is_an_error(python, stand_ins):
    done = python(
        BLOCK + "with margay.profile(): os.environ['STAND_IN_PROFILE'] = '/nonexistent'",
        MARGAY_HOME=stand_ins / "margay",
    )
    assert "RuntimeError: margay.profile measured nothing: no profile is running" in done.stderr
