#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

#include <algorithm>
#include <utility>

#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp {

VtcmAllocator::VtcmAllocator(std::uint64_t capacity_bytes, bool packs)
    : capacity_(capacity_bytes), packs_(packs) {}

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
      const std::uint64_t highest = (end - bytes) / alignment * alignment;
      if (packs_ && lifetime == Lifetime::tensor) {
        if (large) return highest;
        best = {begin, 0};
      } else {
        if (large) consider(highest, bytes, best);
        consider(begin, bytes, best);
      }
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

void TaskGraph::reserve(const Size& size) {
  tasks_.reserve(size.tasks);
  queues_.reserve(size.tasks);
  need_begin_.reserve(size.tasks + 1);
  needs_.reserve(size.needs);
}

TaskIndex TaskGraph::add(const TaskSpec& spec, const TaskNeeds& needs) {
  // By queue, data first, the latest task first, each in one number.
  constexpr std::uint64_t kind = std::uint64_t{1} << 32;
  sorted_.clear();
  for (const TaskNeed& need : needs) {
    sorted_.push_back(queue_of(need.task) * (2 * kind) + (need.data ? 0 : kind) +
                      (no_task - need.task));
  }
  std::ranges::sort(sorted_);
  std::uint64_t before = ~std::uint64_t{0};
  for (const std::uint64_t need : sorted_) {
    const bool later_one_kept =
        need / kind == before / kind && is_in_order(std::uint32_t(need / (2 * kind)));
    if (need != before && !later_one_kept) {
      needs_.push_back({no_task - std::uint32_t(need), (need & kind) == 0});
    }
    before = need;
  }
  tasks_.push_back(spec);
  queues_.push_back(std::uint16_t(spec.core * qaic::thread_groups + std::uint32_t(spec.group)));
  need_begin_.push_back(needs_.size());
  return TaskIndex(tasks_.size() - 1);
}

void TaskGraph::complete() {
  predecessors_ = {};
  uses_ = {};
  users_ = {};
  if (!logging_) buffers_ = {};
}

BufferId TaskGraph::add_buffer(std::uint64_t bytes, VtcmAllocator::Allocation allocation) {
  const auto first = std::uint32_t(predecessors_.size());
  predecessors_.insert(predecessors_.end(), allocation.predecessors.begin(),
                       allocation.predecessors.end());
  buffers_.push_back({allocation.address, bytes, first, std::uint32_t(predecessors_.size()), 0});
  uses_.resize(buffers_.size() * cores_);
  return BufferId(buffers_.size() - 1);
}

TaskGraph::AddressRange TaskGraph::range_of(BufferId id, const BufferPart& part) const {
  const Buffer& buffer = buffers_[std::uint32_t(id)];
  return {buffer.address + buffer.bytes * part.first / part.count,
          buffer.address + divide_up(buffer.bytes * part.last, part.count)};
}

void TaskGraph::add_predecessors(const Buffer& buffer, const AddressRange& range) {
  for (std::uint32_t i = buffer.first_predecessor; i < buffer.last_predecessor; ++i) {
    const std::uint32_t earlier = predecessors_[i];
    const AddressRange place = range_of(BufferId(earlier), {});
    const bool there =
        place.begin < std::max(range.end, range.begin + 1) && range.begin < place.end + 1;
    if (there && std::ranges::find(pending_, earlier) == pending_.end())
      pending_.push_back(earlier);
  }
}

