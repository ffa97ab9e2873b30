#include "exec/instructions/broken_row.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>

#include "exec/program/lane_access.h"
#include "exec/program/memory_model.h"
#include "exec/program/register_use.h"
#include "exec/state/wave.h"

namespace margay {
namespace {

/// The results of an instruction, and how each is broken.
enum class Part : std::uint8_t {
  vgpr,         ///< Bit 0 of the first register of the result, in all lanes that are written.
  vgpr_last,    ///< Bit 31 of the last one.
  scalar,       ///< The same of SGPRs, VCC and M0; of a lane mask the bit of the first active lane,
  scalar_last,  ///< or that of the last one.
  exec,         ///< The bit of the first active lane.
  scc,
  memory,   ///< The first byte each lane stores is incremented. (Flipping a bit would be undone by
            ///< an exclusive or.)
  flow,     ///< A branch takes the other direction, a barrier does not wait.
  skipped,  ///< MODE, a message: not executed.
  nothing,  ///< None of these: a wait, a hint, a cache operation.
};
constexpr std::size_t kParts = 10;
constexpr std::array<std::string_view, kParts> kPartNames = {
    "vgpr", "vgpr-last", "scalar", "scalar-last", "exec",
    "scc",  "memory",    "flow",   "skipped",     "nothing"};

struct BrokenRow {
  std::string mnemonic;
  Handler plain = nullptr, modified = nullptr, in_float_mode = nullptr;
  std::array<std::atomic<std::uint64_t>, kParts> times{};
};

/// The request from the environment, and the rows it was applied to.
class Breakage {
 public:
  static Breakage& instance() {
    static Breakage breakage;
    return breakage;
  }
  Breakage(const Breakage&) = delete;
  ~Breakage() {
    const char* const file = std::getenv("MARGAY_BREAK_ROW_REPORT");
    if (file == nullptr) return;
    std::ofstream out(file, std::ios::app);
    for (const auto& [row, broken] : rows_)  // the table no longer exists
      for (std::size_t part = 0; part < kParts; ++part)
        if (const std::uint64_t times = broken.times[part])
          out << broken.mnemonic << ' ' << kPartNames[part] << ' ' << times << '\n';
  }

  [[nodiscard]] bool asks_for(std::string_view mnemonic) const {
    return all_ || (!mnemonic_.empty() && mnemonic == mnemonic_);
  }
  void add(Row& row) {
    const std::unique_lock lock(mutex_);
    BrokenRow& broken = rows_[&row];
    broken.mnemonic = row.mnemonic;
    broken.plain = row.plain;
    broken.modified = row.modified;
    broken.in_float_mode = row.in_float_mode;
    if (all_ || said_) return;
    said_ = true;
    fmt::print(stderr, "margay: MARGAY_BREAK_ROW: the results of {} ({}) are wrong on purpose\n",
               mnemonic_, kPartNames[static_cast<std::size_t>(*part_)]);
  }
  [[nodiscard]] BrokenRow& of(const Row& row) {
    const std::shared_lock lock(mutex_);
    return rows_.find(&row)->second;
  }
  /// Records that an instruction has this result; returns whether it is the one to break.
  [[nodiscard]] bool breaks(BrokenRow& row, Part part) const {
    if (!all_ && part != part_) return false;
    ++row.times[static_cast<std::size_t>(part)];
    return !all_;
  }

 private:
  Breakage() {
    const char* const asked = std::getenv("MARGAY_BREAK_ROW");
    if (asked == nullptr || *asked == '\0') return;
    const std::string_view text = asked;
    all_ = text == "*";
    if (all_) return;
    const std::size_t colon = std::min(text.find(':'), text.size());
    mnemonic_ = text.substr(0, colon);
    const std::string_view name = text.substr(std::min(colon + 1, text.size()));
    for (std::size_t part = 0; part < kParts; ++part)
      if (kPartNames[part] == name) part_ = static_cast<Part>(part);
    if (part_) return;
    fmt::print(stderr, "margay: MARGAY_BREAK_ROW={}: it is MNEMONIC:PART; parts are {}\n", text,
               fmt::join(kPartNames, ", "));
    std::abort();
  }

