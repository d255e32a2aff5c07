#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

#include <algorithm>
#include <tuple>

#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp {

TaskIndex TaskGraph::add(const TaskSpec& spec, const TaskNeeds& needs) {
  sorted_ = needs;
  std::ranges::sort(sorted_, [this](const TaskNeed& a, const TaskNeed& b) {
    return std::tuple(queue_of(a.task), !a.data, b.task) <
           std::tuple(queue_of(b.task), !b.data, a.task);
  });
  const TaskNeed* before = nullptr;
  for (const TaskNeed& need : sorted_) {
    const bool same_kind = before != nullptr && before->data == need.data;
    const bool repeated = same_kind && before->task == need.task;
    const bool later_one_kept = same_kind && runs_in_program_order(need.task) &&
                                queue_of(before->task) == queue_of(need.task);
    if (!repeated && !later_one_kept) needs_.push_back(need);
    before = &need;
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
    if (there && std::ranges::find(pending, earlier) == pending.end()) {
      pending.push_back(earlier);
    }
  }
}

void TaskGraph::need_predecessors(const BufferUse& use, TaskNeeds& needs) const {
  const AddressRange range = range_of(use.buffer, use.part);
  std::vector<std::uint32_t> pending;
  add_predecessors(buffers_[std::uint32_t(use.buffer)], range, pending);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const Buffer& predecessor = buffers_[pending[i]];
    const CoreUse& users = predecessor.cores[use.core];
    for (const User& reader : users.readers) needs.push_back({reader.task, false});
    for (const User& writer : users.writers) needs.push_back({writer.task, false});
    // One that this core never wrote, or only parts of, did not wait for all before it: look
    // through it.
    const bool wrote_all = std::ranges::any_of(
        users.writers, [](const User& writer) { return writer.part.count == 1; });
    if (!wrote_all) add_predecessors(predecessor, range, pending);
  }
}

void TaskGraph::need(const BufferUse& use, TaskNeeds& needs) const {
  if (use.kind == BufferUse::Kind::write) return need_predecessors(use, needs);
  const bool data = use.kind == BufferUse::Kind::read;
  const CoreUse& users = buffers_[std::uint32_t(use.buffer)].cores[use.core];
  for (const User& user : data ? users.writers : users.readers) {
    if (use.part.overlaps(user.part)) needs.push_back({user.task, data});
  }
}

void TaskGraph::record(TaskIndex task, const BufferUse& use) {
  const bool reads = use.kind == BufferUse::Kind::read;
  if (logging_) accesses_.push_back({task, use.buffer, use.core, !reads, use.part});
  CoreUse& users = buffers_[std::uint32_t(use.buffer)].cores[use.core];
  if (use.kind == BufferUse::Kind::overwrite) {
    const auto replaced = [&](const User& user) { return use.part.contains(user.part); };
    std::erase_if(users.readers, replaced);
    std::erase_if(users.writers, replaced);
  }
  add_user({task, use.part}, reads ? users.readers : users.writers);
}

void TaskGraph::add_user(const User& user, std::vector<User>& users) const {
  if (runs_in_program_order(user.task)) {
    const std::uint32_t queue = queue_of(user.task);
    std::erase_if(users, [&](const User& other) {
      return queue_of(other.task) == queue && user.part.contains(other.part);
    });
  }
  users.push_back(user);
}

}  // namespace npuscope::npu::nsp
