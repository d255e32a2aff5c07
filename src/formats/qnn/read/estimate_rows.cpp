#include "formats/qnn/read/estimate_rows.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace npuscope::qnn {
namespace {

using Row = std::pair<std::string_view, std::int64_t EstimateRows::*>;
constexpr std::array<Row, 10> known_rows{{
    {"Simulated (Accelerator exec cycles)", &EstimateRows::cycles},
    {"Simulated (Accelerator exec cycles (lower estimate))", &EstimateRows::lower},
    {"Simulated (Accelerator exec cycles (upper estimate))", &EstimateRows::upper},
    {"Simulated (Accelerator exec time us)", &EstimateRows::microseconds},
    {"Input Fill", &EstimateRows::input_fill},
    {"Intermediate Fill", &EstimateRows::fill},
    {"Intermediate Spill", &EstimateRows::spill},
    {"Inter HTP Fill", &EstimateRows::other_htp_fill},
    {"Inter HTP Spill", &EstimateRows::other_htp_spill},
    {"Output Spill", &EstimateRows::output_spill},
}};
constexpr std::string_view missing_ops = "Missing Ops";

}  // namespace

EstimateRows estimate_rows_of(const ViewerOutput& output) {
  EstimateRows rows;
  for (const ViewerEvent& event : output.events) {
    if (!event.is_estimated || !event.value) continue;
    const std::string_view label = output.strings[event.label];
    if (label.starts_with(missing_ops)) rows.ops_without_estimate = *event.value;
    for (const auto& [name, member] : known_rows) {
      if (label == name && rows.*member == missing) rows.*member = *event.value;
    }
  }
  return rows;
}

}  // namespace npuscope::qnn
