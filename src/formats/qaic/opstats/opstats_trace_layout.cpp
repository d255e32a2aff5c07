#include "formats/qaic/opstats/opstats_trace_layout.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/sort_rows.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"

namespace npuscope::qaic {
namespace {

constexpr std::uint32_t first_pid = 2000;  // as in the vendor's runtime traces: 2000 + core

// Length that kernels and transfers keep in nanoseconds, also those that took no tick or lie wholly
// behind their predecessor: an arrow inside a shorter one would bind to the slice after it, whether
// a viewer cuts or rounds times.
constexpr std::int64_t shortest_slice = 3;

std::uint32_t device_of(const Profile& profile) { return profile.units.front().device; }

std::uint32_t activation_of(const Profile& profile) {
  return std::uint32_t(profile_measure(profile, measure::activation).value_or(0));
}

bool chosen(const std::vector<std::uint32_t>& chosen_numbers, std::uint32_t number) {
  return chosen_numbers.empty() ||
         std::find(chosen_numbers.begin(), chosen_numbers.end(), number) != chosen_numbers.end();
}

// Earliest recorded moment; activations are not drawn, their place in time is not recorded.
std::int64_t first_tick(const Profile& profile) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    if (profile.spans.kind[i] != SpanKind::activation) {
      first = std::min(first, profile.spans.start[i]);
    }
  }
  return first;
}

bool is_thread(const Unit& unit) {
  return unit.engine != Engine::device && unit.engine != Engine::core && unit.engine != Engine::dma;
}

std::string process_name(const TraceProcess& process, std::string_view core_name,
                         bool several_devices, bool several_activations) {
  std::string name(core_name);
  if (several_devices) name += fmt::format(" device {}", process.device);
  if (several_activations) name += fmt::format(" activation {}", process.activation);
  return name;
}

}  // namespace

std::int64_t timer_kilohertz(const Profile& profile) {
  return std::int64_t(profile.clocks[index_of(profile.base_clock)].rate.value / 1e3 + 0.5);
}

std::size_t Lanes::acquire(std::int64_t start, std::int64_t end) {
  while (!busy_.empty() && busy_.top().first <= start) {
    free_.push(busy_.top().second);
    busy_.pop();
  }
  std::size_t lane = count_;
  if (free_.empty()) {
    count_ += 1;
  } else {
    lane = free_.top();
    free_.pop();
  }
  busy_.emplace(end, lane);
  return lane;
}

TraceLayout::TraceLayout(std::span<const Profile* const> profiles, const TraceOptions& options)
    : options_(options) {
  std::set<std::uint32_t> devices, activations;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::string_view> cores;
  origin_ = std::numeric_limits<std::int64_t>::max();
  for (const Profile* profile : profiles) {
    origin_ = std::min(origin_, first_tick(*profile));
    kilohertz_ = timer_kilohertz(*profile);
    devices.insert(device_of(*profile));
    activations.insert(activation_of(*profile));
    std::map<std::pair<std::uint32_t, StringId>, std::uint32_t> threads;
    for (const Unit& unit : profile->units) {
      if (is_thread(unit)) threads[{unit.core, unit.name}] += 1;
      if (unit.engine != Engine::core) continue;
      cores.emplace(std::tuple(unit.device, activation_of(*profile), unit.core),
                    profile->text(unit.name));
    }
    for (const auto& [group, count] : threads) {
      if (count < 2 || !options.merge_thread_groups) continue;
      std::uint32_t& max = merged_threads_[std::string(profile->text(group.second))];
      max = std::max(max, count);
    }
  }
  if (origin_ == std::numeric_limits<std::int64_t>::max()) origin_ = 0;  // nothing was recorded
  for (const auto& [key, name] : cores) {
    TraceProcess process;
    std::tie(process.device, process.activation, process.core) = key;
    process.pid = first_pid + std::uint32_t(processes_.size());
    process.name = process_name(process, name, devices.size() > 1, activations.size() > 1);
    process_index_[key] = std::uint32_t(processes_.size());
    processes_.push_back(std::move(process));
  }
}

// 64-bit throughout: the decoder keeps times below 2e18 ns.
std::int64_t TraceLayout::nanoseconds(std::int64_t ticks) const {
  const std::int64_t relative = ticks - origin_;
  const std::int64_t whole = relative / kilohertz_;
  return whole * 1'000'000 + relative % kilohertz_ * 1'000'000 / kilohertz_;
}

bool TraceLayout::is_selected(const Profile& profile, std::uint32_t core) const {
  return chosen(options_.devices, device_of(profile)) && chosen(options_.cores, core);
}

std::uint32_t TraceLayout::process_of(const Profile& profile, std::uint32_t core) const {
  return process_index_.at({device_of(profile), activation_of(profile), core});
}

