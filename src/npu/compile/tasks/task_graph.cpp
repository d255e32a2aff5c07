#include "npu/compile/tasks/task_graph.hpp"

#include <algorithm>
#include <tuple>

#include "npu/compile/tasks/device_tensor.hpp"

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

void TaskGraph::need_to_read(BufferId id, std::uint32_t core, TaskNeeds& needs,
                             const BufferPart& part) const {
  for (const Use& writer : buffers_[std::uint32_t(id)].cores[core].writers) {
    if (part.overlaps(writer.part)) needs.push_back({writer.task, true});
  }
}

TaskGraph::AddressRange TaskGraph::range_of(BufferId id, const BufferPart& part) const {
  const Buffer& buffer = buffers_[std::uint32_t(id)];
  return {buffer.address + buffer.bytes * part.first / part.count,
          buffer.address + divide_up(buffer.bytes * part.last, part.count)};
}

void TaskGraph::add_predecessors(const Buffer& buffer, const AddressRange& range,
                                 std::vector<std::uint32_t>& pending) const {
  for (std::uint32_t earlier : buffer.predecessors) {
    const AddressRange place = range_of(BufferId(earlier), {});
    const bool there =
        place.begin < std::max(range.end, range.begin + 1) && range.begin < place.end + 1;
    if (there && std::find(pending.begin(), pending.end(), earlier) == pending.end()) {
      pending.push_back(earlier);
    }
  }
}

void TaskGraph::need_to_write(BufferId id, std::uint32_t core, TaskNeeds& needs,
                              const BufferPart& part) const {
  const AddressRange range = range_of(id, part);
  std::vector<std::uint32_t> pending;
  add_predecessors(buffers_[std::uint32_t(id)], range, pending);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const Buffer& predecessor = buffers_[pending[i]];
    const CoreUse& use = predecessor.cores[core];
    for (const Use& reader : use.readers) needs.push_back({reader.task, false});
    for (const Use& writer : use.writers) needs.push_back({writer.task, false});
    // One that this core never wrote, or only parts of, did not wait for all before it: look
    // through it.
    const bool wrote_all = std::any_of(use.writers.begin(), use.writers.end(),
                                       [](const Use& writer) { return writer.part.count == 1; });
    if (!wrote_all) add_predecessors(predecessor, range, pending);
  }
}

void TaskGraph::need_to_overwrite(BufferId id, std::uint32_t core, TaskNeeds& needs,
                                  const BufferPart& part) const {
  for (const Use& reader : buffers_[std::uint32_t(id)].cores[core].readers) {
    if (part.overlaps(reader.part)) needs.push_back({reader.task, false});
  }
}

void TaskGraph::overwrites(TaskIndex task, BufferId id, std::uint32_t core,
                           const BufferPart& part) {
  const auto replaced = [&](const Use& use) { return part.contains(use.part); };
  CoreUse& uses = buffers_[std::uint32_t(id)].cores[core];
  std::erase_if(uses.readers, replaced);
  std::erase_if(uses.writers, replaced);
  writes(task, id, core, part);
}

void TaskGraph::reads(TaskIndex task, BufferId id, std::uint32_t core, const BufferPart& part) {
  if (logging_) accesses_.push_back({task, id, core, false, part});
  record({task, part}, buffers_[std::uint32_t(id)].cores[core].readers);
}

void TaskGraph::writes(TaskIndex task, BufferId id, std::uint32_t core, const BufferPart& part) {
  if (logging_) accesses_.push_back({task, id, core, true, part});
  record({task, part}, buffers_[std::uint32_t(id)].cores[core].writers);
}

void TaskGraph::record(const Use& use, std::vector<Use>& users) const {
  if (runs_in_program_order(use.task)) {
    const std::uint32_t queue = queue_of(use.task);
    std::erase_if(users, [&](const Use& user) {
      return queue_of(user.task) == queue && use.part.contains(user.part);
    });
  }
  users.push_back(use);
}

}  // namespace npuscope::npu
