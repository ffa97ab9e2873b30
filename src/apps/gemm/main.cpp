// `margay gemm`: a bf16 GEMM kernel, compiled for gfx942, runs in full on the virtual device and
// every element of C is verified. A separate program, because oneDNN and LLVM would slow down the
// start of the other commands; `margay` starts it.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/gemm/choose.h"
#include "apps/gemm/interrupts.h"
#include "apps/gemm/problem.h"
#include "apps/gemm/reference.h"
#include "apps/gemm/verify.h"
#include "apps/gemm/watching.h"
#include "base/host_level.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/install.h"
#include "cli/process/start.h"
#include "code_object/bundle/find_image.h"
#include "code_object/code_object.h"
#include "exec/device/device.h"
#include "runtime/base/settings.h"
#include "runtime/device/progress.h"

namespace margay::gemm {
namespace {

using Clock = std::chrono::steady_clock;

/// The most exact mode that keeps 8192^3 under a minute on two cores (see docs/performance.md).
constexpr std::string_view kDefaultMfma = "exact";

std::string_view description(MfmaMode mode) {
  switch (mode) {
    case MfmaMode::exact:
      return "exact (bit-level model of the matrix unit)";
    case MfmaMode::fma:
      return "fma (fp32 fused multiply-adds, ascending k)";
    case MfmaMode::fast:
      return "fast (this host's fastest; same bits on this host only)";
  }
  return "";
}

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One step of the job, announced on a terminal when it starts and timed when it ends. (In a file
/// lines of progress would come between.)
class Steps {
 public:
  explicit Steps(bool quiet) : quiet_(quiet) {}
  void start(std::string_view name) {
    name_ = name;
    started_ = Clock::now();
    if (!quiet_ && terminal_) {
      print_name();
      std::fflush(stdout);
    }
  }
  double done() {
    const double seconds = since(started_);
    if (!quiet_) {
      // Where progress was shown meanwhile, that line has replaced this one.
      if (terminal_) fmt::print("\r");
      print_name();
      fmt::print("{:>8.2f} s\n", seconds);
      std::fflush(stdout);
    }
    seconds_.emplace_back(name_, seconds);
    return seconds;
  }
  [[nodiscard]] const std::vector<std::pair<std::string, double>>& all() const { return seconds_; }

 private:
  void print_name() const { fmt::print("  {:<34}", name_); }

  bool quiet_;
  bool terminal_ = isatty(STDOUT_FILENO) == 1;
  std::string name_;
  Clock::time_point started_;
  std::vector<std::pair<std::string, double>> seconds_;
};

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(ErrorCode::not_found, "the compiled kernel is missing: " + path.string(), {},
                "margay build");
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::byte> out(bytes.size());
  std::ranges::transform(bytes, out.begin(), [](char c) { return static_cast<std::byte>(c); });
  return out;
}

/// A matrix in device memory, freed with it.
template <typename T>
class DeviceMatrix {
 public:
  static Result<DeviceMatrix> create(Memory& memory, std::int64_t elements, std::string label) {
    const auto bytes = std::max<std::uint64_t>(static_cast<std::uint64_t>(elements) * sizeof(T), 1);
    void* const data = MARGAY_TRY(memory.allocate(bytes, std::move(label)));
    return DeviceMatrix(memory, static_cast<T*>(data), static_cast<std::size_t>(elements));
  }
  DeviceMatrix(DeviceMatrix&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), values_(other.values_) {}
  ~DeviceMatrix() {
    if (memory_ != nullptr) (void)memory_->free(values_.data());
  }
  [[nodiscard]] std::span<T> values() const { return values_; }