std::uint32_t TraceLayout::track(std::uint32_t process, std::string name, const std::string& group,
                                 std::uint32_t sort_index) {
  const auto [found, is_new] =
      track_index_.try_emplace({process, name}, std::uint32_t(tracks_.size()));
  if (is_new) {
    TraceTrack added;
    added.process = process;
    added.tid = std::uint32_t(tracks_.size()) + 1;
    added.sort_index = sort_index;
    added.name = std::move(name);
    added.group = group;
    tracks_.push_back(std::move(added));
  }
  return found->second;
}

void TraceLayout::lay_out(const Profile& profile) {
  for (TraceTrack& track : tracks_) track.events.clear();
  for (TraceProcess& process : processes_) {
    process.counters.clear();
    process.series.clear();
  }
  add_execution(profile);
  const std::vector<Queue> queues = collect(profile);
  for (const Queue& queue : queues) place(queue);
  add_counters(queues);
  add_series(profile);
  flows_.clear();
  flows_out_ = {};
  flows_in_ = {};
  if (options_.flow_events) {
    mark_anchors(profile);
    add_flows(profile);
  }
}

void TraceLayout::add_execution(const Profile& profile) {
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const Unit& unit = profile.units[index_of(profile.spans.unit[i])];
    if (unit.engine != Engine::core || profile.spans.kind[i] != SpanKind::inference ||
        !is_selected(profile, unit.core)) {
      continue;
    }
    const auto name = std::string(profile.text(unit.name));
    Record record;
    record.cycles = profile.spans.processor_cycles[i];
    add(track(process_of(profile, unit.core), name, "", 0), TraceEvent::Type::execution, record,
        {profile.spans.start[i], profile.spans.start[i] + profile.spans.duration[i]});
  }
}

// The decoder lays the rows of one record side by side: sync, op, barrier, transfer.
std::vector<TraceLayout::Queue> TraceLayout::collect(const Profile& profile) const {
  std::vector<Queue> queues;
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> index;
  std::map<std::pair<std::uint32_t, StringId>, std::uint32_t> threads_of_group;
  for (const Unit& unit : profile.units) threads_of_group[{unit.core, unit.name}] += 1;
  const Spans& spans = profile.spans;
  UnitId previous = UnitId::none;
  Queue* queue = nullptr;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans.kind[i] != SpanKind::op) continue;
    const Unit& unit = profile.units[index_of(spans.unit[i])];
    if (spans.unit[i] != previous) {
      previous = spans.unit[i];
      queue = nullptr;
      if (is_selected(profile, unit.core)) {
        const std::string group(profile.text(unit.name));
        std::string name =
            fmt::format("{}_{}", profile.text(profile.units[index_of(unit.parent)].name), group);
        const std::uint32_t threads = threads_of_group[{unit.core, unit.name}];
        if (threads > 1 && !options_.merge_thread_groups) name += fmt::format("_T{}", unit.lane);
        const std::uint32_t process = process_of(profile, unit.core);
        const auto [found, is_new] = index.try_emplace({process, name}, queues.size());
        if (is_new) queues.push_back({process, unit.lane, name, group, {}});
        queue = &queues[found->second];
      }
    }
    if (queue == nullptr) continue;
    Record record{spans.op[i],
                  spans.unit[i],
                  spans.start[i],
                  spans.duration[i],
                  spans.processor_cycles[i],
                  -1,
                  -1,
                  -1,
                  spans.start[i] + spans.duration[i]};
    const auto of_record = [&](std::size_t row, SpanKind kind) {
      return row < spans.size() && spans.kind[row] == kind && spans.op[row] == record.op;
    };
    std::size_t next = i + 1;
    if (i > 0 && of_record(i - 1, SpanKind::sync)) record.sync = spans.duration[i - 1];
    if (of_record(next, SpanKind::barrier)) record.barrier = spans.duration[next++];
    if (of_record(next, SpanKind::transfer)) record.transfer = spans.duration[next];
    queue->records.push_back(record);
  }
  for (Queue& each : queues) {
    if (options_.merge_thread_groups) merge(each);
  }
  return queues;
}

// A group of threads becomes one: an op lasts from its first thread's begin to its last one's end,
// and costs what its slowest thread took; its cycles are the largest of the group, as in the
// summary, so that both add up to the same. In order of the ends, so that threads that run ahead of
// one another take nothing from when an op is complete, which is what others wait for.
void TraceLayout::merge(Queue& queue) {
  sort_rows(queue.records.begin(), queue.records.end(),
            [](const Record& a, const Record& b) { return a.op < b.op; });
  std::size_t kept = 0;
  for (const Record& record : queue.records) {
    if (kept == 0 || queue.records[kept - 1].op != record.op) {
      queue.records[kept++] = record;
      continue;
    }
    Record& group = queue.records[kept - 1];
    const bool synced = group.sync >= 0 || record.sync >= 0;
    const bool barriered = group.barrier >= 0 || record.barrier >= 0;
    if (record.start < group.start) {
      group.start = record.start;
      group.sync = record.sync;
    }
    if (record.end > group.end) {
      group.end = record.end;
      group.barrier = record.barrier;
    }
    group.kernel = std::max(group.kernel, record.kernel);
    group.cycles = std::max(group.cycles, record.cycles);
    group.transfer = std::max(group.transfer, record.transfer);
    // It has waited if any thread has.
    if (synced) group.sync = std::max<std::int64_t>(group.sync, 0);
    if (barriered) group.barrier = std::max<std::int64_t>(group.barrier, 0);
  }
  queue.records.resize(kept);
  const auto ends_before = [](const Record& a, const Record& b) { return a.end < b.end; };
  if (!std::is_sorted(queue.records.begin(), queue.records.end(), ends_before)) {
    sort_rows(queue.records.begin(), queue.records.end(), ends_before);
  }
  merge_waits(queue);
}

