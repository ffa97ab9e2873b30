"""`margay time` around programs.hip: what it says, writes and refuses. How right the model is: tests/unit/timing."""

import csv
import json
import os
import pathlib
import re
import subprocess

import pytest

MARGAY = os.environ["MARGAY_TOOL"]
PROGRAMS = os.environ["MARGAY_PROF_PROGRAMS"]


def margay_time(*words):
    return subprocess.run(
        [MARGAY, "time", *map(str, words)], capture_output=True, text=True, check=False, timeout=120
    )


def times_of(path, program, *options):
    done = margay_time("--quiet", "--json", path, *options, "--", PROGRAMS, program)
    assert done.returncode == 0, done.stderr
    return json.loads(path.read_text())


def kernel_of(path, program, *options):
    (kernel,) = times_of(path, program, *options)["kernels"]
    return kernel


def test_a_kernel_has_its_time_and_what_it_is_made_of(tmp_path):
    kernel = kernel_of(tmp_path / "t.json", "conflicting")
    assert kernel["name"].startswith("void rows<32>") or "rows" in kernel["name"]
    assert 1 < kernel["us_boost"] <= kernel["us_sustained"] < 100
    assert kernel["cycles"] == pytest.approx(kernel["us_boost"] * kernel["boost_ghz"] * 1e3)
    assert kernel["error_percent"] > 0
    latency = sum(i["latency"] for i in kernel["instructions"])
    assert latency == pytest.approx(sum(line["latency"] for line in kernel["lines"]))
    assert latency == pytest.approx(kernel["issue"] + sum(kernel["stalls"].values()))
    for instruction in kernel["instructions"]:
        assert sum(instruction["stalls"].values()) <= instruction["latency"] + 1e-6


def test_bank_conflicts_take_time(tmp_path):
    padded = kernel_of(tmp_path / "a.json", "padded")
    conflicting = kernel_of(tmp_path / "b.json", "conflicting")
    assert conflicting["us_boost"] > padded["us_boost"]
    assert conflicting["busy"]["lds"] > 2 * padded["busy"]["lds"]


@pytest.mark.parametrize("program", ["conflicting", "divergent"])
def test_the_number_of_host_threads_makes_no_difference(program, tmp_path):
    one = times_of(tmp_path / "1.json", program, "--threads", 1)
    assert one == times_of(tmp_path / "3.json", program, "--threads", 3)


def test_the_clock_can_be_fixed(tmp_path):
    kernel = kernel_of(tmp_path / "t.json", "conflicting", "--clock", 1050)
    assert kernel["boost_ghz"] == kernel["sustained_ghz"] == pytest.approx(1.05)
    assert kernel["us_boost"] > kernel_of(tmp_path / "u.json", "conflicting")["us_boost"]


def test_cycles_by_instruction_have_the_columns_of_thread_traces(tmp_path):
    path = tmp_path / "stats.csv"
    done = margay_time("--quiet", "--att", path, "--json", tmp_path / "t.json", "--", PROGRAMS, "padded")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(path.open()))
    assert list(rows[0]) == ["CodeObj", "Vaddr", "Instruction", "Hitcount", "Latency", "Stall", "Idle", "Source"]
    (kernel,) = json.loads((tmp_path / "t.json").read_text())["kernels"]
    assert [int(row["Vaddr"]) for row in rows] == [i["vaddr"] for i in kernel["instructions"]]
    assert [int(row["Hitcount"]) for row in rows] == [i["hits"] for i in kernel["instructions"]]
    # As AMD's tool does: what a wave waits before an instruction, for it or for a register, is not in the latency.
    for row, of in zip(rows, kernel["instructions"], strict=True):
        idle = sum(of["stalls"].get(name, 0) for name in ("NO_INSTRUCTION_AVAILABLE", "ALU_DEPENDENCY"))
        assert int(row["Idle"]) == pytest.approx(idle, abs=0.5)
        assert int(row["Latency"]) == pytest.approx(of["latency"] - idle, abs=0.5)
        assert int(row["Stall"]) == pytest.approx(sum(of["stalls"].values()) - idle, abs=0.5)
    assert sum(int(row["Idle"]) for row in rows) > 0