 private:
  DeviceMatrix(Memory& memory, T* data, std::size_t count)
      : memory_(&memory), values_(data, count) {}
  Memory* memory_;
  std::span<T> values_;
};

struct Outcome {
  std::string kernel, device;
  MfmaMode mfma = MfmaMode::fma;
  LaunchReport launch;
  std::optional<Modelled> time;
  double reference_seconds = 0;
  Verdict verdict;
};

Result<MfmaMode> parse_mode(std::string_view text) {
  if (text.empty()) text = kDefaultMfma;
  if (text == "exact") return MfmaMode::exact;
  if (text == "fma") return MfmaMode::fma;
  if (text == "fast") return MfmaMode::fast;
  return fail(ErrorCode::invalid_argument, fmt::format("no such MFMA mode: {}", text), "--mfma",
              "exact, fma or fast");
}

/// `watching`: may be null.
Result<LaunchReport> launch_until_interrupted(Watching* watching, Device& device,
                                              const LaunchRequest& request,
                                              Interrupts& interrupts) {
  const Interrupts::DuringLaunch stopped(interrupts, [&device] { device.interrupt(); });
  auto launched =
      watching != nullptr ? watching->launch(device, request) : device.launch(request, nullptr);
  if (launched && interrupts.number() != 0)
    return fail(ErrorCode::interrupted, "the launch had ended when the interrupt came");
  return launched;
}

Result<Outcome> run_job(const Options& o, const Gpu& gpu, Watching* watching, Steps& steps,
                        Interrupts& interrupts) {
  const auto install = MARGAY_TRY(cli::find_install());
  Outcome out;
  out.mfma = MARGAY_TRY(parse_mode(o.mfma));
  const unsigned threads =
      o.threads != 0 ? o.threads : std::max(1u, std::thread::hardware_concurrency());

  runtime::ProgressLine progress(stderr);
  DeviceOptions options;
  options.gpu = &gpu;
  options.mfma = out.mfma;
  options.threads = threads;
  options.measure_time_shares = true;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.update(done, total, Clock::now());
  };
  const auto device = MARGAY_TRY(Device::create(std::move(options)));
  out.device = device->gpu().name;
  Memory& memory = device->memory();

  steps.start("allocate and fill A, B, C");
  const auto a = MARGAY_TRY(DeviceMatrix<std::uint16_t>::create(memory, o.m * o.k, "A"));
  const auto b = MARGAY_TRY(DeviceMatrix<std::uint16_t>::create(memory, o.n * o.k, "B"));
  const bool wide = o.output == OutputType::f32;
  const auto c =
      MARGAY_TRY(DeviceMatrix<std::uint16_t>::create(memory, o.m * o.n * (wide ? 2 : 1), "C"));
  const Choice choice =
      MARGAY_TRY(choose(o, {a.values().data(), b.values().data(), c.values().data()}));
  out.kernel = choice.kernel;
  fill_random(a.values(), o.seed, 1, threads);
  fill_random(b.values(), o.seed, 2, threads);
  fill_nan(c.values(), threads);
  std::vector<float> c_before;
  if (watching != nullptr && o.beta == 0)
    watching->allocated(reinterpret_cast<std::uint64_t>(c.values().data()),
                        c.values().size_bytes());
  if (o.beta != 0) {
    c_before.resize(static_cast<std::size_t>(o.m * o.n));
    fill_random(c_before, o.seed, 3, threads);
    for (std::size_t i = 0; i < c_before.size(); ++i) {
      if (wide) {
        reinterpret_cast<float*>(c.values().data())[i] = c_before[i];
      } else {
        c.values()[i] = to_bf16(c_before[i]);
        c_before[i] = to_float(c.values()[i]);
      }
    }
  }
  (void)steps.done();

  steps.start("load the code object");
  auto image =
      MARGAY_TRY(read_file(install.prefix / "lib" / "margay" / "kernels" / choice.code_object));
  auto object = MARGAY_TRY(CodeObject::parse(MARGAY_TRY(find_image(image, device->gpu().arch()))));
  LaunchRequest request;
  request.module = MARGAY_TRY(device->load(std::move(object)));
  if (watching != nullptr) MARGAY_CHECK(watching->change(*request.module));
  request.kernel = request.module->object().find_kernel(choice.kernel);
  if (request.kernel == nullptr)
    return fail(ErrorCode::not_found,
                fmt::format("the code object has no kernel {}", choice.kernel), "margay gemm");
  request.grid = {choice.grid_x, choice.grid_y, 1};
  request.block = {choice.block_x, 1, 1};
  request.dynamic_lds_bytes = choice.dynamic_lds;
  request.arguments = choice.arguments;
  (void)steps.done();

