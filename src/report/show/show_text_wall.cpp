#include "report/show/show_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// "1233.1 to 1244.0 MHz"
std::string range_of(double min, double max) {
  const std::string from = fmt::format("{:.1f}", min / 1e6), to = fmt::format("{:.1f}", max / 1e6);
  return (from == to ? to : from + " to " + to) + " MHz";
}

// A line for each of a few inferences, else what the first had and the others.
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

// On average while any is; work does not say it where spans of one unit overlap.
double units_at_work(const Concurrency& concurrency) {
  double any = 0, sum = 0;
  for (std::size_t units = 1; units <= concurrency.max(); ++units) {
    any += double(concurrency.time_at[units]);
    sum += double(units) * double(concurrency.time_at[units]);
  }
  return any > 0 ? sum / any : 0;
}

std::string bar_of(double share) {
  constexpr std::size_t width = 30;
  return std::string(std::min(std::size_t(share * double(width) + 0.5), width), '#');
}

const char* part_name(const Coarse& coarse, Part part, bool leaves_out_rows) {
  if (part == Part::idle && leaves_out_rows) return "not selected or idle";
  const bool only_wait = coarse.parts[std::size_t(Part::waiting_for_dma)] == 0;
  return part == Part::other_waiting && only_wait ? "waiting alone" : name_of(part);
}

}  // namespace

void PageText::print_call() {
  if (!page_.call) return;
  const Call& call = *page_.call;
  std::string title =
      fmt::format("{}  {}", call.warm ? "WARM CALL" : "COLD CALL", seconds_text(call.seconds()));
  if (call.count > 1) title += fmt::format(", median of {} after the first", call.count);
  heading(title);
  TextTable rows({{"layer", Align::left},
                  {"time"},
                  {"in this layer alone"},
                  {"share"},
                  {"", Align::left, false}});
  for (std::size_t i = 0; i < call.layers.size(); ++i) {
    const CallLayer& layer = call.layers[i];
    const double share = layer.own / call.seconds();
    rows.add({layer.name, seconds_text(layer.seconds), seconds_text(layer.own),
              percent_text(share, 1), bar_of(share)});
  }
  table(rows);
  line("device",
       fmt::format("{} of the call, {}", percent_text(call.device_seconds() / call.seconds(), 1),
                   seconds_text(call.device_seconds())));
}

void PageText::print_wall() {
  const Coarse& coarse = page_.coarse;
  if (coarse.wall == 0) return;
  const auto wall = double(coarse.wall);
  std::string title = "WALL  " + base_with_unit(wall);
  const bool in_time = shows_time(profile_, profile_.base_clock);
  if (!in_time && page_.rate) {
    title += fmt::format(" = {}{}", seconds_text(wall / page_.rate->rate.value),
                         page_.rate->origin == Origin::derived ? " (derived)" : "");
  }
  const bool has_parts = coarse.has_parts();
  if (!has_parts) title += "  of inferences; what ran in them has no timeline here";
  heading(title);
  TextTable parts({{"part", Align::left},
                   {in_time ? "time" : unit_of(profile_, profile_.base_clock)},
                   {"share"},
                   {"", Align::left, false}});
  for (std::size_t i = 0; i < part_count; ++i) {
    const auto part = double(coarse.parts[i]);
    if (part <= 0) continue;
    parts.add({part_name(coarse, Part(i), page_.leaves_out_rows), base(part),
               percent_text(part, wall), bar_of(part / wall)});
  }
  if (has_parts) table(parts);
  std::string side = fmt::format("work {}", base_with_unit(double(coarse.work)));
  if (coarse.active > 0) {
    side += fmt::format("; {:.2f} units at work on average while any is, {} at most",
                        units_at_work(page_.overlap.concurrency), page_.overlap.concurrency.max());
  }
  if (coarse.gaps > 0) {
    side += fmt::format("; {}, the longest {}", counted(coarse.gaps, "gap", "gaps"),
                        base_with_unit(double(coarse.longest_gap)));
  }
  if (has_parts) line("overall", side);
  const Spread& runs = coarse.inferences;
  if (runs.count > 1) {
    line("inference", fmt::format("first {}, median of the other {} {}, from {} to {}",
                                  base_with_unit(runs.first), runs.count - 1,
                                  base_with_unit(runs.median_of_rest), base_with_unit(runs.min),
                                  base_with_unit(runs.max)));
  }
  if (coarse.inferences_per_second) {
    line("rate", fmt::format("{} inferences per second, one after another (derived)",
                             number_text(*coarse.inferences_per_second)));
  }
  if (!page_.clocks.empty()) line("core clock", clocks_text(page_.clocks));
}

void PageText::print_throughput() {
  if (!page_.throughput) return;
  const Throughput& rate = *page_.throughput;
  heading("THROUGHPUT");
  const char* unit = rate.batch > 0 ? "inferences/s" : "batches/s";
  line("device", fmt::format("{} {}, if it executed without a break",
                             number_text(rate.device_inferences()), unit));
  line("system", fmt::format("{} {}, {:.1f} % less", number_text(rate.system_inferences()), unit,
                             rate.gap_share * 100));
  line("per batch", fmt::format("execution {}, waiting for inputs {}, between batches {}",
                                base(rate.execution), base(rate.input_wait), base(rate.period)));
}

void PageText::print_phases() {
  if (page_.phases.empty()) return;
  const bool in_time = shows_time(profile_, profile_.base_clock);
  const bool any_timed = std::any_of(page_.phases.begin(), page_.phases.end(),
                                     [](const PhaseRow& row) { return row.microseconds.count; });
  const bool several = std::any_of(page_.phases.begin(), page_.phases.end(),
                                   [](const PhaseRow& row) { return row.ticks.count > 1; });
  const std::string unit = in_time ? "" : " " + unit_of(profile_, profile_.base_clock);
  heading(fmt::format("PHASES ({})",
                      more(std::min(page_.top, page_.phases.size()), page_.phases.size())));
  TextTable rows({{"phase", Align::left},
                  {"runs"},
                  {"first" + unit},
                  {any_timed && !in_time ? "first time" : ""},
                  {several ? "median of rest" : "", Align::right, false},
                  {"self, first", Align::right, false},
                  {any_timed && !in_time ? "rate" : "", Align::right, false}});
  for (std::size_t i = 0; i < std::min(page_.top, page_.phases.size()); ++i) {
    const PhaseRow& row = page_.phases[i];
    const bool timed = row.microseconds.count > 0;
    const auto time = [](const Spread& spread, double value) {
      return spread.count > 0 ? seconds_text(value * 1e-6) : std::string();
    };
    rows.add({std::string(2 * std::min<std::size_t>(row.depth, 8), ' ') +
                  std::string(profile_.text(row.name)),
              thousands(row.ticks.count), base(row.ticks.first),
              in_time ? "" : time(row.microseconds, row.microseconds.first),
              row.ticks.count < 2 ? ""
              : in_time || !timed ? base(row.ticks.median_of_rest)
                                  : time(row.microseconds, row.microseconds.median_of_rest),
              in_time || !timed ? base(row.self_ticks.first)
                                : time(row.self_microseconds, row.self_microseconds.first),
              row.hertz.count > 0 && !in_time ? hertz_text(row.hertz.first) : ""});
  }
  table(rows);
}

}  // namespace npuscope::report
