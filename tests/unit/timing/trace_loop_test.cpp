// The hot loop of a flash-attention kernel against a thread trace of an MI300: 884 instructions,
// two workgroups of four waves on each compute unit.
// Source: ROCm/rocm-systems, test data of rocprof-trace-decoder (mi300_template_attention). The
// file is not part of the repository.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "timing/compute_unit.h"

namespace margay::timing {
namespace {

struct Traced {
  std::string text;
  std::string group;  ///< The class of instructions that its mean is taken over.
  Instruction instruction;
  Registers registers;  ///< Only whether it writes an SGPR.
  MemoryWork work;
  double mean = 0;  ///< Measured cycles.
};

bool starts(const std::string& text, const char* prefix) { return text.starts_with(prefix); }

unsigned count_in(const std::string& text, const char* name, unsigned otherwise) {
  const auto at = text.find(name);
  return at == text.npos ? otherwise
                         : static_cast<unsigned>(std::atoi(text.c_str() + at + std::strlen(name)));
}

/// LDS instruction: bytes that each lane sends and gets, and passes over the banks.
void make_lds(Traced& t, unsigned out, unsigned in, unsigned cycles) {
  t.instruction.unit = Unit::lds;
  t.instruction.counts_lgkm = t.instruction.has_work = true;
  t.instruction.lane_bytes_out = static_cast<std::uint8_t>(out);
  t.instruction.lane_bytes_in = static_cast<std::uint8_t>(in);
  t.work.cycles = static_cast<std::uint16_t>(cycles);
}

void classify(Traced& t) {
  Instruction& i = t.instruction;
  const std::string& x = t.text;
  t.group = "VALU";
  if (starts(x, "v_mfma")) {
    i.unit = Unit::matrix;
    i.turns = 8;
    t.group = "MFMA";
  } else if (starts(x, "v_exp")) {
    i.unit = Unit::transcendental;
    t.group = "exp";
  } else if (starts(x, "v_pk_mul")) {
    i.unit = Unit::packed;
    t.group = "pk";
  } else if (starts(x, "v_cmp")) {
    t.registers.writes.back() = 1;
    t.group = "cmp";
  } else if (starts(x, "v_accvgpr")) {
    t.group = "accvgpr";
  } else if (starts(x, "v_perm")) {
    t.group = "perm";
  } else if (starts(x, "global_load")) {
    i.unit = Unit::vector_memory;
    i.counts_vm = i.has_work = true;
    i.lane_bytes_in = 16;
    t.work = {.cycles = 16, .l2_lines = 8, .far_lines = 8};
    t.group = "load";
  } else if (starts(x, "ds_read_u16")) {
    make_lds(t, 0, 2, 2);
    t.group = "ds_read_u16";
  } else if (starts(x, "ds_read2st64_b64")) {
    make_lds(t, 0, 16, 8);
    t.group = "ds_read2";
  } else if (starts(x, "ds_write_b64")) {
    make_lds(t, 8, 0, 4);
    t.group = "ds_write";
  } else if (starts(x, "ds_write2st64_b64")) {
    make_lds(t, 16, 0, 8);
    t.group = "ds_write";
  } else if (starts(x, "ds_write_b128")) {
    make_lds(t, 16, 0, 8);
    t.group = "ds_write";
  } else if (starts(x, "ds_bpermute")) {
    make_lds(t, 4, 4, 2);
    t.group = "bpermute";
  } else if (starts(x, "s_waitcnt")) {
    i.unit = Unit::wait;
    i.wait_vm = static_cast<std::uint8_t>(count_in(x, "vmcnt(", 63));
    i.wait_lgkm = static_cast<std::uint8_t>(count_in(x, "lgkmcnt(", 15));
    t.group = i.wait_vm != 63 ? "wait vm" : "wait lgkm";
  } else if (starts(x, "s_barrier")) {
    i.unit = Unit::barrier;
    t.group = "barrier";
  } else if (starts(x, "s_nop")) {
    i.unit = Unit::idle;
    i.turns = static_cast<std::uint16_t>(std::atoi(x.c_str() + 6) + 1);
    t.group = "scalar";
  } else if (starts(x, "s_")) {
    i.unit = starts(x, "s_cbranch") ? Unit::branch : Unit::salu;
    t.group = "scalar";
  }
}

std::vector<Traced> read_trace(const std::string& path) {
  std::ifstream file(path);
  std::vector<Traced> out;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    Traced t;
    std::string rest = line.substr(line.find(',') + 1);
    t.instruction.vaddr = static_cast<std::uint32_t>(std::stoul(line));
    const bool quoted = rest.starts_with('"');
    const auto end = quoted ? rest.find('"', 1) : rest.find(',');
    t.text = rest.substr(quoted ? 1 : 0, end - (quoted ? 1 : 0));
    t.mean = std::stod(rest.substr(rest.rfind(',') + 1));
    classify(t);
    out.push_back(std::move(t));
  }
  for (std::size_t n = 0; n + 1 < out.size(); ++n)
    out[n].instruction.bytes =
        static_cast<std::uint8_t>(out[n + 1].instruction.vaddr - out[n].instruction.vaddr);
  return out;
}

class TracedLoop : public ::testing::Test {
 protected:
  static constexpr unsigned kTrips = 2048, kWaves = 4, kGroups = 2, kLatest = 160;

