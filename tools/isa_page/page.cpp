// See page.h.
#include "page.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/host_level.h"
#include "data.h"
#include "exec/instructions/all_rows.h"
#include "gpu/gpu.h"
#include "gpu/matrix_shapes.h"

namespace margay::isa_page {
namespace {

namespace fs = std::filesystem;
using isa::Format;

// Each level has the same rows; any that is built says where they are.
#if defined(MARGAY_LEVEL_GENERIC)
namespace level = generic;
#elif defined(MARGAY_LEVEL_X86_V3)
namespace level = x86_v3;
#else
namespace level = x86_v4;
#endif

struct Group {
  Format format;
  std::string_view title;
};
// An instruction with several encodings is listed under the first.
constexpr auto kGroups = std::to_array<Group>({
    {Format::sop1, "SOP1: scalar, one source"},
    {Format::sop2, "SOP2: scalar, two sources"},
    {Format::sopk, "SOPK: scalar, 16-bit immediate"},
    {Format::sopc, "SOPC: scalar compares"},
    {Format::sopp, "SOPP: program flow, waits, messages"},
    {Format::smem, "SMEM: scalar memory"},
    {Format::vop1, "VOP1: vector, one source"},
    {Format::vop2, "VOP2: vector, two sources"},
    {Format::vopc, "VOPC: vector compares"},
    {Format::vop3, "VOP3: vector, three sources or modifiers"},
    {Format::vop3p, "VOP3P: packed and dot products"},
    {Format::mfma, "MFMA: matrix"},
    {Format::ds, "DS: LDS and GDS"},
    {Format::flat, "FLAT: memory by aperture"},
    {Format::global, "GLOBAL: global memory"},
    {Format::scratch, "SCRATCH: private memory"},
    {Format::mubuf, "MUBUF: buffers"},
    {Format::mtbuf, "MTBUF: typed buffers"},
});

std::string_view short_name(Format format) {
  const auto group = std::ranges::find(kGroups, format, &Group::format);
  return group == kGroups.end() ? "?" : group->title.substr(0, group->title.find(':'));
}

/// Mnemonics whose row is a struct of its own, and the header it is in.
std::map<std::string, std::string> structs_in(const fs::path& root) {
  std::map<std::string, std::string> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(root / "src/isa/gfx942", failure)) {
    std::ifstream stream(entry.path());
    for (std::string line; std::getline(stream, line);) {
      constexpr std::string_view kStart = "struct ";
      if (!line.starts_with(kStart)) continue;
      const std::string name =
          line.substr(kStart.size(), line.find_first_of(" :;{", kStart.size()) - kStart.size());
      found.emplace(name, "src/isa/gfx942/" + entry.path().filename().string());
    }
  }
  return found;
}

/// The file of the rows that are not structs, by the function that adds them.
std::map<std::string_view, std::string> files_of_rows() {
  struct Source {
    void (*add)(RowTable&);
    const char* file;
  };
  constexpr auto kSources = std::to_array<Source>({
      {add_scalar_rows, "src/exec/instructions/salu.cpp"},
      {add_flow_rows, "src/exec/instructions/flow.cpp"},
      {add_scalar_memory_rows, "src/exec/instructions/smem.cpp"},
      {[](RowTable& table) {
         add_matrix_rows(table, default_gpu().arch().matrix, best_host_level());
       },
       "src/mfma"},
      {level::add_vector_rows, "src/exec/instructions/vector_rows.cpp"},
      {level::add_compare_rows, "src/isa/gfx942/compare.h"},
      {level::add_half_rows, "src/exec/instructions/half_rows.cpp"},
      {level::add_packed_rows, "src/exec/instructions/packed_rows.cpp"},
      {level::add_lane_rows, "src/exec/instructions/lane_rows.cpp"},
      {level::add_vmem_rows, "src/exec/instructions/vmem.cpp"},
      {level::add_lds_rows, "src/exec/instructions/lds.cpp"},
      {add_format_rows, "src/exec/instructions/format_rows.cpp"},
  });
  std::map<std::string_view, std::string> files;
  for (const Source& source : kSources) {
    RowTable table;
    source.add(table);
    // Mnemonics live as long as the program.
    table.for_each([&](const Row& row) { files[row.mnemonic] = source.file; });
  }
  return files;
}

struct Entry {
  std::string mnemonic;
  std::string formats;
  const Row* row = nullptr;
  std::string tests = {};
};

bool is_there(const Row* row, const RowTable& rows) {
  return row != nullptr && exactness(*row, rows) != "refused";
}

constexpr std::string_view kHead = R"(# Instructions of gfx942

Which instructions the virtual device has. This page is generated from the executor's table and
LLVM's decoder: `isa_page` in the build directory writes it, the test `isa.page` holds that it is up to
date.

**Tested by** lists programs that fail when the instruction's result is broken on purpose (the first two;
[kill rate](isa-kill-rate.md) has all, and where each program's expectations come from).
`device/float` is `tests/device/float_test.hip`; `exec/assembly` and `exec/buffer` are in
`tests/unit/exec`. Programs that an instruction "runs in" check that nothing changes: it leaves nothing
that could be broken. The target `isa_kills_update` measures this; the test `isa.kills` measures a
sample again.

- **exact**: the MI300 ISA guide defines the bits of the result, and these are they.
- **correctly rounded**: the hardware approximates within about 1 ulp and its bits are not published;
  here the result is the correctly rounded one ([measured](#approximated-instructions)).
- **by mode**: `--mfma` chooses the published bit-level model (`exact`), a chain of fused multiply-adds
  (`fma`) or whatever the host does fastest (`fast`).
- **no effect**: waits and hints. Every instruction completes before the next one starts, so there is
  nothing to wait for.
- **host clock**: clocks that a kernel reads are the host's; the model of time is applied afterwards.
- **in part**: some operands are refused (hardware registers, modes, messages that HIP programs do not
  use).
- **assumed**: no source defines every bit of the result; the comment next to the row says what was
  taken, and from where.
- **refused**: it belongs to a trap handler, a debugger or a global wave sync, none of which the virtual
  device has; a kernel that reaches one stops with a sentence that says so.
- **missing**: a kernel that reaches one stops with its mnemonic, PC and source line.

A form of an instruction that is not implemented (a modifier, SDWA, DPP, GDS) stops a kernel in the same way.
)";

void put_group(std::string& out, const Group& group, const std::vector<Entry>& entries,
               const RowTable& rows, const std::map<std::string, std::string>& structs,
               const std::map<std::string_view, std::string>& files) {
  out += fmt::format(
      "\n## {}\n\n| instruction | encodings | state | tested by | file |\n"
      "| --- | --- | --- | --- | --- |\n",
      group.title);
  for (const Entry& entry : entries) {
    std::string_view file;
    if (entry.row != nullptr) {
      const auto own = structs.find(entry.mnemonic);
      file = own != structs.end() ? std::string_view(own->second) : files.at(entry.row->mnemonic);
    }
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", entry.mnemonic, entry.formats,
                       entry.row == nullptr ? "missing" : exactness(*entry.row, rows), entry.tests,
                       file);
  }
}

/// What AMD says of an approximated instruction's error and denormals.
std::string_view documented(std::string_view mnemonic) {
  const bool is_angle = mnemonic.starts_with("v_sin_") || mnemonic.starts_with("v_cos_");
  if (mnemonic.ends_with("_f64")) return "2^29 ulp, denormals are supported";
  if (is_angle) return "no bound; denormals and the full range are supported";
  if (mnemonic == "v_rcp_f16") return "1 ulp";
  if (mnemonic.ends_with("_f16")) return "1 ulp, denormals are supported";
  if (mnemonic == "v_rcp_iflag_f32" || mnemonic.find("_legacy_") != mnemonic.npos)
    return "nothing; taken as the instruction without the suffix";
  return "1 ulp, denormals are flushed";
}

void put_measured(std::string& out, const std::vector<Measured>& table) {
  out += R"(
## Approximated instructions

The hardware's results are within about 1 ulp of the true ones; their bits are not published. Here they
are the correctly rounded results. `tests/exhaustive` compares them with 80-bit long double on the host:
all inputs of f16, a sample of every exponent of f32 and f64, and no error may be larger than the one
below; `transcendental_test --all` runs all 2^32 inputs of f32. 0.5 ulp is what rounding costs.

Where a denormal is flushed (to a zero of its sign, as operand and as result, regardless of MODE), it is
here too; `__exp2f` etc. do the scaling around it that LLVM adds unless an option says that denormals do
not matter. A result is flushed if it is denormal once rounded to f32. sin and cos take revolutions of
any size; sin of whole and half turns is +0, but sin of -0 is -0. A NaN comes out quiet with its payload;
an invalid operation gives the negative quiet NaN.

Documented: AMD's CDNA4 ISA guide, section 12.8. LLVM 19's code for gfx942 is as if it held there too: it
scales denormals away around v_rcp_f32, v_sqrt_f32, v_exp_f32 and v_log_f32, and does not reduce the
operand of v_sin_f32 and v_cos_f32.

| instruction | inputs | largest error, ulp | not correctly rounded | documented of the hardware |
| --- | --- | --- | --- | --- |
)";
  for (const Measured& m : table)
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", m[0], m[1], m[2], m[3], documented(m[0]));
}

