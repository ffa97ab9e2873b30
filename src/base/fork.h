// Makes fork() safe in a program with threads: the child has only the thread that called it, so
// that a mutex held by another thread is never released there.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

namespace margay {

/// fork() waits until `mutex` is free; in the child it is free and what it guards is consistent.
/// Only for a mutex that is held briefly and under which no other is locked.
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

/// In the child: constructs `object` anew. The old object, which another thread may have been
/// changing, is not destroyed.
template <typename T>
void begin_again_after_fork(T& object) {
  new (&object) T();
}

}  // namespace margay
