#include "cli/hipcc/hipcc_plan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "gpu/gpu.h"

namespace margay::cli {

namespace {

/// Options of clang whose value is the next argument, which therefore is not an input file.
/// Source: Clang command line argument reference, 19 and 22.
constexpr std::array<std::string_view, 42> kOptionsWithValue = {"-o",
                                                                "-I",
                                                                "-D",
                                                                "-U",
                                                                "-L",
                                                                "-l",
                                                                "-x",
                                                                "-B",
                                                                "-F",
                                                                "-T",
                                                                "-u",
                                                                "-z",
                                                                "-e",
                                                                "-include",
                                                                "-imacros",
                                                                "-isystem",
                                                                "-iquote",
                                                                "-idirafter",
                                                                "-isysroot",
                                                                "-iprefix",
                                                                "-iwithprefix",
                                                                "-ivfsoverlay",
                                                                "-cxx-isystem",
                                                                "-include-pch",
                                                                "-MF",
                                                                "-MT",
                                                                "-MQ",
                                                                "-MJ",
                                                                "-Xclang",
                                                                "-Xlinker",
                                                                "-Xassembler",
                                                                "-Xpreprocessor",
                                                                "-Xarch_host",
                                                                "-Xarch_device",
                                                                "-Xoffload-linker",
                                                                "-mllvm",
                                                                "-target",
                                                                "--param",
                                                                "--sysroot",
                                                                "-rpath",
                                                                "-arch",
                                                                "-working-directory"};

/// Options after which nothing is linked on the host.
constexpr std::array<std::string_view, 13> kOptionsThatDoNotLink = {"-c",
                                                                    "-S",
                                                                    "-E",
                                                                    "-M",
                                                                    "-MM",
                                                                    "-r",
                                                                    "-fsyntax-only",
                                                                    "--precompile",
                                                                    "--analyze",
                                                                    "--emit-static-lib",
                                                                    "--cuda-device-only",
                                                                    "--offload-device-only",
                                                                    "-emit-ast"};

/// Options that headers do not depend on: they are about files, links, messages and debug
/// information. Other warnings than these may come with macros (-Wno-deprecated).
constexpr std::array<std::string_view, 18> kOptionsOfOutput = {"-Wall",    "-Wextra",
                                                               "-Werror",  "-o",
                                                               "-c",       "-S",
                                                               "-shared",  "-fsyntax-only",
                                                               "-g",       "-g0",
                                                               "-MD",      "-MMD",
                                                               "-MP",      "-L",
                                                               "-l",       "-rpath",
                                                               "-Xlinker", "--cuda-device-only"};
constexpr std::array<std::string_view, 9> kPrefixesOfOutput = {
    "-Wl,", "-l", "-L", "-MF", "-MT", "-MQ", "-gline", "-Rpass", "--no-gpu-bundle-output"};

/// Options that have something else than the usual headers first, or something else than code made.
constexpr std::array<std::string_view, 4> kOptionsOfOtherHeaders = {"-E", "-M", "-MM", "-###"};
constexpr std::array<std::string_view, 10> kPrefixesOfOtherHeaders = {
    "-nogpuinc",    "-nocudainc", "-nohipwrapperinc", "-nostdinc",    "-save-temps",
    "--save-temps", "-fmodules",  "-Xclang",          "-include-pch", "-imacros"};

/// Headers that may be precompiled if -include names them. Of a device variable that only host code
/// reads, in a precompiled header, clang 19 loses the use, and drops the variable: other headers
/// may have such ones.
constexpr std::array<std::string_view, 3> kHeadersWithoutVariables = {
    "hip/hip_runtime.h", "gtest/gtest.h", "gmock/gmock.h"};

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != std::end(list);
}

template <typename List>
bool begins_with_one_of(const List& prefixes, std::string_view word) {
  return std::ranges::any_of(prefixes, [&](auto prefix) { return word.starts_with(prefix); });
}

bool is_about_output(std::string_view option) {
  return contains(kOptionsOfOutput, option) || begins_with_one_of(kPrefixesOfOutput, option);
}

bool changes_first_headers(std::string_view option) {
  return contains(kOptionsOfOtherHeaders, option) ||
         begins_with_one_of(kPrefixesOfOtherHeaders, option);
}

/// The kind of a file by its suffix, as in hipcc: .cpp etc. are HIP.
enum class InputKind : std::uint8_t { hip, c, other };

InputKind classify(std::string_view file) {
  if (file == "-") return InputKind::hip;
  const std::string suffix = std::filesystem::path(file).extension().string();
  constexpr std::array<std::string_view, 9> kHipSuffixes = {".cpp", ".cc",  ".cxx", ".c++", ".C",
                                                            ".cp",  ".CPP", ".hip", ".cu"};
  if (contains(kHipSuffixes, suffix)) return InputKind::hip;
  return suffix == ".c" ? InputKind::c : InputKind::other;
}

/// Assembly, LLVM's code or preprocessed text: clang compiles it, without any headers.
bool is_code(std::string_view file) {
  constexpr std::array<std::string_view, 6> kSuffixes = {".s", ".S", ".ll", ".bc", ".i", ".ii"};
  return contains(kSuffixes, std::filesystem::path(file).extension().string());
}

class Planner {
 public:
  explicit Planner(const Toolchain& toolchain) : toolchain_(toolchain) {}

