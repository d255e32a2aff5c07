#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/memory/vtcm_peak.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"
#include "npuscope/analysis/spill.hpp"
#include "npuscope/analysis/traffic.hpp"
#include "report/document/document_value.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {
namespace {

struct Stated {
  const Measure *wall = nullptr, *rounded = nullptr, *lower = nullptr, *upper = nullptr,
                *without = nullptr, *vtcm_size = nullptr, *nodes = nullptr;
};

Stated stated_in(const Profile& profile) {
  Stated stated;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::profile) continue;
    switch (measure.meaning.role) {
      case NumberRole::estimated_wall: stated.wall = &measure; break;
      case NumberRole::wall_rounded: stated.rounded = &measure; break;
      case NumberRole::wall_lower: stated.lower = &measure; break;
      case NumberRole::wall_upper: stated.upper = &measure; break;
      case NumberRole::ops_without_estimate: stated.without = &measure; break;
      case NumberRole::vtcm_size: stated.vtcm_size = &measure; break;
      case NumberRole::model_nodes: stated.nodes = &measure; break;
      default: break;
    }
  }
  return stated;
}

Value value_of(const Measure* measure) { return measure ? Value(measure->value) : Value(); }

// "187,916 cycles = 125.5 us; at least 160,234, at most 221,626 cycles"
std::string length_text(const Stated& stated, double hertz) {
  const auto cycles = [](const Measure& measure) {
    return thousands(std::uint64_t(std::clamp(measure.value, 0.0, 1e18)));
  };
  std::string text = cycles(*stated.wall) + " cycles";
  if (hertz > 0) {
    text += " = " + seconds_text(stated.wall->value / hertz);
  } else if (stated.rounded != nullptr) {
    text += fmt::format(", {:.0f} us in whole microseconds", stated.rounded->value);
  }
  if (stated.lower == nullptr || stated.upper == nullptr) return text;
  text += fmt::format("; bounds {} to {} cycles", cycles(*stated.lower), cycles(*stated.upper));
  if (!(hertz > 0)) return text;
  std::string lower = seconds_text(stated.lower->value / hertz);
  const std::string upper = seconds_text(stated.upper->value / hertz);
  const std::size_t unit = upper.find(' ');  // said once
  if (unit != upper.npos && lower.ends_with(upper.substr(unit))) {
    lower.resize(lower.size() - (upper.size() - unit));
  }
  return text + fmt::format(", {} to {}", lower, upper);
}

std::size_t nodes_on_host(const Profile& profile) {
  return std::size_t(
      std::ranges::count_if(profile.ops, [](const Op& op) { return op.engine == Engine::host; }));
}

// "hardmax0, 2 more"
std::string names_on_host(const Profile& profile) {
  constexpr std::size_t max_named = 1;
  std::string text;
  std::size_t count = 0;
  for (const Op& op : profile.ops) {
    if (op.engine != Engine::host || ++count > max_named) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", profile.text(op.name));
  }
  return count > max_named ? text + fmt::format(", {} more", count - max_named) : text;
}

std::string text_of(std::optional<std::int64_t> bytes) {
  return bytes ? bytes_text(double(*bytes)) : "unknown";
}

std::int64_t bytes_of(const analysis::SpillSide& side) {
  return analysis::ddr_bytes(side.bytes).value_or(0);
}

std::string vtcm_text(double peak, const Measure* size) {
  std::string text = bytes_text(peak) + " in use at most";
  if (size == nullptr || !(size->value > 0)) return text;
  return text + fmt::format(", {:.0f} % of {}", 100 * peak / size->value, bytes_text(size->value));
}

}  // namespace

Section estimate_section(const analysis::Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const Stated stated = stated_in(profile);
  const bool is_estimate = stated.wall != nullptr && stated.wall->value >= 0;
  if (!is_estimate || index_of(stated.wall->clock) >= profile.clocks.size()) return {};
  Section section{.key = "estimate", .title = "ESTIMATE"};
  const double hertz = profile.clocks[index_of(stated.wall->clock)].rate.value;
  const auto add = [&](const char* label, std::string text) {
    section.facts.push_back({{"", label}, std::move(text)});
  };
  add("inference", length_text(stated, hertz));
  if (stated.without != nullptr && stated.without->value >= 1) {
    add("unknown",
        counted(std::uint64_t(std::min(stated.without->value, 1e18)), "op has", "ops have") +
            " no estimate: the inference takes longer than that");
  }
  const auto read = analysis.traffic().total(analysis::Route::ddr_read).best(),
             write = analysis.traffic().total(analysis::Route::ddr_write).best();
  const auto spilled = bytes_of(analysis.spill().spill), filled = bytes_of(analysis.spill().fill);
  if (read || write) {
    std::string text = fmt::format("{} read, {} written", text_of(read), text_of(write));
    if (spilled > 0 || filled > 0) {
      text += fmt::format("; of these {} filled and {} spilled for want of VTCM",
                          bytes_text(double(filled)), bytes_text(double(spilled)));
    }
    add("DDR", std::move(text));
  }
  std::optional<double> peak;
  for (const analysis::VtcmPeak& each : analysis::vtcm_peaks(profile)) {
    peak = std::max(peak.value_or(0), each.bytes);
  }
  if (peak) add("VTCM", vtcm_text(*peak, stated.vtcm_size));
  const std::size_t on_host = nodes_on_host(profile);
  if (stated.nodes != nullptr) {
    add("model", fmt::format("{} nodes, {} on the CPU{}", std::size_t(stated.nodes->value), on_host,
                             on_host > 0 ? ": " + names_on_host(profile) : ""));
  }
  section.facts.insert(section.facts.end(), {{{"cycles"}, stated.wall->value},
                                             {{"cycles_lower"}, value_of(stated.lower)},
                                             {{"cycles_upper"}, value_of(stated.upper)},
                                             {{"clock_hz"}, hertz > 0 ? Value(hertz) : Value()},
                                             {{"ops_without_estimate"}, value_of(stated.without)},
                                             {{"ddr_read_bytes"}, read},
                                             {{"ddr_write_bytes"}, write},
                                             {{"ddr_fill_bytes"}, filled},
                                             {{"ddr_spill_bytes"}, spilled},
                                             {{"vtcm_peak_bytes"}, peak},
                                             {{"vtcm_size_bytes"}, value_of(stated.vtcm_size)},
                                             {{"model_nodes"}, value_of(stated.nodes)},
                                             {{"model_nodes_on_host"}, on_host}});
  return section;
}

}  // namespace npuscope::report
