#include "formats/qnn/read/estimate.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace npuscope::qnn {
namespace {

struct Row {
  std::string_view label;
  std::int64_t EstimateRows::*member;
  NumberRole role = NumberRole::none;
};
constexpr std::array<Row, 10> known_rows{{
    {"Simulated (Accelerator exec cycles)", &EstimateRows::cycles, NumberRole::estimated_wall},
    {"Simulated (Accelerator exec cycles (lower estimate))", &EstimateRows::lower,
     NumberRole::wall_lower},
    {"Simulated (Accelerator exec cycles (upper estimate))", &EstimateRows::upper,
     NumberRole::wall_upper},
    {"Simulated (Accelerator exec time us)", &EstimateRows::microseconds, NumberRole::wall_rounded},
    {"Input Fill", &EstimateRows::input_fill},
    {"Intermediate Fill", &EstimateRows::fill},
    {"Intermediate Spill", &EstimateRows::spill},
    {"Inter HTP Fill", &EstimateRows::other_htp_fill},
    {"Inter HTP Spill", &EstimateRows::other_htp_spill},
    {"Output Spill", &EstimateRows::output_spill},
}};
constexpr std::string_view missing_ops = "Missing Ops";

}  // namespace

NumberRole role_of_estimate(std::string_view label) {
  const auto known = std::ranges::find(known_rows, label, &Row::label);
  return known == known_rows.end() ? NumberRole::none : known->role;
}

EstimateRows estimate_rows_of(const ViewerOutput& output) {
  EstimateRows rows;
  for (const ViewerEvent& event : output.events) {
    if (!event.is_estimated || !event.value) continue;
    const std::string_view label = output.strings[event.label];
    if (label.starts_with(missing_ops)) rows.ops_without_estimate = *event.value;
    const auto known = std::ranges::find(known_rows, label, &Row::label);
    if (known != known_rows.end() && rows.*known->member == missing) {
      rows.*known->member = *event.value;
    }
  }
  return rows;
}

}  // namespace npuscope::qnn