  Status add_all(std::span<const std::string> arguments);
  HipccPlan finish(const HipccEnvironment& environment) &&;

 private:
  Status add_option(const std::string& argument);
  Status add_architectures(std::string_view list);
  void add_input(const std::string& file);
  /// Puts -x where the language changes. Never after the last input: clang warns about that.
  void set_language(const std::string& language);
  /// The user's own -x, which applies until the next one.
  void note_language(std::string_view language);
  /// Handles an option that is hipcc's own and not clang's; returns whether it is.
  bool take_hipcc_option(const std::string& argument);
  void take_rocm_path(const std::string& directory);
  void note_properties(std::string_view argument);
  [[nodiscard]] std::string_view processor() const { return toolchain_.gpu->arch().processor; }
  void note_value(std::string_view option, const std::string& value);
  void note_header(std::string_view header);  ///< Of -include.
  /// What the first headers of this compilation are compiled with, if they can be precompiled.
  [[nodiscard]] std::optional<HeaderPlan> headers(std::span<const std::string> appended) const;
  void write_dependencies();

  const Toolchain& toolchain_;
  std::vector<std::string> user_;           // the user's arguments, translated
  std::vector<std::string> architectures_;  // with their features
  std::vector<std::string> rocm_includes_;
  std::vector<std::string> function_support_;
  std::vector<std::string> header_options_;  // of user_, those that headers depend on
  std::vector<std::string> hip_sources_;
  std::string language_ = "none";  // the -x in force
  std::string first_input_;
  std::string output_;           // of -o
  std::string dependency_file_;  // of -MF
  unsigned verbose_ = 0;
  bool only_inputs_ = false;  // after "--"
  bool explicit_language_ = false;
  bool explicit_hip_ = false;
  bool has_input_ = false;
  bool has_hip_ = false;
  bool has_c_ = false;
  bool may_link_ = true;
  bool relocatable_device_code_ = false;
  bool hip_link_ = false;
  bool has_optimisation_ = false;
  bool has_standard_ = false;
  bool has_debug_ = false;
  bool wants_types_ = false;  // more than line tables
  bool has_device_libs_ = false;
  bool openmp_ = false;
  bool device_only_ = false;
  bool names_headers_ = false;        // with -include
  bool usual_first_headers_ = true;   // until something changes them
  bool writes_dependencies_ = false;  // in addition to the code
};

Status Planner::add_architectures(std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view one = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    if (one == "native") {  // "the GPU of this machine" is the virtual one
      architectures_.emplace_back(processor());
      continue;
    }
    const std::string_view name = one.substr(0, one.find(':'));
    if (std::ranges::none_of(all_architectures(),
                             [&](const Architecture* known) { return known->processor == name; })) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("cannot compile for {}: the virtual devices are {} (MI300 series)",
                              one, processor()),
                  "--offload-arch",
                  fmt::format("use --offload-arch={}, or leave the option out", processor()));
    }
    if (!contains(architectures_, one)) architectures_.emplace_back(one);
  }
  return {};
}

void Planner::set_language(const std::string& language) {
  if (language == language_) return;
  user_.insert(user_.end(), {"-x", language});
  language_ = language;
}

