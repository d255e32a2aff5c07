#include "formats/torq/overview.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/numbers.hpp"
#include "formats/torq/fields.hpp"
#include "formats/torq/runtime_log.hpp"

namespace npuscope::torq {
namespace {

using Metric = OverviewMetric;

constexpr const char* meanings[overview_metric_count] = {
    "any of DMA In, DMA Out and CDMA in use",
    "DMA In or DMA Out in use",
    "DMA In in use",
    "DMA Out in use",
    "DMA or CDMA in use, no slice and no CSS",
    "CDMA in use",
    "a slice or the CSS in use",
    "a slice or the CSS in use, no DMA and no CDMA",
    "slice 0 or slice 1 in use",
    "slice 0 in use",
    "slice 1 in use",
    "the CSS in use",
    "DMA or CDMA in use, and a slice or the CSS",
    "in the hardware abstraction layer, which the rest happens in",
    "programs on the host",
    ("programs on the host as the vendor's tools count them: of those that overlap only the one "
     "started last, until the first wait"),
    "copies by the host",
    "a program of the NSS running; which units it uses is not known",
    "OVERALL without DMA, CDMA, slices, CSS, HAL, host copies and host programs",
    ("first start to last end without the HAL, less host work that nothing hides (no DMA, no "
     "compute, no HAL)"),
    "first start to last end",
};

// First begin to last end of parts that do any of it; none without parts.
std::optional<Interval> extent_of(const std::vector<RunPart>& parts, std::uint32_t any) {
  std::optional<Interval> extent;
  for (const RunPart& each : parts) {
    if ((each.doing & any) == 0) continue;
    if (!extent) extent = each.at;
    extent->begin = std::min(extent->begin, each.at.begin);
    extent->end = std::max(extent->end, each.at.end);
  }
  return extent;
}

std::int64_t length(const std::optional<Interval>& interval) {
  return interval ? length_of(*interval) : 0;
}

// Also of what has only one of them.
void take_ends(RunIntervals& run, std::int64_t begin_us, std::int64_t end_us) {
  if (begin_us != no_time) {
    const std::int64_t begin = to_nanoseconds(begin_us);
    run.first_begin = std::min(run.first_begin.value_or(begin), begin);
  }
  if (end_us != no_time) {
    const std::int64_t end = to_nanoseconds(end_us);
    run.last_end = std::max(run.last_end.value_or(end), end);
  }
}

struct LabelledMetric {
  const char* label;
  Metric metric;
};

constexpr LabelledMetric documented[] = {
    {"Dma", Metric::dma_union},       {"Dma Only", Metric::dma_only},
    {"Dma Total", Metric::dma},       {"Cdma", Metric::cdma},
    {"Compute", Metric::compute},     {"Compute Only", Metric::compute_only},
    {"Slice", Metric::slice},         {"Slice 0", Metric::slice_0},
    {"Slice 1", Metric::slice_1},     {"Css", Metric::css},
    {"Overlap", Metric::overlap},     {"Nss Programs", Metric::programs},
    {"Idle", Metric::idle},           {"Hal", Metric::hal},
    {"Host", Metric::host},           {"Host By Vendor", Metric::host_pending},
    {"Host Copy", Metric::host_copy},
};
constexpr LabelledMetric metrics[] = {
    {"TOTAL NPU OPERATIONS", Metric::npu_operations},
    {"Dma", Metric::dma},
    {"Dma Only", Metric::dma_only},
    {"Dma Total", Metric::dma_union},
    {"Cdma", Metric::cdma},
    {"Dma In", Metric::dma_in},
    {"Dma Out", Metric::dma_out},
    {"Compute", Metric::compute},
    {"Compute Only", Metric::compute_only},
    {"Slice", Metric::slice},
    {"Slice 0", Metric::slice_0},
    {"Slice 1", Metric::slice_1},
    {"Css", Metric::css},
    {"Overlap", Metric::overlap},
    {"Idle", Metric::idle},
    {"Hal", Metric::hal},
    {"Host", Metric::host},
    {"Host By Vendor", Metric::host_pending},
    {"Host Copy", Metric::host_copy},
};
constexpr LabelledMetric scrape[] = {
    {"Dma", Metric::dma_union},
    {"Dma Only", Metric::dma_only},
    {"Dma Total", Metric::dma},
    {"Cdma", Metric::cdma},
    {"Compute", Metric::compute},
    {"Compute Only", Metric::compute_only},
    {"Slice", Metric::slice},
    {"Overlap", Metric::overlap},
    {"Idle", Metric::idle},
    {"Host", Metric::host},
    {"Host By Vendor", Metric::host_pending},
    {"Host Copy", Metric::host_copy},
};

std::span<const LabelledMetric> labels_of(OverviewStyle style) {
  switch (style) {
    case OverviewStyle::documented: return documented;
    case OverviewStyle::metrics: return metrics;
    case OverviewStyle::scrape: return scrape;
  }
  return {};
}

// The seconds of wall_time.txt; a text that is no number as it is.
std::string wall_time_text(std::string_view text) {
  text = trimmed(text.substr(0, text.find('\n')));
  const auto seconds = parse_number<double>(text);
  if (!seconds) return std::string(text);
  return *seconds >= 1 ? fmt::format("{:.3f}s", *seconds) : fmt::format("{:.3f}ms", *seconds * 1e3);
}

// As wide as `width` characters, not bytes.
std::string to_right(std::string_view text, std::size_t width) {
  const std::size_t characters = characters_in(text);
  return std::string(width - std::min(width, characters), ' ') + std::string(text);
}

std::string rule(std::size_t width) {
  std::string text = "  ";
  for (std::size_t i = 0; i < width; ++i) text += "─";
  return text + "\n";
}

}  // namespace

const char* meaning_of(OverviewMetric metric) { return meanings[std::size_t(metric)]; }

namespace {

// A start takes the place of the one before, and the first wait ends it.
void add_pending_host_programs(const Annotation& annotation, const AnnotatedInvocation& invocation,
                               RunIntervals& run) {
  const DispatchInfo& dispatch = annotation.debug->dispatches[invocation.dispatch];
  std::optional<std::int64_t> pending;
  for (std::size_t i = 0; i < dispatch.actions.size(); ++i) {
    const Action& action = dispatch.actions[i];
    if (action.program == no_program) continue;
    if (dispatch.programs[action.program].executor != Executor::host) continue;
    const std::int64_t begin = annotation.begin_us[invocation.first + i];
    const std::int64_t end = annotation.end_us[invocation.first + i];
    if (action.kind == ActionKind::start && begin != no_time) pending = begin;
    if (action.kind != ActionKind::wait || end == no_time) continue;
    if (pending && *pending <= end) {
      run.add(to_nanoseconds(Interval{*pending, end}), doing(Doing::host_pending));
    }
    pending.reset();
  }
}

}  // namespace

RunIntervals run_intervals(const Annotation& annotation) {
  RunIntervals run;
  run.pending_known = annotation.log_kind == LogKind::dispatches;
  std::size_t max_parts = annotation.hal.size();
  for (const AnnotatedInvocation& invocation : annotation.invocations) {
    max_parts += 2 * annotation.debug->dispatches[invocation.dispatch].actions.size();
  }
  run.parts.reserve(max_parts);
  for (const AnnotatedInvocation& invocation : annotation.invocations) {
    const DispatchInfo& dispatch = annotation.debug->dispatches[invocation.dispatch];
    const auto place = [&](const Action* action) {
      return invocation.first + std::size_t(action - dispatch.actions.data());
    };
    if (run.pending_known) add_pending_host_programs(annotation, invocation, run);
    for (const ProgramRun& program : dispatch.programs) {
      const Action* start = dispatch.action(program.start_action);
      const Action* wait = dispatch.action(program.wait_action);
      take_ends(run, start == nullptr ? no_time : annotation.begin_us[place(start)],
                wait == nullptr ? no_time : annotation.end_us[place(wait)]);
      const auto time = time_of(annotation, invocation, program);
      if (!time) continue;
      const Interval at = to_nanoseconds(*time);
      if (program.executor == Executor::host) run.add(at, doing(Doing::host));
      if (program.executor != Executor::nss) continue;
      run.add(at, doing(Doing::program) | doing(program.uses));
    }
    for (std::size_t i = 0; i < dispatch.actions.size(); ++i) {
      if (dispatch.actions[i].kind != ActionKind::host_copy) continue;
      take_ends(run, annotation.begin_us[invocation.first + i],
                annotation.end_us[invocation.first + i]);
      if (const auto time = time_of(annotation, invocation, i)) {
        run.add(to_nanoseconds(*time), doing(Doing::host_copy));
      }
    }
  }
  for (const HalCall& call : annotation.hal) {
    take_ends(run, call.begin_us, call.end_us);
    run.add(to_nanoseconds(Interval{call.begin_us, call.end_us}), doing(Doing::hal));
  }
  if (annotation.pairing.is_partial()) {
    run.seen.emplace();
    for (const Interval& each : annotation.pairing.seen_us) {
      run.seen->push_back(to_nanoseconds(each));
    }
  }
  return run;
}

RunIntervals run_intervals(const Profile& profile) {
  RunIntervals run;
  run.use_known = false;
  const Spans& spans = profile.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]);
    if (op >= profile.ops.size()) continue;
    const std::string_view unit = profile.text(profile.units[index_of(spans.unit[row])].name);
    const Interval at{spans.start[row], saturating_add(spans.start[row], spans.duration[row])};
    if (unit == "NSS") run.add(at, doing(Doing::program));
    if (unit == "host programs") run.add(at, doing(Doing::host));
    if (unit != "host") continue;
    const std::string_view kind = profile.text(profile.ops[op].kind);
    if (kind == "HOST_COPY") run.add(at, doing(Doing::host_copy));
    if (kind == "HOST_PROGRAM") run.add(at, doing(Doing::host));
  }
  for (const Phase& phase : profile.phases) {
    if (!profile.text(phase.name).starts_with("HAL_")) continue;
    run.add({phase.start, saturating_add(phase.start, phase.duration)}, doing(Doing::hal));
  }
  return run;
}