  bool all_ = false, said_ = false;
  std::string mnemonic_;
  std::optional<Part> part_;
  std::shared_mutex mutex_;
  std::map<const Row*, BrokenRow> rows_;
};

/// One execution of a broken row.
class Execution {
 public:
  Execution(BrokenRow& row, Wave& wave, const Instruction& i)
      : row_(row), wave_(wave), i_(i), use_(register_use(i)), exec_(wave.exec()) {}

  const Instruction* run(Handler handler) {
    const bool has_effect = i_.row->changes_mode || writes(i_.row->hardware) || i_.row->is_message;
    if (has_effect && i_.row->flow == Flow::next && breaks(Part::skipped)) return following(i_);
    if (use_.merges_destination) remember_destination();
    const MemoryForm form = memory_form(i_);
    if (form.is_write || form.is_atomic || form.to_lds) lane_accesses(wave_, i_, form, accesses_);
    const Instruction* const next = handler(wave_, i_);
    if (wave_.stop == WaveStop::fault) {
      (void)breaks(Part::nothing);
      return next;
    }
    break_vgprs();
    break_scalars();
    if (use_.writes_scc && breaks(Part::scc)) wave_.scc = !wave_.scc;
    break_memory();
    const Instruction* const broken_next = broken_flow(next);
    if (!left_something_) (void)breaks(Part::nothing);
    return broken_next;
  }

 private:
  [[nodiscard]] bool breaks(Part part) {
    left_something_ = true;
    return Breakage::instance().breaks(row_, part);
  }

  // ---- VGPRs --------------------------------------------------------------------------------

  void remember_destination() {
    before_.resize(std::size_t{use_.destination.count} * kWaveLanes);
    std::memcpy(before_.data(), wave_.row(use_.destination.first), before_.size() * 4);
  }
  void break_vgprs() {
    const auto [first, count] = use_.destination;
    if (count == 0) return;
    if (breaks(Part::vgpr)) flip_in_lanes(first, 0, 0);
    // The bits above a 16-bit result are documented for few instructions.
    const bool upper_half = count > 1 || !(is_16_bit(i_.row->result) || i_.row->memory.part.half);
    if (upper_half && breaks(Part::vgpr_last)) flip_in_lanes(first, count - 1u, 31);
  }
  void flip_in_lanes(unsigned first, unsigned n, unsigned bit) {
    std::uint32_t* const row = wave_.row(first + n);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
      if (!use_.ignores_exec && !(exec_ >> lane & 1)) continue;
      if (before_.empty()) {
        row[lane] ^= 1u << bit;
      } else if (const std::uint32_t changed = row[lane] ^ before_[n * kWaveLanes + lane]) {
        // If part of a register is written, the changed bits are in that part.
        row[lane] ^= bit == 0 ? changed & -changed : std::bit_floor(changed);
      }
    }
  }

  // ---- Scalars ------------------------------------------------------------------------------

  void break_scalars() {
    const auto [low, high] = use_.scalar_writes;
    constexpr std::uint64_t kExecBits = 3ull << (kExecIndex - 64);
    const bool is_mask = i_.row->mask_result;
    const std::uint64_t others = high & ~kExecBits;
    if (low != 0 || others != 0) {
      const unsigned first = low != 0 ? static_cast<unsigned>(std::countr_zero(low))
                                      : 64u + static_cast<unsigned>(std::countr_zero(others));
      const unsigned last = others != 0 ? 127u - static_cast<unsigned>(std::countl_zero(others))
                                        : 63u - static_cast<unsigned>(std::countl_zero(low));
      if ((!is_mask || exec_ != 0) && breaks(Part::scalar)) flip_scalar(is_mask, first, first, 0);
      if ((!is_mask || exec_ != 0) && breaks(Part::scalar_last))
        flip_scalar(is_mask, first, last, 31);
    }
    if ((high & kExecBits) != 0 && exec_ != 0 && breaks(Part::exec))
      wave_.set_exec(wave_.exec() ^ (exec_ & -exec_));
  }
  void flip_scalar(bool is_mask, unsigned first, unsigned index, unsigned bit) {
    if (!is_mask) {
      // s_movreld: M0 counts from the register that the encoding names.
      const bool relative = i_.row->relative == RelativeScalar::destination;
      const unsigned at = index + (relative ? wave_.s[kM0Index] : 0);
      if (at < kScalarRegisters) wave_.s[at] ^= 1u << bit;
      return;
    }
    const std::uint64_t lane = bit == 0 ? exec_ & -exec_ : std::bit_floor(exec_);
    wave_.set_scalar64(first, wave_.scalar64(first) ^ lane);
  }

