"""Reading reports and showing them, with one that was recorded."""

import json
import os

import pytest
from conftest import RECORDED

from margay import CheckError, Report
from margay.checker import short_function


@pytest.fixture
def report():
    return Report.from_json(RECORDED.read_text())


def test_fields(report):
    assert report.tools == ["memcheck", "racecheck", "waitcheck"]
    assert (report.adversarial, report.launches, report.suppressed) == (7, 2, 3)
    assert [f.kind for f in report.errors] == ["write-after-read", "out-of-bounds"]
    assert [f.kind for f in report.notes] == ["leak"]
    assert [f.kind for f in report.advice] == ["wait-never-needed"]
    write, read = report.errors[0].accesses
    assert (write.wave, write.lane, write.workgroup) == (3, 17, (0, 0, 0))
    assert write.vaddr == 0x1A40
    assert write.frames[1].file == "include/kittens/shared.h"
    assert read.frames[0].line == 84
    assert report.errors[1].accesses[0].lane is None
    assert report.errors[0].fix.kind == "barrier"
    assert report.notes[0].fix.arguments == ("call hipFree",)
    assert (report.errors[0].fix.place.line, report.errors[0].fix.place.end_of_loop) == (93, 60)
    assert report.errors[0].others[0].accesses[0].vaddr == 0x1A50
    assert report.errors[1].fix.place is None
    assert [s.is_barrier for s in report.sites] == [False, True]


def test_text(report):
    text = str(report)
    assert all(line.startswith("========= ") for line in text.splitlines())
    assert (
        "=========   write  kernels/gemm.cpp:71 in micro_tk  ds_write_b64 v1, v[4:5]  "
        "wave 3 lane 17, workgroup (0,0,0)\n"
        "=========     -> load\n"
        "=========     <- kernels/gemm.cpp:99 in outer\n"
    ) in text
    assert "=========   2 pairs of instructions in all\n" in text
    assert "fix: put __syncthreads() at the end of the loop of gemm.cpp:60, before its closing brace in line 93" in text
    assert "kernel micro_tk, launch 1, seen 4096 times" in text
    assert "micro_tk+0x140  global_load_dword v1, v0, s[2:3]  " in text
    assert (
        "========= waitcheck: nothing depended on this wait in 512 executions: "
        "s_waitcnt vmcnt(0)   kernels/gemm.cpp:90 in micro_tk\n"
    ) in text
    assert "memcheck (note): 4096 bytes were never freed" in text
    assert text.splitlines()[-1] == (
        "========= margay check: 2 errors, 1 note, 1 piece of advice, 3 suppressed "
        "(memcheck, racecheck, waitcheck), adversarial seed 7"
    )


@pytest.mark.parametrize(
    "name, short",
    [  # as in tests/unit/observe/text_test.cpp
        ("saxpy", "saxpy"),
        ("saxpy(float, float const*)", "saxpy"),
        ("void ns::gemm<64, float>(int)", "ns::gemm<64, float>"),
        ("(anonymous namespace)::f(int)", "f"),
        ("void (anonymous namespace)::f<a::(anonymous namespace)::B>(int)", "f<a::B>"),
        ("void f<void (*)(int)>(int)", "f<void (*)(int)>"),
        (
            "void load<kittens::st<__hip_bfloat16, 64, 128>, kittens::gl<int>>(int)",
            "load<...>",
        ),
        ("A::operator()(int) const", "A::operator()(int) const"),
    ],
)
def test_short_function_names(name, short):
    assert short_function(name) == short


def test_files_below_the_current_directory_are_relative(report, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    document = json.loads(RECORDED.read_text())
    frame = document["findings"][0]["accesses"][0]["frames"][0]
    frame["file"] = str(tmp_path / "a" / "b.cpp")
    assert "  a/b.cpp:71 in micro_tk" in str(Report.from_json(json.dumps(document)))
    frame["file"] = str(tmp_path) + "x/b.cpp"
    assert f"  {tmp_path}x/b.cpp:71 in" in str(Report.from_json(json.dumps(document)))
    assert os.getcwd() == str(tmp_path)


def test_summary_without_errors_and_without_launches(report):
    report.findings, report.advice = [], []
    report.suppressed, report.adversarial = 0, None
    assert report.summary == (
        "========= margay check: no errors (memcheck, racecheck, waitcheck)"
    )
    report.launches = 0
    assert report.summary == "========= margay check: no kernel was launched"


def test_error_shows_the_report(report):
    error = CheckError(report)
    assert error.report is report
    assert "write-after-read race on LDS" in str(error)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version": 1}', '{"version": 1, "tools": 3}'])
def test_malformed(text):
    with pytest.raises(ValueError):
        Report.from_json(text)


def test_another_version():
    document = json.loads(RECORDED.read_text())
    document["version"] = 2
    with pytest.raises(ValueError, match="version 2, not 1"):
        Report.from_json(json.dumps(document))


def test_fields_that_are_not_known_are_passed_over(report):
    document = json.loads(RECORDED.read_text())
    document["new"] = document["findings"][0]["new"] = document["sites"][0]["new"] = 1
    assert Report.from_json(json.dumps(document)) == report
