#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analysis/latency.hpp"
#include "analysis/units/unit_numbers.hpp"
#include "base/text.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// "1233.1 to 1244.0 MHz"
std::string range_of(double min, double max) {
  const std::string from = fmt::format("{:.1f}", min / 1e6), to = fmt::format("{:.1f}", max / 1e6);
  return (from == to ? to : from + " to " + to) + " MHz";
}

// Each of a few inferences, else what the first had and the others.
std::string clocks_text(const std::vector<InferenceClock>& clocks) {
  constexpr std::size_t listed = 4;
  const auto text_of = [](const InferenceClock& clock) {
    return range_of(clock.min_hertz, clock.max_hertz);
  };
  std::string text;
  if (clocks.size() == 1) {
    text = text_of(clocks[0]);
  } else if (clocks.size() <= listed) {
    for (const InferenceClock& clock : clocks) {
      text += fmt::format("{}{} in inference {}", text.empty() ? "" : "; ", text_of(clock),
                          clock.inference);
    }
  } else {
    double min = clocks[1].min_hertz, max = clocks[1].max_hertz;
    for (const InferenceClock& clock : std::span(clocks).subspan(1)) {
      min = std::min(min, clock.min_hertz);
      max = std::max(max, clock.max_hertz);
    }
    text = fmt::format("{} in inference {}, {} in the other {}", text_of(clocks[0]),
                       clocks[0].inference, range_of(min, max), clocks.size() - 1);
  }
  return text + (clocks[0].cores > 1 ? ", over the cores (derived)" : " (derived)");
}

Section core_clocks(const std::vector<InferenceClock>& clocks) {
  Section section{.key = "core_clocks"};
  section.table.fields = {{"inference"}, {"cores"}, {"min_hertz"}, {"max_hertz"}};
  for (const InferenceClock& clock : clocks) {
    section.table.rows.push_back(
        {clock.inference == every_instance ? Value() : Value(clock.inference), clock.cores,
         clock.min_hertz, clock.max_hertz});
  }
  return section;
}

// On average while any is; work does not say it where spans of one unit overlap.
double units_at_work(const Concurrency& concurrency) {
  double any = 0, sum = 0;
  for (std::size_t units = 1; units <= concurrency.max(); ++units) {
    any += double(concurrency.time_at[units]);
    sum += double(units) * double(concurrency.time_at[units]);
  }
  return any > 0 ? sum / any : 0;
}

std::string with_unit(const Profile& profile, double ticks) {
  const std::string text = ticks_text(profile, profile.base_clock, ticks);
  return shows_time(profile, profile.base_clock)
             ? text
             : text + " " + unit_of(profile, profile.base_clock);
}

const char* name_of_part(const Coarse& coarse, Part part, bool leaves_out_rows) {
  if (part == Part::idle && leaves_out_rows) return "not selected or idle";
  const bool only_wait = coarse.parts[std::size_t(Part::waiting_for_dma)] == 0;
  return part == Part::other_waiting && only_wait ? "waiting alone" : name_of(part);
}

std::string overall_text(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const Coarse& coarse = analysis.coarse();
  std::string text = "work " + with_unit(profile, double(coarse.work));
  if (coarse.active > 0) {
    const Concurrency& at_once = analysis.concurrency();
    text +=
        fmt::format("; average concurrency {:.2f}, max {}", units_at_work(at_once), at_once.max());
  }
  if (coarse.gaps == 0) return text;
  return text + fmt::format("; {} gap{}, the longest {}", thousands(coarse.gaps),
                            coarse.gaps == 1 ? "" : "s",
                            with_unit(profile, double(coarse.longest_gap)));
}

}  // namespace

const char* short_name_of(const Coarse& coarse, Part part, bool leaves_out_rows) {
  switch (part) {
    case Part::compute_alone: return "compute";
    case Part::compute_and_movement: return "compute with data movement";
    case Part::movement_alone: return "data movement";
    case Part::communication_alone: return "communication";
    case Part::other_work: return "work";
    case Part::host_alone: return "host";
    case Part::waiting_for_dma: return "DMA wait";
    case Part::other_waiting:
    case Part::idle: break;
  }
  return name_of_part(coarse, part, leaves_out_rows);
}