  // ---- Memory -------------------------------------------------------------------------------

  void break_memory() {
    std::set<std::uint8_t*> bytes;  // several lanes may store to one address
    for (std::uint32_t n = 0; n < accesses_.count; ++n) {
      const LaneAccess& access = accesses_.access[n];
      if (!access.is_write && !access.is_atomic && !access.to_lds) continue;
      for (unsigned lane = 0; lane < kWaveLanes; ++lane)
        if (access.active >> lane & 1)
          if (std::uint8_t* const byte = place(access, lane)) bytes.insert(byte);
    }
    if (bytes.empty() || !breaks(Part::memory)) return;
    for (std::uint8_t* const byte : bytes) ++*byte;
  }
  [[nodiscard]] std::uint8_t* place(const LaneAccess& access, unsigned lane) const {
    const std::uint64_t at = access.at[lane];
    switch (access.space) {
      case MemorySpace::global:
        return access.to_lds ? nullptr : reinterpret_cast<std::uint8_t*>(at);
      case MemorySpace::lds:
        return at < wave_.group->lds_bytes ? wave_.group->lds + at : nullptr;
      case MemorySpace::scratch:
        return at < wave_.group->scratch_bytes_per_lane
                   ? wave_.scratch + scratch_offset(static_cast<std::uint32_t>(at), lane)
                   : nullptr;
    }
    return nullptr;
  }

  // ---- Flow ---------------------------------------------------------------------------------

  const Instruction* broken_flow(const Instruction* next) {
    switch (i_.row->flow) {
      case Flow::next:
      case Flow::grid_barrier:
      case Flow::end:
        return next;
      case Flow::barrier:
        if (next != nullptr || wave_.stop != WaveStop::barrier || !breaks(Part::flow)) return next;
        wave_.stop = WaveStop::running;
        return following(i_);
      case Flow::branch_if:
        if (next == nullptr || !breaks(Part::flow)) return next;
        return next == following(i_) ? &i_ + i_.offset : following(i_);
      case Flow::branch:
      case Flow::jump:
      case Flow::call:
      case Flow::fork:
        return next == nullptr || !breaks(Part::flow) ? next : following(i_);
    }
    return next;
  }

  BrokenRow& row_;
  Wave& wave_;
  const Instruction& i_;
  const RegisterUse use_;
  const std::uint64_t exec_;
  bool left_something_ = false;
  std::vector<std::uint32_t> before_;
  LaneAccesses accesses_;
};

template <Handler BrokenRow::* kHandler>
const Instruction* run_broken(Wave& wave, const Instruction& i) {
  BrokenRow& row = Breakage::instance().of(*i.row);
  return Execution(row, wave, i).run(row.*kHandler);
}

}  // namespace

void break_rows_if_asked(RowTable& table) {
  Breakage& breakage = Breakage::instance();
  table.change_each([&](Row& row) {
    if (!breakage.asks_for(row.mnemonic)) return;
    breakage.add(row);
    if (row.plain != nullptr) row.plain = run_broken<&BrokenRow::plain>;
    if (row.modified != nullptr) row.modified = run_broken<&BrokenRow::modified>;
    if (row.in_float_mode != nullptr) row.in_float_mode = run_broken<&BrokenRow::in_float_mode>;
  });
}

}  // namespace margay