void TaskGraph::need_predecessors(const BufferUse& use, TaskNeeds& needs) {
  const bool whole = use.part.count == 1;
  if (whole && latest_.buffer != use.buffer) {
    ++latest_.number;
    latest_.buffer = use.buffer;
    latest_.needs.clear();
    latest_.of_core.assign(cores_, {});
  }
  if (const auto [begin, end] = whole ? latest_.of_core[use.core] : std::pair(0u, 0u);
      begin < end) {
    needs.insert(needs.end(), latest_.needs.begin() + begin, latest_.needs.begin() + end);
    return;
  }
  const std::size_t before = needs.size();
  const AddressRange range = range_of(use.buffer, use.part);
  pending_.clear();
  add_predecessors(buffers_[std::uint32_t(use.buffer)], range);
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (whole) buffers_[pending_[i]].looked_at = latest_.number;
    const CoreUse& users = use_of(BufferId(pending_[i]), use.core);
    // Who read all of it has waited for those who wrote before: of multicasts those are many.
    std::optional<TaskIndex> read;
    const auto elsewhere = [&](const User& user) {
      const AddressRange place = range_of(BufferId(pending_[i]), user.part);
      return parts_are_places_ && (place.end <= range.begin || range.end <= place.begin);
    };
    for_each(users.readers, [&](const User& reader) {
      if (elsewhere(reader)) return;
      needs.push_back({reader.task, false});
      if (cores_ > 1 && reader.part.count == 1) read = std::max(read.value_or(0), reader.task);
    });
    bool wrote_all = false;
    for_each(users.writers, [&](const User& writer) {
      if (elsewhere(writer)) return;
      if (!read || writer.task > *read) needs.push_back({writer.task, false});
      wrote_all = wrote_all || writer.part.count == 1;
    });
    // One that this core never wrote, or only parts of, did not wait for all before it: look
    // through it.
    if (!wrote_all) add_predecessors(buffers_[pending_[i]], range);
  }
  if (!whole) return;
  const auto first = std::uint32_t(latest_.needs.size());
  latest_.needs.insert(latest_.needs.end(), needs.begin() + std::ptrdiff_t(before), needs.end());
  latest_.of_core[use.core] = {first, std::uint32_t(latest_.needs.size())};
}

void TaskGraph::need(const BufferUse& use, TaskNeeds& needs) {
  if (use.kind == BufferUse::Kind::write) return need_predecessors(use, needs);
  const bool data = use.kind == BufferUse::Kind::read;
  const CoreUse& users = use_of(use.buffer, use.core);
  for_each(data ? users.writers : users.readers, [&](const User& user) {
    if (use.part.overlaps(user.part)) needs.push_back({user.task, data});
  });
}

void TaskGraph::record(TaskIndex task, const BufferUse& use) {
  const bool reads = use.kind == BufferUse::Kind::read;
  if (logging_) accesses_.push_back({task, use.buffer, use.core, !reads, use.part});
  if (buffers_[std::uint32_t(use.buffer)].looked_at == latest_.number)
    latest_.buffer = BufferId::none;
  CoreUse& users = use_of(use.buffer, use.core);
  if (use.kind == BufferUse::Kind::overwrite) {
    const auto replaced = [&](const User& user) { return use.part.contains(user.part); };
    erase_if(users.readers, replaced);
    erase_if(users.writers, replaced);
  }
  add_user(task, use.part, reads ? users.readers : users.writers);
}

template <class Predicate>
void TaskGraph::erase_if(Users& users, const Predicate& predicate) {
  for (Users* at = &users; *at != nobody;) {
    const Users here = *at;
    User& user = users_[here];
    if (!predicate(user)) {
      at = &user.next;
      continue;
    }
    *at = std::exchange(user.next, free_users_);
    free_users_ = here;
  }
}

void TaskGraph::add_user(TaskIndex task, const BufferPart& part, Users& users) {
  if (runs_in_program_order(task)) {
    const std::uint32_t queue = queue_of(task);
    erase_if(users, [&](const User& other) {
      return queue_of(other.task) == queue && part.contains(other.part);
    });
  }
  Users place = free_users_;
  if (place == nobody) {
    place = Users(users_.size());
    users_.emplace_back();
  } else {
    free_users_ = users_[place].next;
  }
  users_[place] = {task, part, users};
  users = place;
}

}  // namespace npuscope::npu::nsp