void Planner::add_input(const std::string& file) {
  has_input_ = true;
  if (first_input_.empty()) first_input_ = file;
  if (explicit_language_) {
    has_hip_ = has_hip_ || explicit_hip_;
    if (explicit_hip_) hip_sources_.push_back(file);
  } else {
    const InputKind kind = classify(file);
    if (kind == InputKind::hip) hip_sources_.push_back(file);
    if (kind == InputKind::other && is_code(file)) usual_first_headers_ = false;
    has_hip_ = has_hip_ || kind == InputKind::hip;
    has_c_ = has_c_ || kind == InputKind::c;  // clang++ would call it C++
    set_language(kind == InputKind::hip ? "hip" : kind == InputKind::c ? "c" : "none");
  }
  user_.push_back(file);
}

void Planner::note_language(std::string_view language) {
  language_ = language;
  explicit_language_ = language != "none";
  explicit_hip_ = language == "hip" || language == "cuda";
  if (explicit_language_ && !explicit_hip_) usual_first_headers_ = false;
}

void Planner::take_rocm_path(const std::string& directory) {
  // Makefiles often name /opt/rocm. If it exists, its headers are used; the device libraries stay
  // ours, because their bitcode must not be newer than the compiler.
  const std::filesystem::path include = std::filesystem::path(directory) / "include";
  std::error_code ignored;
  if (std::filesystem::exists(include / "hip" / "hip_runtime.h", ignored)) {
    rocm_includes_.push_back(include.string());
  }
}

bool Planner::take_hipcc_option(const std::string& argument) {
  const std::string_view view = argument;
  const auto value_of = [&](std::string_view prefix) {
    return std::string(view.substr(prefix.size()));
  };
  if (view == "--genco" || view == "-genco") {
    user_.emplace_back("--cuda-device-only");
    note_properties("--cuda-device-only");
  } else if (view.starts_with("--rocm-path=")) {
    take_rocm_path(value_of("--rocm-path="));
  } else if (view.starts_with("--hip-path=")) {
    take_rocm_path(value_of("--hip-path="));
  } else if (view == "--hipcc-no-func-supp") {
    function_support_ = {"-mllvm", "-amdgpu-early-inline-all=true", "-mllvm",
                         "-amdgpu-function-calls=false"};
  } else if (view.starts_with("--hipcc-verbose=")) {
    verbose_ |=
        static_cast<unsigned>(std::strtoul(value_of("--hipcc-verbose=").c_str(), nullptr, 10));
  } else {
    // Switches of older hipcc versions for what is now the default.
    return view == "-hc" || view == "--hipcc-func-supp" || view == "-use-staticlib" ||
           view == "-use-sharedlib" || view == "--hipcc-clang";
  }
  return true;
}

void Planner::note_properties(std::string_view argument) {
  if (contains(kOptionsThatDoNotLink, argument)) may_link_ = false;
  if (changes_first_headers(argument)) usual_first_headers_ = false;
  constexpr std::string_view kInclude = "-include";
  if (argument.starts_with(kInclude)) note_header(argument.substr(kInclude.size()));
  if (argument == "--cuda-device-only" || argument == "--offload-device-only") device_only_ = true;
  if (argument == "-MD" || argument == "-MMD") writes_dependencies_ = true;
  if (argument == "-fgpu-rdc" || argument == "-fcuda-rdc") relocatable_device_code_ = true;
  if (argument == "-fno-gpu-rdc") relocatable_device_code_ = false;
  if (argument == "--hip-link") hip_link_ = true;
  if (argument == "-fopenmp" || argument == "-fopenmp=libomp") openmp_ = true;
  if (argument == "-fno-openmp") openmp_ = false;
  if (argument.starts_with("-O") && argument != "-ObjC") has_optimisation_ = true;
  if (argument.starts_with("-std=") || argument.starts_with("--std=") || argument == "-ansi") {
    has_standard_ = true;
  }
  if (argument.starts_with("--rocm-device-lib-path=") ||
      argument.starts_with("--hip-device-lib-path=")) {
    has_device_libs_ = true;
  }
  // -g, -g0 ... -g3, -gdwarf-5, -ggdb, -gline-tables-only, but not -gpu-... or -gcc-toolchain.
  if (argument.starts_with("-g") && !argument.starts_with("-gpu") &&
      !argument.starts_with("-gcc-")) {
    has_debug_ = true;
    wants_types_ = argument != "-g0" && argument != "-g1" && argument != "-gmlt" &&
                   !argument.starts_with("-gline-");
  }
}

