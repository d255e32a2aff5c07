// What only the spans of a run tell of its ops.
#include <algorithm>

#include "analysis/inference_times.hpp"
#include "analysis/run_identity.hpp"
#include "fleet/run_facts.hpp"
#include "profile/names.hpp"

namespace npuscope::fleet {
namespace {

struct Stretch {
  std::uint32_t inference = 0, group = 0;
  Interval interval;
  auto key() const { return std::tuple(inference, group, interval.begin, interval.end); }
};

// The length of the union of those from `at` on that have the same inference and group; `at` is
// moved behind them.
std::int64_t take_union(const std::vector<Stretch>& sorted, std::size_t& at) {
  const Stretch& first = sorted[at];
  Interval open = first.interval;
  std::int64_t length = 0;
  for (++at; at < sorted.size(); ++at) {
    const Stretch& next = sorted[at];
    if (next.inference != first.inference || next.group != first.group) break;
    if (next.interval.begin > open.end) {
      length = saturating_add(length, length_of(open));
      open = next.interval;
    } else {
      open.end = std::max(open.end, next.interval.end);
    }
  }
  return saturating_add(length, length_of(open));
}

void add_to(std::optional<double>& sum, double value) { sum = sum.value_or(0) + value; }

}  // namespace

void RunFacts::add_op_spans() {
  const Spans& spans = profile_.spans;
  if (spans.size() == 0) return;
  const analysis::Inferences inferences(analysis_, analysis::only_inference(profile_).value_or(0),
                                        analysis::max_inferences);
  const auto column_of = [&](NumberRole role) { return spans.measure(role); };
  const MeasureColumn* read = column_of(NumberRole::ddr_read);
  const MeasureColumn* written = column_of(NumberRole::ddr_write);
  std::vector<Stretch> stretches;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t place = inferences.of(row);
    const analysis::Role role = analysis::role_of(spans.kind[row]);
    if (place == analysis::Inferences::none) continue;
    if (role != analysis::Role::work && role != analysis::Role::wait) continue;
    const std::uint32_t group = samples_.groups().of(spans.op[row]);
    const Interval interval{spans.start[row],
                            saturating_add(spans.start[row], spans.duration[row])};
    if (role == analysis::Role::work) {
      stretches.push_back({place, group, interval});
    } else {
      add_to(op_run(inferences.ids()[place], group).waiting, double(length_of(interval)));
    }
    const auto add_bytes = [&](const MeasureColumn* column, std::optional<double> OpRun::*member) {
      if (column == nullptr || column->values[row] == MeasureColumn::missing) return;
      add_to(op_run(inferences.ids()[place], group).*member, double(column->values[row]));
    };
    add_bytes(read, &OpRun::ddr_read_bytes);
    add_bytes(written, &OpRun::ddr_write_bytes);
  }
  // Groups that are one op of the fleet, as tiles are, are one here as well.
  std::map<Id, std::uint32_t> first_of;
  for (Stretch& each : stretches) {
    each.group = first_of.try_emplace(op_of(each.group), each.group).first->second;
  }
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.key() < b.key(); });
  for (std::size_t at = 0; at < stretches.size();) {
    OpRun& row = op_run(inferences.ids()[stretches[at].inference], stretches[at].group);
    row.active = double(take_union(stretches, at));
  }
}

void RunFacts::add_spans() {
  const Spans& spans = profile_.spans;
  const analysis::Inferences inferences(analysis_, analysis::only_inference(profile_).value_or(0),
                                        analysis::max_inferences);
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t place = inferences.of(row);
    const bool has_unit = index_of(spans.unit[row]) < profile_.units.size();
    const bool has_op = index_of(spans.op[row]) < profile_.ops.size();
    batch_.spans.push_back(
        {run_,
         place == analysis::Inferences::none ? all_inferences
                                             : std::int64_t(inferences.ids()[place]),
         has_unit ? std::optional(unit_of(spans.unit[row])) : std::nullopt,
         has_op ? std::optional(op_of(samples_.groups().of(spans.op[row]))) : std::nullopt,
         stable_name(spans.kind[row]), spans.start[row], spans.duration[row]});
  }
}

}  // namespace npuscope::fleet