// A group waits as long as none of its threads works.
void TraceLayout::merge_waits(Queue& queue) {
  std::int64_t idle_since = std::numeric_limits<std::int64_t>::min();
  for (Record& record : queue.records) {
    record.start = std::max(record.start, std::min(idle_since, record.end));
    if (record.sync > 0 && record.start - record.sync < idle_since) {
      record.sync = record.start - idle_since;
    }
    idle_since = record.end;
  }
}

TraceEvent& TraceLayout::add(std::uint32_t track, TraceEvent::Type type, const Record& record,
                             Interval time) {
  TraceTrack& on = tracks_[track];
  TraceEvent event;
  event.type = type;
  event.op = record.op;
  event.start = std::max(nanoseconds(time.begin), on.end);
  const bool carries_arrows = type == TraceEvent::Type::op || type == TraceEvent::Type::transfer;
  const std::int64_t end =
      std::max(nanoseconds(time.end), event.start + (carries_arrows ? shortest_slice : 0));
  event.duration = end - event.start;
  on.end = std::max(end, event.start + 1);  // no two slices of a track begin together
  event.ucycles = type == TraceEvent::Type::op ? record.kernel : length_of(time);
  const bool measured = type == TraceEvent::Type::op || type == TraceEvent::Type::execution;
  event.pcycles = measured ? record.cycles : -1;
  on.events.push_back(event);
  return on.events.back();
}

void TraceLayout::place(const Queue& queue) {
  // Of a thread's tracks: its own, those of its transfers, that of its barriers.
  constexpr std::uint32_t tracks_per_thread = 1000;
  const std::uint32_t sort_index = 1 + queue.first_lane * tracks_per_thread;
  const std::uint32_t main = track(queue.process, queue.name, queue.group, sort_index);
  for (const Record& record : queue.records) {
    if (record.sync >= 0) {
      add(main, TraceEvent::Type::sync, record, {record.start - record.sync, record.start});
    }
    add(main, TraceEvent::Type::op, record, {record.start, record.end});
    if (record.transfer >= 0) place_transfer(queue, record);
    if (record.barrier >= 0 && options_.show_barrier_events) {
      const std::uint32_t barriers = track(queue.process, queue.name + "_Barrier", queue.group,
                                           sort_index + tracks_per_thread - 1);
      add(barriers, TraceEvent::Type::barrier, record, {record.end, record.end + record.barrier});
    }
  }
}

void TraceLayout::place_transfer(const Queue& queue, const Record& record) {
  std::string name = queue.name + "_DMA";
  const std::size_t lane = lanes_[{queue.process, queue.name}].acquire(
      nanoseconds(record.start), nanoseconds(record.start + record.transfer));
  if (lane > 0) name += fmt::format("_{}", lane);
  const auto sort_index =
      std::uint32_t(2 + queue.first_lane * 1000 + std::min<std::size_t>(lane, 900));
  add(track(queue.process, std::move(name), queue.group, sort_index), TraceEvent::Type::transfer,
      record, {record.start, record.start + record.transfer});
}

// The effective clock of each core, over windows of 100 µs of work of its busiest group.
void TraceLayout::add_counters(const std::vector<Queue>& queues) {
  const std::int64_t window = kilohertz_ / 10;
  std::map<std::uint32_t, std::pair<std::int64_t, const Queue*>> busiest;  // by process
  for (const Queue& queue : queues) {
    std::int64_t busy = 0;
    for (const Record& record : queue.records) busy += record.kernel;
    auto& best = busiest[queue.process];
    if (best.second == nullptr || busy > best.first) best = {busy, &queue};
  }
  for (const auto& [process, best] : busiest) {
    std::int64_t ticks = 0, cycles = 0, begin = 0;
    auto& counters = processes_[process].counters;
    const auto emit = [&] {
      if (ticks > 0) {
        counters.push_back(
            {nanoseconds(begin), double(cycles) * double(kilohertz_) / 1e3 / double(ticks)});
      }
      ticks = cycles = 0;
    };
    for (const Record& record : best.second->records) {
      if (ticks == 0) begin = record.start;
      ticks += record.kernel;
      cycles += record.kernel > 0 ? record.cycles : 0;
      if (ticks >= window) emit();
    }
    if (counters.empty()) emit();
  }
}

}  // namespace npuscope::qaic