void Planner::note_header(std::string_view header) {
  if (contains(kHeadersWithoutVariables, header))
    names_headers_ = true;
  else
    usual_first_headers_ = false;
}

void Planner::note_value(std::string_view option, const std::string& value) {
  if (option == "-x") note_language(value);
  if (option == "-o") output_ = value;
  if (option == "-MF") dependency_file_ = value;
  if (option == "-include") note_header(value);
  if (changes_first_headers(option)) usual_first_headers_ = false;
}

/// clang 22 ignores -MD, -MMD and -MF where it compiles for the device only (19 does not): the
/// compiler proper gets the file's name instead, which is clang's own choice without -MF.
void Planner::write_dependencies() {
  for (auto word = user_.begin(); word != user_.end();) {
    if (*word == "-MF")
      word = user_.erase(word, word + 2);
    else if (word->starts_with("-MF"))
      word = user_.erase(word);
    else
      ++word;
  }
  std::filesystem::path file = dependency_file_;
  if (file.empty())
    file = output_.empty() ? std::filesystem::path(first_input_).filename()
                           : std::filesystem::path(output_);
  if (dependency_file_.empty()) file.replace_extension(".d");
  user_.insert(user_.end(), {"-Xclang", "-dependency-file", "-Xclang", file.string()});
}

Status Planner::add_option(const std::string& argument) {
  const std::string_view view = argument;
  for (const std::string_view prefix :
       {"--offload-arch=", "-offload-arch=", "--amdgpu-target=", "--cuda-gpu-arch="}) {
    if (view.starts_with(prefix)) return add_architectures(view.substr(prefix.size()));
  }
  if (take_hipcc_option(argument)) return {};
  note_properties(view);
  user_.push_back(argument);
  if (!is_about_output(argument)) header_options_.push_back(argument);
  return {};
}

Status Planner::add_all(std::span<const std::string> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.empty()) continue;
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    if (only_inputs_ && is_option) {
      add_input("./" + argument);  // keeps clang from reading it as an option
    } else if (only_inputs_ || (!is_option && argument.front() != '@')) {
      add_input(argument);
    } else if (argument.front() == '@') {
      // The inputs inside must be known, so that they are compiled as HIP.
      std::ifstream file(argument.substr(1), std::ios::binary);
      if (!file) {
        return fail(ErrorCode::not_found, "cannot read the response file " + argument.substr(1));
      }
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      MARGAY_CHECK(add_all(split_words(text)));
    } else if (argument == "--") {
      only_inputs_ = true;
    } else if (argument == "--offload-arch" || argument == "--rocm-path" ||
               contains(kOptionsWithValue, argument)) {
      if (i + 1 == arguments.size()) {
        return fail(ErrorCode::invalid_argument, "the option " + argument + " needs a value");
      }
      const std::string& value = arguments[++i];
      if (argument == "--offload-arch") {
        MARGAY_CHECK(add_architectures(value));
      } else if (argument == "--rocm-path") {
        take_rocm_path(value);
      } else {
        note_value(argument, value);
        user_.insert(user_.end(), {argument, value});
        if (argument != "-x" && !is_about_output(argument))
          header_options_.insert(header_options_.end(), {argument, value});
      }
    } else {
      for (const std::string_view option : {"-x", "-MF"})
        if (argument.starts_with(option)) note_value(option, argument.substr(option.size()));
      MARGAY_CHECK(add_option(argument));
    }
  }
  return {};
}

std::optional<HeaderPlan> Planner::headers(std::span<const std::string> appended) const {
  if (hip_sources_.empty() || has_c_ || !usual_first_headers_ || architectures_.size() != 1 ||
      !rocm_includes_.empty() || !toolchain_.compiler.loads_our_passes() ||
      contains(hip_sources_, "-"))
    return {};
  HeaderPlan plan{.command = {toolchain_.compiler.program},
                  .sources = hip_sources_,
                  .first_headers = toolchain_.first_headers,
                  .names_headers = names_headers_};
  std::vector<std::string>& out = plan.command;
  if (!toolchain_.rocm_root.empty()) out.push_back("--rocm-path=" + toolchain_.rocm_root);
  out.push_back("--offload-arch=" + architectures_.front());
  if (!has_optimisation_) out.emplace_back("-O3");
  if (!has_device_libs_) out.push_back("--rocm-device-lib-path=" + toolchain_.device_libs);
  if (!has_standard_) out.emplace_back("-std=gnu++20");
  out.insert(out.end(), header_options_.begin(), header_options_.end());
  out.insert(out.end(), {"-isystem", toolchain_.margay_include, "-idirafter",
                         toolchain_.margay_include + "/missing"});
  out.insert(out.end(), appended.begin(), appended.end());
  return plan;
}

