// What fork() needs of a program with threads: in the child there is only the thread that called
// it, so that a mutex which another one held is never given back.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

namespace margay {

/// fork() waits until `mutex` is free, and the child finds it free, and whole what it guards. Only
/// for one that is held briefly and under which no other is taken.
class HeldOverFork {
 public:
  static void add(std::mutex& mutex) {
    All& all = HeldOverFork::all();
    const std::lock_guard lock(all.mutex);
    all.mutexes.push_back(&mutex);
  }
  static void remove(std::mutex& mutex) {
    All& all = HeldOverFork::all();
    const std::lock_guard lock(all.mutex);
    std::erase(all.mutexes, &mutex);
  }

 private:
  struct All {
    std::mutex mutex;
    std::vector<std::mutex*> mutexes;
  };
  /// Never destroyed: threads outlive main().
  static All& all() {
    static All* const one = [] {
      pthread_atfork(lock_all, unlock_all, unlock_all);
      return new All();
    }();
    return *one;
  }
  static void lock_all() {
    all().mutex.lock();
    for (std::mutex* const mutex : all().mutexes) mutex->lock();
  }
  static void unlock_all() {
    for (std::mutex* const mutex : all().mutexes) mutex->unlock();
    all().mutex.unlock();
  }
};

/// In the child: makes `object` new. What another thread may have been in the middle of changing is
/// left as it is, not destroyed.
template <typename T>
void begin_again_after_fork(T& object) {
  new (&object) T();
}

}  // namespace margay
