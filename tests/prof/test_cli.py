"""`margay prof` and `margay compare` around programs.hip: what they run, show, write and refuse."""

import json
import os
import pathlib
import re
import subprocess

import pytest

MARGAY = os.environ["MARGAY_TOOL"]
PROGRAMS = os.environ["MARGAY_PROF_PROGRAMS"]
KILLED = 128 + 15


def margay(*words, environment=None):
    return subprocess.run(
        [MARGAY, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **(environment or {})},
    )


def prof(*words, **options):
    """margay prof OPTIONS -- PROGRAMS WORDS, where WORDS follow `--`."""
    at = words.index("--")
    return margay("prof", *words[: at + 1], PROGRAMS, *words[at + 1 :], **options)


def profile_of(path, *words):
    done = prof("--quiet", "--json", path, "--", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text())


def names(profile):
    return [kernel["name"] for kernel in profile["kernels"]]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Profiles of the kernels, as files by name."""
    folder = tmp_path_factory.mktemp("profiles")
    files = {}
    for word in ("padded", "conflicting", "scattered"):
        files[word] = folder / f"{word}.json"
        profile_of(files[word], word)
    return files


# ---- margay prof: the device ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "device, name, xcds, cus",
    [
        (None, "AMD Instinct MI325X", 8, 304),
        ("mi300x", "AMD Instinct MI300X", 8, 304),
        ("mi300a", "AMD Instinct MI300A", 6, 228),
        ("mi308x", "AMD Instinct MI308X", 4, 80),
    ],
)
def test_the_profile_is_that_of_the_device(tmp_path, device, name, xcds, cus):
    path = tmp_path / "p.json"
    options = ["--device", device] if device else []
    done = prof(*options, "--json", path, "--", "scattered")
    assert done.returncode == 0, done.stderr
    assert f"{name}, MFMA" in done.stdout
    assert f"for {cus} CUs" in " ".join(done.stdout.split())
    profile = json.loads(path.read_text())
    assert profile["device"] == name
    [kernel] = profile["kernels"]
    assert len(kernel["xcds"]) == xcds
    # Each CU invalidates its vL1D when a kernel begins.
    assert kernel["counters"]["TCP_TOTAL_WRITEBACK_INVALIDATES_sum"] == cus
    # A profile from a file is shown unchanged, regardless of the current device.
    shown = margay("prof", "--from", path, environment={"MARGAY_DEVICE": "mi308x"}).stdout
    assert f"for {cus} CUs" in " ".join(shown.split())


def test_vector_cache_takes_a_sector_a_cycle(tmp_path):
    """64 lanes' floats in as many lines take a cycle each, side by side 16 share a sector; 16 bytes a lane four."""

    def cycles(word):
        [kernel] = profile_of(tmp_path / "p.json", word)["kernels"]
        return {
            site["text"].split()[0]: site["memory"]["lookup_cycles"] / site["executions"]
            for site in kernel["sites"]
            if site["memory"] is not None
        }

    assert cycles("scattered") == {"global_load_dword": 64, "global_store_dword": 4}
    assert cycles("device") == {"global_load_dwordx4": 16, "global_store_dwordx4": 16}


def test_peaks_are_those_of_the_device(tmp_path):
    """The same bytes take longer over a slower memory: 6.0 and 5.3 TB/s."""
    seconds = {}
    for device in ("mi325x", "mi300x"):
        page = tmp_path / f"{device}.html"
        assert prof("--device", device, "--html", page, "--", "scattered").returncode == 0
        data = json.loads(re.search(r'type="application/json"[^>]*>(.*?)</script', page.read_text(), re.S)[1])
        [memory] = [b for b in data["kernels"][0]["bounds"] if b["part"] == "memory"]
        seconds[device] = memory["seconds"]
    assert seconds["mi300x"] / seconds["mi325x"] == pytest.approx(6.0 / 5.3, rel=1e-3)