def test_the_screen_says_that_it_is_a_model():
    done = margay_time("--", PROGRAMS, "conflicting")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Modelled, not measured: AMD Instinct MI325X.")
    assert "bound by" in done.stdout
    assert "programs.hip:" in done.stdout


def test_no_line_of_the_screen_is_left_open():
    done = margay_time("--", PROGRAMS, "nothing", "padded")
    assert "waves     issue 100 %\n" in done.stdout
    assert not [line for line in done.stdout.splitlines() if line.endswith((",", " "))]


def test_the_screen_says_what_the_caches_have():
    done = margay_time("--", PROGRAMS, "stream=304")
    assert done.returncode == 0, done.stderr
    (caches,) = (line for line in done.stdout.splitlines() if line.startswith("  caches "))
    assert re.fullmatch(r"  caches    vL1D hits \d+ % of at most \d+ %, L2 hits \d+ % of at most \d+ %", caches)
    assert re.search(r"busy .*, dispatcher \d+ %$", done.stdout, re.M)


def test_the_clock_that_is_asked_for_comes_first():
    def first(clock):
        done = margay_time("--clock", clock, "--", PROGRAMS, "conflicting")
        assert done.returncode == 0, done.stderr
        return next(line for line in done.stdout.splitlines() if "error about" in line).split(";")[0]

    assert "cycles" in first("boost")
    assert "sustained" in first("sustained")


def test_the_power_is_that_of_the_whole_launch(tmp_path):
    """What is recorded of a long stream draws the power of the stream."""

    def kernel(workgroups):
        return kernel_of(tmp_path / "t.json", f"stream={workgroups}", "--device", "mi300x")

    short, long = kernel(19456), kernel(3 * 19456)
    assert short["sustained_ghz"] < 2
    assert long["sustained_ghz"] == pytest.approx(short["sustained_ghz"], abs=0.1)
    # Bytes per second of a long stream stay what they were.
    longer = (long["us_boost"] - long["launch_us"]) / (short["us_boost"] - short["launch_us"])
    assert longer == pytest.approx(3, rel=0.2)


def test_a_sample_of_a_launch_takes_as_long_as_the_whole(tmp_path):
    sample = kernel_of(tmp_path / "s.json", "stream=2432")
    whole = kernel_of(tmp_path / "w.json", "stream=2432", "--all-workgroups")
    assert sample["us_boost"] == pytest.approx(whole["us_boost"], rel=0.1)
    assert sum(i["hits"] for i in sample["instructions"]) < sum(i["hits"] for i in whole["instructions"]) / 4


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_a_sample_knows_that_other_workgroups_are_longer(order, tmp_path):
    sample = kernel_of(tmp_path / "s.json", order)
    whole = kernel_of(tmp_path / "w.json", order, "--all-workgroups")
    assert sample["us_boost"] == pytest.approx(whole["us_boost"], rel=0.15)
    savings = {w["what"]: w["saves_percent"] for w in sample["what_if"]}
    assert (savings["longest workgroups first"] > 15) == (order == "ascending"), savings


def test_instructions_that_the_sample_does_not_execute_have_their_time(tmp_path):
    kernel = kernel_of(tmp_path / "t.json", "paths")
    roots = [i for i in kernel["instructions"] if i["text"].startswith("v_sqrt_f32")]
    assert roots and all(i["latency"] > 0 for i in roots)
    for rows in (kernel["instructions"], kernel["lines"]):
        latency = sum(row["latency"] for row in rows)
        assert latency == pytest.approx(kernel["issue"] + sum(kernel["stalls"].values()))


@pytest.mark.parametrize("order", ["reads-ascending", "reads-descending"])
def test_a_sample_knows_that_other_workgroups_read_more(order, tmp_path):
    sample = kernel_of(tmp_path / "s.json", order)
    whole = kernel_of(tmp_path / "w.json", order, "--all-workgroups")
    assert whole["bound"] == "HBM"
    assert sample["us_boost"] == pytest.approx(whole["us_boost"], rel=0.12)
    assert sample["sample_length"] == pytest.approx(1, abs=0.05)
    assert sample["error_percent"] == 25


