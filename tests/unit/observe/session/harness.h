// Runs the kernels of the listings (*.kernels) under check::Session and says what was found in the
// words of their `expect` lines.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exec/device/device.h"
#include "observe/check/session.h"

namespace margay::check {

/// A kernel of the listings.
struct ListedKernel {
  struct Expectation {
    std::string finding;  ///< As told() formats it.
    std::string message;  ///< Part of the message.
  };
  std::string name;
  std::uint32_t waves = 1, grid = 1;
  bool initcheck = true;
  std::vector<Expectation> expected;
};

class Listing {
 public:
  /// Of the files that CMake has made, BASE.expected and BASE.symbols; empty when they cannot be
  /// read.
  explicit Listing(const std::string& base);
  /// The kernels written by hand.
  [[nodiscard]] static const Listing& instance();

  [[nodiscard]] const std::vector<ListedKernel>& kernels() const { return kernels_; }
  [[nodiscard]] const ListedKernel& kernel(std::string_view name) const;
  /// The virtual address of a mark.
  [[nodiscard]] std::uint64_t mark(const std::string& kernel, const std::string& mark) const;
  /// "waitcheck error read-before-wait use:0.0 load:0 x1": MARK:WAVE[.LANE[.WORKGROUP]].
  [[nodiscard]] std::string told(const Finding& finding) const;

 private:
  std::vector<ListedKernel> kernels_;
  std::map<std::string, std::uint64_t> vaddr_;                         // of KERNEL.MARK
  std::map<std::pair<std::string, std::uint64_t>, std::string> mark_;  // by kernel and vaddr
};

/// A device with the kernels loaded, and the memory that they take as arguments.
class Bench {
 public:
  static constexpr std::size_t kResultBytes = 64 * 1024, kUnwrittenBytes = 4096, kSmallBytes = 128;

  Bench(unsigned threads, CheckConfig config,
        const std::string& code_object = MARGAY_SESSION_KERNELS ".hsaco");
  /// With another DeviceOptions::patience.
  Bench(unsigned threads, CheckConfig config, std::chrono::milliseconds patience);
  /// Runs a kernel under the session: the first kResultBytes are 0, the small block holds 1, 2, 3
  /// ... as dwords, and the third was never written and is full of `unwritten_byte` (else than 0:
  /// the host must have written it).
  Session::Checked launch(const ListedKernel& kernel, std::uint8_t unwritten_byte = 0);
  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] const std::uint32_t* results() const { return results_; }
  [[nodiscard]] const std::uint32_t* small() const { return small_; }

 private:
  void load(const DeviceOptions& options, const std::string& code_object);

  std::unique_ptr<Device> device_;
  std::shared_ptr<LoadedModule> module_;
  Session session_;
  std::uint32_t *results_ = nullptr, *unwritten_ = nullptr, *small_ = nullptr;
};

/// All five tools.
[[nodiscard]] CheckConfig everything();
/// Those of them that the kernel's listing is about.
[[nodiscard]] CheckConfig tools_for(const ListedKernel& kernel);

}  // namespace margay::check