  void SetUp() override {
    const std::string file = MARGAY_LOOP_TRACE;
    if (file.empty()) GTEST_SKIP() << "MARGAY_LOOP_TRACE is not set: the trace is not there";
    trace_ = read_trace(file);
    ASSERT_EQ(trace_.size(), 884u);
    std::vector<Instruction> instructions;
    for (const Traced& t : trace_) {
      instructions.push_back(t.instruction);
      instructions.back().registers = &t.registers;
    }
    // Loads of a device take another time in each trip, between that of L2 and that of HBM. If they
    // all took the same, both workgroups would keep one distance, and the means would be those of
    // that distance alone.
    for (unsigned turns = 1; turns <= kLatest; ++turns) {
      Instruction& idle = instructions.emplace_back();
      idle.vaddr = trace_.front().instruction.vaddr - 4;
      idle.bytes = 4;
      idle.unit = Unit::idle;
      idle.turns = static_cast<std::uint16_t>(turns);
    }
    std::mt19937 random(1);
    std::vector<WorkgroupRecording> groups(kGroups);
    ComputeUnitRecording cu;
    for (WorkgroupRecording& group : groups) {
      WaveRecording wave;
      for (unsigned trip = 0; trip < kTrips; ++trip) {
        wave.instructions.push_back(static_cast<std::uint32_t>(trace_.size() + random() % kLatest));
        for (std::uint32_t n = 0; n < trace_.size(); ++n) {
          wave.instructions.push_back(n);
          if (trace_[n].instruction.has_work) wave.memory.push_back(trace_[n].work);
        }
      }
      group.waves.assign(kWaves, wave);
      cu.workgroups.push_back(&group);
    }
    time_ = replay(cu, instructions, {kGroups, 0}, default_gpu(), parameters_of(default_gpu()),
                   // The launch's grid, and what its loads hit, are not in the trace: the waits for
                   // loads are made to take what was traced.
                   {.active_cus = 8,
                    .active_cus_per_xcd = 1,
                    .infinity_cache_hits = 0.29,
                    .infinity_cache_ready = 0.29});
  }
  /// What a thread trace has as the latency: issue and stall. What it has as idle time, and not in
  /// this file, is before it: waits for code and for registers (rocprofiler-sdk, thread trace).
  [[nodiscard]] double modelled(std::size_t n) const {
    const SiteTime& time = time_.sites[n];
    return (time.latency - time.idle()) / static_cast<double>(time.hits);
  }

  std::vector<Traced> trace_;
  ComputeUnitTime time_;
};

TEST_F(TracedLoop, TakesTheCyclesThatWereTraced) {
  double measured = 0, model = 0;
  for (std::size_t n = 0; n < trace_.size(); ++n) {
    measured += trace_[n].mean;
    model += modelled(n);
  }
  EXPECT_NEAR(model, measured, 0.1 * measured);
}

// The classes for which the model is good enough to be held to it.
TEST_F(TracedLoop, ClassesOfInstructionsTakeTheirShare) {
  struct Sum {
    double measured = 0, model = 0;
  };
  std::map<std::string, Sum> classes;
  for (std::size_t n = 0; n < trace_.size(); ++n) {
    classes[trace_[n].group].measured += trace_[n].mean;
    classes[trace_[n].group].model += modelled(n);
  }
  for (const char* const name : {"VALU", "accvgpr", "MFMA", "exp", "pk", "cmp", "perm", "scalar",
                                 "ds_read_u16", "wait lgkm", "wait vm", "barrier"}) {
    const Sum& sum = classes.at(name);
    EXPECT_NEAR(sum.model, sum.measured, 0.15 * sum.measured) << name;
  }
}

/// 0 for the smallest; the mean of their places for equal ones.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t n) { return values[n]; });
  std::vector<double> out(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t n = begin; n < end; ++n)
      out[order[n]] = (static_cast<double>(begin) + static_cast<double>(end) - 1) / 2;
    begin = end;
  }
  return out;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto mean = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const double mean_a = mean(a), mean_b = mean(b);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    ab += (a[n] - mean_a) * (b[n] - mean_b);
    aa += (a[n] - mean_a) * (a[n] - mean_a);
    bb += (b[n] - mean_b) * (b[n] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

TEST_F(TracedLoop, InstructionsHaveTheOrderThatWasTraced) {
  std::vector<double> measured, model;
  for (std::size_t n = 0; n < trace_.size(); ++n) {
    measured.push_back(trace_[n].mean);
    model.push_back(modelled(n));
  }
  EXPECT_GT(correlation(ranks(measured), ranks(model)), 0.7);
  // Mostly that of the four waits for loads, of which the trace does not say what they hit.
  EXPECT_GT(correlation(measured, model), 0.85);
}

}  // namespace
}  // namespace margay::timing