Overview make_overview(RunIntervals run, OverviewRules rules) {
  const bool is_part = run.seen.has_value();
  if (is_part) {
    for (const Interval& each : *run.seen) run.add(each, doing(Doing::seen));
  }
  constexpr std::uint32_t hal = doing(Doing::hal), host = doing(Doing::host),
                          copy = doing(Doing::host_copy), program = doing(Doing::program),
                          work = program | host | copy;
  const auto raw_extent = extent_of(run.parts, work | hal), raw_work = extent_of(run.parts, work);
  const bool has_hal = extent_of(run.parts, hal).has_value();
  const RunTimes times(std::move(run.parts));

  constexpr std::uint32_t in = doing(NpuUnit::dma_in), out = doing(NpuUnit::dma_out),
                          cdma = doing(NpuUnit::cdma), css = doing(NpuUnit::css),
                          slice_0 = doing(NpuUnit::slice_0), slice_1 = doing(NpuUnit::slice_1),
                          moves = in | out | cdma, computes = slice_0 | slice_1 | css;
  const auto counts = [&](std::uint32_t bits) {
    return !is_part || (bits & doing(Doing::seen)) != 0;
  };
  // During which any of `wanted` is done and nothing of `without`.
  const auto length_of_any = [&](std::uint32_t wanted, std::uint32_t without = 0) {
    return times.length([&](std::uint32_t bits) {
      return counts(bits) && (bits & wanted) != 0 && (bits & without) == 0;
    });
  };
  Overview overview;
  const auto set = [&](Metric metric, std::int64_t value) {
    overview.nanoseconds[std::size_t(metric)] = value;
  };
  if (run.use_known) {
    set(Metric::dma_union, length_of_any(moves));
    set(Metric::dma, length_of_any(in | out));
    set(Metric::dma_in, length_of_any(in));
    set(Metric::dma_out, length_of_any(out));
    set(Metric::dma_only, length_of_any(moves, computes));
    set(Metric::cdma, length_of_any(cdma));
    set(Metric::compute, length_of_any(computes));
    set(Metric::compute_only, length_of_any(computes, moves));
    set(Metric::slice, length_of_any(slice_0 | slice_1));
    set(Metric::slice_0, length_of_any(slice_0));
    set(Metric::slice_1, length_of_any(slice_1));
    set(Metric::css, length_of_any(css));
    set(Metric::overlap, times.length([&](std::uint32_t bits) {
      return counts(bits) && (bits & moves) != 0 && (bits & computes) != 0;
    }));
  } else {
    set(Metric::programs, length_of_any(program));
  }
  const std::int64_t in_hal = length_of_any(hal);
  if (rules == OverviewRules::vendor || (is_part ? in_hal > 0 : has_hal)) {
    set(Metric::hal, in_hal);
  }
  set(Metric::host, length_of_any(host));
  const std::int64_t pending = length_of_any(doing(Doing::host_pending));
  if (run.pending_known && pending != overview.of(Metric::host)) set(Metric::host_pending, pending);
  set(Metric::host_copy, length_of_any(copy));
  const bool has_ends = run.first_begin && run.last_end && rules == OverviewRules::vendor;
  const std::int64_t overall = is_part    ? length_of(*run.seen)
                               : has_ends ? length_of(Interval{*run.first_begin, *run.last_end})
                                          : length(raw_extent);
  const std::uint32_t npu = run.use_known ? moves | computes : program;
  const std::int64_t busy = length_of_any(npu | hal | copy | host);
  set(Metric::idle, std::max<std::int64_t>(0, saturating_subtract(overall, busy)));
  const auto without_hal =
      is_part ? times.extent([&](std::uint32_t bits) { return counts(bits) && (bits & work) != 0; })
              : raw_work;
  const std::int64_t bare = length_of_any(copy | host, npu | hal);
  set(Metric::npu_operations,
      std::max<std::int64_t>(0, saturating_subtract(length(without_hal), bare)));
  set(Metric::overall, overall);
  return overview;
}