void put_untested(std::string& out, const std::vector<std::string>& untested) {
  if (untested.empty()) {
    out += "Every implemented instruction is exercised by a test.\n";
    return;
  }
  out += fmt::format("**No test notices when {} of them break**: `{}`.\n", untested.size(),
                     fmt::join(untested, "`, `"));
}

}  // namespace

bool is_there(std::string_view mnemonic) {
  const RowTable& rows = *row_table({}, default_gpu().arch());
  return is_there(rows.find(mnemonic), rows);
}

std::string_view exactness(const Row& row, const RowTable& rows) {
  constexpr auto kInPart =
      std::to_array<std::string_view>({"s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32",
                                       "s_sendmsg", "s_sethalt", "s_setvskip", "s_trap"});
  constexpr auto kRefused =
      std::to_array<std::string_view>({"s_rfe_b64", "s_rfe_restore_b64", "s_sendmsghalt"});
  // src/isa/gfx942/fp8.h, media.h and half.h; src/exec/instructions/lds.cpp,
  // src/exec/instructions/packed_rows.cpp.
  constexpr auto kAssumed = std::to_array<std::string_view>(
      {"v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32", "v_mad_f16", "v_mac_f16", "v_madmk_f16",
       "v_madak_f16", "v_mad_legacy_f16", "v_cvt_norm_i16_f16", "v_cvt_norm_u16_f16",
       "v_cvt_pknorm_i16_f16", "v_cvt_pknorm_u16_f16", "v_cvt_pknorm_i16_f32",
       "v_cvt_pknorm_u16_f32", "v_cvt_pk_u8_f32", "v_cvt_pkaccum_u8_f32", "v_pk_fmac_f16",
       "ds_append", "ds_consume"});
  const auto is_one_of = [&row](const auto& names) {
    return std::ranges::find(names, row.mnemonic) != names.end();
  };
  if (row.shape != nullptr) return "by mode";
  if (row.operation == Operation::transcendental) return "correctly rounded";
  if (row.mnemonic == "s_memtime" || row.mnemonic == "s_memrealtime") return "host clock";
  if (is_one_of(kInPart)) return "in part";
  if (is_one_of(kRefused) || row.mnemonic.starts_with("ds_gws_")) return "refused";
  // How buffers round to their data formats, see src/exec/program/buffer_format.h.
  if (row.mnemonic.find("_format_") != row.mnemonic.npos) return "assumed";
  if (is_one_of(kAssumed)) return "assumed";
  const Row* idle = rows.find("s_nop");
  return idle != nullptr && row.plain == idle->plain ? "no effect" : "exact";
}

