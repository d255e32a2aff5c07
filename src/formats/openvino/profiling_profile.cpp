#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/numbers.hpp"
#include "formats/chrome/events.hpp"
#include "formats/openvino/profiling_text.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/far_spans.hpp"

namespace npuscope::openvino {
namespace {

constexpr NamedNumber shave_cycles{"SHAVE cycles", NumberQuantity::count};
constexpr NamedNumber shave_stalls{"SHAVE stall cycles", NumberQuantity::count};
constexpr std::array<const char*, 3> kind_names{"DPU", "SW", "DMA"};

// The number after "/cluster_"; 0 where a name has none: a network on one cluster.
std::uint32_t number_after(std::string_view name, std::string_view word) {
  const std::size_t at = name.rfind(word);
  if (at == name.npos) return 0;
  name.remove_prefix(at + word.size());
  return take_number<std::uint32_t>(name).value_or(0);
}

// "conv1/WithoutBiases" of "conv1/WithoutBiases?t_Convolution/cluster_0".
std::string_view layer_of(std::string_view task) { return task.substr(0, task.find('?')); }

class ProfileMaker {
 public:
  explicit ProfileMaker(const Run& run) : run_(run) { events_.file = run.file; }

  Profile make(std::span<const RoleTable> roles) {
    for (const Task& task : run_.tasks) add(task);
    events_.notes = run_.notes;
    Profile profile = chrome::make_profile(std::move(events_));
    profile.provenance.format = text_format;
    profile.provenance.device = "Intel NPU";
    profile.provenance.inferences = 1;
    apply_roles(profile, roles);
    set_far_spans_apart(profile);
    add_cycles(profile);
    check(profile);
    return profile;
  }

 private:
  void add(const Task& task) {
    const std::string thread =
        task.kind == TaskKind::sw ? fmt::format("Shave, tile {}", number_after(task.name, "/tile_"))
                                  : kind_names[std::size_t(task.kind)];
    const std::string process =
        task.kind == TaskKind::dma
            ? "DMA"
            : fmt::format("Cluster ({})", number_after(task.name, "/cluster_"));
    chrome::Slices& slices = events_.slices;
    slices.thread.push_back(thread_named(process, thread));
    slices.name.push_back(events_.strings.intern(task.name));
    slices.category.push_back(events_.strings.intern(kind_names[std::size_t(task.kind)]));
    slices.start.push_back(task.start_ns);
    slices.duration.push_back(task.duration_ns);
  }

  std::uint32_t thread_named(const std::string& process, const std::string& name) {
    const auto [found, is_new] =
        threads_.try_emplace({process, name}, std::uint32_t(events_.threads.size()));
    if (is_new) {
      chrome::Thread thread;
      thread.process_id = thread.process_name = events_.strings.intern(process);
      thread.thread_id = thread.thread_name = events_.strings.intern(name);
      events_.threads.push_back(thread);
    }
    return found->second;
  }

  void add_cycles(Profile& profile) const {
    const auto add = [&](const NamedNumber& number, std::int64_t Task::*value) {
      MeasureColumn column = profile.column_of(number, Origin::counter);
      column.values.assign(profile.spans.size(), MeasureColumn::missing);
      bool any = false;
      for (std::size_t i = 0; i < run_.tasks.size(); ++i) {
        if (run_.tasks[i].*value < 0) continue;
        column.values[i] = run_.tasks[i].*value;
        any = true;
      }
      if (any) profile.spans.measures.push_back(std::move(column));
    };
    if (profile.spans.size() < run_.tasks.size()) return;
    add(shave_cycles, &Task::cycles);
    add(shave_stalls, &Task::stalls);
  }

  // The text has times of two decimals.
  static bool is_near(std::int64_t a, std::int64_t b, std::size_t count) {
    constexpr std::int64_t rounding_ns = 5;
    return saturating_subtract(std::max(a, b), std::min(a, b)) <=
           rounding_ns * std::int64_t(count + 2);
  }

  void check(Profile& profile) const {
    std::int64_t sum = 0, begin = std::numeric_limits<std::int64_t>::max(), end = 0;
    struct Sums {
      std::array<std::int64_t, 3> ns{};
      std::size_t count = 0;
    };
    std::map<std::string_view, Sums> layers;
    for (const Task& task : run_.tasks) {
      sum = saturating_add(sum, task.duration_ns);
      begin = std::min(begin, task.start_ns);
      end = std::max(end, saturating_add(task.start_ns, task.duration_ns));
      Sums& layer = layers[layer_of(task.name)];
      std::int64_t& of_kind = layer.ns[std::size_t(task.kind)];
      of_kind = saturating_add(of_kind, task.duration_ns);
      layer.count += 1;
    }
    const auto try_one = [&](const char* what, std::int64_t found,
                             const std::optional<std::int64_t>& stated, std::size_t count) {
      if (!stated) return;
      profile.checks.push_back(
          {what, is_near(found, *stated, count) ? Check::Outcome::passed : Check::Outcome::failed,
           fmt::format("{:.2f} and {:.2f} us", double(found) * 1e-3, double(*stated) * 1e-3)});
    };
    try_one("sum of tasks = total time", sum, run_.total_ns, run_.tasks.size());
    try_one("first start to last end = real time", end - begin, run_.real_ns, 2);
    if (run_.layers.empty()) return;
    std::size_t differ = 0;
    for (const Layer& layer : run_.layers) {
      const auto found = layers.find(layer.name);
      bool holds = found != layers.end();
      for (std::size_t kind = 0; holds && kind < layer.ns.size(); ++kind) {
        holds = is_near(found->second.ns[kind], layer.ns[kind], found->second.count);
      }
      differ += !holds;
    }
    profile.checks.push_back({"tasks by layer = the layers' times",
                              differ == 0 ? Check::Outcome::passed : Check::Outcome::failed,
                              fmt::format("{} of {} layers differ", differ, run_.layers.size())});
  }

  const Run& run_;
  chrome::Events events_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> threads_;
};

}  // namespace

Profile make_profile(const Run& run, std::span<const RoleTable> roles) {
  return ProfileMaker(run).make(roles);
}

}  // namespace npuscope::openvino
