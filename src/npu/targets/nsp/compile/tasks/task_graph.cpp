#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

#include <algorithm>
#include <tuple>

#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp {

VtcmAllocator::VtcmAllocator(std::uint64_t capacity_bytes) : capacity_(capacity_bytes) {}

std::optional<std::uint64_t> VtcmAllocator::find_gap(std::uint64_t bytes,
                                                     std::uint64_t from) const {
  std::uint64_t begin = from;
  auto next = live_.lower_bound(from);
  if (next != live_.begin()) begin = std::max(begin, std::prev(next)->second);
  for (; next != live_.end(); ++next) {
    if (next->first >= begin + bytes) break;
    begin = next->second;
  }
  if (begin + bytes > capacity_) return std::nullopt;
  return begin;
}

std::uint64_t VtcmAllocator::last_use(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t last = 0;
  auto region = last_owner_.upper_bound(begin);
  if (region != last_owner_.begin()) --region;
  for (; region != last_owner_.end() && region->first < end; ++region) {
    if (region->second.end > begin) last = std::max(last, region->second.used);
  }
  return last;
}

struct VtcmAllocator::Choice {
  std::optional<std::uint64_t> begin;
  std::uint64_t used = 0;
};

void VtcmAllocator::consider(std::uint64_t begin, std::uint64_t bytes, Choice& best) const {
  const std::uint64_t used = last_use(begin, begin + bytes);
  if (!best.begin || used < best.used) best = {begin, used};
}

std::optional<std::uint64_t> VtcmAllocator::choose(std::uint64_t bytes, Lifetime lifetime) const {
  constexpr int max_gaps = 8;  // compared with one another
  const bool large = lifetime == Lifetime::tensor && bytes >= capacity_ / 8;
  Choice best;
  if (lifetime == Lifetime::tile) {
    if (const auto next = find_gap(bytes, next_)) consider(*next, bytes, best);
  }
  std::uint64_t end = capacity_;
  int gaps = 0;
  for (auto next = live_.rbegin(); gaps < max_gaps; ++next) {
    const std::uint64_t begin = next == live_.rend() ? 0 : next->second;
    if (end >= begin + bytes) {
      ++gaps;
      if (large) consider((end - bytes) / alignment * alignment, bytes, best);
      consider(begin, bytes, best);
    }
    if (next == live_.rend()) break;
    end = next->first;
  }
  return best.begin;
}

std::optional<VtcmAllocator::Allocation> VtcmAllocator::allocate(std::uint64_t bytes,
                                                                 std::uint32_t owner,
                                                                 Lifetime lifetime) {
  const std::uint64_t size =
      std::max<std::uint64_t>((bytes + alignment - 1) / alignment * alignment, alignment);
  if (size > capacity_) return std::nullopt;
  const auto begin = choose(size, lifetime);
  if (!begin) return std::nullopt;
  ++steps_;
  live_.emplace(*begin, *begin + size);
  live_bytes_ += size;
  peak_live_bytes_ = std::max(peak_live_bytes_, live_bytes_);
  if (lifetime == Lifetime::tile) next_ = *begin + size;
  return Allocation{*begin, take_over(*begin, *begin + size, owner)};
}

void VtcmAllocator::release(std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  ++steps_;
  const std::uint64_t end = found->second;
  for (auto region = last_owner_.lower_bound(address);
       region != last_owner_.end() && region->first < end; ++region) {
    region->second.used = steps_;
  }
  live_bytes_ -= end - address;
  live_.erase(found);
}

std::uint64_t VtcmAllocator::largest_gap_without(
    const std::vector<std::uint64_t>& addresses) const {
  std::uint64_t largest = 0, begin = 0;
  for (const auto& [address, end] : live_) {
    if (std::ranges::binary_search(addresses, address)) continue;
    largest = std::max(largest, address - begin);
    begin = end;
  }
  return std::max(largest, capacity_ - begin);
}

std::vector<std::uint32_t> VtcmAllocator::take_over(std::uint64_t begin, std::uint64_t end,
                                                    std::uint32_t owner) {
  std::vector<std::uint32_t> predecessors;
  auto it = last_owner_.upper_bound(begin);
  if (it != last_owner_.begin()) --it;
  while (it != last_owner_.end() && it->first < end) {
    const std::uint64_t region_begin = it->first;
    const Region region = it->second;
    if (region.end <= begin) {
      ++it;
      continue;
    }
    predecessors.push_back(region.owner);
    it = last_owner_.erase(it);
    if (region_begin < begin) {
      last_owner_.emplace(region_begin, Region{begin, region.owner, region.used});
    }
    if (region.end > end) {
      it = last_owner_.emplace(end, Region{region.end, region.owner, region.used}).first;
    }
  }
  last_owner_.emplace(begin, Region{end, owner, steps_});
  std::ranges::sort(predecessors);
  predecessors.erase(std::unique(predecessors.begin(), predecessors.end()), predecessors.end());
  return predecessors;
}

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
    if (there && std::ranges::find(pending, earlier) == pending.end()) pending.push_back(earlier);
  }
}

void TaskGraph::need_predecessors(const BufferUse& use, TaskNeeds& needs) const {
  const AddressRange range = range_of(use.buffer, use.part);
  std::vector<std::uint32_t> pending;
  add_predecessors(buffers_[std::uint32_t(use.buffer)], range, pending);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const Buffer& predecessor = buffers_[pending[i]];
    const CoreUse& users = predecessor.cores[use.core];
    // Who read all of it has waited for those who wrote before: of multicasts those are many.
    std::optional<TaskIndex> read;
    for (const User& reader : users.readers) {
      needs.push_back({reader.task, false});
      if (cores_ > 1 && reader.part.count == 1) read = std::max(read.value_or(0), reader.task);
    }
    for (const User& writer : users.writers) {
      if (!read || writer.task > *read) needs.push_back({writer.task, false});
    }
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
