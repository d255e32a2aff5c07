#include "profile/number_steps.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/numbers.hpp"
#include "base/parallel.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/span_roles.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/unit_processes.hpp"

namespace npuscope {
namespace {

struct Step {
  Interval time;
  std::uint32_t row = 0;
  UnitId unit{};
  const RoleRule* rule = nullptr;
  std::string_view stem;  // the name without its number
  std::optional<std::uint32_t> number;
};

using Steps = std::vector<Step>;

bool is_number(std::uint64_t value) { return value < every_instance; }

std::string_view without_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return name.substr(0, last == name.npos ? 0 : last + 1);
}

// Work of a device that somebody launched; the host need not have waited for it.
bool is_launched(SpanKind kind) {
  return kind == SpanKind::kernel || kind == SpanKind::copy || kind == SpanKind::communication;
}

bool is_of_host(SpanKind kind) {
  return kind == SpanKind::host || kind == SpanKind::runtime_call || kind == SpanKind::wait ||
         kind == SpanKind::slice || is_launched(kind);
}

class StepNumberer {
 public:
  explicit StepNumberer(Profile& profile)
      : profile_(profile), spans_(profile.spans), roots_(profile) {}

  void run(const std::vector<StepCandidate>& candidates) {
    std::map<std::uint32_t, Steps> all;
    for (const StepCandidate& candidate : candidates) {
      all[process_of(candidate.row)].push_back(step_of(candidate));
    }
    for (auto& [process, steps] : all) {
      Steps chosen = choose(process, std::move(steps));
      if (!chosen.empty()) chosen_.emplace(process, std::move(chosen));
    }
    if (chosen_.empty()) return;
    for (auto& [process, steps] : chosen_) number(steps);
    assign();
    leave_out_empty();
    if (chosen_.empty()) return;
    for (const auto& [process, steps] : chosen_) {
      for (const Step& step : steps) spans_.kind[step.row] = SpanKind::inference;
    }
    follow_launches();
    describe();
  }

 private:
  std::uint32_t process_of(std::size_t row) const { return roots_.of(spans_.unit[row]); }

  Step step_of(const StepCandidate& candidate) const {
    Step step{interval_of(spans_, candidate.row),
              candidate.row,
              spans_.unit[candidate.row],
              candidate.rule,
              {},
              {}};
    const std::size_t op = index_of(spans_.op[candidate.row]);
    const std::string_view name =
        op < profile_.ops.size() ? profile_.text(profile_.ops[op].name) : std::string_view();
    step.stem = without_number(name);
    step.number = candidate.rule->number.empty()
                      ? parse_number<std::uint32_t>(name.substr(step.stem.size()))
                      : number_of(candidate.row, candidate.rule->number);
    if (step.number && !is_number(*step.number)) step.number.reset();
    return step;
  }

  std::optional<std::uint32_t> number_of(std::size_t row, std::string_view argument) const {
    const auto id = profile_.strings.find(argument);
    if (!id || spans_.arguments.size() != spans_.size()) return std::nullopt;
    const auto found = spans_.arguments.find(row, *id);
    if (!found) return std::nullopt;
    if (found->key.type == ArgumentType::text) {
      return parse_number<std::uint32_t>(profile_.text(found->text()));
    }
    const auto value = found->as_number();
    if (!value || !(*value >= 0) || !(*value < double(every_instance))) return std::nullopt;
    return std::uint32_t(*value);
  }

  // Those that a tool calls steps, else a loop's. Steps of one kind on one unit, one after another.
  Steps choose(std::uint32_t process, Steps all) const {
    Steps told, repeated;
    for (Step& step : all) {
      if (length_of(step.time) > 0) (step.rule->if_repeated > 0 ? repeated : told).push_back(step);
    }
    Steps chosen = longest_family(std::move(told));
    if (!chosen.empty()) return chosen;
    chosen = longest_family(std::move(repeated));
    if (chosen.size() < 2 || !encloses_enough(process, chosen)) return {};
    return chosen;
  }

