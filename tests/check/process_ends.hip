// Ends in the way that the first argument names, after a launch that writes past the end of its
// memory (second argument `broken`) or not (`fixed`). process_ends.py says what must be reported.
#include <hip/hip_runtime.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

constexpr int kElements = 32;
constexpr unsigned kEndless = 1u << 24;  // workgroups

bool is_broken = false;

}  // namespace

// The names are looked up by a Python script.
extern "C" __global__ void store(int* data) { data[threadIdx.x] = 1; }

// Runs longer than any timeout; the error happens in its first workgroup.
extern "C" __global__ void go_on(int* data) {
  if (blockIdx.x == 0) data[threadIdx.x] = 1;
  unsigned value = threadIdx.x;
  for (unsigned n = 0; n < 20000; ++n) {
    value = value * 1664525u + 1013904223u;
    asm volatile("" : "+v"(value));
  }
  if (value == 1) data[0] = 1;
}

namespace {

int* allocated() {
  int* data = nullptr;
  if (hipMalloc(&data, kElements * sizeof(int)) != hipSuccess) std::abort();
  return data;
}

void launch() {
  store<<<1, is_broken ? 2 * kElements : kElements>>>(allocated());
  (void)hipDeviceSynchronize();
}

hipError_t launch_long(unsigned workgroups) {
  go_on<<<workgroups, is_broken ? 2 * kElements : kElements>>>(allocated());
  return hipDeviceSynchronize();
}

/// Reads the code object now, so that the next launch begins at once.
void prepare() {
  (void)allocated();
  hipFuncAttributes attributes;
  (void)hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(go_on));
}

/// From now on, with everything prepared.
template <typename Act>
void after(int milliseconds, Act act) {
  prepare();
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    act();
  }).detach();
}
void signal_after(int milliseconds, int signal) {
  after(milliseconds, [=] { kill(getpid(), signal); });
}
/// The thread takes each of them before raise() returns: they do not become one.
void signal_twice_after(int milliseconds, int signal) {
  after(milliseconds, [=] {
    raise(signal);
    raise(signal);
  });
}

volatile std::sig_atomic_t handled = 0;

/// A program that handles SIGINT itself, as Python does.
int with_handler() {
  struct sigaction action = {};
  action.sa_handler = [](int) { handled = 1; };
  sigaction(SIGINT, &action, nullptr);
  signal_after(500, SIGINT);
  const hipError_t interrupted = launch_long(kEndless);
  struct sigaction now = {};
  sigaction(SIGINT, nullptr, &now);
  int* const data = allocated();
  store<<<1, kElements>>>(data);
  const hipError_t later = hipDeviceSynchronize();
  std::printf("%s, handler %d %s, then %s\n", hipGetErrorName(interrupted), int{handled},
              now.sa_handler == action.sa_handler ? "kept" : "lost", hipGetErrorName(later));
  return 0;
}

/// A child that is made while another thread's launch runs can launch as well.
int fork_beside_launch() {
  prepare();
  std::thread other([] { (void)launch_long(1000); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const pid_t child = fork();
  if (child == 0) {
    launch();
    std::printf("child: %s\n", hipGetErrorName(hipDeviceSynchronize()));
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  other.join();
  std::printf("parent: %s\n", hipGetErrorName(hipDeviceSynchronize()));
  return status;
}

int end(const std::string& how) {
  if (how == "fork" || how == "fork-exit") {
    const pid_t child = fork();
    if (child == 0) {
      launch();
      if (how == "fork-exit") std::exit(0);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return 0;
  }
  if (how == "orphan") {  // is still at work when its parent has ended
    int ends[2];
    if (pipe(ends) != 0) return 2;
    if (fork() == 0) {
      (void)allocated();
      if (write(ends[1], "x", 1) != 1) _exit(2);
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      launch();
      _exit(0);
    }
    char used = 0;
    return read(ends[0], &used, 1) == 1 ? 0 : 2;
  }
  if (how == "fork-after") {  // what the parent found is not the child's
    launch();
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    return 0;
  }
  if (how == "fork-beside") return fork_beside_launch();
  if (how == "handler") return with_handler();
  if (how == "refused") {
    store<<<1, kElements, is_broken ? 64 * 1024 + 16 : 0>>>(allocated());
    (void)hipDeviceSynchronize();
    return 0;
  }
  if (how == "no-room") {  // for a report of any length
    signal(SIGXFSZ, SIG_IGN);
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
  }
  if (how == "endless") {
    signal_after(13'000, SIGINT);
    (void)launch_long(kEndless);
    return 0;
  }
  if (how == "terminated") {  // as by `timeout`, whose signal comes to the group, too
    signal_twice_after(1000, SIGTERM);
    (void)launch_long(kEndless);
    return 0;
  }
  if (how == "killed-inside" || how == "interrupted") {
    signal_after(how == "interrupted" ? 1000 : 3000, how == "interrupted" ? SIGINT : SIGKILL);
    (void)launch_long(kEndless);
    return 0;
  }
  launch();
  if (how == "_exit") _exit(0);
  if (how == "quick_exit") std::quick_exit(0);
  if (how == "exec") execl("/bin/true", "true", nullptr);
  if (how == "exec-again") execl("/proc/self/exe", "again", "return", "fixed", nullptr);
  if (how == "abort") std::abort();
  if (how == "killed") kill(getpid(), SIGKILL);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  is_broken = std::string(arguments[2]) == "broken";
  return end(arguments[1]);
}