  steps.start(fmt::format("run on the virtual {}", device->gpu().short_name()));
  progress.begin(choice.kernel, Clock::now());
  auto launched = launch_until_interrupted(watching, *device, request, interrupts);
  progress.end();
  if (watching != nullptr) watching->finish();
  out.launch = MARGAY_TRY(std::move(launched));
  if (watching != nullptr) out.time = watching->modelled();
  (void)steps.done();

  steps.start(fmt::format("reference (oneDNN, {})", reference_type()));
  const auto count = static_cast<std::size_t>(o.m * o.n);
  const auto memory_of_product = std::make_unique_for_overwrite<float[]>(count);
  const std::span<float> product(memory_of_product.get(), count);
  out.reference_seconds =
      MARGAY_TRY(multiply_with_onednn(o, a.values(), b.values(), product, threads));
  (void)steps.done();

  steps.start("verify every element of C");
  const ResultView result(c.values().data(), o.output);
  out.verdict = verify(o, {a.values(), b.values(), c_before}, result, product, threads);
  (void)steps.done();
  return out;
}

// ---- Report ---------------------------------------------------------------------------------

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, " ");
  return text;
}

double flops_of(const Options& o) {
  return 2.0 * static_cast<double>(o.m) * static_cast<double>(o.n) * static_cast<double>(o.k);
}

void print_report(const Options& o, const Outcome& out) {
  const Verdict& v = out.verdict;
  const double flops = flops_of(o);
  fmt::print("\n  {:<22}{}\n", "wave instructions", grouped(out.launch.wave_instructions));
  fmt::print("  {:<22}{}\n", "MFMA instructions", grouped(out.launch.mfma_instructions));
  fmt::print("  {:<22}{} workgroups, {} waves\n", "grid", grouped(out.launch.workgroups),
             grouped(out.launch.waves));
  fmt::print("  {:<22}{:.2f} s, {:.1f} GFLOP/s, {:.1f}x oneDNN's {:.2f} s in {}\n",
             out.time ? "host, with modelling" : "host wall time", out.launch.seconds,
             flops / out.launch.seconds * 1e-9, out.launch.seconds / out.reference_seconds,
             out.reference_seconds, reference_type());
  if (out.time) {
    const Modelled& t = *out.time;
    fmt::print("  {:<22}{:.1f} us, {:.1f} TFLOP/s at {:.2f} GHz; error about {:.0f} %\n",
               "modelled device time", t.us_boost, flops / t.us_boost * 1e-6, t.boost_ghz,
               t.error_percent);
    fmt::print(
        "  {:<22}{:.1f} us, {:.1f} TFLOP/s at {:.2f} GHz, in a loop of seconds; bound by {}\n",
        "  sustained", t.us_sustained, flops / t.us_sustained * 1e-6, t.sustained_ghz, t.bound);
  }
  std::string shares;
  for (const auto& [name, share] : out.launch.time_shares)
    if (share >= 0.005)
      shares += fmt::format("{}{} {:.0f}%", shares.empty() ? "" : ", ", name, 100 * share);
  if (!shares.empty()) fmt::print("  {:<22}{} (sampled)\n", "where it went", shares);

  fmt::print("\n  {:<22}max {:.3g}, mean {:.3g}, relative to |a||b| {:.2g}\n",
             "error against oneDNN", v.max_abs_error, v.mean_abs_error, v.max_rel_error);
  fmt::print("  {:<22}max {:.3g} over {} elements (oneDNN's own: {:.3g})\n", "error against fp64",
             v.max_sample_error, grouped(static_cast<std::uint64_t>(v.sampled)),
             v.max_reference_error);
  fmt::print("  {:<22}{} of {} elements; the worst uses {:.1f}% of the bound\n", "large errors",
             grouped(static_cast<std::uint64_t>(v.large_errors)),
             grouped(static_cast<std::uint64_t>(v.checked)), 100 * v.largest_share_of_bound);
  fmt::print(
      "  {:<22}2 ({:.0f} sqrt(K) 2^-24 |a_i||b_j| + K 2^-23 max|a_i| max|b_j|): rounding of two "
      "fp32\n"
      "  {:<22}sums in any order (Higham & Mary 2019), and MFMA's truncation of products\n",
      "bound", kLambda, "");
  if (v.large_errors != 0) fmt::print("\n  wrong elements by tile of C:\n{}", draw(v.tiles));
  if (v.sample_failures != 0)
    fmt::print("\n  {} of the fp64 samples disagree with C or with the reference\n",
               v.sample_failures);
  fmt::print("\n  {}\n", v.verified ? "verified: C is right in every element" : "NOT VERIFIED");
}

