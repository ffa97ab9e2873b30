// RCCL, for ranks that are devices of one process. Source of the names: its public headers, ROCm 7.
#define MARGAY_LIBRARY "RCCL"
#define MARGAY_STATUS 5  // ncclInvalidUsage
#include "substitutes/refuse.h"

#include <cstdlib>
#include <cstring>
#include <random>

#include "substitutes/communicators.h"

// Of the runtime that the process has loaded, which is Margay's.
extern "C" {
int hipGetDevice(int* device);
int hipSetDevice(int device);
int hipGetDeviceCount(int* count);
int hipMalloc(void** memory, std::size_t size);
int hipFree(void* memory);
int hipStreamIsCapturing(void* stream, int* status);
int hipStreamGetDevice(void* stream, int* device);
}

namespace {

using namespace margay::substitutes;  // NOLINT: the exported functions below are its C face

constexpr int kVersion = 22606;  // NCCL_VERSION_CODE of ROCm 7.0's RCCL, 2.26.6
constexpr int kNoColor = -1;     // NCCL_SPLIT_NOCOLOR
constexpr int kOperations = 5;   // ncclNumOps; those behind it the program has made

// ncclUniqueId, as we fill it.
struct Id {
  std::uint64_t magic;
  std::int64_t process;
  std::uint64_t number[2];
  char rest[96];
};
static_assert(sizeof(Id) == 128);
constexpr std::uint64_t kMagic = 0x4c43435279616772;

thread_local std::string last_error;

int answer(const char* function, const Answer& given) {
  if (given.status == kSuccess) return kSuccess;
  last_error = std::string(function) + ": " + given.words;
  // Each rank says the same.
  static std::mutex mutex;
  static std::string said;
  const std::lock_guard lock(mutex);
  const char* const wanted = std::getenv("MARGAY_SUBSTITUTES");
  if (said != given.words && (wanted == nullptr || std::string_view(wanted) != "quiet"))
    std::fprintf(stderr, "margay: %s of RCCL: %s\n", function, given.words.c_str());
  said = given.words;
  return given.status;
}
int refuse(const char* function, int status, std::string words) {
  return answer(function, {status, std::move(words)});
}

// What is between ncclGroupStart and ncclGroupEnd.
struct Queued {
  Communicator* communicator;
  Call call;
};
thread_local int depth = 0;
thread_local std::vector<Queued> queue;
thread_local int group_failure = kSuccess;

int run_queue(std::vector<Queued> calls) {
  std::vector<std::pair<Queued*, std::shared_ptr<Made>>> made;
  for (Queued& queued : calls)
    made.emplace_back(&queued,
                      queued.communicator->world->make(queued.communicator->rank, queued.call));
  int status = kSuccess;
  for (const auto& [queued, one] : made) {
    const int got = answer(queued->call.function, queued->communicator->world->wait_for(one));
    if (status == kSuccess) status = got;
  }
  return status;
}

int check(const Communicator& communicator, const Call& call) {
  const char* const function = call.function;
  const int ranks = communicator.world->ranks();
  if (call.peer < 0 || call.peer >= ranks)
    return refuse(function, kInvalidArgument,
                  "there is no rank " + std::to_string(call.peer) + " in a communicator of " +
                      std::to_string(ranks));
  if (size_of_type(call.type) == 0)
    return refuse(function, kInvalidArgument, std::to_string(call.type) + " is no ncclDataType_t");
  const bool reduces = call.kind == Kind::all_reduce || call.kind == Kind::reduce_scatter ||
                       call.kind == Kind::reduce;
  if (reduces && !can_be_reduced(call.type))
    return refuse(function, kInvalidUsage,
                  std::string("reductions of ") + name_of_type(call.type) +
                      " are not implemented by the virtual device");
  if (reduces && (call.operation < 0 || call.operation >= kOperations))
    return refuse(function, kInvalidUsage,
                  "reductions other than sum, prod, max, min and avg are not implemented by the "
                  "virtual device");
  const bool receives =
      call.kind != Kind::send && (call.kind != Kind::reduce || communicator.rank == call.peer);
  const bool sends = call.kind != Kind::receive &&
                     (call.kind != Kind::broadcast || communicator.rank == call.peer);
  if (call.count != 0 && ((receives && call.receive == nullptr) || (sends && call.send == nullptr)))
    return refuse(function, kInvalidArgument, "a buffer is a null pointer");
  if (call.stream == nullptr) return kSuccess;
  int device = 0, capturing = 0;
  if (hipStreamGetDevice(call.stream, &device) != 0) return kHipError;
  if (device != communicator.device)
    return refuse(function, kInvalidArgument,
                  "the stream is one of device " + std::to_string(device) +
                      ", and the communicator is on device " + std::to_string(communicator.device));
  if (hipStreamIsCapturing(call.stream, &capturing) != 0) return kHipError;
  if (capturing != 0)
    return refuse(function, kInvalidUsage,
                  "collectives in a graph are not implemented by the virtual device: call it on a "
                  "stream that is not being captured");
  return kSuccess;
}

int add(Communicator* communicator, Call call) {
  int status = kSuccess;
  if (communicator == nullptr) {
    status = refuse(call.function, kInvalidArgument, "the communicator is a null pointer");
  } else if (call.kind != Kind::split) {
    status = check(*communicator, call);
  }
  if (status == kSuccess) {
    call.device = communicator->device;
    queue.push_back({communicator, call});
  }
  if (depth == 0) return status != kSuccess ? status : run_queue(std::exchange(queue, {}));
  if (group_failure == kSuccess) group_failure = status;
  return status;
}

std::mutex worlds_mutex;
std::map<std::pair<std::uint64_t, std::uint64_t>, std::weak_ptr<World>> worlds;

int join(const char* function, Communicator** out, int ranks, const Id& id, int rank) {
  int devices = 0, device = 0;
  if (hipGetDeviceCount(&devices) != 0 || hipGetDevice(&device) != 0) return kHipError;
  if (out == nullptr) return refuse(function, kInvalidArgument, "the result is a null pointer");
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return refuse(function, kInvalidArgument,
                  "there is no rank " + std::to_string(rank) + " of " + std::to_string(ranks));
  if (id.magic != kMagic)
    return refuse(function, kInvalidArgument, "the id is none of ncclGetUniqueId");
  if (id.process != getpid())
    return refuse(function, kInvalidUsage,
                  "the id was made by another process: ranks in several processes are not "
                  "implemented by the virtual device. One process can have up to 16 devices "
                  "(MARGAY_DEVICES)");
  if (ranks > devices)
    return refuse(function, kInvalidUsage,
                  "a communicator of " + std::to_string(ranks) +
                      " ranks needs as many devices in this process, which has " +
                      std::to_string(devices) + " (MARGAY_DEVICES)");
  std::shared_ptr<World> world;
  {
    const std::lock_guard lock(worlds_mutex);
    std::weak_ptr<World>& known = worlds[{id.number[0], id.number[1]}];
    world = known.lock();
    if (world == nullptr) known = world = std::make_shared<World>(ranks);
  }
  if (world->ranks() != ranks)
    return refuse(function, kInvalidArgument,
                  "other ranks have said that they are " + std::to_string(world->ranks()) +
                      ", and this one that they are " + std::to_string(ranks));
  const Answer joined = world->join(rank, device);
  if (joined.status == kSuccess) *out = new Communicator{world, rank, device};
  return answer(function, joined);
}

int leave(Communicator* communicator) {
  if (communicator == nullptr) return kSuccess;
  communicator->world->leave(communicator->rank);
  delete communicator;
  return kSuccess;
}

int give(const char* function, const Communicator* communicator, int* out,
         int (*value)(const Communicator&)) {
  if (communicator == nullptr || out == nullptr)
    return refuse(function, kInvalidArgument, "an argument is a null pointer");
  *out = value(*communicator);
  return kSuccess;
}

}  // namespace

