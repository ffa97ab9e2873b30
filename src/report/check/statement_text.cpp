#include "report/check/statement_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "report/check/hazard_text.h"

namespace margay::check {
namespace {

struct Sentence {
  Says says;
  std::string_view words;
};

/// In the order of Says.
constexpr Sentence kSentences[] = {
    {Says::nothing, ""},
    {Says::text, "{0}"},
    // Global memory: bounds.
    {Says::past_tensor,
     "{0} of {1} byte{1#|s} at {2:x}, {3} byte{3#|s} past the end of a tensor of {4} elements"},
    {Says::reaches_past_tensor, "{0} of {1} byte{1#|s} at {2:x} reaches past the end of a tensor"},
    {Says::lanes_outside, "{0} of the wave's {1} active lanes are out of range"},
    {Says::misaligned, "misaligned {0} of {1} byte{1#|s} at {2?LDS byte|address} {3:x}"},
    // Which element and tile of a tensor.
    {Says::tensor, "{0?{0}|the tensor at kernel argument byte {1}}"},
    {Says::tensor_title,
     "{0}{1? ({1}{3?, {3}|})|{2? (elements of {2} byte{2#|s}{3?, {3}|})|{3? ({3})|}}}"},
    {Says::before_tensor, "{0} byte{0#|s} before the start of {1}"},
    {Says::byte_of_tensor, "byte {0} of {1}"},
    {Says::byte_past_tensor, "byte {0} of {1}, {2} byte{2#|s} past its end"},
    {Says::element, "element {0} of {1}, of which there are {2}"},
    {Says::row, "{1?{0:place}|{0:row}} of {2}"},
    {Says::row_past_end, "{1?{0:place}|{0:row}} of {2}, {3} byte{3#|s} past its end"},
    {Says::row_past_last, "{1?{0:place}|{0:row}} of {2}: {3} row{3#|s} past its last row"},
    {Says::memory_too_short,
     "a tensor of that shape has {0} byte{0#|s}, but its memory ends {1} byte{1#|s} from its "
     "start"},
    {Says::in_tile, "in a tile of {0} x {1}, whose coordinate counts elements"},
    {Says::in_vector, "in a vector of {0} element{0#|s}, whose coordinate counts elements"},
    {Says::tile, "tile {0:at} of {1} x {2}; {3} has {4} of them"},
    {Says::vector, "vector {0:at} of {1} element{1#|s}; {2} has {3} of them"},
    {Says::column_runs_on, "its column is past the last, {0}, and runs on into the next rows"},
    // LDS and scratch: bounds.
    {Says::past_lds,
     "{0} of {1} byte{1#|s} at LDS byte {2:lds}, past the end of the workgroup's {3} bytes"},
    {Says::lds_size,
     "{0} bytes are static, {1} were asked for at the launch; {2?the hardware drops such a write"
     "|the hardware gives 0 for such a read}"},
    {Says::address_in_data, "its address register v{0} is also part of its data"},
    {Says::past_scratch, "{0} of {1} byte{1#|s} at scratch byte {2} of a lane that has {3} bytes"},
    // Order within a launch.
    {Says::workgroups_race,
     "two workgroups race on global memory at {0:x}, {1} byte{1#|s}: {2} and {3}"
     "{4? of the same value|}{5?, one of them of workgroup scope only|}"},
    {Says::any_order, "workgroups of a launch run in any order, or at the same time"},
    {Says::waves_race,
     "{0}-after-{1} race on global memory at {2:x}, {3} byte{3#|s}"
     "{4?: both waves write the same value|}"},
    {Says::no_barrier_between_waves, "no s_barrier separates the two waves"},
    {Says::lds_race,
     "{0} race on LDS at byte {1:lds}, {2} byte{2#|s}{3?: both waves write the same value|}"},
    {Says::still_in_flight,
     "a barrier separates the two, but the {0} was still in flight when its wave reached it"},
    {Says::no_barrier, "no s_barrier separates them"},
    {Says::lanes_write,
     "lanes {0} and {1} of one instruction write {2?the same value|different values} to LDS byte "
     "{3:lds}"},
    {Says::lanes_write_globally,
     "lanes {0} and {1} of one instruction write different values to global memory at {2:x}, "
     "{3} byte{3#|s}"},
    {Says::no_lane_wins, "which lane wins is not defined"},
    // Barriers.
    {Says::lanes_off,
     "{0} lane{0#|s} of the wave {0#is|are} off at this barrier and run{0#s|} on after it"},
    {Says::waves_are_counted,
     "the hardware counts waves, not lanes: if the other side of the branch has a barrier as "
     "well, this wave arrives twice"},
    {Says::barriers_differ, "wave {0} reaches {1} barrier{1#|s}, wave {2} reaches {3}"},
    {Says::ended_is_right, "a wave that has ended is not waited for: right on the hardware"},
    {Says::meet_elsewhere, "from barrier {0} on, the waves meet at different places"},
    // Waits and wait states.
    {Says::before_wait,
     "{0} is {1?read|overwritten} before the load that {1?fills|will overwrite} it was waited "
     "for"},
    {Says::waits_for_both,
     "s_waitcnt vmcnt(0) lgkmcnt(0) between the two would have waited for it"},
    {Says::waits_for_vm, "s_waitcnt vmcnt({0}) between the two would have waited for it"},
    {Says::waits_for_lgkm, "s_waitcnt lgkmcnt({0}) between the two would have waited for it"},
    {Says::lds_before_wait,
     "LDS byte {0:lds} is read before the load straight to LDS that fills it was waited for"},
    {Says::wait_states,
     "{0} is used {1} wait state{1#|s} too early: {2} needs {3} between, there {4#is|are} {4}"},
    {Says::hardware_wait_states,
     "the hardware register is used {0} wait state{0#|s} too early: {1} needs {2} between, there "
     "{3#is|are} {3}"},
    {Says::padded_needlessly,
     "LLVM pads this; shipped kernels do without it and are right on the hardware"},
    {Says::compilers_count,
     "a fault of LLVM's: its count includes an s_branch that the taken branch before it skips; "
     "taking a branch lasts longer than the wait state that is missing"},
    {Says::never_ordered, "{0} never ordered anything in this run ({1} executions)"},
    // Values.
    {Says::register_unwritten, "{0} was never written in {1} of the wave's lanes; {2}"},
    {Says::lds_unwritten, "LDS byte {0:lds} is read but was never written; {1}"},
    {Says::global_unwritten, "global memory at {0:x} is read but was never written; {1}"},
    {Says::lds_atomic_unwritten, "an atomic changes LDS byte {0:lds}, which was never written"},
    {Says::global_atomic_unwritten,
     "an atomic changes global memory at {0:x}, which was never written"},
    {Says::copy_unwritten,
     "{0} of {1} bytes that are copied from the device to the host {0#was|were} never written"},
    {Says::copy_computed,
     "{0} of {1} bytes that are copied from the device to the host were computed from values that "
     "were never written"},
    {Says::copy_holds,
     "{0} of {1} bytes that are copied from the device to the host hold values that were never "
     "written"},
    {Says::copy_first, "the first is byte {0} of what is copied"},
    {Says::copy_in_tensor, "in a tensor of {0}"},
    {Says::host_filled,
     "device memory of {0} bytes is read at {1:x} that the host has filled through its pointer, "
     "without hipMemcpy"},
    {Says::host_filled_first, "the first byte that only the host can have written is at {0:x}"},
    // Order between streams and with the host.
    {Says::streams_race,
     "two streams race on global memory at {0:x}, {1} byte{1#|s}: {2} by {3} and {4} by {5}"},
    {Says::operation, "{0}{1? (launch {1})|}{2? in a graph|} on {3}"},
    {Says::unordered, "nothing orders {0} and {1}"},
    {Says::null_stream_waits_not,
     "a stream made with hipStreamNonBlocking and the null stream do not wait for each other"},
    {Says::host_changed,
     "host code has changed the {0?source|target} of an asynchronous copy that need not have "
     "ended: {1} of {2} bytes, on {3}"},
    {Says::host_changed_first,
     "the first change is between byte {0} and byte {1} of what is copied, at {2:x}"},
    // Launches and memory of the host's side.
    {Says::launch_refused, "the launch was refused, the kernel did not run: {0}"},
    {Says::launch_interrupted, "{0}: the others were not checked"},
    {Says::not_freed, "allocation #{0} ({1}, {2} bytes) was never freed"},
    {Says::some_not_freed, "{0} allocation{0#|s} of {1} bytes in all {0#was|were} never freed"},
    {Says::unknown_memory,
     "{0} of the kernel's arguments {0#points|point} to host memory that HIP knows nothing of"},
    {Says::named_argument, "{0}: {1:x}"},
    {Says::unnamed_argument, "argument at byte {0}: {1:x}"},
};
static_assert(std::size(kSentences) == kSaysCount, "each row of Says has its words");
static_assert(
    [] {
      for (std::size_t n = 0; n < kSaysCount; ++n)
        if (static_cast<std::size_t>(kSentences[n].says) != n) return false;
      return true;
    }(),
    "kSentences is in the order of Says");
static_assert(
    std::ranges::all_of(kSentences,
                        [](const Sentence& sentence) {
                          return fault_in(sentence.words, takes_of(sentence.says)).empty();
                        }),
    "each sentence names the values of its row");

std::string plain(const Value& value) {
  return std::visit(
      []<typename T>(const T& is) -> std::string {
        if constexpr (std::same_as<T, std::uint64_t>)
          return std::to_string(is);
        else if constexpr (std::same_as<T, std::string>)
          return is;
        else if constexpr (std::same_as<T, Role>)
          return std::string(role_name(is));
        else if constexpr (std::same_as<T, FindingKind>)
          return std::string(kind_name(is));
        else if constexpr (std::same_as<T, wait_states::Hazard>)
          return std::string(hazard_text(is));
        else if constexpr (std::same_as<T, Decides>)
          return std::string(decides_text(is));
        else if constexpr (std::same_as<T, Dimensions>)
          return fmt::format("{} x {} x {} x {}", is[0], is[1], is[2], is[3]);
        else
          return in_words(is);
      },
      value.is);
}

/// fault_in() has checked that the value has the form.
std::string formed(const Value& value, std::string_view form) {
  if (const auto* const number = std::get_if<std::uint64_t>(&value.is))
    return form == "x" ? fmt::format("{:#x}", *number) : fmt::format("{:#06x}", *number);
  const auto& [batch, depth, row, column] = std::get<Dimensions>(value.is);
  if (form == "at") return fmt::format("({}, {}, {}, {})", batch, depth, row, column);
  if (form == "row") return fmt::format("row {}, column {}", row, column);
  return fmt::format("batch {}, depth {}, row {}, column {}", batch, depth, row, column);
}

bool is_first(const Value& value, char sign) {
  if (const auto* const number = std::get_if<std::uint64_t>(&value.is))
    return sign == '#' ? *number == 1 : *number != 0;
  if (const auto* const text = std::get_if<std::string>(&value.is)) return !text->empty();
  return std::get<Dimensions>(value.is) != Dimensions{};
}

/// Values are text of programs and files: they are put in, never read as a sentence.
void put(std::string& out, std::string_view words, std::span<const Value> values) {
  for (;;) {
    const Mark mark = first_mark(words);
    out += words.substr(0, mark.begin);
    if (mark.begin == kNoMark) return;
    const Value& value = values[mark.value];
    if (mark.sign == '}')
      out += plain(value);
    else if (mark.sign == ':')
      out += formed(value, mark.form);
    else
      put(out, is_first(value, mark.sign) ? mark.first : mark.second, values);
    words.remove_prefix(mark.end);
  }
}

}  // namespace

bool operator==(const Statement& a, const Statement& b) {
  return a.says_ == b.says_ && a.values_ == b.values_;
}

std::strong_ordering operator<=>(const Statement& a, const Statement& b) {
  if (a.says_ != b.says_) return a.says_ <=> b.says_;
  return a.values_ <=> b.values_;
}

std::string_view sentence_of(Says says) { return kSentences[static_cast<std::size_t>(says)].words; }

std::string_view decides_text(Decides decides) {
  switch (decides) {
    case Decides::address:
      return "it is used as an address";
    case Decides::code_address:
      return "it is used as an address of code";
    case Decides::register_number:
      return "it is used as the number of a register";
    case Decides::lane:
      return "it says which lane is written";
    case Decides::active_lanes:
      return "it decides which lanes go on";
    case Decides::branch:
      return "it decides a branch";
    case Decides::next_step:
      return "it decides how the wave goes on";
    case Decides::atomic:
      return "an atomic combines it with memory";
    case Decides::store:
      return "it is stored to global memory";
    case Decides::part_of_store:
      return "it is a part of what is stored to memory that the host reads: padding, or a value "
             "that is missing";
  }
  return {};
}

std::string in_words(const Statement& statement) {
  std::string words;
  put(words, sentence_of(statement.says()), statement.values());
  return words;
}

}  // namespace margay::check