std::string wall_text(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const Coarse& coarse = analysis.coarse();
  std::string text = with_unit(profile, double(coarse.wall));
  if (shows_time(profile, profile.base_clock)) return text;
  if (const auto rate = clock_rate_during(profile, coarse.timeline)) {
    text += fmt::format(" = {}{}", seconds_text(double(coarse.wall) / rate->rate.value),
                        rate->origin == Origin::derived ? " (derived)" : "");
  }
  return text;
}

Section wall_section(const Analysis& analysis, bool leaves_out_rows) {
  const Profile& profile = analysis.profile();
  const Coarse& coarse = analysis.coarse();
  if (coarse.wall == 0) return {};
  const bool has_parts = coarse.has_parts();
  Section section{.key = "wall", .title = "WALL  " + wall_text(analysis)};
  if (!has_parts) section.remarks = {"Of inferences; no timeline of what ran in them."};
  const auto rate = clock_rate_during(profile, coarse.timeline);
  const auto clocks = analyse_clocks(profile);
  const Spread& runs = coarse.inferences;
  std::string inferences;
  if (runs.count > 1) {
    inferences = fmt::format("first {}, median of the other {} {}, from {} to {}",
                             with_unit(profile, runs.first), runs.count - 1,
                             with_unit(profile, runs.median_of_rest), with_unit(profile, runs.min),
                             with_unit(profile, runs.max));
  }
  const auto known = [&](std::int64_t ticks) { return has_parts ? Value(ticks) : Value(); };
  section.facts = {
      {{"begin"}, coarse.timeline.begin},
      {{"end"}, coarse.timeline.end},
      {{"ticks"}, coarse.wall},
      {{"seconds"}, rate ? Value(double(coarse.wall) / rate->rate.value) : Value()},
      {{"hertz"}, rate ? Value(rate->rate.value) : Value()},
      {{"hertz_origin"}, rate ? Value(stable_name(rate->origin)) : Value()},
      {{"hertz_error"}, rate ? Value(rate->error) : Value()},
      {{"active"}, known(coarse.active)},
      {{"work"}, known(coarse.work)},
      {{"compute_active"}, known(coarse.compute_active)},
      {{"movement_active"}, known(coarse.movement_active)},
      {{"communication_active"}, known(coarse.communication_active)},
      {{"host_active"}, known(coarse.host_active)},
      {{"gaps"}, known(std::int64_t(coarse.gaps))},
      {{"longest_gap"}, known(coarse.longest_gap)},
      {{"", "overall"}, has_parts ? Value(overall_text(analysis)) : Value()},
      {{"inferences"}, runs.count},
      {{"inference_first"}, runs.count > 0 ? Value(runs.first) : Value()},
      {{"inference_median_of_rest"}, runs.count > 1 ? Value(runs.median_of_rest) : Value()},
      {{"inference_min"}, runs.count > 0 ? Value(runs.min) : Value()},
      {{"inference_max"}, runs.count > 0 ? Value(runs.max) : Value()},
      {{"", "inference"}, if_any(inferences)},
      {{"inferences_per_second"}, coarse.inferences_per_second},
      {{"", "rate"},
       coarse.inferences_per_second ? Value(number_text(*coarse.inferences_per_second) +
                                            " inferences per second, one after another (derived)")
                                    : Value()},
      {{"", "core clock"}, clocks.empty() ? Value() : Value(clocks_text(clocks))},
      {{"idle_may_be_left_out"}, leaves_out_rows}};
  section.table.fields = {
      {"part", ""},
      {"", "part"},
      {"ticks",
       shows_time(profile, profile.base_clock) ? "time" : unit_of(profile, profile.base_clock),
       Format::ticks},
      {"share_of_wall", "share", Format::share},
      {"", " ", Format::bar, false}};
  constexpr const char* keys[part_count] = {
      "compute_alone",       "compute_and_movement", "movement_alone",
      "communication_alone", "other_work",           "host_alone",
      "waiting_for_dma",     "other_waiting",        "idle"};
  for (std::size_t i = 0; i < part_count && has_parts; ++i) {
    if (coarse.parts[i] <= 0) continue;
    const double share = double(coarse.parts[i]) / double(coarse.wall);
    section.table.rows.push_back(
        {keys[i], name_of_part(coarse, Part(i), leaves_out_rows), coarse.parts[i], share, share});
  }
  if (!clocks.empty()) section.parts.push_back(core_clocks(clocks));
  return section;
}