def test_a_comparison_of_two_devices_says_so(tmp_path, saved):
    other = tmp_path / "other.json"
    assert prof("--device", "mi300a", "--quiet", "--json", other, "--", "scattered").returncode == 0
    said = margay("compare", saved["scattered"], other).stdout
    assert "(on an MI325X)" in said and "(on an MI300A)" in said
    assert "(on an" not in margay("compare", saved["scattered"], saved["scattered"]).stdout


def test_an_unknown_device_is_refused_with_the_list(tmp_path):
    for command in ("run", "check", "prof"):
        done = margay(command, "--device", "h100", "--", "true")
        assert done.returncode == 2
        for known in ("h100", "mi325x", "mi300x", "mi300a", "mi308x"):
            assert known in done.stderr
    path = tmp_path / "p.json"
    profile = profile_of(path, "scattered")
    path.write_text(json.dumps({**profile, "device": "H100"}))
    done = margay("prof", "--from", path)
    assert done.returncode != 0 and '"H100"' in done.stderr and "mi325x" in done.stderr


def test_the_devices_are_listed():
    rows = margay("devices").stdout.splitlines()
    page = (pathlib.Path(__file__).parents[2] / "docs" / "devices.md").read_text()
    assert "\n".join(rows) in page, "docs/devices.md shows another list"
    assert [row.split()[0] for row in rows if "*" in row] == ["*"]
    assert [row.split()[1] for row in rows if "*" in row] == ["mi325x"]
    rows = margay("devices", environment={"MARGAY_DEVICE": "mi300a"}).stdout.splitlines()
    [chosen] = [row.split() for row in rows if "*" in row]
    assert chosen[1] == "mi300a" and "228" in chosen
    assert margay("devices", environment={"MARGAY_DEVICE": "h100"}).returncode == 2


@pytest.mark.parametrize("command", ["run", "prof", "time"])
def test_whole_pages_may_be_read_when_asked_for(command):
    """What shipped kernels read past a tensor is on its last page, which the hardware gives them."""
    program = ["--", PROGRAMS, "reads-on"]
    done = margay(command, *program)
    assert "illegal read of 4 bytes" in done.stderr
    assert "--whole-pages" in done.stderr
    done = margay(command, "--whole-pages", *program)
    assert done.returncode == 0, done.stderr
    assert "illegal" not in done.stderr
    assert "read 0x1010101 and 0\n" in done.stdout
    # The checker is about such reads.
    done = margay("check", *program, environment={"MARGAY_WHOLE_PAGES": "1"})
    assert done.returncode != 0
    assert "memcheck" in done.stdout + done.stderr


def test_scalar_writes_are_requests_to_l2(tmp_path):
    [kernel] = profile_of(tmp_path / "p.json", "scalar-writes")["kernels"]
    counters = kernel["counters"]
    arguments = counters["SQC_DCACHE_REQ"] - 4
    assert arguments in (1, 2)
    assert counters["SQC_DCACHE_ATOMIC"] == 1
    assert counters["SQC_DCACHE_REQ_READ_1"] == 2
    assert counters["SQC_TC_DATA_WRITE_REQ"] == 1
    assert counters["SQC_TC_DATA_ATOMIC_REQ"] == 1
    assert counters["TCC_ATOMIC_sum"] == 1
    assert counters["TCC_WRITE_sum"] == 1 + 5  # 256 bytes from byte 8
    # Neither read with GLC is a hit.
    assert counters["SQC_DCACHE_MISSES"] == 2 + 1
    path = tmp_path / "t.json"
    done = margay("time", "--json", path, "--", PROGRAMS, "scalar-writes")
    assert done.returncode == 0, done.stderr
    [kernel] = json.loads(path.read_text())["kernels"]
    assert kernel["cycles"] > 800  # three times, the wave waits for L2


# ---- margay prof: the report ---------------------------------------------------------------------