/// Prints the final message when a signal ended the job; returns its exit code.
int report_interrupt(int number, std::string_view how_far, Clock::time_point started,
                     const Options& o) {
  fmt::print("\n\n  {:<22}by {} after {:.2f} s{}{}\n", "interrupted", strsignal(number),
             since(started), how_far.empty() ? "" : ": ", how_far);
  fmt::print("  {:<22}not verified{}\n", "C",
             o.json_file.empty() ? "" : "; " + o.json_file + " was not written");
  std::fflush(stdout);
  return 128 + number;
}

Status write_json(const Options& o, const Outcome& out, const Steps& steps) {
  const Verdict& v = out.verdict;
  nlohmann::ordered_json j;
  j["m"] = o.m;
  j["n"] = o.n;
  j["k"] = o.k;
  j["dtype"] = "bf16";
  j["output_dtype"] = o.output == OutputType::f32 ? "f32" : "bf16";
  j["transpose_b"] = o.transpose_b;
  j["alpha"] = o.alpha;
  j["beta"] = o.beta;
  j["seed"] = o.seed;
  j["kernel"] = out.kernel;
  if (o.level != 0) j["level"] = o.level;
  j["device"] = out.device;
  j["mfma_mode"] = out.mfma == MfmaMode::exact ? "exact"
                   : out.mfma == MfmaMode::fma ? "fma"
                                               : "fast";
  j["threads"] = o.threads != 0 ? o.threads : std::max(1u, std::thread::hardware_concurrency());
  j["verified"] = v.verified;
  j["max_abs_error"] = v.max_abs_error;
  j["mean_abs_error"] = v.mean_abs_error;
  j["max_rel_error"] = v.max_rel_error;
  j["large_errors"] = v.large_errors;
  j["checked_elements"] = v.checked;
  j["sampled_elements"] = v.sampled;
  j["max_sample_error"] = v.max_sample_error;
  j["wall_s"] = out.launch.seconds;
  j["reference_wall_s"] = out.reference_seconds;
  j["reference_dtype"] = reference_type();
  if (out.time) {
    const Modelled& t = *out.time;
    const double flops = flops_of(o);
    j["modelled"] = {{"cycles", t.cycles},
                     {"us_boost", t.us_boost},
                     {"us_sustained", t.us_sustained},
                     {"tflops_boost", flops / t.us_boost * 1e-6},
                     {"tflops_sustained", flops / t.us_sustained * 1e-6},
                     {"error_percent", t.error_percent},
                     {"bound", t.bound}};
  }
  j["wave_instructions"] = out.launch.wave_instructions;
  j["mfma_instructions"] = out.launch.mfma_instructions;
  for (const auto& [name, share] : out.launch.time_shares) j["time_shares"][name] = share;
  for (const auto& [name, seconds] : steps.all()) j["steps_s"][name] = seconds;
  std::ofstream file(o.json_file);
  file << j.dump(2) << '\n';
  if (!file.flush()) return fail(ErrorCode::system, "could not write " + o.json_file, "--json");
  return {};
}

