#include "observe/check/parts.h"

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "exec/program/program.h"
#include "exec/stream/stream.h"
#include "observe/check/findings/finding_bytes.h"
#include "observe/launch_bytes.h"
#include "observe/observer_kind.h"

namespace margay::check {
namespace {

/// What an observer there asks.
enum class Question : std::uint8_t {
  map,         ///< Address. Answer: the WrittenMap, or nothing.
  host_write,  ///< Address in an allocation. Answer: WrittenMap::written_by_host().
  registered,  ///< Address. Answer: a bool.
  block,       ///< Address. Answer: Memory::find().
  fault,       ///< Address, bytes, kind of access. Answer: Memory::describe_fault().
};

// ---- The setup ------------------------------------------------------------------------------

struct Setup {
  CheckConfig config;
  std::uint64_t number = 0;
  HostRule host_rule;
  bool replicates = false;
  LaunchElsewhere launch;
  std::vector<Tensor> described;
};

auto members(Is<Setup> auto& setup) {
  return std::tie(setup.config, setup.number, setup.host_rule, setup.replicates, setup.launch,
                  setup.described);
}

}  // namespace

// A set of tools travels as a number, of which bits that are no tool are left out.
static void encode(Writer& out, const CheckConfig& config) {
  out.put(std::uint64_t{config.tools.to_ullong()});
  encode(out, config.adversarial);
}
static void decode(Reader& in, CheckConfig& config) {
  config.tools = ToolSet(in.get<std::uint64_t>());
  decode(in, config.adversarial);
}
auto members(Is<LaunchElsewhere> auto& launch) {
  return std::tie(launch.tensors, launch.host_arguments, launch.arena);
}

// Without what only launches have that stay: releases that another workgroup acquires, and the
// instruction that stopped one.
auto members(Is<WorkerResults> auto& results) {
  return std::tie(results.findings, results.runs, results.sites, results.undefined_stores,
                  results.moving, results.host_written, results.host_arguments);
}
// The launch and the kernel are known where it comes.
auto members(Is<UndefinedStore> auto& store) {
  return std::tie(store.range, store.told, store.computed, store.read, store.access);
}

// ---- Here -----------------------------------------------------------------------------------

class SharedLaunchChecker::Parts final : public LaunchParts {
 public:
  Parts(SharedLaunchChecker& checker, const LaunchRequest& request) : checker_(checker) {
    const DescribedTensors& known = checker.global_.tensors();
    setup_.config = checker.config_;
    setup_.number = checker.number_;
    setup_.host_rule = host_rule(request, checker.memory_, checker.global_);
    setup_.replicates = replicates(request);
    setup_.launch.tensors = tensor_arguments(request, checker.memory_, known);
    setup_.launch.host_arguments =
        unregistered_host_arguments(request, checker.memory_, checker.global_);
    setup_.launch.arena = checker.memory_.arena();
    setup_.described = known.all();
  }

  [[nodiscard]] Bytes setup() const override {
    Writer out;
    out.put(ObserverKind::checker);
    encode(out, setup_);
    return out.data();
  }
  [[nodiscard]] std::uint64_t stride() const override { return 1; }
  [[nodiscard]] Bytes answer(std::span<const std::byte> question) override {
    Reader in(question);
    Writer out;
    const auto asked = in.get<Question>();
    const auto address = in.get<std::uint64_t>();
    if (asked == Question::registered) {
      out.put(checker_.global_.is_registered(address));
      return out.data();
    }
    if (asked == Question::block) {
      encode(out, checker_.memory_.find(address));
      return out.data();
    }
    if (asked == Question::fault) {
      const auto bytes = in.get<std::uint64_t>();
      encode(out, checker_.memory_.describe_fault(address, bytes, in.get_text()));
      return out.data();
    }
    WrittenMap* const map = checker_.global_.find(address);
    if (asked == Question::map && map != nullptr) map->put(out);
    if (asked == Question::host_write)
      out.put(map == nullptr ? std::uint64_t{0} : map->written_by_host(checker_.number_));
    return out.data();
  }
  [[nodiscard]] bool add(std::span<const std::byte> results) override {
    Reader in(results);
    auto workers = decode<std::vector<WorkerResults>>(in);
    if (!in.ok()) return false;
    const auto change_maps = [this](Reader changes, bool writes) {
      while (!changes.at_end()) {
        WrittenMap* const map = checker_.global_.find(changes.get<std::uint64_t>());
        if (map == nullptr || !map->change(changes, writes)) return false;
      }
      return changes.ok();
    };
    if (!change_maps(in, /*writes=*/false)) return false;
    (void)change_maps(in, /*writes=*/true);
    for (WorkerResults& worker : workers) checker_.collect(std::move(worker));
    return true;
  }