def test_the_report_says_what_matters():
    said = prof("--", "conflicting").stdout
    assert "1 launch of 2 x 1 x 1 workgroups of 64 work-items" in said
    assert re.search(r"theoretical: 8 workgroups per CU, 8 waves of 32, limited by LDS", said)
    assert "achieved: 1 wave on each CU" in said
    assert "with 7168 bytes of LDS instead of 8192" in " ".join(said.split())
    line = re.search(r"LDS +[\d.]+ k cycles, (\d+) of them bank conflicts", said)
    # 8 reads by two waves, each of two groups of 32 lanes which all want another dword of one bank.
    assert int(line[1]) == 8 * 2 * 2 * 31
    place = r"every ds_read\S* at programs.hip:17 conflicts 32 ways: lanes 0, 1, 2, .* meet in bank 0"
    assert re.search(place, " ".join(said.split()))
    assert max(map(len, said.splitlines())) <= 80
    assert "only 2 of 304 CUs get a workgroup" in said
    assert re.search(r"\d+ +992 +\S*programs.hip:17 in rows<32>", said)


def test_a_kernel_without_conflicts_is_not_blamed():
    said = prof("--", "padded").stdout
    assert "no bank conflicts" in said
    assert "ways" not in said


def test_kernels_are_told_apart_by_name_and_size(tmp_path):
    profile = profile_of(tmp_path / "p.json", "padded", "larger", "padded", "scattered")
    launches = {
        (name.split("(")[0].split()[-1], kernel["grid"][0]): kernel["launches"]
        for name, kernel in zip(names(profile), profile["kernels"])
    }
    assert launches == {("rows<33>", 2): 2, ("rows<33>", 4): 1, ("scattered", 1): 1}


def test_kernel_filter(tmp_path):
    path = tmp_path / "p.json"
    done = prof("--kernel", "rows<32>", "--json", path, "--", "padded", "conflicting", "scattered")
    assert done.returncode == 0
    assert done.stdout.count("launch of") == 1 and "rows<32>" in done.stdout
    assert len(names(json.loads(path.read_text()))) == 1


def test_launches_are_chosen(tmp_path):
    path = tmp_path / "p.json"
    words = ("padded", "padded", "larger", "padded")
    done = prof("--launches", "2-3", "--json", path, "--", *words)
    kernels = json.loads(path.read_text())["kernels"]
    assert [(k["launches"], k["launches_seen"]) for k in kernels] == [(2, 3)]
    assert "2 launches of 2 x 1 x 1" in done.stdout and "of 3 launches that there were" in done.stdout
    # The first one alone is what it is without a choice.
    one = profile_of(tmp_path / "one.json", "padded")["kernels"][0]
    done = prof("--quiet", "--launches", "1", "--json", path, "--", *words[:2])
    assert json.loads(path.read_text())["kernels"][0]["counters"] == one["counters"]
    done = prof("--launches", "9", "--", "padded")
    assert done.returncode == 1 and "none of the launches and workgroups" in done.stderr


def test_a_sample_of_workgroups_is_scaled_up(tmp_path):
    whole = profile_of(tmp_path / "whole.json", "device")["kernels"][0]
    path = tmp_path / "sample.json"
    for sample in ("16", "24-39"):
        done = prof("--workgroups", sample, "--json", path, "--", "device")
        assert "a sample of 16 workgroups was counted" in done.stdout
        kernel = json.loads(path.read_text())["kernels"][0]
        assert kernel["sampled_workgroups"] == 16 and whole["sampled_workgroups"] == 0
        # All workgroups of this kernel do the same on memory of their own.
        for counter in ("SQ_WAVES", "SQ_INSTS_VMEM", "TCP_TOTAL_ACCESSES_sum", "TCC_BUBBLE_sum"):
            assert kernel["counters"][counter] == whole["counters"][counter], counter
        assert kernel["tensors"] == whole["tensors"]
        assert [s["executions"] for s in kernel["sites"]] == [s["executions"] for s in whole["sites"]]
    done = prof("--workgroups", "100-200", "--", "device")  # it has 64
    assert done.returncode == 1 and "none of the launches and workgroups" in done.stderr


