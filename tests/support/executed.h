// Which instructions a test program executes, for the column "judged by" of docs/isa-coverage.md
// (tools/isa_page/judges.py): programs that use the executor without the HIP runtime, and so
// without its profiler, tell here. The mnemonics go to the file that MARGAY_EXECUTED names, if it
// is set.
#pragma once

#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "exec/row_table.h"
#include "exec/watcher.h"

namespace margay::test {

class Executed {
 public:
  static Executed& instance() {
    static Executed executed;
    return executed;
  }
  [[nodiscard]] bool wanted() const { return file_ != nullptr; }
  void note(std::string_view mnemonic) {
    if (!wanted()) return;
    const std::scoped_lock lock(mutex_);
    mnemonics_.emplace(mnemonic);
  }
  Executed(const Executed&) = delete;
  ~Executed() {
    if (!wanted()) return;
    std::ofstream out(file_);
    for (const std::string& mnemonic : mnemonics_) out << mnemonic << '\n';
  }

 private:
  Executed() = default;
  const char* file_ = std::getenv("MARGAY_EXECUTED");
  std::mutex mutex_;
  std::set<std::string> mnemonics_;
};

class ExecutedWatcher final : public Watcher {
 public:
  [[nodiscard]] bool begin(Workgroup&) override { return true; }
  void end(Workgroup&, WorkgroupEnd) override {}
  void issue(const margay::Executed& event) override {
    Executed::instance().note(event.instruction.row->mnemonic);
  }
};
class ExecutedObserver final : public LaunchObserver {
 public:
  [[nodiscard]] std::unique_ptr<Watcher> watch(const LaunchRequest&, Program&) override {
    return std::make_unique<ExecutedWatcher>();
  }
};

/// For Device::launch; null unless the mnemonics are wanted.
inline LaunchObserver* executed_observer() {
  static ExecutedObserver observer;
  return Executed::instance().wanted() ? &observer : nullptr;
}

}  // namespace margay::test
