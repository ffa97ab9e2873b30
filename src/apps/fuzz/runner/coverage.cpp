#include "apps/fuzz/runner/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "exec/instructions/all_rows.h"
#include "exec/stream/watcher.h"
#include "gpu/gpu.h"

namespace margay::fuzz {

class CoverageWatcher final : public Watcher {
 public:
  explicit CoverageWatcher(Coverage& all) : all_(all) {}
  [[nodiscard]] bool begin(Workgroup&) override { return true; }
  void end(Workgroup&, WorkgroupEnd) override {}
  void issue(const Executed& event) override { ++all_.counts_[event.instruction.row]; }

 private:
  Coverage& all_;
};

std::unique_ptr<Watcher> Coverage::watch(const LaunchRequest&, margay::Program&) {
  return std::make_unique<CoverageWatcher>(*this);
}

Executions Coverage::executions() const {
  Executions out;
  for (const auto& [row, count] : counts_) out[row->mnemonic] += count;
  return out;
}

std::vector<std::string_view> not_reached(const Executions& executions) {
  std::vector<std::string_view> out;
  row_table("", default_gpu().arch())->for_each([&](const Row& row) {
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
  row_table("", default_gpu().arch())->for_each([&](const Row& row) {
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
