// What the parts of a parallel_for need for a moment, an object for each thread, so that the next
// part needs no memory of its own:
//
//   PerThread<std::vector<std::int64_t>> own;
//   parallel_for(units, [&](std::size_t unit) { find_self_times(spans_of(unit), own.mine()); … });
//
// Unlike thread_local objects these are gone with the question that they were for, and one that
// cannot be made throws std::bad_alloc: where glibc has no memory to note that a thread has
// something to destroy, it ends the program.
#pragma once

#include <mutex>
#include <thread>
#include <unordered_map>

namespace npuscope {

template <class T>
class PerThread {
 public:
  // That of the calling thread. To be asked for once for a part, not for each of millions of spans.
  // What this thread may take up before the part is done, as in a parallel_for within it, must not
  // ask for it too.
  T& mine() {
    const std::lock_guard lock(mutex_);
    return objects_[std::this_thread::get_id()];
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::thread::id, T> objects_;
};

}  // namespace npuscope
