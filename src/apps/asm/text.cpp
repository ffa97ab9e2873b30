// See text.h.
#include "apps/asm/text.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "apps/asm/names.h"

namespace margay::assembly {
namespace {

/// ECMA-48 "select graphic rendition", or nothing.
class Colours {
 public:
  explicit Colours(bool on) : on_(on) {}
  [[nodiscard]] std::string_view bold() const { return on_ ? "\x1b[1m" : ""; }
  [[nodiscard]] std::string_view dim() const { return on_ ? "\x1b[2m" : ""; }
  [[nodiscard]] std::string_view source() const { return on_ ? "\x1b[32m" : ""; }
  [[nodiscard]] std::string_view warning() const { return on_ ? "\x1b[33m" : ""; }
  [[nodiscard]] std::string_view end() const { return on_ ? "\x1b[0m" : ""; }
  [[nodiscard]] std::string_view of(LineKind kind) const {
    if (!on_) return "";
    switch (kind) {
      case LineKind::mfma:
        return "\x1b[35m";
      case LineKind::lds:
        return "\x1b[36m";
      case LineKind::vmem:
        return "\x1b[34m";
      case LineKind::barrier:
      case LineKind::invalid:
        return "\x1b[31m";
      case LineKind::wait:
        return "\x1b[33m";
      default:
        return "";
    }
  }