  static Steps longest_family(Steps steps) {
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      if (a.unit != b.unit) return a.unit < b.unit;
      if (a.time.begin != b.time.begin) return a.time.begin < b.time.begin;
      return a.time.end != b.time.end ? a.time.end > b.time.end : a.row < b.row;
    });
    std::map<std::pair<std::uint32_t, std::string_view>, Steps> families;
    const Step* before = nullptr;
    for (const Step& step : steps) {
      // Inside another, or partly over it: no step of its own.
      const bool overlaps =
          before != nullptr && before->unit == step.unit && step.time.begin < before->time.end;
      if (overlaps) continue;
      before = &step;
      families[{index_of(step.unit), step.stem}].push_back(step);
    }
    Steps longest;
    std::int64_t length = 0;
    for (auto& [key, family] : families) {
      std::int64_t sum = 0;
      for (const Step& step : family) sum = saturating_add(sum, length_of(step.time));
      if (sum <= length) continue;
      length = sum;
      longest = std::move(family);
    }
    return longest;
  }

  // Parts of a model that come again and again leave something out: what is before and after them.
  bool encloses_enough(std::uint32_t process, const Steps& steps) const {
    std::vector<Interval> work;
    for (std::size_t row = 0; row < spans_.size(); ++row) {
      if (process_of(row) != process || !is_of_host(spans_.kind[row])) continue;
      work.push_back(interval_of(spans_, row));
    }
    const IntervalSet busy = union_of(std::move(work));
    std::vector<Interval> times;
    for (const Step& step : steps) times.push_back(step.time);
    const IntervalSet within = intersection_of(busy, union_of(std::move(times)));
    return double(length_of(within)) >= steps.front().rule->if_repeated * double(length_of(busy)) &&
           length_of(busy) > 0;
  }

  // The file's own numbers, where they rise.
  void number(Steps& steps) {
    bool rises = true;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      rises = rises && steps[i].number && (i == 0 || *steps[i - 1].number < *steps[i].number);
    }
    for (std::uint32_t i = 0; i < steps.size() && !rises; ++i) steps[i].number = i;
    ran_before_ = ran_before_ || (rises && *steps.front().number > 0);
  }

  const Steps* steps_of(std::uint32_t process) const {
    const auto found = chosen_.find(process);
    if (found != chosen_.end()) return &found->second;
    return chosen_.size() == 1 ? &chosen_.begin()->second : nullptr;
  }

  void assign() {
    std::vector<const Steps*> of_process(roots_.units());
    for (std::uint32_t i = 0; i < of_process.size(); ++i) of_process[i] = steps_of(i);
    const Steps* of_none = steps_of(UnitRoots::none);
    spans_.instance.assign(spans_.size(), every_instance);
    const std::vector<RowRange> parts = ranges_of(spans_.size());
    parallel_for(parts.size(), [&](std::size_t part) {
      for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
        const std::uint32_t process = process_of(row);
        const Steps* steps = process == UnitRoots::none ? of_none : of_process[process];
        if (steps == nullptr) continue;
        const bool is_frame = role_of(spans_.kind[row]) == Role::frame;
        spans_.instance[row] = instance_at(*steps, interval_of(spans_, row), is_frame);
      }
    });
  }

  // A profiler ends within a step of which it records the beginning only. Nothing was done in it.
  void leave_out_empty() {
    std::map<std::uint32_t, bool> works;
    std::uint32_t last = every_instance;  // mostly that of the next row
    for (std::size_t row = 0; row < spans_.size(); ++row) {
      if (spans_.instance[row] == last || !is_of_host(spans_.kind[row])) continue;
      last = spans_.instance[row];
      works[last] = true;
    }
    works.erase(every_instance);
    if (works.empty()) return;  // steps are all that was recorded
    bool any = false;
    for (auto& [process, steps] : chosen_) {
      any |= std::erase_if(steps, [&](const Step& step) { return !works.contains(*step.number); });
    }
    std::erase_if(chosen_, [](const auto& each) { return each.second.empty(); });
    if (any) assign();
  }

  // A frame that outlives its step encloses what is of others too.
  static std::uint32_t instance_at(const Steps& steps, Interval time, bool is_frame) {
    const auto after =
        std::upper_bound(steps.begin(), steps.end(), time.begin,
                         [](std::int64_t at, const Step& step) { return at < step.time.begin; });
    if (after == steps.begin() || time.begin >= after[-1].time.end) return every_instance;
    return is_frame && time.end > after[-1].time.end ? every_instance : *after[-1].number;
  }

  void follow_launches() {
    for (const Flow& flow : profile_.flows) {
      const std::size_t from = index_of(flow.from), to = index_of(flow.to);
      if (from >= spans_.size() || to >= spans_.size()) continue;
      if (!is_launched(spans_.kind[to]) || is_launched(spans_.kind[from])) continue;
      if (!is_of_host(spans_.kind[from]) || spans_.instance[from] == every_instance) continue;
      spans_.instance[to] = spans_.instance[from];
    }
  }

  void describe() {
    std::vector<std::uint32_t> numbers;
    for (const auto& [process, steps] : chosen_) {
      for (const Step& step : steps) numbers.push_back(*step.number);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    profile_.provenance.inferences = std::uint32_t(numbers.size());
    if (ran_before_) profile_.provenance.temperature = Provenance::Temperature::warm;
  }

  Profile& profile_;
  Spans& spans_;
  const UnitRoots roots_;
  std::map<std::uint32_t, Steps> chosen_;  // by process
  bool ran_before_ = false;                // steps before the first recorded one
};

}  // namespace

void number_steps(Profile& profile, std::vector<StepCandidate> candidates) {
  if (candidates.empty() || !profile.spans.instance.empty()) return;
  for (const StepCandidate& candidate : candidates) {
    profile.spans.kind[candidate.row] = SpanKind::annotation;
  }
  StepNumberer(profile).run(candidates);
}

}  // namespace npuscope
