#include "report/ops/op_column_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/document/provenance.hpp"

namespace npuscope::report {

std::string op_column_name(const Profile& profile, const analysis::OpTable& table,
                           const analysis::OpColumn& column) {
  const auto same =
      std::count_if(table.columns.begin(), table.columns.end(),
                    [&](const analysis::OpColumn& other) { return other.name == column.name; });
  if (same < 2 || column.kind == MeasureKind::count ||
      index_of(column.clock) >= profile.clocks.size()) {
    return column.name;
  }
  return fmt::format("{}, {}", column.name,
                     profile.text(profile.clocks[index_of(column.clock)].name));
}

bool is_beside_timeline(const Profile& profile, const analysis::OpColumn& column) {
  return column.of_inferences && column.kind != MeasureKind::count && profile.spans.size() > 0;
}

std::string inferences_text(const Profile& profile, const analysis::OpColumn& column, bool brief) {
  using Temperature = Provenance::Temperature;
  const auto [first, last] = *column.of_inferences;
  const Temperature whole = profile.provenance.temperature;
  const bool begins_cold = whole == Temperature::cold || whole == Temperature::cold_then_warm;
  const char* temperature = !begins_cold ? "" : first == 0 ? "cold" : "warm";
  if (brief && *temperature != 0) return temperature;
  std::string text = first == last ? fmt::format("inference {}", first)
                                   : fmt::format("inferences {} to {}", first, last);
  if (*temperature != 0) text += fmt::format(", {}", temperature);
  return text;
}

std::string beside_timeline_text(const Profile& profile, const analysis::OpColumn& column) {
  const auto [first, last] = *column.of_inferences;
  return fmt::format("{}of {}{}; times of spans are of one inference{}",
                     first == last ? "" : "median ", inferences_text(profile, column, false),
                     column.kind == MeasureKind::work ? ", summed over threads" : "",
                     is_structure_only(profile) ? ", the cold one" : "");
}

}  // namespace npuscope::report
