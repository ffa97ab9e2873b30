#include "observe/check/parts.h"

#include <optional>
#include <utility>
#include <vector>

#include "exec/program/program.h"
#include "exec/stream/stream.h"
#include "observe/check/findings/finding_bytes.h"
#include "observe/observer_kind.h"

namespace margay::check {
namespace {

/// What an observer there asks.
enum class Question : std::uint8_t {
  map,         ///< Address. Answer: the WrittenMap, or nothing.
  host_write,  ///< Address in an allocation. Answer: WrittenMap::written_by_host().
  registered,  ///< Address. Answer: a bool.
  block,       ///< Address. Answer: Memory::find(), or nothing.
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

void put(Writer& out, const TensorArgument& tensor) {
  out.put(tensor.declared);
  out.put_text(tensor.name);
  out.put(static_cast<std::uint64_t>(tensor.offset));
  out.put_text(tensor.type);
  out.put_text(tensor.element);
  out.put(tensor.range);
  out.put(tensor.memory_end);
  out.put(tensor.element_bytes);
  out.put(tensor.shape.has_value());
  if (tensor.shape) out.put(*tensor.shape);
  out.put(tensor.strided);
}

TensorArgument get_tensor(Reader& in) {
  TensorArgument tensor;
  tensor.declared = in.get<bool>();
  tensor.name = in.get_text();
  tensor.offset = in.get<std::uint64_t>();
  tensor.type = in.get_text();
  tensor.element = in.get_text();
  tensor.range = in.get<AddressRange>();
  tensor.memory_end = in.get<std::uint64_t>();
  tensor.element_bytes = in.get<std::uint32_t>();
  if (in.get<bool>()) tensor.shape = in.get<std::array<std::uint64_t, 4>>();
  tensor.strided = in.get<bool>();
  return tensor;
}

void put(Writer& out, const Setup& setup) {
  out.put(static_cast<std::uint64_t>(setup.config.tools.to_ullong()));
  out.put(setup.config.adversarial.has_value());
  out.put(setup.config.adversarial.value_or(0));
  out.put(setup.number);
  out.put(setup.host_rule);
  out.put(setup.replicates);
  out.put(static_cast<std::uint64_t>(setup.launch.tensors.size()));
  for (const TensorArgument& tensor : setup.launch.tensors) put(out, tensor);
  out.put_all(setup.launch.host_arguments);
  out.put(setup.launch.arena);
  out.put_all(setup.described);
}

std::optional<Setup> get_setup(Reader& in) {
  Setup setup;
  setup.config.tools = ToolSet(in.get<std::uint64_t>());
  const bool adversarial = in.get<bool>();
  const auto seed = in.get<std::uint64_t>();
  if (adversarial) setup.config.adversarial = seed;
  setup.number = in.get<std::uint64_t>();
  setup.host_rule = in.get<HostRule>();
  setup.replicates = in.get<bool>();
  for (std::uint64_t left = in.get_count(); left > 0 && in.ok(); --left)
    setup.launch.tensors.push_back(get_tensor(in));
  setup.launch.host_arguments = in.get_all<HostArgument>();
  setup.launch.arena = in.get<AddressRange>();
  setup.described = in.get_all<Tensor>();
  if (!in.ok()) return {};
  return setup;
}

// ---- Answers ---------------------------------------------------------------------------------

void put(Writer& out, const Allocation& allocation) {
  out.put(allocation.range);
  out.put(allocation.serial);
  out.put_text(allocation.label);
  out.put(allocation.freed);
  out.put(allocation.placement);
}

std::optional<Allocation> get_allocation(const Bytes& answer) {
  if (answer.empty()) return std::nullopt;
  Reader in(answer);
  Allocation allocation;
  allocation.range = in.get<AddressRange>();
  allocation.serial = in.get<std::uint64_t>();
  allocation.label = in.get_text();
  allocation.freed = in.get<bool>();
  allocation.placement = in.get<Placement>();
  return allocation;
}

void put(Writer& out, const Error& error) {
  out.put(error.code);
  out.put_text(error.what);
  out.put_text(error.hint);
}

Error get_error(const Bytes& answer) {
  Reader in(answer);
  Error error{in.get<ErrorCode>(), in.get_text()};
  error.hint = in.get_text();
  return error;
}

// ---- The results of a worker ----------------------------------------------------------------

// Without what only launches have that stay: releases that another workgroup acquires, and the
// instruction that stopped one.
void put(Writer& out, const WorkerResults& results) {
  put(out, results.findings);
  out.put_all(results.runs);
  out.put_all(results.sites);
  out.put(static_cast<std::uint64_t>(results.undefined_stores.size()));
  for (const UndefinedStore& store : results.undefined_stores) {
    out.put(store.range);
    out.put(store.told);
    out.put(store.computed);
    put(out, store.read);
    put(out, store.access);
  }
  out.put_all(results.moving);
  out.put_all(results.host_written);
  out.put_all(results.host_arguments);
}

WorkerResults get_worker(Reader& in) {
  WorkerResults results;
  results.findings = get_findings(in);
  results.runs = in.get_all<Run>();
  results.sites = in.get_all<WorkerResults::SiteResult>();
  for (std::uint64_t left = in.get_count(); left > 0 && in.ok(); --left) {
    UndefinedStore& store = results.undefined_stores.emplace_back();
    store.range = in.get<AddressRange>();
    store.told = in.get<bool>();
    store.computed = in.get<bool>();
    store.read = get_access(in);
    store.access = get_access(in);
  }
  results.moving = in.get_all<std::uint64_t>();
  results.host_written = in.get_all<AddressRange>();
  results.host_arguments = in.get_all<HostArgument>();
  return results;
}

}  // namespace

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
    put(out, setup_);
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
      if (const auto found = checker_.memory_.find(address)) put(out, *found);
      return out.data();
    }
    if (asked == Question::fault) {
      const auto bytes = in.get<std::uint64_t>();
      put(out, checker_.memory_.describe_fault(address, bytes, in.get_text()));
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
    std::vector<WorkerResults> workers;
    for (std::uint64_t left = in.get_count(); left > 0 && in.ok(); --left)
      workers.push_back(get_worker(in));
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

class CheckedPart final : public PartObserver {
 public:
  CheckedPart(Setup setup, const PartOfLaunch& part)
      : setup_(std::move(setup)), memory_(part.memory), ask_(part.ask) {
    for (const Tensor& tensor : setup_.described) global_.tensors().describe(tensor);
    global_.set_registered([this](std::uint64_t address) {
      const Bytes answer = ask(Question::registered, address);
      return Reader(answer).get<bool>();
    });
    global_.set_fetch([this](std::uint64_t address) { return fetch(address); });
    setup_.launch.find = [this](std::uint64_t address) {
      return get_allocation(ask(Question::block, address));
    };
    setup_.launch.describe_fault = [this](std::uint64_t address, std::uint64_t bytes,
                                          const std::string& access) {
      Writer words;
      words.put(Question::fault);
      words.put(address);
      words.put(bytes);
      words.put_text(access);
      return get_error(ask_(words.data()));
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
    out.put(static_cast<std::uint64_t>(results_.size()));
    for (const WorkerResults& results : results_) put(out, results);
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
  std::optional<Setup> read = get_setup(setup);
  if (!read) return nullptr;
  return std::make_unique<CheckedPart>(*std::move(read), part);
}

}  // namespace margay::check
