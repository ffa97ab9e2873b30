#include "ranks/worker/worker.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "exec/device/device_options.h"
#include "exec/device/dispatch.h"
#include "exec/instructions/all_rows.h"
#include "exec/program/program.h"
#include "exec/workgroup/launch_limits.h"
#include "ranks/launch_words.h"
#include "ranks/portions.h"
#include "ranks/worker/remote_memory.h"

namespace margay::ranks {
namespace {

/// A code object that the leader has loaded, in its memory.
class RemoteModule final : public LoadedModule {
 public:
  RemoteModule(CodeObject object, std::uint64_t base_address)
      : object_(std::move(object)), base_address_(base_address) {}
  [[nodiscard]] const CodeObject& object() const override { return object_; }
  [[nodiscard]] std::uint64_t base_address() const override { return base_address_; }

 private:
  CodeObject object_;
  std::uint64_t base_address_;
};

/// The workgroups that the leader gives.
class GivenWorkgroups final : public WorkgroupSource {
 public:
  GivenWorkgroups(RemoteMemory& memory, const Portions& portions)
      : memory_(memory), portions_(portions) {}

  [[nodiscard]] std::uint64_t next() override {
    const std::lock_guard lock(mutex_);
    if (given_.at_end() && !stopped_) {
      const auto chunk = memory_.ask(Message::more, {}, [](Reader& in) { return in.get<Chunk>(); });
      given_ = PortionWalk(portions_, chunk.begin, chunk.end);
      if (chunk.abandon) why_ = "abandoned";
      stopped_ = given_.at_end();
    }
    return stopped_ ? portions_.workgroups : given_.next();
  }
  [[nodiscard]] bool found_waiting() override {
    const std::lock_guard lock(mutex_);
    why_ = "waits";
    return false;
  }
  void stop() override {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  [[nodiscard]] ElsewhereReport report() const override { return {}; }

  /// Why the launch cannot be completed here; empty if it can.
  [[nodiscard]] std::string why() const {
    const std::lock_guard lock(mutex_);
    return why_;
  }

 private:
  RemoteMemory& memory_;
  const Portions portions_;
  mutable std::mutex mutex_;
  PortionWalk given_;
  bool stopped_ = false;
  std::string why_;
};

/// Tells the leader during a launch that this process works: one that was stopped, or is behind a
/// broken link, falls silent.
class Pulse {
 public:
  Pulse(RemoteMemory& memory, std::chrono::milliseconds period)
      : thread_([this, &memory, period] {
          std::unique_lock lock(mutex_);
          while (!ended_.wait_for(lock, period, [this] { return has_ended_; })) memory.say_alive();
        }) {}
  ~Pulse() {
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

 private:
  std::mutex mutex_;  // guards has_ended_
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread thread_;
};

class Worker {
 public:
  Worker(Connection connection, unsigned threads, MakePartObserver make_observer)
      : connection_(std::move(connection)),
        threads_(threads),
        make_observer_(std::move(make_observer)) {}

  /// Agrees with the leader on the device; false, after it was informed, if that is impossible.
  [[nodiscard]] bool greet(const std::string& name) {
    Bytes payload;
    const auto message = connection_.receive(payload);
    if (!message || *message != Message::hello) return false;
    Reader in(payload);
    const auto hello = decode<Hello>(in);
    pulse_ = std::chrono::milliseconds(1000) * hello.silence / 4;
    const Status prepared = prepare(hello);
    Writer answer;
    answer.put_text(prepared ? "" : prepared.error().what);
    answer.put(static_cast<std::uint32_t>(threads_));
    answer.put_text(name);
    return connection_.send(Message::hello, answer.data()) && prepared;
  }

  void serve() {
    Bytes payload;
    while (true) {
      const auto message = connection_.receive(payload);
      if (!message || *message != Message::launch) return;
      Writer out;
      Bytes observed;
      const Result<Counts> counts = run(payload, observed);
      if (counts) {
        out.put(*counts);
        out.put_all(observed);
        memory_->take_changes(out);
      } else {
        memory_->roll_back();
        out.put_text(counts.error().what);
      }
      if (!connection_.send(counts ? Message::done : Message::refuse, out.data())) return;
    }
  }

 private:
  [[nodiscard]] Status prepare(const Hello& hello) {
    if (hello.protocol != kProtocol)
      return fail(ErrorCode::invalid_argument, "it runs another version of Margay");
    options_.gpu = MARGAY_TRY(find_gpu(hello.gpu));
    options_.mfma = hello.mfma;
    options_.host_level = hello.level;
    rows_ = row_table(hello.level, options_.gpu->arch());
    if (rows_ == nullptr)
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("its processor cannot run the level {}, or its build does not have it",
                      hello.level));
    if (hello.mfma == MfmaMode::fast && hello.fast_method != fast_method(hello.level))
      return fail(ErrorCode::invalid_argument,
                  "its processor multiplies in another way with --mfma fast");
    memory_ = MARGAY_TRY(RemoteMemory::create(connection_, hello.arena));
    return {};
  }

