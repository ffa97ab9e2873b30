// The instructions that the hardware approximates: here each gives the correctly rounded result.
// f16: all inputs. f32: a sample of every exponent in the tests, all 2^32 inputs by
//
//   transcendental_test --all [MNEMONIC...]
//
// which prints a line for tools/isa_page/measured.txt per instruction, some minutes each (--some:
// the same of the sample). f64: a sample. The tests hold that no error is larger than the recorded
// one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "../device/judge.h"
#include "measured.h"
#include "reference.h"

namespace {

using exhaustive::Denormals;
using exhaustive::Function;
using exhaustive::Verdict;

#if defined(__HIP_DEVICE_COMPILE__)
#define RUN(mnemonic, to, from) asm volatile(mnemonic " %0, %1" : "=v"(to) : "v"(from))
#else
#define RUN(mnemonic, to, from) to = from
#endif
#define INSTRUCTION(name, Word)                                               \
  __global__ void name(const Word* in, Word* out, std::size_t count) {        \
    const std::size_t i = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x; \
    if (i >= count) return;                                                   \
    const Word from = in[i];                                                  \
    Word to;                                                                  \
    RUN(#name, to, from);                                                     \
    out[i] = to;                                                              \
  }
using u32 = std::uint32_t;
using u64 = std::uint64_t;
INSTRUCTION(v_rcp_f32, u32)
INSTRUCTION(v_rcp_iflag_f32, u32)
INSTRUCTION(v_rsq_f32, u32)
INSTRUCTION(v_sqrt_f32, u32)
INSTRUCTION(v_exp_f32, u32)
INSTRUCTION(v_exp_legacy_f32, u32)
INSTRUCTION(v_log_f32, u32)
INSTRUCTION(v_log_legacy_f32, u32)
INSTRUCTION(v_sin_f32, u32)
INSTRUCTION(v_cos_f32, u32)
INSTRUCTION(v_rcp_f16, u32)
INSTRUCTION(v_rsq_f16, u32)
INSTRUCTION(v_sqrt_f16, u32)
INSTRUCTION(v_exp_f16, u32)
INSTRUCTION(v_log_f16, u32)
INSTRUCTION(v_sin_f16, u32)
INSTRUCTION(v_cos_f16, u32)
INSTRUCTION(v_rcp_f64, u64)
INSTRUCTION(v_rsq_f64, u64)
INSTRUCTION(v_sqrt_f64, u64)

template <typename Word>
struct Row {
  const char* mnemonic;
  void (*kernel)(const Word*, Word*, std::size_t);
  Function function;
  int bits;
  Denormals denormals;
};
constexpr auto kFlushed = Denormals::flushed, kKept = Denormals::kept;
const Row<u32> kRows[] = {
    {"v_rcp_f32", v_rcp_f32, Function::rcp, 32, kFlushed},
    {"v_rsq_f32", v_rsq_f32, Function::rsq, 32, kFlushed},
    {"v_sqrt_f32", v_sqrt_f32, Function::sqrt, 32, kFlushed},
    {"v_exp_f32", v_exp_f32, Function::exp, 32, kFlushed},
    {"v_log_f32", v_log_f32, Function::log, 32, kFlushed},
    {"v_sin_f32", v_sin_f32, Function::sin, 32, kKept},
    {"v_cos_f32", v_cos_f32, Function::cos, 32, kKept},
    {"v_rcp_iflag_f32", v_rcp_iflag_f32, Function::rcp, 32, kFlushed},
    {"v_exp_legacy_f32", v_exp_legacy_f32, Function::exp, 32, kFlushed},
    {"v_log_legacy_f32", v_log_legacy_f32, Function::log, 32, kFlushed},
    {"v_rcp_f16", v_rcp_f16, Function::rcp, 16, kKept},
    {"v_rsq_f16", v_rsq_f16, Function::rsq, 16, kKept},
    {"v_sqrt_f16", v_sqrt_f16, Function::sqrt, 16, kKept},
    {"v_exp_f16", v_exp_f16, Function::exp, 16, kKept},
    {"v_log_f16", v_log_f16, Function::log, 16, kKept},
    {"v_sin_f16", v_sin_f16, Function::sin, 16, kKept},
    {"v_cos_f16", v_cos_f16, Function::cos, 16, kKept},
};
const Row<u64> kDoubleRows[] = {
    {"v_rcp_f64", v_rcp_f64, Function::rcp, 64, kKept},
    {"v_rsq_f64", v_rsq_f64, Function::rsq, 64, kKept},
    {"v_sqrt_f64", v_sqrt_f64, Function::sqrt, 64, kKept},
};

Verdict judged(const Row<u32>& row, u32 input, u32 got) {
  if (row.bits == 16)
    return judge_f16(row.function, static_cast<std::uint16_t>(input),
                     static_cast<std::uint16_t>(got));
  return judge_f32(row.function, row.denormals, input, got);
}
Verdict judged(const Row<u64>& row, u64 input, u64 got) {
  return judge_f64(row.function, input, got);
}

/// What came of many inputs.
struct Tally {
  u64 inputs = 0, wrong = 0, undecided = 0;
  double error = 0;  ///< The largest.
  /// Where a wrong result is farthest off.
  double wrong_error = -1;
  u64 worst = 0, worst_got = 0, worst_correct = 0;

  void add(u64 input, u64 got, const Verdict& verdict) {
    ++inputs;
    undecided += verdict.undecided;
    error = std::max(error, verdict.error);
    if (got == verdict.correct) return;
    ++wrong;
    if (verdict.error <= wrong_error) return;
    wrong_error = verdict.error;
    worst = input;
    worst_got = got;
    worst_correct = verdict.correct;
  }
  void add(const Tally& other) {
    inputs += other.inputs;
    wrong += other.wrong;
    undecided += other.undecided;
    error = std::max(error, other.error);
    if (other.wrong_error <= wrong_error) return;
    wrong_error = other.wrong_error;
    worst = other.worst;
    worst_got = other.worst_got;
    worst_correct = other.worst_correct;
  }
};

template <typename Word>
void run(const Row<Word>& row, const Word* in, Word* out, std::size_t count) {
  row.kernel<<<static_cast<unsigned>((count + 255) / 256), 256>>>(in, out, count);
  judge::check(hipGetLastError(), "launch");
  judge::check(hipDeviceSynchronize(), "kernel");
}

template <typename Word>
Tally tally_of(const Row<Word>& row, const std::vector<Word>& inputs) {
  judge::Buffer<Word> in(inputs), out(inputs.size());
  run(row, in.get(), out.get(), inputs.size());
  const std::vector<Word> got = out.read();
  Tally tally;
  for (std::size_t n = 0; n < inputs.size(); ++n)
    tally.add(inputs[n], got[n], judged(row, inputs[n], got[n]));
  return tally;
}

/// All results are the correctly rounded ones, and no error is larger than the recorded one;
/// `same`: the inputs are those of the record.
template <typename Word>
void expect_correctly_rounded(const Row<Word>& row, const std::vector<Word>& inputs, bool same) {
  const Tally tally = tally_of(row, inputs);
  EXPECT_EQ(tally.wrong, 0u) << row.mnemonic << ": of " << tally.inputs << ", worst by "
                             << tally.wrong_error << " ulp at 0x" << std::hex << tally.worst
                             << ": got 0x" << tally.worst_got << ", correct is 0x"
                             << tally.worst_correct;
  EXPECT_EQ(tally.undecided, 0u) << row.mnemonic;
  const exhaustive::Measured record = exhaustive::recorded(row.mnemonic);
  constexpr double kPrinted = 1e-10;  // the record has ten digits
  EXPECT_LE(tally.error, record.error + kPrinted) << row.mnemonic << ", see measured.txt";
  if (same) EXPECT_GE(tally.error, record.error - kPrinted) << row.mnemonic << ", see measured.txt";
}

/// Numbers of every exponent and both signs, denormals, infinities and NaN payloads included:
/// mantissas at the ends and in the middle, of one bit, and random ones.
template <typename Word>
std::vector<Word> of_every_exponent(int mantissa_bits, int random_count) {
  judge::Random random(7);
  const Word one = 1, exponents = static_cast<Word>(one << (sizeof(Word) * 8 - mantissa_bits)) - 1;
  const Word mask = static_cast<Word>(one << mantissa_bits) - 1;
  std::vector<Word> all;
  // The sign is above the exponent and counts with it.
  for (Word field = 0;; ++field) {
    const Word high = static_cast<Word>(field << mantissa_bits);
    for (const Word m : {Word(0), Word(2), Word(3), Word(mask - 1), mask, Word(mask / 2),
                         Word(mask / 2 + 2), Word(mask / 3)})
      all.push_back(high | m);
    for (int bit = 0; bit < mantissa_bits; ++bit) all.push_back(high | one << bit);
    for (int n = 0; n < random_count; ++n)
      all.push_back(high | (static_cast<Word>(random.next()) & mask));
    if (field == exponents) return all;
  }
}

std::vector<u32> all_halves() {
  std::vector<u32> all;
  for (u32 bits = 0; bits < 1u << 16; ++bits) all.push_back(bits);
  return all;
}
std::vector<u32> some_floats() {
  std::vector<u32> inputs = of_every_exponent<u32>(23, 200);
  // Multiples of an eighth, where sin and cos are exact, and their neighbours.
  for (int eighths = -4096; eighths <= 4096; ++eighths)
    for (const u32 apart : {0u, 1u, ~0u})
      inputs.push_back(judge::from_bits<u32>(__builtin_bit_cast(u32, eighths / 8.0f) + apart));
  return inputs;
}
std::vector<u64> some_doubles() { return of_every_exponent<u64>(52, 20); }

TEST(Approximated, halves) {
  for (const Row<u32>& row : kRows)
    if (row.bits == 16) expect_correctly_rounded(row, all_halves(), true);
}
TEST(Approximated, floats) {
  for (const Row<u32>& row : kRows)
    if (row.bits == 32) expect_correctly_rounded(row, some_floats(), false);
}
TEST(Approximated, doubles) {
  for (const Row<u64>& row : kDoubleRows) expect_correctly_rounded(row, some_doubles(), true);
}
/// The examples of the ISA guide, section 12.8: independent of the reference.
TEST(Approximated, examplesOfTheGuide) {
  struct Example {
    const char* mnemonic;
    u32 input, result;
  };
  const Example examples[] = {
      {"v_exp_f32", 0xff800000, 0x00000000},
      {"v_exp_f32", 0x80000000, 0x3f800000},
      {"v_exp_f32", 0x7f800000, 0x7f800000},
      {"v_log_f32", 0xff800000, 0xffc00000},
      {"v_log_f32", 0xbf800000, 0xffc00000},
      {"v_log_f32", 0x80000000, 0xff800000},
      {"v_log_f32", 0x00000000, 0xff800000},
      {"v_log_f32", 0x3f800000, 0x00000000},
      {"v_log_f32", 0x7f800000, 0x7f800000},
      {"v_rcp_f32", 0xff800000, 0x80000000},
      {"v_rcp_f32", 0xc0000000, 0xbf000000},
      {"v_rcp_f32", 0x80000000, 0xff800000},
      {"v_rcp_f32", 0x00000000, 0x7f800000},
      {"v_rcp_f32", 0x7f800000, 0x00000000},
      {"v_rsq_f32", 0xff800000, 0xffc00000},
      {"v_rsq_f32", 0x80000000, 0xff800000},
      {"v_rsq_f32", 0x00000000, 0x7f800000},
      {"v_rsq_f32", 0x40800000, 0x3f000000},
      {"v_rsq_f32", 0x7f800000, 0x00000000},
      {"v_sqrt_f32", 0xff800000, 0xffc00000},
      {"v_sqrt_f32", 0x80000000, 0x80000000},
      {"v_sqrt_f32", 0x00000000, 0x00000000},
      {"v_sqrt_f32", 0x40800000, 0x40000000},
      {"v_sqrt_f32", 0x7f800000, 0x7f800000},
      {"v_sin_f32", 0xff800000, 0xffc00000},
      {"v_sin_f32", 0xff7fffff, 0x00000000},
      {"v_sin_f32", 0x80000000, 0x80000000},
      {"v_sin_f32", 0x3e800000, 0x3f800000},
      {"v_sin_f32", 0x7f800000, 0xffc00000},
      {"v_cos_f32", 0xff800000, 0xffc00000},
      {"v_cos_f32", 0xff7fffff, 0x3f800000},
      {"v_cos_f32", 0x80000000, 0x3f800000},
      {"v_cos_f32", 0x3e800000, 0x00000000},
      {"v_cos_f32", 0x7f800000, 0xffc00000},
      {"v_sin_f16", 0xfc00, 0xfe00},
      {"v_sin_f16", 0xfbff, 0x0000},
      {"v_sin_f16", 0x8000, 0x8000},
      {"v_sin_f16", 0x3400, 0x3c00},
      {"v_cos_f16", 0x3400, 0x0000},
      {"v_cos_f16", 0x7bff, 0x3c00},
      {"v_log_f16", 0xbc00, 0xfe00},
      {"v_rsq_f16", 0x4400, 0x3800},
      // "Denormals are flushed", on the way in and on the way out.
      {"v_rcp_f32", 0x007fffff, 0x7f800000},
      {"v_rcp_f32", 0xff7fffff, 0x80000000},
      {"v_rsq_f32", 0x00000001, 0x7f800000},
      {"v_sqrt_f32", 0x807fffff, 0x80000000},
      {"v_log_f32", 0x007fffff, 0xff800000},
      {"v_exp_f32", 0xc2fc0001, 0x00000000},
      {"v_exp_f32", 0xc2fc0000, 0x00800000},
  };
  for (const Example& example : examples) {
    const Row<u32>* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row<u32>& r) {
      return std::strcmp(r.mnemonic, example.mnemonic) == 0;
    });
    ASSERT_NE(row, std::end(kRows));
    const std::vector<u32> input{example.input};
    judge::Buffer<u32> in(input), out(1);
    run(*row, in.get(), out.get(), 1);
    EXPECT_EQ(out.read()[0], example.result)
        << example.mnemonic << " of 0x" << std::hex << example.input;
  }
}