def test_a_sample_leaves_the_results_alone():
    assert prof("--workgroups", "1", "--", "verified").stdout.startswith("right\n")


def test_full_has_every_instruction_metric_and_counter(saved):
    short = margay("prof", "--from", saved["padded"]).stdout
    full = margay("prof", "--from", saved["padded"], "--full").stdout
    kernel = json.loads(saved["padded"].read_text())["kernels"][0]
    assert len(kernel["sites"]) > 50
    for site in kernel["sites"]:
        assert site["text"] in full
    for counter in kernel["counters"]:
        assert counter in full
    assert "SQ_WAVES_EQ_64" not in short
    assert "SQ_LDS_BANK_CONFLICT / (SQ_LDS_IDX_ACTIVE - SQ_LDS_BANK_CONFLICT)" in full


# ---- margay prof: files --------------------------------------------------------------------------


def test_json_comes_back_as_it_was(tmp_path):
    # What a process leaves, before margay prof has read and written it once.
    left, again = tmp_path / "left.json", tmp_path / "again.json"
    environment = {"MARGAY_PROFILE": "1", "MARGAY_PROFILE_JSON": str(left), "MARGAY_PROFILE_TRACE": "2"}
    words = ("padded", "conflicting", "scattered")
    done = margay("run", "--", PROGRAMS, *words, environment=environment)
    assert done.returncode == 0
    done = margay("prof", "--from", left, "--quiet", "--json", again)
    assert done.returncode == 0 and done.stdout == ""
    assert again.read_bytes() == left.read_bytes()


def test_from_shows_what_the_run_showed(tmp_path):
    path = tmp_path / "p.json"
    shown = prof("--json", path, "--", "conflicting", "scattered").stdout
    assert "rows<32>" in shown and "scattered" in shown
    assert margay("prof", "--from", path).stdout == shown


def test_quiet_page_and_timeline(tmp_path):
    page, timeline = tmp_path / "p.html", tmp_path / "t.json"
    done = prof("--quiet", "--html", page, "--trace", timeline, "--", "padded")
    assert done.returncode == 0 and done.stdout == ""
    text = page.read_text()
    assert re.search(r"rows(<|\\u003c)33>", text)
    # A limit, a table of what would fit, and wave maps that are pictures when they are printed.
    assert '"limit":{"part":"' in text and '"occupancy_table":{' in text
    assert "img-src data:" in text and ".map canvas { display: none; }" in text.replace(", .map", "\n.map")
    # Without a number two workgroups, each of one wave, are traced.
    threads = {
        (event["pid"], event["tid"])
        for event in json.loads(timeline.read_text())["traceEvents"]
        if event["ph"] == "X"
    }
    assert len(threads) == 2


@pytest.mark.parametrize("count", [1, 3])
def test_so_many_workgroups_are_traced(tmp_path, count):
    path = tmp_path / "p.json"
    prof("--quiet", "--trace-workgroups", count, "--json", path, "--", "larger")
    traces = json.loads(path.read_text())["kernels"][0]["traces"]
    assert [trace["workgroup"] for trace in traces] == [[n, 0, 0] for n in range(count)]


@pytest.mark.parametrize(
    "text, what",
    [
        (None, "cannot be read"),
        ('{"version": 1', "not JSON, or is cut off"),
        ('{"version": 99}', "version 99"),
        ('{"version": 1, "device": 3}', "device is number, not a string"),
    ],
)
def test_unusable_files_are_named(tmp_path, text, what):
    path = tmp_path / "bad.json"
    if text is not None:
        path.write_text(text)
    for words in (("prof", "--from", path), ("compare", path, path)):
        done = margay(*words)
        if words[0] == "compare" and text is None:
            continue  # it is no file, so it would be a command
        assert done.returncode != 0
        assert what in done.stderr and str(path) in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    "field, value", [("grid", [0, 1, 1]), ("workgroup", [64, 1, 0]), ("launches", 0)]
)
def test_sizes_that_no_launch_has_are_refused(saved, tmp_path, field, value):
    path = tmp_path / "bad.json"
    document = json.loads(saved["padded"].read_text())
    document["kernels"][0][field] = value
    path.write_text(json.dumps(document))
    done = margay("prof", "--full", "--from", path)
    assert done.returncode == 2
    assert f"kernels[0].{field} is" in done.stderr and done.stdout == ""


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    done = prof("--json", tmp_path / "no" / "such.json", "--", "padded")
    assert done.returncode != 0
    assert "cannot be written" in done.stderr


