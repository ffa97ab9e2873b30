#include "report/check/fix_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <tuple>

namespace margay::check {
namespace {

bool has_line(const Access& access) {
  return !access.frames.empty() && access.frames.front().line != 0;
}

std::string file_and_line(const std::string& file, std::uint32_t line) {
  return fmt::format("{}:{}", std::filesystem::path(file).filename().string(), line);
}

/// "gemm.cpp:84"; of an access with a line.
std::string file_and_line(const Access& access) {
  return file_and_line(access.frames.front().file, access.frames.front().line);
}

std::string barrier_fix(const Finding& finding) {
  const FixPlace& at = finding.fix_place;
  if (at.end_of_loop != 0)
    return fmt::format(
        "put __syncthreads() at the end of the loop of {}, before its closing brace in line {}",
        file_and_line(at.file, at.end_of_loop), at.line);
  if (at.line != 0)
    return fmt::format("put __syncthreads() in front of {}", file_and_line(at.file, at.line));
  if (finding.accesses.size() > 1) {
    const Access &later = finding.accesses[0], &earlier = finding.accesses[1];
    const auto line = [](const Access& access) {
      return std::tie(access.frames.front().file, access.frames.front().line);
    };
    if (has_line(later) && has_line(earlier) && line(later) != line(earlier))
      return fmt::format("put __syncthreads() between {} and {}", file_and_line(earlier),
                         file_and_line(later));
  }
  return "put a barrier (__syncthreads) between the two";
}

std::string_view own_part_fix(const Finding& finding) {
  const bool in_one_workgroup =
      finding.accesses.size() > 1 && finding.accesses[0].workgroup == finding.accesses[1].workgroup;
  return in_one_workgroup
             ? "each wave must own its part of the output, or use an atomic: check the index that "
               "is made of threadIdx"
             : "each workgroup must own its part of the output: check the grid, and the index that "
               "is made of blockIdx";
}

/// LLVM inserts the wait of a release fence and then removes it at the head of a loop, if the code
/// before the loop has already waited and only the loop itself leaves something in flight.
std::string_view wait_barrier_fix(const Finding& finding) {
  if (finding.accesses.size() > 1 && finding.accesses[1].role == Role::direct_load)
    return "wait for it (s_waitcnt vmcnt(0)) before the barrier";
  return "wait for it (s_waitcnt lgkmcnt(0)) before the barrier; a __syncthreads has that wait, "
         "but at the head of a loop LLVM 19 may leave it out: put "
         "__builtin_amdgcn_s_waitcnt(0xc07f) in front of it";
}

/// The intention is unknown: if the write is for the next iteration one index is wrong, if it is
/// for this iteration a barrier is missing.
std::string stage_fix(const Finding& finding) {
  std::string lines;
  for (const Access& access : finding.accesses)
    if (has_line(access)) lines += (lines.empty() ? " in " : " and ") + file_and_line(access);
  return fmt::format(
      "check the stage index{}: both move on after each barrier, and in one turn of the loop they "
      "are at the same stage. If a turn is to fill the stage that a later one reads, one of them "
      "is off; only if it reads what it fills itself, __syncthreads() is missing between",
      lines);
}

/// Of fixes that are the same wherever they belong; {0} and {1} are the arguments.
constexpr std::string_view words_of(Fix fix) {
  switch (fix) {
    case Fix::other:
      return "{0}";
    case Fix::barrier:
    case Fix::branch_barrier:
    case Fix::wait_barrier:
    case Fix::stage:
    case Fix::own_part:
      return {};  // see fix_in_words()
    case Fix::one_writer:
      return "let one of them write it";
    case Fix::one_lane:
      return "let one lane write it";
    case Fix::own_bytes:
      return "give each lane its own bytes, or use an atomic";
    case Fix::split_statement:
      return "the statement reads and writes: read into a variable, then a barrier that all waves "
             "reach (__syncthreads), then write";
    case Fix::outside_branch:
      return "move the barrier out of the branch, so that all take it";
    case Fix::hand_over:
      return "hand it over: after the earlier access a release (__threadfence) and an atomic, "
             "before the later one that atomic and an acquire (__threadfence); no barrier is on "
             "the way of both";
    case Fix::agent_scope:
      return "workgroup scope (sc0) reaches the waves of one workgroup: take agent scope (sc1)";
    case Fix::tied_wait:
      return "make the wait name the load's registers as \"+v\" operands, so that the compiler "
             "cannot move their uses before it";
    case Fix::wait:
      return "put that s_waitcnt between the two";
    case Fix::direct_wait:
      return "loads straight to LDS are counted by vmcnt: s_waitcnt vmcnt(0) before reading";
    case Fix::wait_states:
      return "put independent instructions or s_nop between the two; the compiler does so only for "
             "instructions it knows, not inside inline assembly";
    case Fix::stream_event:
      return "behind the first hipEventRecord on {0}, before the second hipStreamWaitEvent on {1}; "
             "or let the host wait between the two (hipStreamSynchronize)";
    case Fix::graph_dependency:
      return "let the second depend on the first: hipGraphAddDependencies or, where the graph is "
             "captured, an event that is recorded behind the first and waited for before the "
             "second";
    case Fix::copy_wait:
      return "wait for the copy before the host writes there: hipStreamSynchronize of {0}, or an "
             "event behind the copy and hipEventSynchronize; or use another buffer";
    case Fix::index:
      return "an index is too large: check the grid, the strides and the units of the coordinates";
    case Fix::coordinate_unit:
      return "a coordinate counts {0}s of {1}: check its unit and the grid";
    case Fix::column_unit:
      return "the column counts {0}s of {1} columns: is it given in another unit?";
    case Fix::smaller_shape:
      return "the kernel was given a shape that is larger than the memory";
    case Fix::lds_index:
      return "an index is past the end of a __shared__ array: check it, or make the array larger";
    case Fix::dynamic_lds:
      return "ask for more dynamic LDS at the launch, or check the index";
    case Fix::scratch_index:
      return "a local array's index is out of range, or the stack overflowed";
    case Fix::early_clobber:
      return "an inline assembly output that is written before all inputs are read needs \"=&v\"";
    case Fix::aligned_atomic:
      return "an atomic's address must be a multiple of its size";
    case Fix::aligned_access:
      return "it works, in more than one step: align it to four bytes";
    case Fix::value_on_every_path:
      return "give the variable a value on every path that reaches this line";
    case Fix::store_lds:
      return "is every row and column of the tile stored before it is read, and was what is stored "
             "there ever written? A group that is larger than the workgroup stores only a part";
    case Fix::fill_memory:
      return "fill the buffer (hipMemset, hipMemcpy, a kernel) before it is read";
    case Fix::set_lds_counter:
      return "set what is counted in LDS to its first value, and put a barrier (__syncthreads) "
             "before the first atomic";
    case Fix::set_counter:
      return "set the memory (hipMemset) before the kernel that counts in it";
    case Fix::kernel_input:
      return "initialise what the kernel reads";
    case Fix::every_member:
      return "right if this is the padding of a structure; otherwise give every member a value";
    case Fix::whole_grid:
      return "do the grid and its tiles cover all of it? Right if the program does not use this "
             "part";
    case Fix::host_copy:
      return "the host cannot write memory of hipMalloc on every device: it faults there. Copy "
             "with hipMemcpy, or allocate with hipMallocManaged or hipHostMalloc";
    case Fix::register_memory:
      return "Margay's device can use it, and so can one with XNACK; without XNACK the first "
             "access "
             "faults. Register it (hipHostRegister), or allocate it with HIP";
    case Fix::free_memory:
      return "hipFree it before the program ends";
    case Fix::list_leaks:
      return "margay check --leak-check lists them";
    case Fix::launch_code:
      return "look at the code the launch returns (hipGetLastError)";
  }
  return {};
}

}  // namespace

std::string fix_in_words(const Finding& finding) {
  switch (finding.fix) {
    case Fix::barrier:
      return barrier_fix(finding);
    case Fix::branch_barrier:
      return barrier_fix(finding) +
             ", if all waves of the workgroup take the branch that it is in; else where they all "
             "pass, outside of it";
    case Fix::wait_barrier:
      return std::string(wait_barrier_fix(finding));
    case Fix::own_part:
      return std::string(own_part_fix(finding));
    case Fix::stage:
      return stage_fix(finding);
    default:
      break;
  }
  // Arguments are text of programs or of files: they are put in, never read as a format.
  std::string words(words_of(finding.fix));
  for (const std::size_t n : {1u, 0u}) {
    const std::string mark = fmt::format("{{{}}}", n);
    const std::size_t at = words.find(mark);
    if (at == std::string::npos) continue;
    const bool exists = n < finding.fix_arguments.size();
    words.replace(at, mark.size(), exists ? finding.fix_arguments[n] : std::string());
  }
  return words;
}

}  // namespace margay::check
