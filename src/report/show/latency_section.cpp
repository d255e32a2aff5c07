#include <fmt/format.h>

#include "profile/names.hpp"
#include "report/document/quantity.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {

// A call in its parts, each with what it has of the whole.
Section latency_section(const LatencyOfCall& latency) {
  const LatencyRow* whole = latency.first();
  if (whole == nullptr) return {};
  Section section{.key = "latency", .title = "LATENCY"};
  if (latency.warm_count > 1) {
    section.title += fmt::format(", median of {}{}", latency.warm_count,
                                 whole->cold_seconds ? " after the first" : "");
  }
  if (latency.origin == Origin::simulated) section.title += ", simulated on the host";
  section.facts = {{{"origin"}, stable_name(latency.origin)},
                   {{"warm_median_seconds"}, whole->warm_seconds},
                   {{"cold_seconds"}, whole->cold_seconds},
                   {{"seconds"}, whole->seconds},
                   {{"warm_count"}, latency.warm_count},
                   {{"share_outside_npu"}, latency.outside},
                   {{"stated_inferences_per_second", "in the file, inferences/s", Format::number},
                    latency.stated_rate ? Value(*latency.stated_rate) : Value()}};
  section.table.fields = {{"part", "part"},
                          {"warm_median_seconds", "warm", Format::seconds, true, true},
                          {"cold_seconds", "cold", Format::seconds, true, true},
                          {"seconds", "time", Format::seconds, true, true},
                          {"", " ", Format::bar, true, true},
                          {"", " ", Format::name, true, true},
                          {"name", "name in the files", Format::name, false, true}};
  const auto time_of = [](const LatencyRow& row) {
    return row.warm_seconds ? row.warm_seconds : row.seconds ? row.seconds : row.cold_seconds;
  };
  for (const LatencyRow& row : latency.rows) {
    Value bar, note;
    if (row.is_of_more) {
      note = "of one inference, in order";
    } else if (latency.outside && &row == whole) {
      bar = *latency.outside;
      note = percent_text(*latency.outside, 1) + " outside the NPU";
    } else if (latency.outside) {
      const double share = *time_of(row) / *time_of(*whole);
      bar = share;
      note = percent_text(share, 1) + " of the call";
    }
    section.table.rows.push_back({row.what, row.warm_seconds, row.cold_seconds, row.seconds, bar,
                                  note, row.name.empty() ? Value() : Value(row.name)});
  }
  return section;
}

}  // namespace npuscope::report