@pytest.mark.parametrize("option", [(), ("--all-workgroups",)])
def test_workgroups_that_end_at_once_take_nothing_from_the_others(option, tmp_path):
    alone = kernel_of(tmp_path / "a.json", "some=32/32")
    for grid in (48, 128, 304, 640, 3040):
        among_others = kernel_of(tmp_path / "o.json", f"some=32/{grid}", *option)
        assert among_others["us_boost"] == pytest.approx(alone["us_boost"], rel=0.03), grid
        assert among_others["flops"] == pytest.approx(alone["flops"], rel=0.15), grid  # of a sample
    full = kernel_of(tmp_path / "f.json", "some=304/304")
    assert kernel_of(tmp_path / "g.json", "some=304/608", *option)["us_boost"] == pytest.approx(full["us_boost"], rel=0.03)
    # Where the sample has many of them, it is the mean unit that counts, not the slowest.
    some = kernel_of(tmp_path / "s.json", "some=300/3040")
    assert some["us_boost"] == pytest.approx(kernel_of(tmp_path / "t.json", "some=300/300")["us_boost"], rel=0.1)


def test_the_last_workgroups_have_the_bandwidth_of_those_that_are_done(tmp_path):
    even = kernel_of(tmp_path / "e.json", "some=288/288")["us_boost"]
    twice = kernel_of(tmp_path / "t.json", "some=608/608")["us_boost"]
    # One for each compute unit: none has to wait, in whatever order the engines of an XCD take them.
    assert kernel_of(tmp_path / "o.json", "some=304/304")["us_boost"] < even + 0.1 * (twice - even)
    for workgroups in (305, 312):
        kernel = kernel_of(tmp_path / "m.json", f"some={workgroups}/{workgroups}")
        assert kernel["us_boost"] < even + 0.5 * (twice - even), workgroups
        # Few compute units work at the end, and memory all the time.
        assert kernel["bound"] == "HBM" and kernel["tail_us"] < 0.1 * kernel["us_boost"], workgroups


def test_the_size_of_an_allocation_makes_no_difference(tmp_path):
    separate = kernel_of(tmp_path / "s.json", "separate")
    pooled = kernel_of(tmp_path / "p.json", "pooled")
    assert pooled["us_boost"] == pytest.approx(separate["us_boost"], rel=0.05)
    assert pooled["busy"]["memory"] == pytest.approx(separate["busy"]["memory"], abs=0.1)


def test_xcds_that_share_lines_wait_for_memory_together(tmp_path):
    one = kernel_of(tmp_path / "1.json", "chase=1")
    eight = kernel_of(tmp_path / "8.json", "chase=8")
    assert eight["us_boost"] == pytest.approx(one["us_boost"], rel=0.03)
    assert kernel_of(tmp_path / "w.json", "chase=8", "--warm")["us_boost"] < 0.8 * eight["us_boost"]


def test_nobody_passes_who_waits_for_memory(tmp_path):
    one = kernel_of(tmp_path / "1.json", "walks=1")
    # In the same caches as the first, and each of them has to wait for every line.
    many = kernel_of(tmp_path / "n.json", "walks=64")
    assert one["us_boost"] > 256 * 0.3
    assert many["us_boost"] == pytest.approx(one["us_boost"], rel=0.03)


def test_no_more_of_a_tensor_is_touched_than_there_is(tmp_path):
    path = tmp_path / "p.json"
    subprocess.run(
        [MARGAY, "prof", "--time", "--quiet", "--json", path, "--", PROGRAMS, "walks=2432"],
        capture_output=True,
        check=True,
        timeout=120,
    )
    (kernel,) = json.loads(path.read_text())["kernels"]
    tensor = kernel["tensors"][0]
    assert tensor["touched_read_bytes"] == tensor["bytes"] == 256 * 64 * 16


def test_a_launch_after_a_launch_finds_its_data_in_the_caches(tmp_path):
    cold = kernel_of(tmp_path / "c.json", "stream=304")
    warm = kernel_of(tmp_path / "w.json", "stream=304", "--warm")
    assert warm["busy"]["memory"] == 0 < cold["busy"]["memory"]
    assert warm["us_boost"] < cold["us_boost"]


def test_kernel_arguments_in_the_hosts_memory_take_longer(tmp_path, monkeypatch):
    def us(name, device):
        return kernel_of(tmp_path / name, "stream=304", "--device", device)["us_boost"]

    of_discrete, of_apu = us("a.json", "mi300x"), us("b.json", "mi300a")
    monkeypatch.setenv("HIP_FORCE_DEV_KERNARG", "0")
    assert 4 < us("c.json", "mi300x") - of_discrete < 8
    assert us("d.json", "mi300a") == of_apu, "the host shares the memory"


