#include "analysis/ops/op_times.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "analysis/answers.hpp"
#include "analysis/ops/op_runs.hpp"
#include "analysis/span_extents.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::int64_t earliest = std::numeric_limits<std::int64_t>::min();

class Times {
 public:
  explicit Times(const Analysis& analysis)
      : profile_(analysis.profile()),
        spans_(profile_.spans),
        analysis_(analysis),
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
    const IssuesBeside& issues = analysis_.issues_beside();
    if (chosen_) {
      walk(SpansByUnit(profile_, rows_of_chosen()), issues);
    } else {
      walk(analysis_.spans_by_unit(), issues);
    }
    return std::move(times_);
  }

 private:
  // The inference whose length is the median of those after the first.
  void choose() {
    std::vector<InferenceExtent> inferences;
    std::ranges::copy_if(analysis_.extents().inferences, std::back_inserter(inferences),
                         &InferenceExtent::works);
    times_.inferences = std::uint32_t(inferences.size());
    if (inferences.empty()) return;
    if (inferences.size() > 1) inferences.erase(inferences.begin());
    const auto middle = inferences.begin() + std::ptrdiff_t((inferences.size() - 1) / 2);
    std::nth_element(inferences.begin(), middle, inferences.end(),
                     [](const InferenceExtent& a, const InferenceExtent& b) {
                       const auto length = [](const Interval& extent) {
                         return saturating_subtract(extent.end, extent.begin);
                       };
                       return std::pair(length(a.work), a.number) <
                              std::pair(length(b.work), b.number);
                     });
    chosen_ = *middle;
    times_.inference = middle->number;
  }

  std::vector<std::uint32_t> rows_of_chosen() const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = chosen_->first_row; row < chosen_->rows_end; ++row) {
      if (spans_.instance[row] == chosen_->number) rows.push_back(row);
    }
    return rows;
  }

  void walk(const SpansByUnit& by_unit, const IssuesBeside& issues) {
    for (std::uint32_t unit = 0; unit < profile_.units.size(); ++unit) {
      walk_unit(UnitId(unit), by_unit.spans_of(UnitId(unit)), issues);
    }
    walk_unit(UnitId::none, by_unit.spans_of(UnitId::none), issues);
  }

  // The rows of a unit come by their start.
  void walk_unit(UnitId unit, std::span<const SpanOfUnit> spans, const IssuesBeside& issues) {
    std::int64_t busy_until = earliest;
    for (const SpanOfUnit& span : spans) {
      const std::uint32_t row = span.row;
      if (role_of(span.kind) != Role::work) continue;
      const std::uint32_t op = index_of(span.op);
      const std::int64_t work = std::max<std::int64_t>(self_times_[row] - issues.of(row), 0);
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
  const Analysis& analysis_;
  const Column<std::int64_t>& self_times_;
  std::optional<InferenceExtent> chosen_;
  OpTimes times_;
};

}  // namespace

OpTimes find_op_times(const Analysis& analysis) { return Times(analysis).find(); }

}  // namespace npuscope::analysis