namespace {

// Of the device: bytes that the compiler says an inference moves, by the time that the device took.
void add_ddr_rate(const Profile& profile, const Throughput& rate, const PeakText& text,
                  Section& section) {
  if (profile.spans.size() > 0 || index_of(profile.base_clock) >= profile.clocks.size()) return;
  double read = 0;
  for (const Measure& measure : profile.measures) {
    if (measure.subject != Measure::Subject::unit) continue;
    if (measure.subject_id >= profile.units.size()) continue;
    if (profile.units[measure.subject_id].engine != Engine::device) continue;
    if (measure.meaning.statistic != Statistic::none) continue;
    if (measure.meaning.role == NumberRole::ddr_read) read += measure.value;
  }
  const double hertz = profile.clocks[index_of(profile.base_clock)].rate.value;
  if (!(read > 0) || !(rate.execution > 0) || !(hertz > 0)) return;
  const double per_second = read / (rate.execution / hertz);
  std::string line =
      fmt::format("{} read in {} = {:.0f} GB/s", bytes_text(read),
                  ticks_text(profile, profile.base_clock, rate.execution), per_second * 1e-9);
  Value share;
  const auto found = find_peaks(profile, text);
  if (found && found->peaks.ddr_bytes_per_s) {
    share = per_second / *found->peaks.ddr_bytes_per_s;
    line += fmt::format(", {} of the peak ({:.0f} GB/s, {})",
                        percent_text(per_second, *found->peaks.ddr_bytes_per_s),
                        *found->peaks.ddr_bytes_per_s * 1e-9, found->peaks.source);
  }
  section.facts.insert(section.facts.begin(), {{"", "DDR"}, line});
  section.facts.push_back({{"ddr_read_bytes_per_second"}, per_second});
  section.facts.push_back({{"ddr_share_of_peak"}, share});
}

}  // namespace

Section throughput_section(const Profile& profile, const PeakText& peaks) {
  const auto throughput = analyse_latency(profile).throughput;
  if (!throughput) return {};
  const Throughput& rate = *throughput;
  const bool has_batch = rate.batch > 0;
  const char* unit = has_batch ? "inferences/s" : "batches/s";
  Section section{.key = "throughput", .title = "THROUGHPUT"};
  const auto time = [&](double ticks) { return ticks_text(profile, profile.base_clock, ticks); };
  section.facts = {
      {{"", "device"},
       fmt::format("{} {}, if it executed without a break", number_text(rate.device_inferences()),
                   unit)},
      {{"", "system"},
       fmt::format("{} {}, {:.1f} % less", number_text(rate.system_inferences()), unit,
                   rate.gap_share * 100)},
      {{"", "per batch"},
       fmt::format("execution {}, waiting for inputs {}, between batches {}", time(rate.execution),
                   time(rate.input_wait), time(rate.period))},
      {{"device_batches_per_second"}, rate.device * rate.activations},
      {{"device_inferences_per_second"}, has_batch ? Value(rate.device_inferences()) : Value()},
      {{"system_batches_per_second"}, rate.system * rate.activations},
      {{"system_inferences_per_second"}, has_batch ? Value(rate.system_inferences()) : Value()},
      {{"gap_share_of_device"}, rate.gap_share},
      {{"activations"}, rate.activations},
      {{"inferences_per_batch"}, has_batch ? Value(rate.batch) : Value()},
      {{"period"}, rate.period},
      {{"execution"}, rate.execution},
      {{"input_wait"}, rate.input_wait},
      {{"output_wait"}, rate.output_wait}};
  add_ddr_rate(profile, rate, peaks, section);
  return section;
}

}  // namespace npuscope::report