extern "C" {

MARGAY_EXPORT const char* ncclGetErrorString(int result) {
  constexpr const char* kTexts[] = {"no error",
                                    "unhandled HIP error",
                                    "unhandled system error",
                                    "internal error",
                                    "invalid argument",
                                    "invalid usage, or not implemented by the virtual device",
                                    "remote process exited or there was a network error",
                                    "operation in progress"};
  return result >= 0 && result < 8 ? kTexts[result] : "unknown result code";
}
MARGAY_EXPORT const char* ncclGetLastError(Communicator* /*communicator*/) {
  return last_error.c_str();
}
MARGAY_EXPORT int ncclGetVersion(int* version) {
  if (version == nullptr) return refuse(__func__, kInvalidArgument, "the result is a null pointer");
  *version = kVersion;
  return kSuccess;
}

MARGAY_EXPORT int ncclGetUniqueId(Id* id) {
  if (id == nullptr) return refuse(__func__, kInvalidArgument, "the result is a null pointer");
  std::random_device random;
  const auto number = [&] { return std::uint64_t{random()} << 32 | random(); };
  *id = {kMagic, getpid(), {number(), number()}, {}};
  return kSuccess;
}
MARGAY_EXPORT int ncclCommInitRank(Communicator** out, int ranks, Id id, int rank) {
  return join(__func__, out, ranks, id, rank);
}
// What it configures is how RCCL does its work.
MARGAY_EXPORT int ncclCommInitRankConfig(Communicator** out, int ranks, Id id, int rank,
                                         void* /*configuration*/) {
  return join(__func__, out, ranks, id, rank);
}
MARGAY_EXPORT int ncclCommInitAll(Communicator** out, int ranks, const int* devices) {
  int before = 0, status = kSuccess;
  if (hipGetDevice(&before) != 0) return kHipError;
  Id id{};
  ncclGetUniqueId(&id);
  int made = 0;
  for (; made < ranks && status == kSuccess; ++made) {
    if (hipSetDevice(devices == nullptr ? made : devices[made]) != 0) status = kHipError;
    if (status == kSuccess) status = join(__func__, out + made, ranks, id, made);
  }
  for (int rank = 0; status != kSuccess && rank < made - 1; ++rank) leave(out[rank]);
  hipSetDevice(before);
  return status;
}
MARGAY_EXPORT int ncclCommSplit(Communicator* communicator, int color, int key, Communicator** out,
                                void* /*configuration*/) {
  if (out == nullptr || color < kNoColor)
    return refuse(
        __func__, kInvalidArgument,
        out == nullptr ? "the result is a null pointer" : std::to_string(color) + " is no color");
  return add(communicator,
             {.function = __func__, .kind = Kind::split, .peer = color, .key = key, .made = out});
}
MARGAY_EXPORT int ncclCommFinalize(Communicator* /*communicator*/) { return kSuccess; }
MARGAY_EXPORT int ncclCommDestroy(Communicator* communicator) { return leave(communicator); }
MARGAY_EXPORT int ncclCommAbort(Communicator* communicator) { return leave(communicator); }

MARGAY_EXPORT int ncclCommCount(const Communicator* communicator, int* out) {
  return give(__func__, communicator, out, [](const Communicator& c) { return c.world->ranks(); });
}
MARGAY_EXPORT int ncclCommUserRank(const Communicator* communicator, int* out) {
  return give(__func__, communicator, out, [](const Communicator& c) { return c.rank; });
}
MARGAY_EXPORT int ncclCommCuDevice(const Communicator* communicator, int* out) {
  return give(__func__, communicator, out, [](const Communicator& c) { return c.device; });
}
MARGAY_EXPORT int ncclCommGetAsyncError(const Communicator* communicator, int* out) {
  return give(__func__, communicator, out,
              [](const Communicator& c) { return c.world->failure(); });
}

MARGAY_EXPORT int ncclGroupStart() {
  ++depth;
  return kSuccess;
}
MARGAY_EXPORT int ncclGroupEnd() {
  if (depth == 0) return refuse(__func__, kInvalidUsage, "there was no ncclGroupStart");
  if (--depth != 0) return kSuccess;
  std::vector<Queued> calls = std::exchange(queue, {});
  const int status = std::exchange(group_failure, kSuccess);
  return status != kSuccess ? status : run_queue(std::move(calls));
}

MARGAY_EXPORT int ncclAllReduce(const void* send, void* receive, std::size_t count, int type,
                                int operation, Communicator* communicator, void* stream) {
  return add(communicator, {.function = __func__,
                            .kind = Kind::all_reduce,
                            .send = send,
                            .receive = receive,
                            .count = count,
                            .type = type,
                            .operation = operation,
                            .stream = stream});
}
MARGAY_EXPORT int ncclReduceScatter(const void* send, void* receive, std::size_t count, int type,
                                    int operation, Communicator* communicator, void* stream) {
  return add(communicator, {.function = __func__,
                            .kind = Kind::reduce_scatter,
                            .send = send,
                            .receive = receive,
                            .count = count,
                            .type = type,
                            .operation = operation,
                            .stream = stream});
}
MARGAY_EXPORT int ncclReduce(const void* send, void* receive, std::size_t count, int type,
                             int operation, int root, Communicator* communicator, void* stream) {
  return add(communicator, {.function = __func__,
                            .kind = Kind::reduce,
                            .send = send,
                            .receive = receive,
                            .count = count,
                            .type = type,
                            .operation = operation,
                            .peer = root,
                            .stream = stream});
}
MARGAY_EXPORT int ncclAllGather(const void* send, void* receive, std::size_t count, int type,
                                Communicator* communicator, void* stream) {
  return add(communicator, {.function = __func__,
                            .kind = Kind::all_gather,
                            .send = send,
                            .receive = receive,
                            .count = count,
                            .type = type,
                            .stream = stream});
}
MARGAY_EXPORT int ncclBroadcast(const void* send, void* receive, std::size_t count, int type,
                                int root, Communicator* communicator, void* stream) {
  return add(communicator, {.function = __func__,
                            .kind = Kind::broadcast,
                            .send = send,
                            .receive = receive,
                            .count = count,
                            .type = type,
                            .peer = root,
                            .stream = stream});
}
MARGAY_EXPORT int ncclBcast(void* buffer, std::size_t count, int type, int root,
                            Communicator* communicator, void* stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}
MARGAY_EXPORT int ncclSend(const void* send, std::size_t count, int type, int peer,
                           Communicator* communicator, void* stream) {
  return add(communicator, {.function = __func__,
                            .kind = Kind::send,
                            .send = send,
                            .count = count,
                            .type = type,
                            .peer = peer,
                            .stream = stream});
}
MARGAY_EXPORT int ncclRecv(void* receive, std::size_t count, int type, int peer,
                           Communicator* communicator, void* stream) {
  return add(communicator, {.function = __func__,
                            .kind = Kind::receive,
                            .receive = receive,
                            .count = count,
                            .type = type,
                            .peer = peer,
                            .stream = stream});
}

// All memory of the process is in reach of the kernels: registering has nothing to prepare.
MARGAY_EXPORT int ncclCommRegister(const Communicator* /*communicator*/, void* memory,
                                   std::size_t /*size*/, void** handle) {
  if (handle != nullptr) *handle = memory;
  return kSuccess;
}
MARGAY_EXPORT int ncclCommDeregister(const Communicator* /*communicator*/, void* /*handle*/) {
  return kSuccess;
}
MARGAY_EXPORT int ncclMemAlloc(void** memory, std::size_t size) {
  return hipMalloc(memory, size) == 0 ? kSuccess : kHipError;
}
MARGAY_EXPORT int ncclMemFree(void* memory) { return hipFree(memory) == 0 ? kSuccess : kHipError; }
}

MARGAY_REFUSE(ncclAllToAll)
MARGAY_REFUSE(ncclAllToAllv)
MARGAY_REFUSE(ncclCommInitRankScalable)
MARGAY_REFUSE(ncclCommShrink)
MARGAY_REFUSE(ncclCommWindowDeregister)
MARGAY_REFUSE(ncclCommWindowRegister)
MARGAY_REFUSE(ncclGather)
MARGAY_REFUSE(ncclGroupSimulateEnd)
MARGAY_REFUSE(ncclRedOpCreatePreMulSum)
MARGAY_REFUSE(ncclRedOpDestroy)
MARGAY_REFUSE(ncclScatter)
