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

#include <tbb/enumerable_thread_specific.h>

namespace npuscope {

template <class T>
class PerThread {
 public:
  // That of the calling thread. What another thread of this one's arena may take up in the
  // meantime, such as a parallel_for, must not ask for it too.
  T& mine() { return objects_.local(); }

 private:
  tbb::enumerable_thread_specific<T> objects_;
};

}  // namespace npuscope