int gemm_main(int argc, char** argv) {
  Options o;
  o.m = o.n = o.k = default_extent(best_host_level());
  CLI::App app{
      "Runs a bf16 GEMM, compiled for gfx942, on the virtual GPU and verifies all of C.\n"
      "C = alpha A op(B) + beta C; A is M x K, op(B) is K x N, all row-major.",
      "margay gemm"};
  app.footer("  margay gemm\n  margay gemm --m 1000 --n 777 --k 333 --no-transpose-b --mfma exact");
  std::string dtype = "bf16", output = "f32";
  const auto extent = CLI::Range(std::int64_t{1}, std::int64_t{1} << 20);
  app.add_option("--m", o.m, "rows of A and C")->check(extent)->capture_default_str();
  app.add_option("--n", o.n, "columns of op(B) and C")->check(extent)->capture_default_str();
  app.add_option("--k", o.k, "columns of A")->check(extent)->capture_default_str();
  app.add_option("--dtype", dtype, "type of A and B")
      ->check(CLI::IsMember({"bf16"}))
      ->capture_default_str();
  app.add_option("--output", output, "type of C: f32 or bf16")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
  const auto* const transpose =
      app.add_flag("--transpose-b,!--no-transpose-b", o.transpose_b,
                   "B is stored N x K: C = A B^T (default); with --no-, K x N: C = A B");
  app.add_option("--alpha", o.alpha, "factor of the product")->capture_default_str();
  app.add_option("--beta", o.beta, "factor of the old C; 0: C is not read")->capture_default_str();
  cli::add_device_option(app, o.device);
  app.add_option("--mfma", o.mfma,
                 fmt::format("how MFMA rounds: exact, fma or fast (default: {})", kDefaultMfma))
      ->check(CLI::IsMember({"exact", "fma", "fast"}));
  app.add_option("--threads", o.threads, "host threads (default: one per core)")
      ->check(CLI::Range(1u, 4096u));
  app.add_option("--seed", o.seed, "of the random inputs")->capture_default_str();
  app.add_option("--json", o.json_file, "also write the figures to this file");
  app.add_flag(
      "--time", o.time,
      "also model how long the kernel takes on the device (docs/time.md); the run is slower");
  app.add_option("--level", o.level, "run this level of the ladder of kernels instead");
  bool list_levels = false;
  app.add_flag("--list-levels", list_levels, "print the ladder and leave");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::kExitOk : cli::kExitUsage;
  }
  if (list_levels) {
    fmt::print("{}", level_table());
    return cli::kExitOk;
  }
  o.output = output == "bf16" ? OutputType::bf16 : OutputType::f32;
  if (app.count("--level") != 0)
    if (const auto applied = apply_level(o, transpose->count() != 0); !applied)
      return cli::report("gemm", applied.error());

  const auto mode = parse_mode(o.mfma);
  if (!mode) return cli::report("gemm", mode.error());
  const auto settings = runtime::read_settings(runtime::process_environment());
  if (!settings) return cli::report("gemm", settings.error());
  const auto found = o.device.empty() ? settings->gpu : find_gpu(o.device);
  if (!found) return cli::report("gemm", found.error());
  const Gpu* const gpu = *found;
  const auto watched = watching(*settings, o.time, argv);
  if (!watched) return cli::report("gemm", watched.error());
  fmt::print("C = {} A {} + {} C, {} x {} x {}, bf16 in, {} out, virtual {}, MFMA {}\n\n", o.alpha,
             o.transpose_b ? "B^T" : "B", o.beta, o.m, o.n, o.k, output, gpu->short_name(),
             description(*mode));
  if (o.level != 0) fmt::print("{}\n\n", level_title(o.level));
  const auto started = Clock::now();
  Interrupts interrupts([&](int number) { (void)report_interrupt(number, "", started, o); });
  Steps steps(false);
  const auto outcome = run_job(o, *gpu, watched->get(), steps, interrupts);
  if (!outcome && interrupts.number() != 0)
    return report_interrupt(interrupts.number(), outcome.error().what, started, o);
  if (!outcome) {
    fmt::print("\n");
    std::fflush(stdout);
    return cli::report("gemm", outcome.error());
  }
  print_report(o, *outcome);
  if (!o.json_file.empty())
    if (const auto written = write_json(o, *outcome, steps); !written)
      return cli::report("gemm", written.error());
  return outcome->verdict.verified ? cli::kExitOk : cli::kExitFailed;
}

}  // namespace
}  // namespace margay::gemm

int main(int argc, char** argv) { return margay::gemm::gemm_main(argc, argv); }