 private:
  SharedLaunchChecker& checker_;
  Setup setup_;
};

LaunchParts* SharedLaunchChecker::parts(const LaunchRequest& request, Program& program) {
  // What workgroups know of each other is followed in one process.
  if (prepare(program).global && request.grid.count() > 1) return nullptr;
  if (parts_ == nullptr) parts_ = std::make_shared<Parts>(*this, request);
  return parts_.get();
}

// ---- There ----------------------------------------------------------------------------------

namespace {

template <typename T>
T answered(const Bytes& answer) {
  Reader in(answer);
  return decode<T>(in);
}

class CheckedPart final : public PartObserver {
 public:
  CheckedPart(Setup setup, const PartOfLaunch& part)
      : setup_(std::move(setup)), memory_(part.memory), ask_(part.ask) {
    for (const Tensor& tensor : setup_.described) global_.tensors().describe(tensor);
    global_.set_registered([this](std::uint64_t address) {
      return answered<bool>(ask(Question::registered, address));
    });
    global_.set_fetch([this](std::uint64_t address) { return fetch(address); });
    setup_.launch.find = [this](std::uint64_t address) {
      return answered<std::optional<Allocation>>(ask(Question::block, address));
    };
    setup_.launch.describe_fault = [this](std::uint64_t address, std::uint64_t bytes,
                                          const std::string& access) {
      Writer words;
      words.put(Question::fault);
      words.put(address);
      words.put(bytes);
      words.put_text(access);
      return answered<Error>(ask_(words.data()));
    };
    if (setup_.config.has(Tool::racecheck)) means_ = sync_means(part.program);
  }

  [[nodiscard]] std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                               Program& program) override {
    return make(request, program);
  }
  [[nodiscard]] std::unique_ptr<WorkgroupObserver> observe(const LaunchRequest& request,
                                                           Program& program) override {
    return std::make_unique<StreamObserver<WorkerChecker>>(make(request, program), program);
  }
  [[nodiscard]] Bytes results() override {
    Writer out;
    encode(out, results_);
    global_.for_each_map([&out](const WrittenMap& map) {
      out.put(map.range().begin);
      map.put_changes(out);
    });
    return out.data();
  }

 private:
  [[nodiscard]] std::unique_ptr<WorkerChecker> make(const LaunchRequest& request,
                                                    Program& program) {
    return std::make_unique<WorkerChecker>(
        WorkerChecker::Launch{.config = setup_.config,
                              .request = request,
                              .program = program,
                              .memory = memory_,
                              .global = global_,
                              .host_rule = setup_.host_rule,
                              .number = setup_.number,
                              .means = means_,
                              .collect =
                                  [this](WorkerResults results) {
                                    const std::lock_guard lock(mutex_);
                                    results_.push_back(std::move(results));
                                  },
                              .elsewhere = &setup_.launch,
                              .replicates = setup_.replicates});
  }
  [[nodiscard]] Bytes ask(Question question, std::uint64_t address) const {
    Writer words;
    words.put(question);
    words.put(address);
    return ask_(words.data());
  }
  [[nodiscard]] std::unique_ptr<WrittenMap> fetch(std::uint64_t address) const {
    const Bytes answer = ask(Question::map, address);
    if (answer.empty()) return nullptr;
    Reader in(answer);
    std::unique_ptr<WrittenMap> map = WrittenMap::get(in);
    if (map != nullptr)
      map->set_ask_host([this, begin = map->range().begin] {
        const Bytes found = ask(Question::host_write, begin);
        return Reader(found).get<std::uint64_t>();
      });
    return map;
  }

  Setup setup_;
  const Memory& memory_;
  const std::function<Bytes(std::span<const std::byte>)> ask_;
  GlobalMemory global_;
  SyncMeans means_;
  std::mutex mutex_;  // guards results_
  std::vector<WorkerResults> results_;
};

}  // namespace

std::unique_ptr<PartObserver> make_part_observer(Reader& setup, const PartOfLaunch& part) {
  auto launch = decode<Setup>(setup);
  if (!setup.ok()) return nullptr;
  return std::make_unique<CheckedPart>(std::move(launch), part);
}

}  // namespace margay::check
