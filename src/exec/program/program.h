// A kernel's code, decoded: functions are decoded whole, on first use, and kept.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>
#include <vector>

#include "base/error.h"
#include "code_object/code_object.h"
#include "exec/program/bind.h"
#include "exec/program/facts_table.h"
#include "exec/program/float_mode.h"
#include "exec/rows/row_table.h"
#include "exec/state/instruction.h"
#include "gpu/gpu.h"
#include "isa/decoder.h"
#include "mfma/mfma.h"

namespace margay {

/// What a matrix instruction does in its place, where several run together
/// (exec/instructions/matrix/groups.cpp).
struct MatrixGroup {
  /// Observed: it and those of its row right behind it.
  struct Adjacent {
    std::uint32_t instructions = 1;
    std::unique_ptr<const MfmaRun> run;  ///< Null: there is only one.
  };
  struct Copy {
    std::uint16_t from, to;
    std::uint8_t rows;
  };
  /// Not observed: it waits for others of its basic block, or runs with all that wait.
  struct Deferred {
    std::vector<Copy> before;               ///< Rows that are about to be overwritten.
    std::unique_ptr<const MfmaRun> run;     ///< Null: it waits.
    std::vector<Copy> after;                ///< Results to their own rows.
    std::uint32_t matrix_instructions = 0;  ///< Of `run`.
    std::uint32_t instructions = 1;         ///< From it to the next one with an effect of its own.
  };
  Adjacent adjacent;
  Deferred deferred;
  /// That of the instruction in whose place it runs when it is not observed; null: it runs by
  /// itself.
  const MatrixGroup* runs_in = nullptr;
  bool needs_all_lanes = false;  ///< By itself where EXEC has not all lanes.
};

class Program {
 public:
  /// Decodes the kernel's own function. `image` is the loaded image and `base_address` where the
  /// device sees its byte 0; both must outlive the program.
  [[nodiscard]] static Result<std::unique_ptr<Program>> create(const Gpu& gpu,
                                                               const CodeObject& object,
                                                               const Kernel& kernel,
                                                               std::span<const std::byte> image,
                                                               std::uint64_t base_address,
                                                               const RowTable& rows, MfmaMode mfma);

  /// The first instruction of a wave that starts with `mode` in its MODE register.
  [[nodiscard]] const Instruction* entry(std::uint32_t mode) const {
    return entry_ + static_cast<std::size_t>(code_copy(mode)) * entry_stride_;
  }
  /// The instruction at a device address, decoding its function if need be; null when the address
  /// is not that of an instruction of this code object. Thread-safe.
  [[nodiscard]] const Instruction* at_address(std::uint64_t address, CodeCopy copy);
  /// Calls `visit` for each instruction that the kernel may reach: those of its function, and if it
  /// calls functions or jumps to computed addresses, those of all functions of the code object.
  void for_each_reachable(const std::function<void(const Instruction&)>& visit);
  [[nodiscard]] std::uint64_t base_address() const { return base_address_; }
  [[nodiscard]] MfmaMode mfma() const { return mfma_; }
  /// The device it runs on.
  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  /// Demangled.
  [[nodiscard]] const std::string& kernel_name() const { return kernel_name_; }
  /// Kernel::computes
  [[nodiscard]] const std::vector<SourceFrame>& computes() const { return computes_; }

  /// The table of one kind of facts about its instructions (exec/program/facts_table.h).
  /// Thread-safe.
  template <typename Facts>
  [[nodiscard]] FactsTable<Facts>& facts() {
    const std::lock_guard lock(facts_mutex_);
    std::unique_ptr<AnyFactsTable>& table = facts_[std::type_index(typeid(Facts))];
    if (table == nullptr) {
      const auto [begin, end] = executable_range();
      table = std::make_unique<FactsTable<Facts>>(begin, end);
    }
    return static_cast<FactsTable<Facts>&>(*table);
  }

  /// Why the instruction at `vaddr` cannot run (it was bound with a problem).
  [[nodiscard]] Error problem_at(std::uint64_t vaddr) const;
  [[nodiscard]] const CodeObject& object() const { return object_; }
  /// The part of the image that holds the kernel's code, [first, last).
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> executable_range() const {
    return object_.executable_range(kernel_vaddr_);
  }
  /// "v_add_f32 v0, v1, v2"; empty when `vaddr` is not code.
  [[nodiscard]] std::string instruction_text(std::uint64_t vaddr) const;
  /// The four bytes at `vaddr` of the loaded image.
  [[nodiscard]] std::uint32_t word_at(std::uint64_t vaddr) const;
  /// The function that `vaddr` belongs to, demangled, and where it starts.
  [[nodiscard]] std::pair<std::string, std::uint64_t> function_of(std::uint64_t vaddr) const;
  /// "v_add_f32 v0, v1, v2 at PC 0x1234 (kernel+0x34), file.cpp:12:3 in f" and its call chain.
  [[nodiscard]] std::string describe(std::uint64_t vaddr) const;

 private:
  struct Block {
    std::uint64_t begin = 0, end = 0;  // vaddr
    // Ends with a sentinel that catches running off the end; then the other copies follow.
    std::vector<Instruction> instructions;
    std::vector<std::unique_ptr<MatrixGroup>> matrix_groups;
    std::size_t stride = 0;                     // from one copy to the next
    std::vector<std::uint32_t> index_by_dword;  // into instructions; kNotAnInstruction
  };
  static constexpr std::uint32_t kNotAnInstruction = ~0u;

  Program(const Gpu& gpu, const CodeObject& object, const Kernel& kernel,
          std::span<const std::byte> image, std::uint64_t base_address, const RowTable& rows,
          MfmaMode mfma);
  [[nodiscard]] const Instruction* at_vaddr(std::uint64_t vaddr, CodeCopy copy);
  [[nodiscard]] Block& decode_block(std::uint64_t vaddr);
  void resolve_branches(Block& block);
  static void add_copies(Block& block);
  void index_registers(Block& block, const std::vector<bool>& is_target);

  const Gpu& gpu_;
  const CodeObject& object_;
  std::string kernel_name_;
  std::vector<SourceFrame> computes_;
  std::uint64_t kernel_vaddr_ = 0;
  std::span<const std::byte> image_;
  std::uint64_t base_address_;
  const RowTable& rows_;
  MfmaMode mfma_;
  BindContext context_;
  std::unique_ptr<isa::Decoder> decoder_;
  const Instruction* entry_ = nullptr;
  std::size_t entry_stride_ = 0;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<Block>> blocks_;  // by begin
  std::map<std::uint64_t, Error> problems_;                 // by vaddr
  std::mutex facts_mutex_;
  std::map<std::type_index, std::unique_ptr<AnyFactsTable>> facts_;
};

/// Handlers for bytes that are not an instruction, and for instructions with a problem
/// (exec/instructions/flow.cpp).
const Instruction* run_problem(Wave& wave, const Instruction& i);
const Instruction* run_off_the_end(Wave& wave, const Instruction& i);

/// Has matrix instructions run together where that cannot be noticed
/// (exec/instructions/matrix/groups.cpp). kSpareRows rows from `first_spare_row` on are theirs. The
/// returned objects must live as long as the instructions.
[[nodiscard]] std::vector<std::unique_ptr<MatrixGroup>> group_matrix_instructions(
    std::vector<Instruction>& instructions, const std::vector<bool>& is_target,
    unsigned first_spare_row, MfmaMode mode);

/// The number of matrix instructions, from `i` on, that its handler runs at once when they are
/// observed; 1 for all others.
[[nodiscard]] std::uint32_t matrix_run_length(const Instruction& i);

}  // namespace margay
