#include "cli/fuzz/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "exec/row_table.h"
#include "exec/workgroup.h"

namespace margay::fuzz {

class CoverageWorker final : public WorkerObserver {
 public:
  explicit CoverageWorker(Coverage& all) : all_(all) {}
  [[nodiscard]] WorkgroupEnd run(Workgroup& group) override { return group.run(*this); }

  static constexpr bool kEnabled = true;
  const Instruction* step(Wave& wave, const Instruction& i) {
    if (i.row != nullptr) all_.counts_[i.row] += matrix_run_length(i);
    return i.execute(wave, i);
  }
  void barrier_opens(Workgroup&) {}
  void time_passes() {}
  std::uint32_t wave_in_turn(std::uint32_t turn, std::uint32_t) { return turn; }
  std::uint64_t quantum() { return kQuantum; }

 private:
  Coverage& all_;
};

std::unique_ptr<WorkerObserver> Coverage::make_worker(const LaunchRequest&, margay::Program&) {
  return std::make_unique<CoverageWorker>(*this);
}

Executions Coverage::executions() const {
  Executions out;
  for (const auto& [row, count] : counts_) out[row->mnemonic] += count;
  return out;
}

std::vector<std::string_view> not_reached(const Executions& executions) {
  std::vector<std::string_view> out;
  row_table("")->for_each([&](const Row& row) {
    if (!executions.contains(row.mnemonic)) out.push_back(row.mnemonic);
  });
  std::ranges::sort(out);
  return out;
}

std::string coverage_text(const Executions& executions) {
  struct Count {
    unsigned reached = 0, all = 0;
  };
  std::array<Count, kInstructionClasses> counts;
  row_table("")->for_each([&](const Row& row) {
    Count& count = counts[static_cast<unsigned>(row.instruction_class)];
    ++count.all;
    count.reached += executions.contains(row.mnemonic) ? 1 : 0;
  });
  std::string out = "instructions reached, of those the executor has\n";
  for (unsigned c = 0; c < kInstructionClasses; ++c)
    out += fmt::format("  {:<8}{:>4} of {}\n", class_name(static_cast<InstructionClass>(c)),
                       counts[c].reached, counts[c].all);
  std::vector<std::pair<std::uint64_t, std::string_view>> by_count;
  for (const auto& [mnemonic, count] : executions) by_count.emplace_back(count, mnemonic);
  std::ranges::sort(by_count, std::greater{});
  out += "\nexecuted (wave instructions)\n";
  for (const auto& [count, mnemonic] : by_count)
    out += fmt::format("  {:>12}  {}\n", count, mnemonic);
  out += "\nnot reached\n";
  std::string line = " ";
  for (const std::string_view mnemonic : not_reached(executions)) {
    if (line.size() + mnemonic.size() > 96) {
      out += line + "\n";
      line = " ";
    }
    line += fmt::format(" {}", mnemonic);
  }
  return out + line + "\n";
}

}  // namespace margay::fuzz
