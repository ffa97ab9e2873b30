// Findings to try things on.
#pragma once

#include "report/check/finding.h"

namespace margay::check {

/// As of a report that was read.
inline Statement sentence(std::string text) { return say<Says::text>(std::move(text)); }

/// The race of the design's example: a write and a read, one source line each.
inline Finding sample_race() {
  Finding finding;
  finding.kind = FindingKind::write_after_read;
  finding.message =
      sentence("write-after-read race on LDS at byte 0x0840 (As, row 16, column 32), 16 bytes");
  Access write;
  write.role = Role::write;
  write.wave = 3;
  write.lane = 17;
  write.vaddr = 0x1a40;
  write.pc = 0x7f0000001a40;
  write.instruction = "ds_write_b64 v1, v[4:5]";
  write.function = "void micro_tk<64>(float const*)";
  write.function_offset = 0x140;
  write.frames = {{"micro_tk<64>", "/src/gemm.cpp", 71, 5},
                  {"load", "/src/include/kittens/shared.h", 310, 9}};
  Access read = write;
  read.role = Role::read;
  read.wave = 1;
  read.lane = 40;
  read.workgroup = {0, 2, 0};
  read.vaddr = 0x1b00;
  read.instruction = "ds_read_b64 v[8:9], v2";
  read.frames = {{"micro_tk<64>", "/src/gemm.cpp", 84, 1}};
  finding.accesses = {write, read};
  finding.detail = {say<Says::no_barrier>()};
  finding.fix_arguments = {"put a barrier after gemm.cpp:93"};
  finding.kernel = "void micro_tk<64>(float const*)";
  finding.launch = 2;
  finding.count = 4096;
  return finding;
}

inline Finding sample_advice() {
  Finding finding;
  finding.severity = Severity::advice;
  finding.kind = FindingKind::wait_never_needed;
  finding.message = sentence("nothing depended on this wait in 512 executions");
  Access access;
  access.role = Role::waits_here;
  access.vaddr = 0x1c00;
  access.instruction = "s_waitcnt vmcnt(0)";
  access.frames = {{"micro_tk<64>", "/src/gemm.cpp", 90, 1}};
  finding.accesses = {access};
  return finding;
}

inline Report sample_report() {
  Report report;
  report.tools = {"memcheck", "racecheck"};
  report.launches = 3;
  report.findings = {sample_race(), sample_advice()};
  Site wait;
  wait.kernel = "_Z8micro_tkPKf";
  wait.vaddr = 0x1c00;
  wait.word = 0xbf8c0f70;
  wait.executions = 512;
  wait.ordered = 3;
  wait.completed = 5;
  wait.loosest = {2, kNeverNeeded};
  wait.instruction = "s_waitcnt vmcnt(0)";
  wait.frames = {{"micro_tk<64>", "/src/gemm.cpp", 90, 1}};
  Site barrier;
  barrier.kernel = wait.kernel;
  barrier.vaddr = 0x1c04;
  barrier.word = 0xbf8a0000;
  barrier.is_barrier = true;
  barrier.executions = 512;
  barrier.instruction = "s_barrier";
  report.sites = {wait, barrier};
  report.suppressed = 4;
  return report;
}

}  // namespace margay::check