/// All inputs of one f32 instruction, the device and the reference with the same number of threads.
Tally all_of(const Row<u32>& row, unsigned threads) {
  constexpr std::size_t kChunk = std::size_t{1} << 22;
  judge::Buffer<u32> in(kChunk), out(kChunk);
  Tally total;
  std::mutex mutex;
  const auto in_parallel = [&](const std::function<void(std::size_t, std::size_t)>& work) {
    std::vector<std::thread> workers;
    for (unsigned n = 0; n < threads; ++n)
      workers.emplace_back(work, kChunk * n / threads, kChunk * (n + 1) / threads);
    for (std::thread& worker : workers) worker.join();
  };
  for (u64 first = 0; first < u64{1} << 32; first += kChunk) {
    std::vector<u32> inputs(kChunk);
    for (std::size_t n = 0; n < kChunk; ++n) inputs[n] = static_cast<u32>(first + n);
    judge::check(hipMemcpy(in.get(), inputs.data(), kChunk * 4, hipMemcpyHostToDevice), "copy");
    run(row, in.get(), out.get(), kChunk);
    const std::vector<u32> got = out.read();
    in_parallel([&](std::size_t begin, std::size_t end) {
      Tally part;
      for (std::size_t n = begin; n < end; ++n)
        part.add(inputs[n], got[n], judged(row, inputs[n], got[n]));
      const std::scoped_lock lock(mutex);
      total.add(part);
    });
  }
  return total;
}