def what_ifs_of(path, program):
    return {what_if["what"]: what_if for what_if in kernel_of(path, program)["what_if"]}


def test_without_bank_conflicts_a_kernel_that_has_them_is_faster(tmp_path):
    conflicting = what_ifs_of(tmp_path / "a.json", "conflicting")["no bank conflicts"]
    assert conflicting["saves_percent"] > 3
    assert conflicting["lines"][0]["file"].endswith("programs.hip")
    padded = what_ifs_of(tmp_path / "b.json", "padded")["no bank conflicts"]
    assert not padded["is_advice"]
    assert padded["saves_percent"] == pytest.approx(0, abs=0.5)


def test_rectangles_of_a_grid_share_lines_and_a_stream_has_none_to_share(tmp_path):
    def us(name):
        return kernel_of(tmp_path / "t.json", name)["us_boost"]

    columns = what_ifs_of(tmp_path / "a.json", "in-columns")
    rectangles = what_ifs_of(tmp_path / "b.json", "in-rectangles")
    said = columns["lines shared in L2"]["saves_percent"]
    got = 100 * (1 - us("in-rectangles") / us("in-columns"))
    assert columns["lines shared in L2"]["is_advice"]
    # With rectangles more of what is stored is still in L2 when the kernel ends, and is written back then.
    assert said == pytest.approx(got, rel=1 / 2)
    assert rectangles["lines shared in L2"]["saves_percent"] == pytest.approx(0, abs=1)
    for what_ifs in columns, rectangles:
        assert what_ifs["no L2 misses"]["saves_percent"] > what_ifs["lines shared in L2"]["saves_percent"]
        assert not what_ifs["no L2 misses"]["is_advice"], "a limit"
    stream = what_ifs_of(tmp_path / "c.json", "stream=2432")
    assert stream["no L2 misses"]["saves_percent"] > 10
    assert stream["lines shared in L2"]["saves_percent"] == pytest.approx(0, abs=0.5)
    for workgroups in 2, 8, 64:  # each with rows of its own
        scaled = what_ifs_of(tmp_path / "d.json", f"scaled={workgroups}")
        assert scaled["lines shared in L2"]["saves_percent"] == pytest.approx(0, abs=0.5), workgroups


def test_workgroups_that_wait_for_each_other_are_said_to(tmp_path):
    def timed(program):
        done = margay_time("--json", tmp_path / "t.json", "--", PROGRAMS, program)
        (kernel,) = json.loads((tmp_path / "t.json").read_text())["kernels"]
        return kernel, done.stdout

    for _ in range(20):  # on a machine that has other work one workgroup may end before the next one begins
        kernel, report = timed("chain")
        if kernel["between_workgroups"]["polling"] > 0:
            break
    assert kernel["between_workgroups"]["polling"] > 0 and kernel["error_percent"] == 50
    assert not any(what_if["is_advice"] for what_if in kernel["what_if"])
    assert "waiting for what other workgroups write, in a loop at programs.hip:" in report
    kernel, report = timed("stream=64")
    assert kernel["between_workgroups"] == {"polling": 0, "polls_at": 0, "grid_syncs": 0}
    assert "  between " not in report
    assert kernel["launches"] == 1


def test_the_error_of_atomics_that_meet_in_one_place_is_large(tmp_path):
    def timed(program):
        done = margay_time("--json", tmp_path / "t.json", "--", PROGRAMS, program)
        (kernel,) = json.loads((tmp_path / "t.json").read_text())["kernels"]
        return kernel["error_percent"], done.stdout

    error, report = timed("one-counter")
    assert error == 50 and "atomics' requests meet in " in report
    error, report = timed("many-counters")
    assert error < 50 and "meet in" not in report


