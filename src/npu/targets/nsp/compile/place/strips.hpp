// Strips of rows, in which an HTP makes images and matrices: HVX works on one, a thread for each
// tile, while the HMX makes the next, and the HMX begins with the first that HVX has finished.
//
//   HMX           conv.0  conv.1  conv.2  conv.3
//   HVX thread 0          pool.0          pool.2
//   HVX thread 1                  pool.1          pool.3
#pragma once

#include <algorithm>
#include <functional>

#include "npu/targets/nsp/compile/tasks/task_graph.hpp"
#include "npu/targets/nsp/compile/tasks/vector_work.hpp"

namespace npuscope::npu::nsp {

// A tensor comes about in so many, one every `interval` cycles, each after HVX has worked on it for
// `load` cycles of one thread.
struct Strips {
  std::uint32_t count = 1;
  double interval = 0;
  double load = 0;
};

// The strips [first, last) of `all`, with those around them where windows reach beyond them.
inline BufferPart strips_of(std::uint64_t first, std::uint64_t last, std::uint64_t all,
                            bool reaches) {
  if (reaches && first > 0) --first;
  if (reaches) last = std::min(last + 1, all);
  return {std::uint32_t(first), std::uint32_t(last), std::uint32_t(all)};
}

// The tasks that an operator on strips becomes: each takes as many as there are threads that it
// keeps busy.
class StripCut {
 public:
  using Work = std::function<VectorWork(std::uint64_t bytes)>;
  // `rows`: of the result, an image; 0 where it is none. `bytes`: of the result.
  StripCut(const Target& target, const Strips& given, std::uint64_t rows, std::uint64_t bytes,
           const Work& work);

  bool follows() const { return all_ > 1; }  // false: it is one task that costs what it does whole
  std::uint64_t tasks() const { return divide_up(all_, together_); }
  VectorWork work(std::uint64_t task) const;
  std::uint64_t bytes(std::uint64_t task) const;
  BufferPart part(std::uint64_t task, bool reaches = false) const {
    return strips_of(task * together_, end_of(task), all_, reaches);
  }
  // In which the result comes about.
  const Strips& made() const { return made_; }

 private:
  std::uint64_t end_of(std::uint64_t task) const { return std::min((task + 1) * together_, all_); }
  std::uint64_t threads_to_keep_up(std::uint64_t most) const;

  std::uint64_t all_ = 1, together_ = 1;
  std::uint64_t bytes_;
  VectorWork one_;  // of a strip
  Strips made_;
};

}  // namespace npuscope::npu::nsp