  [[nodiscard]] Result<Counts> run(std::span<const std::byte> payload, Bytes& observed) {
    Reader in(payload);
    const auto words = in.get<LaunchWords>();
    const auto setup = in.get_bytes(in.get<std::uint64_t>());
    auto& module = modules_[words.module];
    if (!module) {
      const auto elf = in.get_bytes(in.left());
      module = std::make_shared<RemoteModule>(
          MARGAY_TRY(CodeObject::parse({elf.begin(), elf.end()})), words.base_address);
    }
    const Pulse pulse(*memory_, pulse_);
    memory_->begin_launch();
    const auto kernels = module->object().kernels();
    if (words.kernel >= kernels.size())
      return fail(ErrorCode::invalid_argument, "an unknown kernel");
    LaunchRequest request;
    request.module = module;
    request.kernel = &kernels[words.kernel];
    request.grid = words.grid;
    request.block = words.block;
    request.dynamic_lds_bytes = words.dynamic_lds_bytes;
    request.stack_bytes = words.stack_bytes;
    request.device = words.device;
    request.visible_devices = words.visible_devices;

    GivenWorkgroups given(*memory_, {request.grid.count(), words.stride});
    DispatchJob job;
    job.request = &request;
    job.program = MARGAY_TRY(program(words, *module));
    job.memory = &memory_->memory();
    job.addresses = words.addresses;
    job.threads = threads_;
    job.resident_limit = std::max<std::uint64_t>(1, resident_limit(request, *options_.gpu));
    job.options = &options_;
    job.share.source = std::shared_ptr<WorkgroupSource>(&given, [](WorkgroupSource*) {});
    std::unique_ptr<PartObserver> observer;
    if (!setup.empty()) {
      if (make_observer_) observer = make_observer_(setup, part_of(request, *job.program));
      if (!observer) return fail(ErrorCode::not_implemented, "unobserved");
      job.observer = observer.get();
    }
    const Result<LaunchReport> report = [&] {
      Dispatch running(job);
      (void)running.run(false);
      return running.report();
    }();
    // The leader runs it again, and says what is wrong with it.
    if (const std::string problem = memory_->take_problem(); !problem.empty())
      return fail(ErrorCode::system, "addresses");
    if (const std::string why = given.why(); !why.empty()) return fail(ErrorCode::interrupted, why);
    if (!report) return fail(report.error().code, "failed");
    if (memory_->has_mixed_atomics()) return fail(ErrorCode::interrupted, "mixed-atomics");
    if (observer) observed = observer->results();
    return Counts{report->wave_instructions, report->mfma_instructions};
  }

  [[nodiscard]] PartOfLaunch part_of(const LaunchRequest& request, Program& program) {
    return {request, program, memory_->memory(), [this](std::span<const std::byte> question) {
              Writer words;
              words.put_bytes(question);
              return memory_->ask(Message::ask, words, [](Reader& in) {
                const auto answer = in.get_bytes(in.left());
                return Bytes(answer.begin(), answer.end());
              });
            }};
  }

  [[nodiscard]] Result<Program*> program(const LaunchWords& words, const RemoteModule& module) {
    auto& program = programs_[{words.module, words.kernel}];
    if (!program) {
      const std::span image(reinterpret_cast<const std::byte*>(module.base_address()),
                            module.object().image_bytes());
      program = MARGAY_TRY(Program::create(*options_.gpu, module.object(),
                                           module.object().kernels()[words.kernel], image,
                                           module.base_address(), *rows_, options_.mfma));
    }
    return program.get();
  }

  Connection connection_;
  const unsigned threads_;
  const MakePartObserver make_observer_;
  std::chrono::milliseconds pulse_{0};
  DeviceOptions options_;
  const RowTable* rows_ = nullptr;
  std::unique_ptr<RemoteMemory> memory_;
  std::map<std::uint64_t, std::shared_ptr<RemoteModule>> modules_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::unique_ptr<Program>> programs_;
};

}  // namespace

void serve_leader(Connection connection, unsigned threads, const std::string& name,
                  const MakePartObserver& make_observer) {
  Worker worker(std::move(connection), threads, make_observer);
  if (worker.greet(name)) worker.serve();
}

}  // namespace margay::ranks