/// Prints the line for measured.txt; whether it is one of a correct instruction.
bool report(const char* mnemonic, const std::string& inputs, const Tally& tally) {
  const auto number = [](u64 n) { return static_cast<unsigned long long>(n); };
  std::printf("%s\n", exhaustive::line_of(mnemonic, {inputs, tally.error, tally.wrong}).c_str());
  if (tally.wrong != 0)
    std::printf("# worst: input 0x%08llx gave 0x%08llx, correct is 0x%08llx\n", number(tally.worst),
                number(tally.worst_got), number(tally.worst_correct));
  if (tally.undecided != 0)
    std::printf("# undecided by the reference: %llu\n", number(tally.undecided));
  std::fflush(stdout);
  return tally.wrong == 0 && tally.undecided == 0;
}

int measure(bool all, const std::vector<std::string>& wanted) {
  const char* asked = std::getenv("MARGAY_THREADS");
  const unsigned threads = asked != nullptr ? static_cast<unsigned>(std::atoi(asked))
                                            : std::thread::hardware_concurrency();
  const auto is_wanted = [&](const char* mnemonic) {
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), mnemonic) != wanted.end();
  };
  const auto some = [](const Tally& tally) {
    return std::to_string(tally.inputs) + " of every exponent";
  };
  bool right = true;
  for (const Row<u32>& row : kRows) {
    if (!is_wanted(row.mnemonic)) continue;
    const bool half = row.bits == 16;
    const Tally tally = half  ? tally_of(row, all_halves())
                        : all ? all_of(row, std::max(1u, threads))
                              : tally_of(row, some_floats());
    const bool complete = tally.inputs == u64{1} << row.bits;
    right &= complete || !all;
    right &=
        report(row.mnemonic, complete ? "all 2^" + std::to_string(row.bits) : some(tally), tally);
  }
  for (const Row<u64>& row : kDoubleRows) {
    if (!is_wanted(row.mnemonic)) continue;
    const Tally tally = tally_of(row, some_doubles());
    right &= report(row.mnemonic, some(tally), tally);
  }
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const bool all = argc > 1 && std::strcmp(argv[1], "--all") == 0;
  if (all || (argc > 1 && std::strcmp(argv[1], "--some") == 0))
    return measure(all, std::vector<std::string>(argv + 2, argv + argc));
  return RUN_ALL_TESTS();
}
