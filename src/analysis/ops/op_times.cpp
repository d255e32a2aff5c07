#include "analysis/ops/op_times.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "analysis/answers.hpp"
#include "analysis/ops/op_runs.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::int64_t earliest = std::numeric_limits<std::int64_t>::min();

struct Inference {
  std::uint32_t number = 0;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = earliest;
};

class Times {
 public:
  explicit Times(const Analysis& analysis)
      : profile_(analysis.profile()),
        spans_(profile_.spans),
        by_unit_(analysis.spans_by_unit()),
        self_times_(analysis.self_times()) {}

  OpTimes find() {
    const std::size_t ops = profile_.ops.size();
    times_.begin.assign(ops, 0);
    times_.end.assign(ops, 0);
    times_.free_since.assign(ops, earliest);
    times_.work.assign(ops, -1);
    times_.unit.assign(ops, UnitId::none);
    times_.seen.assign(ops, 0);
    for (const OpId op : spans_.op) {
      if (index_of(op) < ops) times_.seen[index_of(op)] = 1;
    }
    choose();
    const IssuesBeside issues(profile_, self_times_);
    for (std::uint32_t unit = 0; unit < profile_.units.size(); ++unit) {
      walk(UnitId(unit), self_times_, issues);
    }
    walk(UnitId::none, self_times_, issues);
    return std::move(times_);
  }

 private:
  bool counts(const SpanOfUnit& span) const {
    return role_of(span.kind) == Role::work && (!chosen_ || span.instance == *chosen_);
  }

  // Spans of one inference lie together, so the last one seen is nearly always the one needed.
  void choose() {
    if (spans_.instance.empty()) return;
    std::vector<std::uint32_t> numbers;
    for (const std::uint32_t number : spans_.instance) {
      if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    std::vector<Inference> inferences(numbers.size());
    std::size_t place = 0;
    for (std::size_t row = 0; row < spans_.size(); ++row) {
      if (role_of(spans_.kind[row]) != Role::work) continue;
      if (numbers[place] != spans_.instance[row]) {
        place = std::size_t(std::lower_bound(numbers.begin(), numbers.end(), spans_.instance[row]) -
                            numbers.begin());
      }
      const Interval span = interval_of(spans_, row);
      Inference& inference = inferences[place];
      inference.number = numbers[place];
      inference.begin = std::min(inference.begin, span.begin);
      inference.end = std::max(inference.end, span.end);
    }
    std::erase_if(inferences, [](const Inference& i) { return i.end < i.begin; });
    times_.inferences = std::uint32_t(inferences.size());
    if (inferences.empty()) return;
    if (inferences.size() > 1) inferences.erase(inferences.begin());
    const auto middle = inferences.begin() + std::ptrdiff_t((inferences.size() - 1) / 2);
    std::nth_element(inferences.begin(), middle, inferences.end(),
                     [](const Inference& a, const Inference& b) {
                       const auto length = [](const Inference& i) {
                         return saturating_subtract(i.end, i.begin);
                       };
                       return std::pair(length(a), a.number) < std::pair(length(b), b.number);
                     });
    chosen_ = times_.inference = middle->number;
  }

  // The rows of a unit come by their start.
  void walk(UnitId unit, const std::vector<std::int64_t>& own, const IssuesBeside& issues) {
    std::int64_t busy_until = earliest;
    for (const SpanOfUnit& span : by_unit_.spans_of(unit)) {
      const std::uint32_t row = span.row;
      if (!counts(span)) continue;
      const std::uint32_t op = index_of(span.op);
      const std::int64_t work = std::max<std::int64_t>(own[row] - issues.of(row), 0);
      times_.total_work = saturating_add(times_.total_work, work);
      if (op < profile_.ops.size()) {
        const bool first = times_.work[op] < 0;
        if (first || span.begin < times_.begin[op]) {
          times_.begin[op] = span.begin;
          times_.free_since[op] = unit == UnitId::none ? span.begin : busy_until;
          times_.unit[op] = unit;
        }
        times_.end[op] = first ? span.end : std::max(times_.end[op], span.end);
        times_.work[op] = saturating_add(std::max<std::int64_t>(times_.work[op], 0), work);
        times_.known = true;
      }
      busy_until = std::max(busy_until, span.end);
    }
  }

  const Profile& profile_;
  const Spans& spans_;
  const SpansByUnit& by_unit_;
  const std::vector<std::int64_t>& self_times_;
  std::optional<std::uint32_t> chosen_;
  OpTimes times_;
};

}  // namespace

OpTimes find_op_times(const Analysis& analysis) { return Times(analysis).find(); }

}  // namespace npuscope::analysis