Overview overview_of(const Annotation& annotation, OverviewRules rules) {
  Overview overview = make_overview(run_intervals(annotation), rules);
  overview.coverage = coverage_text(annotation.pairing);
  overview.notes = annotation.notes;
  return overview;
}

std::string model_name(const std::string& file) {
  std::string name = std::filesystem::path(file).filename().string();
  const auto open = name.find('['), close = name.rfind(']');
  if (open != name.npos && close != name.npos && close > open) {
    return name.substr(open + 1, close - open - 1);
  }
  for (const std::string_view ending : {".gz", ".zst", ".pb", ".csv"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      name.resize(name.size() - ending.size());
    }
  }
  return name;
}

std::vector<OverviewRow> rows_of(const Overview& overview, OverviewStyle style) {
  std::vector<OverviewRow> rows;
  for (const LabelledMetric& each : labels_of(style)) {
    if (overview.of(each.metric)) rows.push_back({each.label, each.metric});
  }
  return rows;
}

std::string duration_text(std::int64_t nanoseconds) {
  const auto value = double(nanoseconds);
  if (nanoseconds >= 1'000'000'000) return fmt::format("{:.3f}s", value / 1e9);
  if (nanoseconds >= 1'000'000) return fmt::format("{:.3f}ms", value / 1e6);
  if (nanoseconds >= 1'000) return fmt::format("{:.3f}µs", value / 1e3);
  return fmt::format("{}ns", nanoseconds);
}

double percent_of_overall(const Overview& overview, OverviewMetric metric) {
  const std::int64_t overall = overview.of(Metric::overall).value_or(0);
  if (overall == 0) return 0;
  return double(overview.of(metric).value_or(0)) / double(overall) * 100;
}

std::string print_overview(std::span<const Overview> overviews, OverviewStyle style) {
  constexpr std::size_t label_width = 26, value_width = 14;
  const bool is_documented = style == OverviewStyle::documented;
  std::string text;
  for (const Overview& overview : overviews) {
    if (overview.coverage.empty()) continue;
    text +=
        fmt::format("partial: {}: {}; all shares are of that\n", overview.model, overview.coverage);
  }
  if (is_documented) {
    text += "====================== Host Profile Overview =======================\n";
  }
  const auto line = [&](std::string_view label, const std::string& value) {
    text += fmt::format("  {:<{}} {}", label, label_width, to_right(value, value_width));
  };
  for (std::size_t i = 0; i < overviews.size(); ++i) {
    const Overview& overview = overviews[i];
    if (is_documented && i > 0) text += '\n';
    text += fmt::format("  Model: {}\n", overview.model) + rule(is_documented ? 56 : 52);
    if (is_documented && !overview.scope.empty()) {
      text += fmt::format("  Scope: {}\n", overview.scope);
    }
    if (overview.wall_time) {
      line("WALL_TIME", wall_time_text(*overview.wall_time));
      text += '\n';
    }
    line("OVERALL", duration_text(overview.of(Metric::overall).value_or(0)));
    text += '\n';
    for (const OverviewRow& row : rows_of(overview, style)) {
      line(row.label, duration_text(*overview.of(row.metric)));
      if (row.metric != Metric::npu_operations) {
        text += fmt::format("  ({:.2f}%)", percent_of_overall(overview, row.metric));
      }
      text += '\n';
    }
    if (overview.of(Metric::host_pending)) {
      text +=
          "  Host: programs of the host overlap; the vendor's tools keep one at a time and say "
          "what "
          "stands in Host By Vendor.\n";
    }
    if (!is_documented) text += '\n';
  }
  return text;
}

}  // namespace npuscope::torq