Result<std::string> page_text(const InstructionList& instructions, const fs::path& source_root) {
  const RowTable& rows = *row_table({}, default_gpu().arch());
  const auto structs = structs_in(source_root);
  if (structs.empty()) {
    return fail(ErrorCode::not_found, "There are no instruction headers.",
                (source_root / "src/isa/gfx942").string(), "Give the root of the source tree.");
  }
  const auto files = files_of_rows();
  const auto tests = MARGAY_TRY(read_tests(source_root));

  std::vector<std::string> untested;
  std::map<Format, std::vector<Entry>> groups;
  std::size_t implemented = 0;
  for (const auto& [mnemonic, formats] : instructions) {
    Entry entry{.mnemonic = mnemonic, .formats = {}, .row = rows.find(mnemonic)};
    for (const Format format : formats) {
      entry.formats += fmt::format("{}{}", entry.formats.empty() ? "" : " ", short_name(format));
    }
    const bool there = is_there(entry.row, rows);
    implemented += there;
    if (there) {
      const auto found = tests.find(mnemonic);
      if (found == tests.end()) {
        return fail(ErrorCode::not_found, fmt::format("It is not known what tests {}.", mnemonic),
                    "tools/isa_page/kills.txt", "Build the target isa_kills_update.");
      }
      entry.tests = found->second.text();
      if (found->second.programs.empty()) untested.push_back(mnemonic);
    }
    if (entry.row != nullptr && !files.contains(entry.row->mnemonic)) {
      return fail(
          ErrorCode::not_found,
          fmt::format("The row {} comes from a function that this tool does not know.", mnemonic),
          "tools/isa_page/page.cpp", "Add it to files_of_rows.");
    }
    groups[*formats.begin()].push_back(std::move(entry));
  }

  std::string out{kHead};
  const std::size_t others = instructions.size() - implemented;
  out += fmt::format(
      "\n{} of {} instructions are implemented; the other {} {} the kernel with an "
      "explanation. ",
      implemented, instructions.size(), others, others == 1 ? "stops" : "stop");
  put_untested(out, untested);
  out += "\n| group | implemented | all |\n| --- | --- | --- |\n";
  for (const Group& group : kGroups) {
    const std::vector<Entry>& entries = groups[group.format];
    const auto there =
        std::ranges::count_if(entries, [&rows](const Entry& e) { return is_there(e.row, rows); });
    out += fmt::format("| {} | {} | {} |\n", group.title, there, entries.size());
  }
  for (const Group& group : kGroups) {
    put_group(out, group, groups[group.format], rows, structs, files);
  }
  put_measured(out, MARGAY_TRY(read_measured(source_root)));
  return out;
}

}  // namespace margay::isa_page
