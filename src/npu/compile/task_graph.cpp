#include "npu/compile/task_graph.hpp"

#include <algorithm>
#include <tuple>

namespace npuscope::npu {

TaskIndex TaskGraph::add(const TaskSpec& spec, TaskNeeds needs) {
  std::sort(needs.begin(), needs.end(), [this](const TaskNeed& a, const TaskNeed& b) {
    return std::tuple(queue_of(a.task), !a.data, b.task) <
           std::tuple(queue_of(b.task), !b.data, a.task);
  });
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const bool same_kind = i > 0 && needs[i - 1].data == needs[i].data;
    const bool repeated = same_kind && needs[i - 1].task == needs[i].task;
    const bool later_one_kept = same_kind && runs_in_program_order(needs[i].task) &&
                                queue_of(needs[i - 1].task) == queue_of(needs[i].task);
    if (!repeated && !later_one_kept) needs_.push_back(needs[i]);
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
    for (TaskIndex reader : use.readers) needs.push_back({reader, false});
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
    needs.push_back({reader, false});
  }
}

void TaskGraph::overwrites(TaskIndex task, BufferId id, std::uint32_t core) {
  buffers_[std::uint32_t(id)].cores[core] = {};
  writes(task, id, core);
}

void TaskGraph::reads(TaskIndex task, BufferId id, std::uint32_t core) {
  if (logging_) accesses_.push_back({task, id, core, false});
  record(task, buffers_[std::uint32_t(id)].cores[core].readers);
}

void TaskGraph::writes(TaskIndex task, BufferId id, std::uint32_t core) {
  if (logging_) accesses_.push_back({task, id, core, true});
  record(task, buffers_[std::uint32_t(id)].cores[core].writers);
}

void TaskGraph::record(TaskIndex task, std::vector<TaskIndex>& users) const {
  if (runs_in_program_order(task)) {
    for (TaskIndex& user : users) {
      if (queue_of(user) != queue_of(task)) continue;
      user = task;
      return;
    }
  }
  users.push_back(task);
}

}  // namespace npuscope::npu
