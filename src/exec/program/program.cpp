#include "exec/program/program.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/names.h"
#include "code_object/call_chain.h"
#include "code_object/demangle.h"
#include "exec/program/float_mode.h"
#include "exec/program/turns.h"
#include "exec/state/wave.h"

namespace margay {
namespace {

using code_object::demangled;

/// Source: MI300 ISA guide, 3.8.2: every VGPR operand of a vector ALU instruction. It does not say
/// to which register number of swaps and moves between the register files M0 is added.
bool can_be_indexed(const Row& row) {
  return row.lane == LaneOperation::none || row.lane == LaneOperation::count_bits ||
         is_lane_move(row);
}

}  // namespace

Program::Program(const Gpu& gpu, const CodeObject& object, const Kernel& kernel,
                 std::span<const std::byte> image, std::uint64_t base_address, const RowTable& rows,
                 MfmaMode mfma)
    : gpu_(gpu),
      object_(object),
      kernel_name_(kernel.title.empty() ? demangled(kernel.name) : kernel.title),
      computes_(kernel.computes),
      kernel_vaddr_(kernel.entry_vaddr),
      image_(image),
      base_address_(base_address),
      rows_(rows),
      mfma_(mfma) {
  context_.accum_offset = kernel.descriptor.accum_offset();
  context_.vgpr_rows = kernel.descriptor.unified_vgpr_count();
}

Result<std::unique_ptr<Program>> Program::create(const Gpu& gpu, const CodeObject& object,
                                                 const Kernel& kernel,
                                                 std::span<const std::byte> image,
                                                 std::uint64_t base_address, const RowTable& rows,
                                                 MfmaMode mfma) {
  std::unique_ptr<Program> program(
      new Program(gpu, object, kernel, image, base_address, rows, mfma));
  program->decoder_ = MARGAY_TRY(isa::Decoder::create(gpu.arch()));
  const std::lock_guard lock(program->mutex_);
  // Firmware that preloads arguments into SGPRs skips the code for firmware that does not: a trap
  // in LLVM 17 to 19, loads of the same SGPRs since. Source: LLVM, "User Guide for AMDGPU Backend",
  // Preloaded Kernel Arguments; AMDGPUPreloadKernArgProlog.cpp.
  constexpr std::uint64_t kPreloadPrologueBytes = 256;
  const bool preloads = (kernel.descriptor.kernarg_preload & 0x7f) != 0;
  const std::uint64_t start = kernel.entry_vaddr + (preloads ? kPreloadPrologueBytes : 0);
  program->entry_ = program->at_vaddr(start, CodeCopy::usual);
  if (program->entry_ != nullptr) program->entry_stride_ = program->decode_block(start).stride;
  if (program->entry_ == nullptr)
    return fail(ErrorCode::invalid_image, "the entry point of this kernel is not an instruction",
                "kernel " + kernel.name);
  return program;
}

const Instruction* Program::at_address(std::uint64_t address, CodeCopy copy) {
  const std::lock_guard lock(mutex_);
  return at_vaddr(address - base_address_, copy);
}

const Instruction* Program::at_vaddr(std::uint64_t vaddr, CodeCopy copy) {
  if (vaddr % 4 != 0 || !object_.is_executable(vaddr)) return nullptr;
  Block& block = decode_block(vaddr);
  const std::uint32_t index = block.index_by_dword[(vaddr - block.begin) / 4];
  if (index == kNotAnInstruction) return nullptr;
  return &block.instructions[index + static_cast<std::size_t>(copy) * block.stride];
}

void Program::for_each_reachable(const std::function<void(const Instruction&)>& visit) {
  const std::lock_guard lock(mutex_);
  bool leaves = false;
  const auto visit_block = [&](Block& block) {
    // The last one of each copy is the sentinel.
    for (std::size_t n = 0; n + 1 < block.stride; ++n) {
      const Instruction& i = block.instructions[n];
      if (i.row == nullptr) continue;
      const Flow flow = i.row->flow;
      leaves = leaves || flow == Flow::call || flow == Flow::jump || flow == Flow::fork;
      visit(i);
    }
  };
  Block& own = decode_block(entry_->vaddr);
  visit_block(own);
  if (!leaves) return;
  for (const Symbol& symbol : object_.symbols()) {
    if (symbol.kind != Symbol::Kind::function || !object_.is_executable(symbol.vaddr)) continue;
    if (Block& block = decode_block(symbol.vaddr); &block != &own) visit_block(block);
  }
}

Program::Block& Program::decode_block(std::uint64_t vaddr) {
  auto after = blocks_.upper_bound(vaddr);
  if (after != blocks_.begin()) {
    Block& candidate = *std::prev(after)->second;
    if (vaddr < candidate.end) return candidate;
  }

  auto [begin, end] = object_.executable_range(vaddr);
  // A function symbol narrows the range; without one, decode from here to the next block.
  if (const Symbol* function = object_.function_at(vaddr)) {
    begin = function->vaddr;
    end = std::min(end, function->vaddr + function->size_bytes);
  } else {
    begin = vaddr;
    for (const Symbol& symbol : object_.symbols())
      if (symbol.kind == Symbol::Kind::function && symbol.vaddr > vaddr)
        end = std::min(end, symbol.vaddr);
  }
  if (after != blocks_.end()) end = std::min(end, after->first);
  end = std::min<std::uint64_t>(end, image_.size());

  auto block = std::make_unique<Block>();
  block->begin = begin;
  block->end = end;
  block->index_by_dword.assign((end - begin) / 4, kNotAnInstruction);
  for (std::uint64_t at = begin; at + 4 <= end;) {
    const auto code = image_.subspan(at, std::min<std::uint64_t>(end - at, 20));
    Instruction instruction;
    instruction.execute = run_problem;
    instruction.vaddr = static_cast<std::uint32_t>(at);
    std::uint64_t size = 4;
    const auto refuse = [&](Error error) { problems_.emplace(at, std::move(error)); };
    if (auto encoded = decoder_->decode(code, base_address_ + at); !encoded) {
      refuse(std::move(encoded).error());
    } else {
      size = encoded->size_bytes;
      const Row* row = rows_.find(encoded->mnemonic);
      if (row == nullptr) {
        refuse(
            {ErrorCode::not_implemented,
             fmt::format("the instruction {} is not implemented", encoded->mnemonic),
             {},
             "docs/isa-coverage.md lists what is; please report the kernel that needs this one"});
      } else if (auto bound = bind(*encoded, *row, context_, at); !bound) {
        refuse(std::move(bound).error());
      } else {
        instruction = *bound;
      }
    }
    block->index_by_dword[(at - begin) / 4] =
        static_cast<std::uint32_t>(block->instructions.size());
    block->instructions.push_back(instruction);
    at += size;
  }
  Instruction off_the_end;
  off_the_end.execute = run_off_the_end;
  // The last instruction is reported: the next address belongs to another function.
  off_the_end.vaddr = block->instructions.empty() ? static_cast<std::uint32_t>(begin)
                                                  : block->instructions.back().vaddr;
  block->instructions.push_back(off_the_end);

  resolve_branches(*block);
  add_copies(*block);
  return *(blocks_[begin] = std::move(block));
}

// s_set_gpr_idx_on ... s_set_gpr_idx_off adds M0 to register numbers in between. Compilers put both
// around one or two moves, so indexed instructions are known when the code is decoded, and others
// have no overhead; control flow inside such a region is an error.
void Program::index_registers(Block& block, const std::vector<bool>& is_target) {
  bool inside = false;
  for (std::size_t n = 0; n + 1 < block.instructions.size(); ++n) {
    Instruction& i = block.instructions[n];
    if (i.row == nullptr) continue;
    if (inside && is_target[n]) {
      problems_.emplace(i.vaddr, Error{ErrorCode::not_implemented,
                                       "a branch into code with indexed registers "
                                       "(s_set_gpr_idx_on) is not implemented"});
      i.execute = run_problem;
    }
    switch (i.row->register_index) {
      case RegisterIndex::on:
        inside = true;
        continue;
      case RegisterIndex::off:
        inside = false;
        continue;
      case RegisterIndex::changes:
      case RegisterIndex::none:
        break;
    }
    if (!inside) continue;
    if (i.row->instruction_class == InstructionClass::valu && i.execute == i.row->plain &&
        can_be_indexed(*i.row)) {
      i.modifiers.form = OperandForm::indexed;
      i.execute = run_indexed;
    } else if (i.row->instruction_class != InstructionClass::salu) {
      problems_.emplace(i.vaddr, Error{ErrorCode::not_implemented,
                                       std::string(i.row->mnemonic) +
                                           " with indexed registers (s_set_gpr_idx_on) is not "
                                           "implemented"});
      i.execute = run_problem;
    }
  }
}

void Program::resolve_branches(Block& block) {
  std::vector<bool> is_target(block.instructions.size(), false);
  is_target[0] = true;
  for (std::size_t n = 0; n < block.instructions.size(); ++n) {
    Instruction& i = block.instructions[n];
    if (i.row == nullptr || !is_relative_branch(*i.row)) continue;
    const std::uint64_t target = i.vaddr + static_cast<std::int64_t>(i.offset);
    const bool inside = target >= block.begin && target < block.end && target % 4 == 0;
    const std::uint32_t index =
        inside ? block.index_by_dword[(target - block.begin) / 4] : kNotAnInstruction;
    if (index == kNotAnInstruction) {
      problems_.emplace(i.vaddr,
                        Error{ErrorCode::not_implemented,
                              "a branch leaves its function, to " + fmt::format("{:#x}", target)});
      i.execute = run_problem;
      continue;
    }
    i.offset = static_cast<std::int32_t>(index) - static_cast<std::int32_t>(n);
    is_target[index] = true;
  }
  index_registers(block, is_target);
  end_turns_before_rewrites(block.instructions, block.begin == kernel_vaddr_);
  block.matrix_groups = group_matrix_instructions(block.instructions, is_target,
                                                  context_.vgpr_rows + kTemporaryRows, mfma_);
}

// The copies have the same layout, so that a branch has the same distance in each and changing MODE
// moves by whole copies.
void Program::add_copies(Block& block) {
  std::vector<Instruction>& all = block.instructions;
  block.stride = all.size();
  for (Instruction& i : all)
    if (i.row != nullptr && i.row->changes_mode) i.offset = static_cast<std::int32_t>(block.stride);
  all.resize(kCodeCopies * block.stride);
  for (std::size_t n = 0; n < block.stride; ++n) {
    Instruction& in_mode = all[block.stride + n] = all[n];
    Instruction& skipped = all[2 * block.stride + n] = all[n];
    if (in_mode.execute == run_problem || in_mode.row == nullptr) continue;
    if (depends_on_mode(in_mode)) in_mode.execute = run_in_float_mode;
    switch (skipped.row->instruction_class) {
      case InstructionClass::valu:
      case InstructionClass::mfma:
      case InstructionClass::lds:
      case InstructionClass::vmem:
        skipped.execute = run_skipped;
        skipped.row = nullptr;  // observers do not see it as an instruction
        break;
      default:
        break;
    }
  }
}

Error Program::problem_at(std::uint64_t vaddr) const {
  const std::lock_guard lock(mutex_);
  const auto found = problems_.find(vaddr);
  return found == problems_.end()
             ? Error{ErrorCode::illegal_instruction, "this instruction cannot run"}
             : found->second;
}

std::string Program::instruction_text(std::uint64_t vaddr) const {
  if (!object_.is_executable(vaddr) || vaddr >= image_.size()) return {};
  const std::lock_guard lock(mutex_);
  return decoder_->disassemble(
      image_.subspan(vaddr, std::min<std::uint64_t>(image_.size() - vaddr, 20)),
      base_address_ + vaddr);
}

std::uint32_t Program::word_at(std::uint64_t vaddr) const {
  std::uint32_t word = 0;
  if (vaddr + sizeof word <= image_.size()) std::memcpy(&word, &image_[vaddr], sizeof word);
  return word;
}

std::pair<std::string, std::uint64_t> Program::function_of(std::uint64_t vaddr) const {
  if (const Symbol* symbol = object_.function_at(vaddr))
    return {demangled(symbol->name), symbol->vaddr};
  return {kernel_name_, kernel_vaddr_};
}

// The user's line first: the library code it calls is rarely at fault.
std::string Program::describe(std::uint64_t vaddr) const {
  std::vector<SourceFrame> frames = object_.source_at(vaddr);
  std::erase_if(frames, [](const SourceFrame& frame) { return frame.line == 0; });
  const CallChain chain = user_first(std::move(frames));
  std::string text;
  const auto name = [](const SourceFrame& frame) {
    return frame.function.empty() ? std::string() : " in " + short_function(frame.function);
  };
  for (std::size_t n = 0; n < chain.frames.size(); ++n) {
    const SourceFrame& frame = chain.frames[n];
    if (n == 0)
      text += fmt::format("{}:{}:{}{}\n       ", frame.file, frame.line, frame.column, name(frame));
    else if (n > chain.called)
      text += fmt::format("called from {}:{}:{}{}\n       ", frame.file, frame.line, frame.column,
                          name(frame));
    else if (n == chain.called)
      text += fmt::format("by way of {}:{}{}\n       ",
                          std::filesystem::path(frame.file).filename().string(), frame.line,
                          name(frame));
  }
  if (const std::string instruction = instruction_text(vaddr); !instruction.empty())
    text += instruction + "  ";
  const auto [function, start] = function_of(vaddr);
  return text + fmt::format("PC {:#x} ({}+{:#x})", base_address_ + vaddr, short_function(function),
                            vaddr - start);
}

}  // namespace margay