HipccPlan Planner::finish(const HipccEnvironment& environment) && {
  HipccPlan plan;
  plan.verbose = environment.verbose | verbose_;
  plan.links = may_link_ && has_input_;
  plan.openmp = openmp_;
  const bool device_link = plan.links && (relocatable_device_code_ || hip_link_);
  if (device_only_ && writes_dependencies_ && has_input_) write_dependencies();

  std::vector<std::string>& out = plan.command;
  out.push_back(toolchain_.compiler.program);
  if (!toolchain_.rocm_root.empty()) out.push_back("--rocm-path=" + toolchain_.rocm_root);
  if (has_hip_ || device_link) {
    if (architectures_.empty()) architectures_.emplace_back(processor());
    for (const std::string& one : architectures_) out.push_back("--offload-arch=" + one);
    if (!has_optimisation_) out.emplace_back("-O3");  // as hipcc does
    if (!has_device_libs_) out.push_back("--rocm-device-lib-path=" + toolchain_.device_libs);
  }
  if (has_hip_) {
    // The tile library needs C++20, which clang does not choose by itself.
    if (!has_standard_ && !has_c_) out.emplace_back("-std=gnu++20");
    // Source lines in messages about instructions; code is the same with and without.
    if (!has_debug_) out.emplace_back("-gline-tables-only");
    // And the names of kernel parameters; see device_pass/. All of a class is described also where
    // another file has its constructor. Unused where only the host's is compiled.
    if (!toolchain_.argument_types.empty() && (!has_debug_ || wants_types_))
      out.insert(out.end(),
                 {"--start-no-unused-arguments", "-Xarch_device", "-g", "-Xarch_device",
                  "-fstandalone-debug", "-Xarch_device",
                  "-fpass-plugin=" + toolchain_.argument_types, "--end-no-unused-arguments"});
    out.insert(out.end(), function_support_.begin(), function_support_.end());
  }
  if (device_link && !hip_link_) out.emplace_back("--hip-link");
  // Otherwise clang adds the -lamdhip64 of the HIP installation it found.
  if (plan.links && (has_hip_ || device_link)) out.emplace_back("-no-hip-rt");

  out.insert(out.end(), user_.begin(), user_.end());

  const std::vector<std::string> appended = split_words(environment.compile_flags_append);
  plan.headers = headers(appended);
  if (has_hip_ || has_c_) {
    // After the user's own -I and -isystem, before the HIP installation's headers.
    out.insert(out.end(), {"-isystem", toolchain_.margay_include});
    for (const std::string& include : rocm_includes_) {
      out.insert(out.end(), {"-isystem", include});
    }
    // After all others: headers that report libraries which are not installed.
    out.insert(out.end(), {"-idirafter", toolchain_.margay_include + "/missing"});
    if (has_c_) out.emplace_back("-D__HIP_PLATFORM_AMD__=1");  // clang defines it for HIP only
    out.insert(out.end(), appended.begin(), appended.end());
  }
  if (plan.links) {
    for (std::string& word : split_words(environment.link_flags_append)) {
      if (!word.starts_with('-') && std::exchange(language_, "none") != "none") {
        out.insert(out.end(), {"-x", "none"});  // an object file, not a source
      }
      out.push_back(std::move(word));
    }
    out.insert(out.end(), {"-L" + toolchain_.runtime_lib, "-lamdhip64",
                           "-Wl,-rpath," + toolchain_.runtime_lib});
  }
  return plan;
}

}  // namespace

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
      continue;
    }
    in_word = true;
    if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

Result<HipccPlan> plan_hipcc(const Toolchain& toolchain, std::span<const std::string> arguments,
                             const HipccEnvironment& environment) {
  Planner planner(toolchain);
  MARGAY_CHECK(planner.add_all(arguments));
  return std::move(planner).finish(environment);
}

}  // namespace margay::cli