# ---- margay prof: the program --------------------------------------------------------------------


def test_the_program_keeps_its_output_and_exit_code():
    done = prof("--", "padded", "say", "seven")
    assert done.returncode == 7
    assert done.stdout.startswith("said\n")
    assert "rows<33>" in done.stdout


def test_no_kernel():
    done = prof("--", "say")
    assert done.returncode == 1
    assert "no kernel was launched" in done.stderr
    assert prof("--", "seven").returncode == 7
    done = prof("--kernel", "nosuch", "--", "padded")
    assert done.returncode == 1
    assert 'no kernel with "nosuch" in its name was launched' in done.stderr


def test_killed_by_a_signal():
    done = prof("--", "padded", "killed")
    assert done.returncode == KILLED
    assert "ended by signal 15 (Terminated)" in done.stderr


def test_a_failed_launch_is_told():
    done = prof("--", "padded", "faulty")
    assert done.returncode == 0
    assert "a launch failed" in done.stdout
    assert "past_the_end" in done.stdout and "1 of them failed" in done.stdout


def test_several_processes(tmp_path):
    profile = profile_of(tmp_path / "p.json", "conflicting", "again")
    assert sorted(name.split("(")[0].split()[-1] for name in names(profile)) == [
        "rows<32>",
        "rows<33>",
        "scattered",
    ]


def test_nothing_depends_on_threads(tmp_path):
    def counted(threads):
        path = tmp_path / f"{threads}.json"
        prof("--quiet", "--threads", threads, "--json", path, "--", "larger", "scattered")
        profile = json.loads(path.read_text())
        for kernel in profile["kernels"]:
            del kernel["host_seconds"]
        return profile

    assert counted(1) == counted(3)


@pytest.mark.parametrize(
    "option, names",
    [
        (None, ["in", "out"]),
        ("-gline-tables-only", ["argument at byte 0", "argument at byte 8"]),
        # Without types, but with the names of a compiler that keeps them.
        ("-gline-tables-only -fno-discard-value-names", ["in", "out"]),
    ],
)
def test_names_of_tensors(tmp_path, option, names):
    program = tmp_path / "names"
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs.hip")
    done = margay("hipcc", "-O2", *(option or "").split(), source, "-o", program)
    assert done.returncode == 0, done.stderr
    path = tmp_path / "p.json"
    done = margay("prof", "--json", path, "--", program, "device")
    tensors = json.loads(path.read_text())["kernels"][0]["tensors"]
    assert [t["name"] for t in tensors] == names
    assert f"read {names[0]} " in done.stdout


@pytest.mark.parametrize(
    "options, names",
    [
        ([], ["from.data", "to"]),
        # A class of which no more than its name is known.
        (["-Xarch_device", "-fno-standalone-debug"], ["argument at byte 0", "to"]),
    ],
)
def test_tensors_in_a_class_with_a_constructor_on_the_host(tmp_path, options, names):
    program = tmp_path / "owned"
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs.hip")
    done = margay("hipcc", "-O2", *options, source, "-o", program)
    assert done.returncode == 0, done.stderr
    path = tmp_path / "p.json"
    margay("prof", "--quiet", "--json", path, "--", program, "owned")
    tensors = json.loads(path.read_text())["kernels"][0]["tensors"]
    assert [t["name"] for t in tensors] == names
    assert [t["read_bytes"] for t in tensors] == [256, 0]


