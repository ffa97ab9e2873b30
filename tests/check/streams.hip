// Work of several streams that touches the same memory, with and without what orders it; and host
// code that changes what an asynchronous copy still needs.
#include <unistd.h>

#include <thread>

#include "check_program.h"

using namespace check_program;

constexpr unsigned kCount = 1 << 12;
constexpr unsigned kBytes = kCount * sizeof(int);
constexpr unsigned kGroup = 256;

__global__ void produce(int* out, int value) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = static_cast<int>(i) + value;  // BUG produce
}
__global__ void consume(int* out, const int* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = in[i];  // BUG consume
  out[i] = 2 * value;
}
__global__ void count(unsigned* counter) { atomicAdd(counter, 1); }
/// Signals that `out` is ready, and waits for the signal.
__global__ void hand_over(int* out, unsigned* flag) {
  out[threadIdx.x] = 5;
  __threadfence();
  if (threadIdx.x == 0) atomicExch(flag, 1);
}
__global__ void take_over(int* out, const int* in, unsigned* flag) {
  while (atomicAdd(flag, 0) == 0) __builtin_amdgcn_s_sleep(1);
  __threadfence();
  out[threadIdx.x] = in[threadIdx.x];
}
/// Signals the host.
__global__ void signal(unsigned* flag) {
  __threadfence_system();
  __hip_atomic_store(flag, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

class Stream {
 public:
  explicit Stream(unsigned flags = hipStreamDefault) {
    expect(hipStreamCreateWithFlags(&stream_, flags));
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { expect(hipStreamDestroy(stream_)); }
  operator hipStream_t() const { return stream_; }

 private:
  hipStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { expect(hipEventCreateWithFlags(&event_, hipEventDisableTiming)); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { expect(hipEventDestroy(event_)); }
  operator hipEvent_t() const { return event_; }

 private:
  hipEvent_t event_ = nullptr;
};

/// Pinned host memory.
class Pinned {
 public:
  explicit Pinned(int value = 0) {
    expect(hipHostMalloc(reinterpret_cast<void**>(&data_), kBytes, hipHostMallocDefault));
    for (unsigned i = 0; i < kCount; ++i) data_[i] = static_cast<int>(i) + value;
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { expect(hipHostFree(data_)); }
  int* get() const { return data_; }

 private:
  int* data_ = nullptr;
};

struct Buffers {
  DeviceArray<int> a{kCount, 0}, b{kCount, 0};
  bool right(int value = 1) const {
    return matches(b.host(), [&](std::size_t i) { return 2 * (static_cast<int>(i) + value); });
  }
};

void run_produce(hipStream_t stream, int* out, int value = 1) {
  produce<<<kCount / kGroup, kGroup, 0, stream>>>(out, value);
}
void run_consume(hipStream_t stream, int* out, const int* in) {
  consume<<<kCount / kGroup, kGroup, 0, stream>>>(out, in);
}
void order(hipStream_t first, hipStream_t second, hipEvent_t event) {
  expect(hipEventRecord(event, first));
  expect(hipStreamWaitEvent(second, event, 0));
}

enum class Between {
  nothing,
  event,
  early_event,
  host_event,
  stream_sync,
  device_sync,
  poll,
  query
};

bool two_streams(Between between) {
  Buffers m;
  Stream first, second;
  Event event;
  if (between == Between::early_event) expect(hipEventRecord(event, first));
  run_produce(first, m.a.get());
  switch (between) {
    case Between::nothing:
      break;
    case Between::early_event:
      expect(hipStreamWaitEvent(second, event, 0));
      break;
    case Between::event:
      order(first, second, event);
      break;
    case Between::host_event:
      expect(hipEventRecord(event, first));
      expect(hipEventSynchronize(event));
      break;
    case Between::query:
      expect(hipEventRecord(event, first));
      while (hipEventQuery(event) == hipErrorNotReady) {
      }
      break;
    case Between::stream_sync:
      expect(hipStreamSynchronize(first));
      break;
    case Between::device_sync:
      expect(hipDeviceSynchronize());
      break;
    case Between::poll:
      while (hipStreamQuery(first) == hipErrorNotReady) {
      }
      break;
  }
  run_consume(second, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  return m.right();
}

/// The wrong stream is waited for.
bool wrong_stream() {
  Buffers m;
  Stream first, second, third;
  run_produce(first, m.a.get());
  expect(hipStreamSynchronize(third));
  run_consume(second, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  return m.right();
}

/// What is ordered is what came before the event, by way of a third stream.
bool by_third() {
  Buffers m;
  Stream first, second, third;
  Event one, two;
  run_produce(first, m.a.get());
  order(first, third, one);
  order(third, second, two);
  run_consume(second, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  return m.right();
}

bool with_null(unsigned flags, bool null_first, bool marked = false) {
  Buffers m;
  Stream stream(flags), another(flags);
  Event event;
  run_produce(null_first ? nullptr : stream, m.a.get());
  // Blocking streams wait for the null stream, and that for them.
  if (marked) expect(hipEventRecord(event, nullptr));
  run_consume(null_first ? static_cast<hipStream_t>(stream)
              : marked   ? another
                         : nullptr,
              m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  return m.right();
}

/// A copy to the device on one stream, its use on another.
bool copy_to_device(bool waits) {
  Buffers m;
  Pinned host(7);
  Stream copies, kernels;
  Event event;
  expect(hipMemcpyAsync(m.a.get(), host.get(), kBytes, hipMemcpyHostToDevice, copies));
  if (waits) order(copies, kernels, event);
  run_consume(kernels, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  return m.right(7);
}

/// A copy from memory that is not pinned is done when it returns.
bool pageable() {
  Buffers m;
  const std::vector<int> host = ramp<int>(kCount, 1, 7);
  Stream copies, kernels;
  expect(hipMemcpyAsync(m.a.get(), host.data(), kBytes, hipMemcpyHostToDevice, copies));
  run_consume(kernels, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  return m.right(7);
}

/// The next result is written while the last one is copied.
bool copy_from_device(bool waits) {
  DeviceArray<int> a(kCount, 0);
  Pinned host;
  Stream copies, kernels;
  Event made, copied;
  run_produce(kernels, a.get(), 3);
  order(kernels, copies, made);
  expect(hipMemcpyAsync(host.get(), a.get(), kBytes, hipMemcpyDeviceToHost, copies));
  if (waits) order(copies, kernels, copied);
  run_produce(kernels, a.get(), 9);
  expect(hipDeviceSynchronize());
  return host.get()[5] == 8;
}

bool two_copies(bool same) {
  DeviceArray<int> a(2 * kCount, 0);
  Pinned x(1), y(2);
  Stream first, second;
  expect(hipMemcpyAsync(a.get(), x.get(), kBytes, hipMemcpyHostToDevice, first));
  expect(hipMemcpyAsync(a.get() + (same ? 0 : kCount), y.get(), kBytes, hipMemcpyHostToDevice,
                        second));
  expect(hipDeviceSynchronize());
  return a.host()[kCount + 1] == 3;
}

bool fill(bool waits) {
  Buffers m;
  Stream first, second;
  Event event;
  expect(hipMemsetAsync(m.a.get(), 0, kBytes, first));
  if (waits) order(first, second, event);
  run_produce(second, m.a.get());
  expect(hipStreamSynchronize(second));
  run_consume(second, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  return m.right();
}

/// Interleaved rows: 64 bytes here, 64 there.
bool interleaved(bool apart) {
  DeviceArray<int> a(kCount, 0);
  Pinned x(1), y(2);
  Stream first, second;
  const std::size_t width = apart ? 64 : 68;
  expect(hipMemcpy2DAsync(a.get(), 128, x.get(), 128, width, kBytes / 128, hipMemcpyHostToDevice,
                          first));
  expect(hipMemcpy2DAsync(a.get() + 16, 128, y.get(), 128, 64, kBytes / 128, hipMemcpyHostToDevice,
                          second));
  expect(hipDeviceSynchronize());
  return a.host()[1] == 2;
}

/// Two buffers: while one is filled and worked on, the other one's result is fetched.
bool double_buffered(bool waits) {
  constexpr int kRounds = 6;
  DeviceArray<int> in0(kCount), in1(kCount), out0(kCount), out1(kCount);
  int* const in[] = {in0.get(), in1.get()};
  int* const out[] = {out0.get(), out1.get()};
  Pinned from[2], to[2];
  Stream up, work, down;
  Event uploaded[2], worked[2], fetched[2];
  bool right = true;
  const auto take = [&](int round) {
    expect(hipEventSynchronize(fetched[round % 2]));
    for (unsigned i = 0; i < kCount; ++i)
      right = right && to[round % 2].get()[i] == 2 * (static_cast<int>(i) + round);
  };
  for (int round = 0; round < kRounds; ++round) {
    const int slot = round % 2;
    // The last fetched data was computed from the previous contents: all three steps are complete.
    if (round >= 2) take(round - 2);
    for (unsigned i = 0; i < kCount; ++i) from[slot].get()[i] = static_cast<int>(i) + round;
    expect(hipMemcpyAsync(in[slot], from[slot].get(), kBytes, hipMemcpyHostToDevice, up));
    order(up, work, uploaded[slot]);
    run_consume(work, out[slot], in[slot]);
    if (waits)
      order(work, down, worked[slot]);
    else
      expect(hipEventRecord(worked[slot], work));
    expect(hipMemcpyAsync(to[slot].get(), out[slot], kBytes, hipMemcpyDeviceToHost, down));
    expect(hipEventRecord(fetched[slot], down));
  }
  take(kRounds - 2);
  take(kRounds - 1);
  expect(hipDeviceSynchronize());
  return right;
}

/// Each host thread has its stream and its memory.
bool host_threads(bool share) {
  Buffers all[4];
  bool right[4] = {};
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([&, n] {
      Buffers& m = all[share ? n / 2 : n];
      for (int round = 0; round < 8; ++round) {
        run_produce(hipStreamPerThread, m.a.get(), n);
        run_consume(hipStreamPerThread, m.b.get(), m.a.get());
      }
    });
  for (std::thread& thread : threads) thread.join();
  expect(hipDeviceSynchronize());
  for (int n = 0; n < 4; ++n) right[n] = all[n].right(n);
  return right[0] && right[1] && right[2] && right[3];
}

/// What one host thread has waited for, another may use.
bool joined_threads() {
  Buffers m;
  Stream second;
  std::thread([&] {
    run_produce(hipStreamPerThread, m.a.get());
    expect(hipStreamSynchronize(hipStreamPerThread));
  }).join();
  run_consume(second, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  return m.right();
}

bool graph(bool waits) {
  Buffers m;
  Stream first, second;
  Event event;
  hipGraph_t described;
  hipGraphExec_t graph;
  expect(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal));
  expect(hipMemsetAsync(m.a.get(), 0, kBytes, first));
  run_produce(first, m.a.get());
  expect(hipStreamEndCapture(first, &described));
  expect(hipGraphInstantiate(&graph, described, nullptr, nullptr, 0));
  expect(hipGraphLaunch(graph, first));
  expect(hipGraphLaunch(graph, first));
  if (waits) order(first, second, event);
  run_consume(second, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  expect(hipGraphExecDestroy(graph));
  expect(hipGraphDestroy(described));
  return m.right();
}

/// Two branches of one graph.
bool branches(bool joined) {
  Buffers m;
  Stream first, second;
  Event fork, made, done;
  hipGraph_t described;
  hipGraphExec_t graph;
  expect(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal));
  order(first, second, fork);
  run_produce(first, m.a.get());
  if (joined) order(first, second, made);
  run_consume(second, m.b.get(), m.a.get());
  order(second, first, done);
  expect(hipStreamEndCapture(first, &described));
  expect(hipGraphInstantiate(&graph, described, nullptr, nullptr, 0));
  for (int round = 0; round < 3; ++round) expect(hipGraphLaunch(graph, first));
  expect(hipStreamSynchronize(first));
  expect(hipGraphExecDestroy(graph));
  expect(hipGraphDestroy(described));
  return m.right();
}

bool stream_memory(bool waits, bool frees) {
  Buffers m;
  Stream first, second;
  Event event;
  int* p = nullptr;
  expect(hipMallocAsync(reinterpret_cast<void**>(&p), kBytes, first));
  if (waits || frees) order(first, second, event);
  run_produce(second, p);
  run_consume(second, m.b.get(), p);
  if (waits) order(second, first, event);
  expect(hipFreeAsync(p, waits || frees ? first : second));
  expect(hipDeviceSynchronize());
  return m.right();
}

/// As a memory pool is used by who knows what he does: one stream, and its memory again and again.
bool stream_memory_again() {
  Buffers m;
  Stream first;
  for (int round = 0; round < 20; ++round) {
    int* p = nullptr;
    expect(hipMallocAsync(reinterpret_cast<void**>(&p), kBytes, first));
    run_produce(first, p);
    run_consume(first, m.b.get(), p);
    expect(hipFreeAsync(p, first));
  }
  expect(hipDeviceSynchronize());
  return m.right();
}

/// Kernels that run at the same time and count together.
bool counters() {
  DeviceArray<unsigned> counter(1, 0u);
  Stream first, second;
  count<<<4, 64, 0, first>>>(counter.get());
  count<<<4, 64, 0, second>>>(counter.get());
  expect(hipDeviceSynchronize());
  return counter.host()[0] == 512;
}

/// Two kernels at the same time, one of which waits for the other.
bool flag_between_kernels() {
  DeviceArray<int> a(64, 0), b(64, 0);
  DeviceArray<unsigned> flag(1, 0u);
  Stream first, second;
  hand_over<<<1, 64, 0, first>>>(a.get(), flag.get());
  take_over<<<1, 64, 0, second>>>(b.get(), a.get(), flag.get());
  expect(hipDeviceSynchronize());
  return b.host()[3] == 5;
}

/// The host waits for a word that a kernel writes.
bool flag_to_host() {
  Buffers m;
  Stream first, second;
  unsigned* flag = nullptr;
  expect(hipHostMalloc(reinterpret_cast<void**>(&flag), 4, hipHostMallocCoherent));
  *flag = 0;
  run_produce(first, m.a.get());
  signal<<<1, 1, 0, first>>>(flag);
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {
  }
  run_consume(second, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  expect(hipHostFree(flag));
  return m.right();
}

/// A host function signals another host thread.
bool host_function() {
  Buffers m;
  Stream first, second;
  static volatile bool told;
  told = false;
  run_produce(first, m.a.get());
  expect(hipLaunchHostFunc(first, [](void*) { told = true; }, nullptr));
  while (!told) {
  }
  run_consume(second, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  return m.right();
}

/// A stream waits for a word that another one writes.
bool stream_value() {
  Buffers m;
  Stream first, second;
  DeviceArray<unsigned> word(2, 0u);
  run_produce(first, m.a.get());
  expect(hipStreamWriteValue32(first, word.get(), 1, 0));
  expect(hipStreamWaitValue32(second, word.get(), 1, hipStreamWaitValueEq, 0xffffffffu));
  run_consume(second, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  return m.right();
}

/// The synchronous calls and hipFree order the host behind them.
bool synchronous_calls(bool by_free) {
  Buffers m;
  Stream first(hipStreamNonBlocking), second(hipStreamNonBlocking);
  int* p = nullptr;
  int value = 0;
  expect(hipMalloc(reinterpret_cast<void**>(&p), 64));
  run_produce(first, m.a.get());
  if (by_free)
    expect(hipFree(p));
  else
    expect(hipMemcpyWithStream(&value, m.a.get(), 4, hipMemcpyDeviceToHost, first));
  run_consume(second, m.b.get(), m.a.get());
  expect(hipDeviceSynchronize());
  if (!by_free) expect(hipFree(p));
  return m.right();
}

// ---- The host ----

/// The source of a copy gets its next contents.
bool source_again(bool waits) {
  DeviceArray<int> a(kCount, 0);
  Pinned host(1);
  Stream stream;
  expect(hipMemcpyAsync(a.get(), host.get(), kBytes, hipMemcpyHostToDevice, stream));
  if (waits) expect(hipStreamSynchronize(stream));
  for (unsigned i = 0; i < kCount; ++i) host.get()[i] = -1;
  expect(hipStreamSynchronize(stream));
  return a.host()[5] == 6;
}

/// By a system call: nothing about the memory keeps it from that.
bool source_from_file(bool waits) {
  DeviceArray<int> a(kCount, 0);
  Pinned host(1);
  Stream stream;
  Event event;
  int ends[2] = {-1, -1};
  if (pipe(ends) != 0) return false;
  const std::vector<int> next(64, 77);
  if (write(ends[1], next.data(), 256) != 256) return false;
  expect(hipMemcpyAsync(a.get(), host.get(), kBytes, hipMemcpyHostToDevice, stream));
  expect(hipEventRecord(event, stream));
  if (waits) expect(hipEventSynchronize(event));
  const bool was_read = read(ends[0], host.get() + 640, 256) == 256;
  expect(hipEventSynchronize(event));
  close(ends[0]);
  close(ends[1]);
  return was_read && host.get()[640] == 77 && a.host()[640] == 641;
}

/// The target of a copy is cleared behind it, by host code.
bool target_cleared(bool before) {
  DeviceArray<int> a(kCount, 5);
  Pinned host(1);
  Stream stream;
  if (before) std::memset(host.get(), 0, kBytes);
  expect(hipMemcpyAsync(host.get(), a.get(), kBytes, hipMemcpyDeviceToHost, stream));
  if (!before) std::memset(host.get(), 0, kBytes);
  expect(hipDeviceSynchronize());
  return host.get()[5] == 5;
}

/// The device writes to the source of an earlier copy, in the stream's order.
bool source_by_device() {
  DeviceArray<int> a(kCount, 0);
  Pinned host(1);
  Stream stream;
  expect(hipMemcpyAsync(a.get(), host.get(), kBytes, hipMemcpyHostToDevice, stream));
  run_produce(stream, host.get(), 9);
  expect(hipMemcpyAsync(a.get(), host.get(), kBytes, hipMemcpyHostToDevice, stream));
  expect(hipMemsetAsync(host.get(), 0, kBytes, stream));
  expect(hipStreamSynchronize(stream));
  return a.host()[5] == 14 && host.get()[5] == 0;
}

/// And a host function does.
bool source_by_host_function() {
  DeviceArray<int> a(kCount, 0);
  Pinned host(1);
  Stream stream;
  expect(hipMemcpyAsync(a.get(), host.get(), kBytes, hipMemcpyHostToDevice, stream));
  expect(hipLaunchHostFunc(
      stream, [](void* memory) { static_cast<int*>(memory)[5] = -1; }, host.get()));
  expect(hipStreamSynchronize(stream));
  return a.host()[5] == 6 && host.get()[5] == -1;
}

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"event-broken", [] { return two_streams(Between::nothing); }},
                   {"event-fixed", [] { return two_streams(Between::event); }},
                   {"early-broken", [] { return two_streams(Between::early_event); }},
                   {"early-fixed", [] { return two_streams(Between::host_event); }},
                   {"stream-sync", [] { return two_streams(Between::stream_sync); }},
                   {"device-sync", [] { return two_streams(Between::device_sync); }},
                   {"poll", [] { return two_streams(Between::poll); }},
                   {"query", [] { return two_streams(Between::query); }},
                   {"wrong-stream-broken", wrong_stream},
                   {"third", by_third},
                   {"null-broken", [] { return with_null(hipStreamNonBlocking, true); }},
                   {"null-fixed", [] { return with_null(hipStreamDefault, true); }},
                   {"non-blocking-broken", [] { return with_null(hipStreamNonBlocking, false); }},
                   {"non-blocking-fixed", [] { return with_null(hipStreamDefault, false); }},
                   {"null-between", [] { return with_null(hipStreamDefault, false, true); }},
                   {"to-device-broken", [] { return copy_to_device(false); }},
                   {"to-device-fixed", [] { return copy_to_device(true); }},
                   {"pageable", pageable},
                   {"from-device-broken", [] { return copy_from_device(false); }},
                   {"from-device-fixed", [] { return copy_from_device(true); }},
                   {"copies-broken", [] { return two_copies(true); }},
                   {"copies-fixed", [] { return two_copies(false); }},
                   {"fill-broken", [] { return fill(false); }},
                   {"fill-fixed", [] { return fill(true); }},
                   {"rows-broken", [] { return interleaved(false); }},
                   {"rows-fixed", [] { return interleaved(true); }},
                   {"pipeline-broken", [] { return double_buffered(false); }},
                   {"pipeline-fixed", [] { return double_buffered(true); }},
                   {"threads-broken", [] { return host_threads(true); }},
                   {"threads-fixed", [] { return host_threads(false); }},
                   {"joined-threads", joined_threads},
                   {"graph-broken", [] { return graph(false); }},
                   {"graph-fixed", [] { return graph(true); }},
                   {"branches-broken", [] { return branches(false); }},
                   {"branches-fixed", [] { return branches(true); }},
                   {"malloc-broken", [] { return stream_memory(false, false); }},
                   {"malloc-fixed", [] { return stream_memory(true, true); }},
                   {"free-broken", [] { return stream_memory(false, true); }},
                   {"free-fixed", stream_memory_again},
                   {"counters", counters},
                   {"flag", flag_between_kernels},
                   {"flag-to-host", flag_to_host},
                   {"host-function", host_function},
                   {"stream-value", stream_value},
                   {"memcpy", [] { return synchronous_calls(false); }},
                   {"free", [] { return synchronous_calls(true); }},
                   {"source-broken", [] { return source_again(false); }},
                   {"source-fixed", [] { return source_again(true); }},
                   {"source-read-broken", [] { return source_from_file(false); }},
                   {"source-read-fixed", [] { return source_from_file(true); }},
                   {"target-broken", [] { return target_cleared(false); }},
                   {"target-fixed", [] { return target_cleared(true); }},
                   {"source-by-device", source_by_device},
                   {"source-by-host-function", source_by_host_function}});
}
