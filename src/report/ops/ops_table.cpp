#include "report/ops/ops_table.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "profile/names.hpp"
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

Value main_kernel(const Profile& profile, const analysis::OpRow& row) {
  if (row.kinds == 1 && row.kind != row.label) return profile.text(row.kind);
  if (row.main_kind == StringId::empty || row.kinds < 2) return {};
  const std::string kind(profile.text(row.main_kind));
  constexpr double nearly_all = 0.995;
  return row.main_share >= nearly_all ? kind
                                      : fmt::format("{} {:.0f} %", kind, 100 * row.main_share);
}

Value engines_of(const analysis::OpRow& row) {
  std::string text;
  for (const Engine engine : row.engines) {
    text += (text.empty() ? "" : "+") + std::string(name_of(engine));
  }
  return text.empty() ? Value() : Value(text);
}

}  // namespace npuscope::report