def test_a_file_that_cannot_be_written_and_a_wrong_time_are_found_before_the_program_runs(tmp_path):
    for command in "time", "prof":
        words = [MARGAY, command, "--json", tmp_path / "none" / "a.json", "--", "echo", "ran"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode != 0 and "cannot be written" in done.stderr and "ran" not in done.stdout
    done = margay_time("--measured", "abc", "--", "echo", "ran")
    assert done.returncode != 0 and 'not a time: "abc"' in done.stderr and "ran" not in done.stdout
    done = margay_time("--json", tmp_path / "a.json", "--", "true")
    assert done.returncode != 0 and json.loads((tmp_path / "a.json").read_text())["kernels"] == []


def test_lanes_that_share_work_evenly_take_what_was_said(tmp_path):
    uneven = kernel_of(tmp_path / "a.json", "lanes-uneven")
    even = kernel_of(tmp_path / "b.json", "lanes-even")
    (said,) = (w for w in uneven["what_if"] if w["what"] == "all lanes active")
    got = 100 * (1 - even["us_boost"] / uneven["us_boost"])
    assert said["is_advice"]
    assert said["saves_percent"] == pytest.approx(got, rel=1 / 3), "uneven loops have masks, too"
    lines = pathlib.Path(__file__).with_name("programs.hip").read_text().splitlines()
    assert "LINE in some lanes" in lines[said["lines"][0]["line"] - 1]
    (none,) = (w for w in even["what_if"] if w["what"] == "all lanes active")
    assert none["saves_percent"] == pytest.approx(0, abs=0.5)


def test_a_wait_long_before_the_use_is_found(tmp_path):
    early = what_ifs_of(tmp_path / "a.json", "early")["waits at their latest"]
    late = what_ifs_of(tmp_path / "b.json", "late")["waits at their latest"]
    assert early["saves_percent"] > 2
    lines = pathlib.Path(__file__).with_name("programs.hip").read_text().splitlines()
    assert "LINE early wait" in lines[early["lines"][0]["line"] - 1]
    assert late["saves_percent"] == pytest.approx(0, abs=0.5)


def test_latency_is_hidden_or_exposed(tmp_path):
    """Of a load that is used at once all but its issue is exposed; 64 multiplications hide 256 cycles of it."""

    def load_of(program):
        kernel = kernel_of(tmp_path / "t.json", program)
        simds = kernel["simds"]
        assert simds["work"] + simds["idle"] + simds["empty"] == pytest.approx(1)
        assert simds["both"] + simds["matrix"] + simds["memory"] + simds["neither"] == pytest.approx(1)
        lost = sum(i.get("lost", 0) for i in kernel["instructions"])
        assert lost == pytest.approx(simds["idle"] * kernel["simd_cycles"])
        assert lost == pytest.approx(sum(line.get("lost", 0) for line in kernel["lines"]))
        for instruction in kernel["instructions"]:
            assert instruction.get("exposed", 0) <= sum(instruction["stalls"].values()) + 1e-6
        assert 0 < kernel["waves_per_simd"] <= 1
        assert max(kernel["occupancy"]) <= 0.25 + 1e-6, "one wave on four SIMDs"
        (load,) = [i for i in kernel["instructions"] if i["text"].startswith("global_load")]
        return load

    early, late = load_of("early"), load_of("late")
    assert early["flight"] == pytest.approx(late["flight"], rel=0.02)
    assert early["unhidden"] > 0.95 * early["flight"]
    assert early["unhidden"] - late["unhidden"] == pytest.approx(256, abs=16)


def test_the_timeline_is_in_cycles(tmp_path):
    path = tmp_path / "trace.json"
    done = subprocess.run(
        [MARGAY, "prof", "--quiet", "--time", "--trace", path, "--", PROGRAMS, "early"],
        capture_output=True, text=True, check=False, timeout=120,
    )
    assert done.returncode == 0, done.stderr
    trace = json.loads(path.read_text())
    assert "cycle of the model" in trace["otherData"]["unit"]
    of_phase = lambda phase: [e for e in trace["traceEvents"] if e["ph"] == phase]  # noqa: E731
    (workgroup,) = [e for e in of_phase("X") if e["cat"] == "workgroup"]
    slices = [e for e in of_phase("X") if e["cat"] in ("issue", "stall")]
    assert {e["cat"] for e in slices} == {"issue", "stall"}
    for before, after in zip(slices, slices[1:]):
        assert after["ts"] == before["ts"] + before["dur"], "a wave's slices leave no gap"
    assert slices[-1]["ts"] + slices[-1]["dur"] == workgroup["ts"] + workgroup["dur"]
    counters = {}
    for event in of_phase("C"):
        counters.setdefault(event["name"], []).append(next(iter(event["args"].values())))
    assert counters["waves per SIMD"] == [0.25, 0]
    assert max(counters["wave 0 in flight"]) >= 1 and counters["wave 0 in flight"][-1] == 0


def test_what_saves_less_than_the_error_is_not_advised():
    few = margay_time("--", PROGRAMS, "padded").stdout
    full = margay_time("--full", "--", PROGRAMS, "padded").stdout
    assert "no bank conflicts" not in few
    assert "no bank conflicts" in full
    assert "pad or swizzle" not in full


def test_a_measured_time_says_how_far_the_model_is_off():
    done = margay_time("--measured", "500us", "--", PROGRAMS, "padded")
    assert done.returncode == 0, done.stderr
    assert "measured  500 us; the model is off by -99 %" in done.stdout
    assert "MORE than" in done.stdout
    for words, why in [(["--measured", "soon"], "not a time"), (["--measured", "5us"], "2 were timed")]:
        programs = ["padded", "scattered"] if why != "not a time" else ["padded"]
        refused = margay_time(*words, "--", PROGRAMS, *programs)
        assert refused.returncode != 0
        assert why in refused.stderr


def prof_with_time(path, program, *options):
    command = [MARGAY, "prof", "--time", "--json", path, *options, "--", PROGRAMS, program]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(path.read_text())


def test_a_profile_with_time_says_what_margay_time_says(tmp_path):
    page = tmp_path / "p.html"
    screen, profile = prof_with_time(tmp_path / "p.json", "conflicting", "--html", page)
    (kernel,) = profile["kernels"]
    alone = kernel_of(tmp_path / "t.json", "conflicting")
    for name in ("cycles", "us_boost", "us_sustained", "error_percent", "bound", "stalls", "tflops_boost"):
        assert kernel["time"][name] == alone[name]
    assert "modelled, not measured: " in screen and "error about" in screen
    assert kernel["counters"]["SQ_LDS_BANK_CONFLICT"] == 992  # what is counted is the same
    assert json.dumps(alone["us_boost"]) in page.read_text()
    again = subprocess.run(
        [MARGAY, "prof", "--from", tmp_path / "p.json"], capture_output=True, text=True, check=True, timeout=120
    )
    assert again.stdout == screen


def test_compare_ranks_by_modelled_cycles(tmp_path):
    for program in ("conflicting", "padded"):
        prof_with_time(tmp_path / f"{program}.json", program)
    done = subprocess.run(
        [MARGAY, "compare", tmp_path / "conflicting.json", tmp_path / "padded.json"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.split("\n\n")[1].startswith("Modelled, not measured: A takes ")
    rows = [line for line in done.stdout.splitlines() if line.startswith("  cycles: ")]
    assert any(row.startswith("  cycles: ARBITER_WIN_EX_STALL") and row.endswith("gone") for row in rows)
    assert re.search(r"modelled cycles  \S*programs\.hip:17 in rows", done.stdout)
    for what in ("SIMDs: work", "SIMDs: idle while waves wait", "waves per SIMD, mean"):
        assert re.search(rf"^  {re.escape(what)} +\S", done.stdout, re.MULTILINE), done.stdout
    both = [f"{PROGRAMS} conflicting", f"{PROGRAMS} padded"]
    timed = subprocess.run([MARGAY, "compare", "--time", *both], capture_output=True, text=True, check=True, timeout=120)
    assert timed.stdout == done.stdout
    plain = subprocess.run([MARGAY, "compare", *both], capture_output=True, text=True, check=True, timeout=120)
    assert "odelled" not in plain.stdout


@pytest.mark.parametrize("clock", ["fast", "99", "12345", "-3"])
def test_a_clock_that_is_none_is_refused(clock):
    done = margay_time("--clock", clock, "--", PROGRAMS, "padded")
    assert done.returncode == 2
    assert "boost, sustained, or MHz" in done.stderr


def test_a_program_without_kernels_has_nothing_to_time():
    done = margay_time("--kernel", "no_such_kernel", "--", PROGRAMS, "padded")
    assert done.returncode == 1
    assert 'no kernel with "no_such_kernel" in its name' in done.stderr
    assert "lost" not in done.stderr
