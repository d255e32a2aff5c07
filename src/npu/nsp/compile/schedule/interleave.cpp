#include "npu/nsp/compile/schedule/interleave.hpp"

#include <algorithm>
#include <numeric>

namespace npuscope::npu::nsp {
namespace {

// Operators whose tiles are taken in turn, and the tasks that stand among them.
class Group {
 public:
  Group(const TaskGraph& tasks, std::vector<TaskIndex>& order) : tasks_(tasks), order_(order) {}

  // The tasks [begin, end): those of one operator, and those before them that are of none.
  void add(TaskIndex begin, TaskIndex end) {
    const std::uint32_t tiles = tasks_.tasks()[end - 1].tiles;
    if (begin_ < end_ && (tiles != tiles_ || !can_take(begin, end))) close(begin);
    if (begin_ == end_) {
      while (begin < end && tasks_.tasks()[begin].tiles < 2) ++begin;
      begin_ = end_ = begin;
      tiles_ = tiles;
      late_.clear();
      hmx_is_late_ = false;
      if (!can_take(begin, end)) begin_ = end;
    }
    end_ = end;
  }

  // Nothing after `next` takes part.
  void close(TaskIndex next) {
    std::vector<TaskIndex> early, mine, late;
    for (TaskIndex i = begin_; i < end_; ++i) {
      (is_tile(i) ? mine : is_late(i) ? late : early).push_back(i);
    }
    std::stable_sort(mine.begin(), mine.end(), [&](TaskIndex a, TaskIndex b) {
      return tasks_.tasks()[a].tile < tasks_.tasks()[b].tile;
    });
    auto at = order_.begin() + begin_;
    for (const auto* part : {&early, &mine, &late}) at = std::copy(part->begin(), part->end(), at);
    begin_ = end_ = next;
  }

 private:
  bool is_tile(TaskIndex i) const { return tasks_.tasks()[i].tiles > 1; }
  bool is_late(TaskIndex i) const { return late_[i - begin_]; }

  // Also notes which of the tasks that are no tiles need one of the group's, if by another of them:
  // they are late. In turn with the others, a tile may need none of those, nor a later tile of an
  // operator before. HVX and HMX queues must keep their order otherwise: a task on HVX that is no
  // tile ends the group, and after a late one on the HMX all there are late.
  bool can_take(TaskIndex begin, TaskIndex end) {
    late_.resize(begin - begin_, false);
    for (TaskIndex i = begin; i < end; ++i) {
      const bool on_hmx = tasks_.tasks()[i].group == qaic::ThreadGroup::hmx;
      // What comes from another device may wait for what this one sends after its tiles.
      bool late = (on_hmx && hmx_is_late_) || tasks_.tasks()[i].peer_bytes > 0;
      if (!is_tile(i) && tasks_.tasks()[i].group == qaic::ThreadGroup::hvx) return false;
      for (const TaskNeed& need : tasks_.needs(i)) {
        if (need.task < begin_) continue;
        if (!is_tile(need.task)) {
          late = late || is_late(need.task);
        } else if (!is_tile(i)) {
          late = true;
        } else if (tasks_.tasks()[need.task].tile > tasks_.tasks()[i].tile) {
          return false;
        }
      }
      if (late && is_tile(i)) return false;
      hmx_is_late_ = hmx_is_late_ || (on_hmx && late);
      late_.push_back(late);
    }
    return true;
  }

  const TaskGraph& tasks_;
  std::vector<TaskIndex>& order_;
  TaskIndex begin_ = 0, end_ = 0;
  std::uint32_t tiles_ = 0;
  std::vector<bool> late_;  // from begin_ on
  bool hmx_is_late_ = false;
};

}  // namespace

std::vector<TaskIndex> interleave_tiles(const TaskGraph& tasks) {
  std::vector<TaskIndex> order(tasks.tasks().size());
  std::iota(order.begin(), order.end(), 0u);
  Group group(tasks, order);
  const auto& all = tasks.tasks();
  TaskIndex begin = 0;  // of what has not been given to the group
  for (TaskIndex i = 0; i < all.size(); ++i) {
    if (all[i].tiles < 2) continue;
    TaskIndex end = i + 1;
    for (TaskIndex j = end; j < all.size() && all[j].node == all[i].node; ++j) {
      if (all[j].tiles > 1) end = j + 1;
    }
    group.add(begin, end);
    begin = end;
    i = end - 1;
  }
  group.close(TaskIndex(all.size()));
  return order;
}

}  // namespace npuscope::npu::nsp