def test_size_is_the_tensors(tmp_path):
    done = prof("--", "device", "device")
    row = re.search(r"^ +read in +(.+)$", done.stdout, re.MULTILINE)[1]
    # 64 workgroups of 256 float4, once for each launch; each byte once.
    assert re.split(r" {2,}", row) == ["262 kB", "262 kB", "1.00x", "1.00x", "1.00x"]


def test_nothing_depends_on_where_host_memory_lies(tmp_path):
    def counted(word):
        kernel = profile_of(tmp_path / f"{word}.json", word)["kernels"][0]
        tensors = [{k: v for k, v in t.items() if k != "bytes"} for t in kernel["tensors"]]
        return kernel["counters"], [site["memory"] for site in kernel["sites"]], tensors

    device = counted("device")
    assert device[0]["TCC_REQ_sum"] > 0
    assert [t["name"] for t in device[2]] == ["in", "out"]
    for offset in (0, 16, 48, 64, 4000):
        assert counted(f"at={offset}") == device


def test_checking_and_profiling_in_one_run(tmp_path):
    """The checker's findings and the same counters as without it, from one run."""
    alone, beside, nested = (tmp_path / f"{name}.json" for name in ("alone", "beside", "nested"))
    assert prof("--quiet", "--json", str(alone), "--", "padded").returncode == 0
    done = margay("check", "--profile", str(beside), "--", PROGRAMS, "padded")
    assert done.returncode == 0, done.stderr
    assert "no errors" in done.stderr and f"wrote {beside}" in done.stderr
    done = margay("prof", "--quiet", "--json", str(nested), "--", MARGAY, "check", "--", PROGRAMS, "padded")
    assert done.returncode == 0, done.stderr
    assert "no errors" in done.stderr

    def counted(file):
        kernels = json.loads(file.read_text())["kernels"]
        return [(k["name"], k["launches"], k["counters"]) for k in kernels]

    assert counted(alone) == counted(beside) == counted(nested)
    assert counted(alone)[0][2]["SQ_INSTS_LDS"] > 0


@pytest.mark.parametrize(
    "words, what",
    [
        ((), "which program?"),
        (("--nonsense", "--", "true"), "--nonsense"),
        (("--threads", "0", "--", "true"), "--threads"),
        (("--mfma", "sloppy", "--", "true"), "--mfma"),
        (("--launches", "0", "--", "true"), "the first is 1"),
        (("--workgroups", "5-3", "--", "true"), "write 64 for the first 64"),
    ],
)
def test_wrong_command_lines(words, what):
    done = margay("prof", *words)
    assert done.returncode == 2
    assert what in done.stderr and done.stdout == ""


def test_no_such_program():
    done = margay("prof", "--", "./nosuch")
    assert done.returncode != 0
    assert "no such program: ./nosuch" in done.stderr


@pytest.mark.parametrize("command", ["prof", "compare"])
def test_help(command):
    done = margay(command, "--help")
    assert done.returncode == 0 and done.stderr == ""
    options = {"prof": ("--kernel", "--html", "--trace", "--from", "--full"), "compare": ("--kernel-a",)}
    for option in options[command]:
        assert option in done.stdout
    assert re.search(rf"^ *{command} ", margay("--help").stdout, re.MULTILINE)


# ---- margay compare ------------------------------------------------------------------------------


def row(text, what):
    """The columns A, B and B/A of the row that begins with `what`."""
    found = [line for line in text.splitlines() if line.strip().startswith(what + " ")]
    assert found, f"{what} is not in\n{text}"
    return re.split(r" {2,}", found[0].strip())[1:]


