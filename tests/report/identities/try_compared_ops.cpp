#include <algorithm>

#include "report/compare/compared_runs.hpp"
#include "report/compare/gate_text.hpp"
#include "report/identities/identities.hpp"

namespace npuscope::report::identities {
namespace {

using namespace analysis;

// A number of the table in what diff has it in; none where its clock has no rate.
std::optional<double> in_unit(const Profile& profile, const OpColumn& column, double value,
                              MeasuredIn unit) {
  if (unit != MeasuredIn::seconds) return value;
  const std::size_t clock = index_of(column.clock);
  if (clock >= profile.clocks.size() || !(profile.clocks[clock].rate.value > 0)) return {};
  return value / profile.clocks[clock].rate.value;
}

// The op's own gate measures what its row has.
void try_gate(const OpDifference& row, const OpComparison& ops, const Comparer& alone,
              Tried& tried) {
  const bool is_plain = row.layers <= 1 && row.parts <= 1 && !row.name_b.empty() &&
                        row.name_b.find_first_of("'\"") == std::string::npos;
  if (!is_plain || !(row.estimate.b > 0)) return;
  const char* unit = ops.unit == MeasuredIn::seconds  ? "ns"
                     : ops.unit == MeasuredIn::cycles ? "cyc"
                     : ops.unit == MeasuredIn::ticks  ? "ticks"
                     : ops.unit == MeasuredIn::bytes  ? "B"
                                                      : "";
  const auto gate = read_gate(
      fmt::format("op('{}').'{}' > 0{}", exactly(row.name_b), ops.column, unit), GateForm::fail_if);
  tried.holds("a gate of an op is read", gate.has_value(), gate ? "" : gate.error().message);
  if (!gate) return;
  const auto judged = judge(*gate, alone);
  tried.holds("a gate of an op is judged", judged.has_value(),
              judged ? "" : judged.error().message);
  if (!judged) return;
  tried.near("a gate of an op measures its row of diff", judged->measured, row.estimate.b,
             row.name_b + " " + ops.column);
}

}  // namespace

void try_compared_ops(const Sample& sample, Tried& tried) {
  const std::span<const Profile> side(&sample.profile(), 1);
  const auto sides = runs_of_sides(side, side, "");
  if (!sides) return;
  const auto compared = compare_runs(sides->a, sides->b);
  const auto samples = samples_of(sides->b.runs);
  const auto alone = Comparer::alone(samples);
  if (!compared || !alone) return;
  constexpr std::size_t all = ~std::size_t{0};
  const OpComparison ops = (*compared)->comparer->compare({.top = all}).ops;
  if (!ops.known) return;
  const OpTable table =
      sample.analysis.ops({.top = all, .owners_as_written = true, .per_inference = true});
  const auto place = table.place_of(ops.column);
  tried.holds("the column of diff is one of ops", place.has_value(), ops.column);
  if (!place) return;
  std::size_t gates = 0;
  for (const OpDifference& row : ops.rows) {
    const auto found = std::ranges::find(table.rows, row.name_b, &OpRow::name);
    const bool is_there = found != table.rows.end();
    tried.holds("a row of diff is one of ops", is_there || row.estimate.b == 0, row.name_b);
    if (!is_there) continue;
    const auto value = in_unit(sample.profile(), table.columns[*place],
                               found->values[*place].value_or(0), ops.unit);
    if (!value) continue;
    tried.near("a number of an op in diff is that of ops", row.estimate.b, *value,
               row.name_b + " " + ops.column);
    if (gates++ < 5) try_gate(row, ops, *alone, tried);
  }
}

}  // namespace npuscope::report::identities
