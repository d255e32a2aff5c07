#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/ascend/profile.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::ascend {
namespace {

// "hcom_allReduce__586_0_1": ranks that exchange data are a group, 586.
std::string_view group_of(std::string_view collective) {
  const std::size_t at = collective.find("__");
  if (at == collective.npos) return {};
  collective.remove_prefix(at + 2);
  return collective.substr(0, collective.find('_'));
}

class EventMaker {
 public:
  explicit EventMaker(const KernelTable& table) : table_(table) {
    events_.file = table.file;
    events_.strings = table.strings;
    events_.notes = table.notes;
  }

  chrome::Events make(std::vector<std::uint32_t>& rows) {
    rows.clear();
    for (const Kernel& kernel : table_.kernels) {
      rows.push_back(std::uint32_t(events_.slices.size()));
      add(thread_of(kernel), kernel.name, kernel.start_ns, kernel.duration_ns);
    }
    add_steps();
    return std::move(events_);
  }

 private:
  void add(std::uint32_t thread, StringId name, std::int64_t start, std::int64_t duration) {
    events_.slices.thread.push_back(thread);
    events_.slices.name.push_back(name);
    events_.slices.start.push_back(start);
    events_.slices.duration.push_back(duration);
  }

  StringId intern(std::string_view text) { return events_.strings.intern(text); }

  std::uint32_t thread_named(const std::string& process_id, std::string_view process,
                             const std::string& thread) {
    const auto [found, is_new] =
        threads_.try_emplace({process_id, thread}, std::uint32_t(events_.threads.size()));
    if (is_new) {
      chrome::Thread made;
      made.process_id = intern(process_id);
      made.thread_id = intern(thread);
      made.process_name = intern(process);
      made.thread_name = intern(thread);
      events_.threads.push_back(made);
    }
    return found->second;
  }

  std::uint32_t thread_of(const Kernel& kernel) {
    if (kernel.is_collective) {
      return thread_named(
          fmt::format("HCCL of {}", kernel.device), "HCCL",
          fmt::format("Group {} Communication", group_of(table_.strings[kernel.name])));
    }
    const auto [found, is_new] = streams_.try_emplace({kernel.device, kernel.stream});
    if (is_new) {
      found->second = thread_named(
          fmt::format("NPU {}", kernel.device), "Ascend Hardware",
          kernel.stream == Kernel::none ? "Streams" : fmt::format("Stream {}", kernel.stream));
    }
    return found->second;
  }

  // From the first kernel to the last, or until the next step begins.
  void add_steps() {
    std::map<std::int64_t, Interval> steps;
    for (const Kernel& kernel : table_.kernels) {
      if (kernel.step == Kernel::none) continue;
      const Interval time{kernel.start_ns, saturating_add(kernel.start_ns, kernel.duration_ns)};
      const auto [found, is_new] = steps.try_emplace(kernel.step, time);
      if (is_new) continue;
      found->second.begin = std::min(found->second.begin, time.begin);
      found->second.end = std::max(found->second.end, time.end);
    }
    std::vector<std::pair<std::int64_t, Interval>> in_order(steps.begin(), steps.end());
    std::ranges::sort(in_order, {}, [](const auto& step) { return step.second.begin; });
    for (std::size_t i = 0; i < in_order.size(); ++i) {
      Interval time = in_order[i].second;
      if (i + 1 < in_order.size()) time.end = std::min(time.end, in_order[i + 1].second.begin);
      const std::uint32_t thread = thread_named("steps", "Steps", "Steps");
      add(thread, intern(fmt::format("ProfilerStep#{}", in_order[i].first)), time.begin,
          length_of(time));
    }
    if (in_order.empty()) return;
    events_.notes.push_back({Severity::info, table_.file, 0,
                             "a step is the time from its first kernel to its last: the table has "
                             "nothing of the host",
                             1});
  }

  const KernelTable& table_;
  chrome::Events events_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> threads_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> streams_;  // by device and stream
};

}  // namespace

chrome::Events kernel_events(const KernelTable& table, std::vector<std::uint32_t>& rows) {
  return EventMaker(table).make(rows);
}

}  // namespace npuscope::ascend