def test_compare_two_files(saved, tmp_path):
    path = tmp_path / "c.json"
    done = margay("compare", "--json", path, saved["padded"], saved["conflicting"])
    assert done.returncode == 0
    said = done.stdout
    assert "A  rows<33>" in said and "B  rows<32>" in said
    assert re.search(r"B by LDS \(", said)
    assert row(said, "Local Data Share (LDS): Bank Conflict") == ["0", "992", "new"]
    assert row(said, "LDS per workgroup") == ["8.45 kB", "8.19 kB", "0.97x"]
    # The part that changed most comes first.
    assert said.index("  LDS  ") < said.index("  vector ALU  ")
    document = json.loads(path.read_text())
    assert document["bounds"][0]["what"] == "LDS"
    conflicts = [d for d in document["metrics"] if d["what"].endswith(": Bank Conflict")]
    assert (conflicts[0]["a"], conflicts[0]["b"]) == (0, 992)


def test_compare_finds_lines_that_moved(tmp_path, saved):
    """The same kernel in a file of another name, three lines further down."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs.hip")
    moved = tmp_path / "renamed.hip"
    with open(source, encoding="utf-8") as file:
        moved.write_text("\n\n\n" + file.read().replace("rows<32><<<2,", "rows<32><<<4,"))
    done = margay("hipcc", "-O2", moved, "-o", tmp_path / "renamed")
    assert done.returncode == 0, done.stderr
    page = tmp_path / "c.html"
    done = margay("prof", "--quiet", "--json", tmp_path / "r.json", "--", tmp_path / "renamed", "conflicting")
    assert done.returncode == 0
    done = margay("compare", "--html", page, saved["conflicting"], tmp_path / "r.json")
    assert done.returncode == 0
    lines = done.stdout[done.stdout.index("lines that changed most") :]
    # Twice as many workgroups.
    assert re.search(r"-> .*programs\.hip:17 -> renamed\.hip:20 in rows<32>", lines)
    assert "only)" not in lines
    text = page.read_text()
    assert "renamed.hip:20" in text and "://" not in text and "<script" not in text


def test_compare_a_profile_with_itself(saved):
    done = margay("compare", saved["padded"], saved["padded"])
    assert done.returncode == 0
    assert "the limit is the same" in done.stdout
    assert "counters and metrics" not in done.stdout and "lines that changed" not in done.stdout


def test_compare_two_commands(saved):
    done = margay("compare", f"{PROGRAMS} padded", f"{PROGRAMS} conflicting")
    assert done.returncode == 0
    assert done.stdout == margay("compare", saved["padded"], saved["conflicting"]).stdout
    assert f"running {PROGRAMS} padded" in done.stderr


def test_compare_counts_by_launch(tmp_path, saved):
    twice = tmp_path / "twice.json"
    profile_of(twice, "padded", "padded", "padded")
    said = margay("compare", saved["padded"], twice).stdout
    # Only the instruction caches are warm in the later ones.
    assert "Instruction Mix" not in said and "Local Data Share" not in said


def test_compare_chooses_kernels(tmp_path, saved):
    both = tmp_path / "both.json"
    profile_of(both, "padded", "conflicting", "scattered")
    # The one of the same name, regardless of cost.
    said = margay("compare", saved["scattered"], both).stdout
    assert "A  scattered" in said and "B  scattered" in said
    said = margay("compare", "--kernel-a", "rows<32>", "--kernel-b", "scattered", both, both).stdout
    assert "A  rows<32>" in said and "B  scattered" in said
    done = margay("compare", "--kernel-b", "nosuch", both, both)
    assert done.returncode == 1
    assert 'no kernel has "nosuch" in its name' in done.stderr
    assert "rows<33>" in done.stderr and "scattered" in done.stderr


def test_compare_of_commands_that_fail(saved):
    done = margay("compare", f"{PROGRAMS} padded seven", saved["padded"])
    assert done.returncode == 1 and "ended with exit code 7" in done.stderr
    done = margay("compare", saved["padded"], f"{PROGRAMS} say")
    assert done.returncode == 1 and "B ran no kernel" in done.stderr
    done = margay("compare", saved["padded"])
    assert done.returncode == 2 and "B is required" in done.stderr