 private:
  bool on_;
};

using Text = std::string;

template <typename... Args>
void put(Text& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

std::string plural(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string limits_text(const KernelResources& r) {
  std::string text;
  for (const OccupancyLimit limit : r.limits) {
    text += fmt::format("{}{}", text.empty() ? "" : " and ", name_of(limit));
  }
  return text;
}

std::string occupancy_sentence(const KernelResources& r) {
  const Occupancy& o = r.occupancy;
  const std::string group = fmt::format("{} work-items ({})", r.max_workgroup_size,
                                        plural(r.waves_per_workgroup, "wave"));
  if (o.workgroups_per_cu == 0) {
    return fmt::format("not one workgroup of {} fits on a CU: limited by {}", group,
                       limits_text(r));
  }
  const double waves = static_cast<double>(r.occupancy.waves_per_cu) / r.cu->simds;
  return fmt::format("{} of {} per CU, {:.4g} wave{} per SIMD in them; limited by {}",
                     plural(o.workgroups_per_cu, "workgroup"), group, waves, waves == 1 ? "" : "s",
                     limits_text(r));
}

void put_resources(Text& out, const KernelResources& r, const Colours& colours) {
  const auto row = [&](std::string_view name, std::uint64_t value, std::string_view remark) {
    put(out, "  {:<12}{:>7}  {}\n", name, value, remark);
  };
  row("VGPRs", r.vgprs,
      fmt::format("per lane: {} architected, {} accumulation; {} allocated of {}",
                  std::min(r.architected_vgprs, r.vgprs), r.agprs, r.allocated_vgprs,
                  r.cu->vgprs_per_lane));
  row("SGPRs", r.sgprs, "per wave");
  row("LDS", r.lds_bytes, fmt::format("bytes per workgroup, static; a CU has {}", r.cu->lds_bytes));
  row("scratch", r.scratch_bytes,
      r.dynamic_stack ? "bytes per lane, more at run time (dynamic stack)" : "bytes per lane");
  const bool spills = r.vgpr_spills + r.sgpr_spills != 0;
  if (spills) out += colours.warning();
  row("spills", std::uint64_t{r.vgpr_spills} + r.sgpr_spills,
      fmt::format("{} VGPRs, {} SGPRs", r.vgpr_spills, r.sgpr_spills));
  if (spills) out += colours.end();
  row("code", r.code_bytes, "bytes");
  row("workgroup", r.max_workgroup_size, "work-items at most (__launch_bounds__)");
  row("occupancy", r.occupancy.waves_per_simd, "waves per SIMD that the registers allow");
  put(out, "  {:<21}{}\n", "", occupancy_sentence(r));
}

/// The arguments the runtime fills in, in one paragraph: "block_count_x at 24".
void put_hidden(Text& out, const Kernel& kernel, const Colours& colours) {
  constexpr std::size_t kWidth = 100;
  constexpr std::string_view kPrefix = "hidden_";
  std::string line = "  hidden:";
  out += colours.dim();
  for (const KernelArgument& argument : kernel.arguments) {
    if (!is_hidden(argument.kind)) continue;
    std::string_view kind = argument.kind_text;
    if (kind.starts_with(kPrefix)) kind.remove_prefix(kPrefix.size());
    std::string word = fmt::format(" {} at {}", printable(kind), argument.offset_bytes);
    if (&argument != &kernel.arguments.back()) word += ',';
    if (line.size() + word.size() > kWidth) {
      out += line + '\n';
      line = "         ";
    }
    line += word;
  }
  out += line + '\n';
  out += colours.end();
}

void put_arguments(Text& out, const Kernel& kernel, const Colours& colours) {
  if (kernel.arguments.empty()) {
    put(out, "\nno arguments\n");
    return;
  }
  put(out, "\n{}arguments{}, {} bytes\n  {:>6} {:>5}  {}\n", colours.bold(), colours.end(),
      kernel.kernarg_bytes, "offset", "size", "what");
  const auto written = [](const KernelArgument& argument) { return !is_hidden(argument.kind); };
  // The compiler rarely records types; the name of the function has them.
  std::vector<std::string> types = parameter_types(split_function_name(kernel.name));
  if (std::ssize(types) != std::ranges::count_if(kernel.arguments, written)) types.clear();
  std::size_t n = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    if (!written(argument)) continue;
    std::string what = argument.type_name;
    if (what.empty() && n < types.size()) what = types[n];
    ++n;
    if (!argument.name.empty()) what += (what.empty() ? "" : " ") + argument.name;
    const std::string kind = printable(argument.kind_text);
    put(out, "  {:>6} {:>5}  {}\n", argument.offset_bytes, argument.size_bytes,
        what.empty() ? kind : fmt::format("{:<14}  {}", kind, printable(what)));
  }
  if (n < kernel.arguments.size()) put_hidden(out, kernel, colours);
}

bool same_position(const std::vector<SourceFrame>& a, const std::vector<SourceFrame>& b) {
  return std::ranges::equal(a, b, [](const SourceFrame& x, const SourceFrame& y) {
    return x.line == y.line && x.file == y.file && x.function == y.function;
  });
}

using FileNames = std::map<std::string, std::string>;

/// "tile.h:71 load < gemm.cpp:93 micro_tk": the innermost position, and what it was inlined into.
std::string chain_text(const std::vector<SourceFrame>& frames, const FileNames& names) {
  std::string text;
  for (const SourceFrame& frame : frames) {
    if (!text.empty()) text += " < ";
    const auto name = names.find(frame.file);
    text += name == names.end() ? frame.file : name->second;
    text += frame.line == 0 ? ":?" : fmt::format(":{}", frame.line);
    // Arguments, including the template's, would obscure the position.
    if (!frame.function.empty())
      text += fmt::format(" {}", split_function_name(frame.function).plain);
  }
  return printable(text);
}

/// HIP's and the compiler's own headers, which define threadIdx.x etc.
bool is_toolchain_header(std::string_view file) {
  return file.contains("/hip/amd_detail/") || file.contains("/lib/clang/");
}

/// The frame whose text is shown: the innermost of the user's own.
const SourceFrame& frame_to_quote(const std::vector<SourceFrame>& frames) {
  const auto own = std::ranges::find_if(
      frames, [](const SourceFrame& frame) { return !is_toolchain_header(frame.file); });
  return own == frames.end() ? frames.front() : *own;
}

void put_position(Text& out, const std::vector<SourceFrame>& frames, const FileNames& names,
                  SourceText& sources, const Colours& colours) {
  put(out, "{}; {}{}\n", colours.dim(), chain_text(frames, names), colours.end());
  const SourceFrame& frame = frame_to_quote(frames);
  if (const auto text = sources.line(frame.file, frame.line)) {
    const std::size_t first = text->find_first_not_of(' ');
    if (first == std::string::npos) return;
    put(out, "{};{:>6} | {}{}\n", colours.source(), frame.line, *text, colours.end());
  }
}

void put_label(Text& out, const Listing& listing, const ListedInstruction& line,
               const Colours& colours) {
  put(out, "{}L{}:{}", colours.bold(), line.label, colours.end());
  std::string from;
  for (const std::uint64_t source : listing.label_sources[static_cast<std::size_t>(line.label)]) {
    if (!from.empty()) from += ", ";
    // Backward branches make loops.
    from += fmt::format("{:x}{}", source, source >= line.vaddr ? " (loop)" : "");
  }
  put(out, "  {}; from {}{}\n", colours.dim(), from, colours.end());
}

}  // namespace

std::string overview_text(std::span<const KernelPlace> kernels, const TextOptions& options) {
  const Colours colours(options.colour);
  Text out;
  put(out, "{}{:>5} {:>5} {:>5} {:>6} {:>8} {:>7} {:>8} {:>10} {:>11} {:>10}  {:<14}  {}{}\n",
      colours.bold(), "VGPR", "AGPR", "SGPR", "LDS", "scratch", "spills", "code", "work-items",
      "waves/SIMD", "groups/CU", "limit", "kernel", colours.end());
  for (const KernelPlace& place : kernels) {
    const KernelResources r = resources_of(*place.object, *place.kernel);
    put(out, "{:>5} {:>5} {:>5} {:>6} {:>8} {:>7} {:>8} {:>10} {:>11} {:>10}  {:<14}  {}\n",
        r.vgprs, r.agprs, r.sgprs, r.lds_bytes, r.scratch_bytes, r.vgpr_spills + r.sgpr_spills,
        r.code_bytes, r.max_workgroup_size, r.occupancy.waves_per_simd,
        r.occupancy.workgroups_per_cu, limits_text(r),
        printable(split_function_name(place.kernel->name).signature));
  }
  return out;
}

std::string kernel_text(const KernelPlace& place, const TextOptions& options) {
  const Colours colours(options.colour);
  const FunctionName name = split_function_name(place.kernel->name);
  Text out;
  put(out, "{}kernel {}{}\n", colours.bold(), printable(name.signature), colours.end());
  if (name.full != place.kernel->name) put(out, "symbol {}\n", printable(place.kernel->name));
  put(out, "target {}, code object v{}\n\n", place.object->target(), place.object->version());
  put_resources(out, resources_of(*place.object, *place.kernel), colours);
  put_arguments(out, *place.kernel, colours);
  return out;
}

std::string listing_text(const Listing& listing, SourceText& sources, const TextOptions& options) {
  const Colours colours(options.colour);
  Text out;
  FileNames names;
  if (options.source) {
    std::set<std::string> files;
    for (const ListedInstruction& line : listing.instructions) {
      for (const SourceFrame& frame : line.frames) files.insert(frame.file);
    }
    names = short_names(files);
    for (const std::string& file : files) {
      put(out, "; {} is {}\n", printable(names[file]),
          printable(std::filesystem::path(file).lexically_normal().string()));
    }
  }
  const std::vector<SourceFrame>* position = nullptr;
  bool block_ended = false;
  for (const ListedInstruction& line : listing.instructions) {
    if (&line != &listing.instructions.front() && (block_ended || line.label != kNoLabel)) {
      out += '\n';
    }
    if (line.label != kNoLabel) put_label(out, listing, line, colours);
    if (options.source && !line.frames.empty() &&
        (position == nullptr || !same_position(*position, line.frames))) {
      put_position(out, line.frames, names, sources, colours);
    }
    if (!line.frames.empty()) position = &line.frames;
    put(out, "{}{:>8x}{}  {}{}{}\n", colours.dim(), line.vaddr, colours.end(),
        colours.of(line.kind), line.text,
        line.kind == LineKind::invalid ? "  ; not an instruction" : "");
    if (options.colour) out.insert(out.size() - 1, colours.end());
    block_ended = line.ends_block;
  }
  put(out, "; {}, {} bytes\n", plural(listing.instructions.size(), "instruction"),
      listing.end - listing.begin);
  return out;
}

}  // namespace margay::assembly
