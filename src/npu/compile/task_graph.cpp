#include "npu/compile/task_graph.hpp"

#include <algorithm>
#include <tuple>

namespace npuscope::npu {

TaskIndex TaskGraph::add(const TaskSpec& spec, TaskNeeds needs) {
  // Per queue and kind only the last task matters: queues run in order.
  std::sort(needs.begin(), needs.end(), [this](const TaskNeed& a, const TaskNeed& b) {
    return std::tuple(queue_of(a.task), !a.data, b.task) <
           std::tuple(queue_of(b.task), !b.data, a.task);
  });
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const bool later_one_kept = i > 0 && needs[i - 1].data == needs[i].data &&
                                queue_of(needs[i - 1].task) == queue_of(needs[i].task);
    if (!later_one_kept) needs_.push_back(needs[i]);
  }
  tasks_.push_back(spec);
  need_begin_.push_back(needs_.size());
  return TaskIndex(tasks_.size() - 1);
}

BufferId TaskGraph::add_buffer(std::uint64_t bytes, VtcmAllocator::Allocation allocation) {
  Buffer buffer;
  buffer.address = allocation.address;
  buffer.bytes = bytes;
  buffer.predecessors = std::move(allocation.predecessors);
  buffer.cores.resize(cores_);
  buffers_.push_back(std::move(buffer));
  return BufferId(buffers_.size() - 1);
}

void TaskGraph::need_to_read(BufferId id, std::uint32_t core, TaskNeeds& needs) const {
  for (TaskIndex writer : buffers_[std::uint32_t(id)].cores[core].writers) {
    needs.push_back({writer, true});
  }
}

void TaskGraph::need_to_write(BufferId id, std::uint32_t core, TaskNeeds& needs) const {
  // A predecessor that this core never wrote did not wait for those before it: look through it.
  std::vector<std::uint32_t> pending = buffers_[std::uint32_t(id)].predecessors;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const Buffer& predecessor = buffers_[pending[i]];
    const CoreUse& use = predecessor.cores[core];
    for (TaskIndex reader : use.readers) {
      if (reader != no_task) needs.push_back({reader, false});
    }
    for (TaskIndex writer : use.writers) needs.push_back({writer, false});
    if (!use.writers.empty()) continue;
    for (std::uint32_t earlier : predecessor.predecessors) {
      if (std::find(pending.begin(), pending.end(), earlier) == pending.end()) {
        pending.push_back(earlier);
      }
    }
  }
}

void TaskGraph::need_to_overwrite(BufferId id, std::uint32_t core, TaskNeeds& needs) const {
  for (TaskIndex reader : buffers_[std::uint32_t(id)].cores[core].readers) {
    if (reader != no_task) needs.push_back({reader, false});
  }
}

void TaskGraph::overwrites(TaskIndex task, BufferId id, std::uint32_t core) {
  buffers_[std::uint32_t(id)].cores[core] = {};
  writes(task, id, core);
}

void TaskGraph::reads(TaskIndex task, BufferId id, std::uint32_t core) {
  CoreUse& use = buffers_[std::uint32_t(id)].cores[core];
  const TaskSpec& spec = tasks_[task];
  if (spec.core == core) {
    use.readers[std::size_t(spec.group)] = task;
  } else {
    writes(task, id, core);  // a remote reader is kept like a writer: its queue is not the core's
  }
}

void TaskGraph::writes(TaskIndex task, BufferId id, std::uint32_t core) {
  auto& writers = buffers_[std::uint32_t(id)].cores[core].writers;
  for (TaskIndex& writer : writers) {
    if (queue_of(writer) == queue_of(task)) {
      writer = task;
      return;
    }
  }
  writers.push_back(task);
}

}  // namespace npuscope::npu
