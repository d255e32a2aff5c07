#include "report/latency/latency_document.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/counted.hpp"
#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "profile/names.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/picture/axes.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {

const char* stable_name(analysis::ThroughputGap cause) {
  switch (cause) {
    case analysis::ThroughputGap::none: return "none";
    case analysis::ThroughputGap::input_wait: return "input_wait";
    case analysis::ThroughputGap::output_wait: return "output_wait";
    case analysis::ThroughputGap::other: return "other";
  }
  return "";
}

std::string_view throughput_explanation(const analysis::Throughput& throughput) {
  using analysis::ThroughputGap;
  switch (throughput.cause) {
    case ThroughputGap::none: return "The host keeps the device at work.";
    case ThroughputGap::input_wait:
      if (!(throughput.queue_depth > 0)) {
        return "The device waits for inputs: keep more queued (-S); else the host or its link "
               "delivers them too slowly, and --aic-profiling-type=latency says at which step.";
      }
      return throughput.queue_depth < 1.5
                 ? "The device waits for inputs, because only one inference is under way: the next "
                   "is sent when it is done. Keep more queued (-S)."
                 : "The device waits for inputs although others are queued: too few to cover what "
                   "the host does with each, or the host or its link delivers them too slowly. "
                   "Keep more queued (-S); else look at submit and at what is sent per inference.";
    case ThroughputGap::output_wait:
      return "The device waits for outputs to leave: the link to the host is slower than it. Send "
             "less, or keep state on the device (-retained-state).";
    case ThroughputGap::other:
      return "The device is idle between inferences for reasons that its own waits do not show: "
             "look at enqueue and submit of the host.";
  }
  return {};
}

namespace {

using analysis::Latency;
using analysis::Throughput;

Section steps_section(const Latency& latency, bool of_batches) {
  Section section{.key = "latency", .title = "LATENCY"};
  section.table.fields = {{"step", "step"},
                          {"kind", "kind"},
                          {"samples", "", Format::count},
                          {"mean", "mean", Format::ticks},
                          {"least", "min", Format::ticks}};
  section.table.fields.back().needed = false;
  for (const double percent : analysis::latency_percentiles) {
    section.table.fields.push_back({fmt::format("percentile_{:.0f}", percent),
                                    fmt::format("{:.0f} %", percent), Format::ticks});
    section.table.fields.back().needed = percent != 75 && percent != 90;
  }
  section.table.fields.push_back({"most", "max", Format::ticks});
  for (const analysis::LatencyRow& row : latency.rows) {
    std::vector<Value> values{row.name, stable_name(row.kind), if_positive(row.samples), row.mean,
                              row.min};
    for (const auto& percentile : row.percentiles) values.emplace_back(percentile);
    values.emplace_back(row.max);
    section.table.rows.push_back(std::move(values));
  }
  std::size_t most = 0, least = 0;  // of rows that have any
  for (const analysis::LatencyRow& row : latency.rows) {
    if (row.samples == 0) continue;
    most = std::max<std::size_t>(most, row.samples);
    least = least == 0 ? row.samples : std::min<std::size_t>(least, row.samples);
  }
  if (most > 0) {
    section.remarks.push_back(fmt::format("Of {}{}; percentiles lie between samples linearly.",
                                          least < most ? "up to " : "", counted(most, "sample")));
  }
  if (section.remarks.empty()) section.remarks.emplace_back("Statistics as the file has them.");
  if (of_batches) section.remarks.push_back("Times are of a batch, whatever its size.");
  return section;
}

// Each figure of a batch and, where its size is known, of an inference.
Section call_throughput_section(const Throughput& throughput, bool of_log) {
  Section section{.key = "throughput", .title = "THROUGHPUT"};
  const double batch = throughput.per_batch(), all = throughput.activations;
  section.facts = {{{"device_batches_per_second", "device, batches/s", Format::number},
                    throughput.device * all}};
  const bool has_batch = throughput.batch > 0;
  const auto add = [&](Field field, Value value) {
    section.facts.push_back({std::move(field), std::move(value)});
  };
  if (has_batch) {
    add({"device_inferences_per_second", "device, inferences/s", Format::number},
        throughput.device_inferences());
  }
  add({"system_batches_per_second", "system, batches/s", Format::number}, throughput.system * all);
  if (has_batch) {
    add({"system_inferences_per_second", "system, inferences/s", Format::number},
        throughput.system_inferences());
  }
  add({"gap_share_of_device", "gap, of the device's", Format::share}, throughput.gap_share);
  add({"cause", "cause"}, stable_name(throughput.cause));
  if (throughput.queue_depth > 0) {
    add({"under_way", "batches under way", Format::number}, throughput.queue_depth);
  }
  if (of_log) add({"activations", "activations (derived)", Format::number}, all);
  add({"period", "between batches", Format::ticks}, throughput.period);
  add({"execution", "execution, per batch", Format::ticks}, throughput.execution);
  if (has_batch) {
    add({"execution_per_inference", "execution, per inference", Format::ticks},
        throughput.execution / batch);
  }
  add({"input_wait", "waiting for inputs", Format::ticks}, throughput.input_wait);
  add({"output_wait", "waiting for outputs", Format::ticks}, throughput.output_wait);
  if (has_batch) {
    add({"inferences_per_batch", "inferences per batch", Format::number}, throughput.batch);
  }
  section.remarks = {
      of_log ? "device: batches that it would do without a break, 1 / mean execution, by all "
               "activations. system: batches by the duration of the run, as the log's Inf/Sec. The "
               "log does not say how many activations shared the work: so many as the device's "
               "execution and waits need for it."
             : "device: batches that it would do without a break, 1 / mean execution. system: "
               "batches under way / mean round trip (Little's law), so of the sampled time only.",
      std::string(throughput_explanation(throughput))};
  return section;
}

}  // namespace

Result<Latency> latency_answer(const analysis::Analysis& analysis) {
  const Profile& profile = analysis.profile();
  Latency latency = analysis::analyse_latency(profile);
  if (latency.rows.empty()) latency.rows = analysis::inferences_as_samples(profile);
  if (!latency.rows.empty()) return latency;
  const bool is_of_runner = profile.provenance.platform == Provenance::Platform::cloud_ai_100;
  return input_error("{}: neither a latency file nor a runner's log; {}", files_text(profile),
                     is_of_runner ? "make one with npuscope run --aic-profiling-type=latency"
                                  : "npuscope show has the times of its inferences, if it has any");
}

Result<Document> latency_document(const analysis::Analysis& analysis) {
  TRY_AS(found, latency_answer(analysis));
  const Latency& latency = *found;
  Document document{.profile = &analysis.profile()};
  const bool of_batches =
      analysis.profile().provenance.platform == Provenance::Platform::cloud_ai_100;
  document.sections.push_back(steps_section(latency, of_batches));
  if (latency.all_of_beginning) {
    document.sections.back().remarks.push_back(
        "No throughput: all samples are of the run's beginning, while its queue was being filled; "
        "sample later (--aic-profiling-start-iter) or keep fewer queued (-S).");
  }
  if (latency.throughput) {
    const bool of_log = latency.rows.front().samples == 0;
    document.sections.push_back(call_throughput_section(*latency.throughput, of_log));
  }
  return document;
}

namespace {

constexpr std::size_t lines_of_marks = 3;
constexpr double mark_line_height = 13, room_for_marks = mark_line_height * lines_of_marks + 4;
constexpr double plot_height = 96, room_at_left = 40;
constexpr const char* bar_colour = "#0b6fb8";

struct Marked {
  double value = 0;
  std::string text;
};

// What of the spread people ask for, in the order of their values.
std::vector<Marked> marked_values(const analysis::LatencyRow& row) {
  std::vector<Marked> marks;
  if (row.values.empty() && row.mean) marks.push_back({*row.mean, "mean"});
  for (std::size_t i = 0; i < analysis::latency_percentiles.size(); ++i) {
    const double percent = analysis::latency_percentiles[i];
    if (!row.percentiles[i] || percent == 75 || percent == 90) continue;
    marks.push_back({*row.percentiles[i],
                     percent == 50 ? std::string("median") : fmt::format("{:.0f} %", percent)});
  }
  sort_rows(marks, {}, &Marked::value);
  return marks;
}

class LatencyPicture {
 public:
  LatencyPicture(const Profile& profile, const PictureView& view)
      : profile_(profile),
        figure_(view.width, picture_heading("Latency", profile, {.selection = view.selection})),
        left_(figure_margin + room_at_left),
        right_(view.width - figure_margin) {}

  // False, and nothing drawn, for a row of which nothing is spread.
  bool add(const analysis::LatencyRow& row);
  std::string svg() { return figure_.svg(); }
  void add_remark(std::string_view text) { figure_.add_remark(text); }

 private:
  std::string time_text(double ticks) const {
    return ticks_text(profile_, profile_.base_clock, ticks);
  }
  void add_bars(const analysis::LatencyRow& row, const Scale& across);
  void add_line(const analysis::LatencyRow& row, const Scale& across);
  void add_marks(const analysis::LatencyRow& row, const Scale& across);
  void add_axis(const Scale& across);

  const Profile& profile_;
  Figure figure_;
  double left_, right_;
};

void LatencyPicture::add_bars(const analysis::LatencyRow& row, const Scale& across) {
  const auto bins =
      std::clamp<std::size_t>(std::size_t(2 * std::sqrt(double(row.values.size()))), 8, 80);
  const auto counts = histogram_of(row.values, across.low, across.high, bins);
  const Scale up{0, double(*std::ranges::max_element(counts)), figure_.y() + plot_height,
                 figure_.y()};
  const double bin = (across.high - across.low) / double(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    if (counts[i] == 0) continue;
    const double begin = across.low + double(i) * bin;
    const double x = across.at(begin), top = up.at(double(counts[i]));
    figure_.rect({x, top, std::max(1.0, across.at(begin + bin) - x - 1), up.first - top},
                 bar_colour,
                 fmt::format("{} samples of {} to {}", thousands(counts[i]), time_text(begin),
                             time_text(begin + bin)));
  }
  figure_.text(left_ - 8, up.last + 8, Anchor::end, thousands(std::uint64_t(up.high)),
               {.size = 11, .colour = quiet_colour});
  figure_.text(left_ - 8, up.first, Anchor::end, "0", {.size = 11, .colour = quiet_colour});
}

void LatencyPicture::add_line(const analysis::LatencyRow& row, const Scale& across) {
  const double y = figure_.y() + plot_height / 2;
  figure_.line(svg_path("M{} {}H{}", across.at(*row.min), y, across.at(*row.max)), bar_colour, 6);
}

void LatencyPicture::add_marks(const analysis::LatencyRow& row, const Scale& across) {
  constexpr double size = 11;
  std::array<double, lines_of_marks> free_from;  // of the lines that texts stand in
  free_from.fill(left_);
  for (const Marked& mark : marked_values(row)) {
    const double x = across.at(mark.value);
    const std::string text = mark.text + " " + time_text(mark.value);
    const double width = text_width(text, size);
    const double begin = std::clamp(x - width / 2, left_, right_ - width);
    figure_.line(svg_path("M{} {}V{}", x, figure_.y() - 2, figure_.y() + plot_height), "#1c2126", 1,
                 "4 3");
    const auto free = std::ranges::find_if(free_from, [&](double from) { return begin >= from; });
    if (free == free_from.end()) continue;
    const double above = 5 + double(free - free_from.begin()) * mark_line_height;
    figure_.text(begin, figure_.y() - above, Anchor::start, text, {.size = size});
    *free = begin + width + 8;
  }
}

void LatencyPicture::add_axis(const Scale& across) {
  const Interval window{std::int64_t(std::floor(across.low)), std::int64_t(std::ceil(across.high))};
  const TimelineAxis axis = make_axis(profile_, window, 0, 9);
  const double y = figure_.y() + plot_height;
  figure_.line(svg_path("M{} {}H{}", left_, y, right_), quiet_colour);
  for (const TimelineMark& mark : axis.marks) {
    const double x = across.at(double(mark.time));
    figure_.line(svg_path("M{} {}v5", x, y), quiet_colour);
    figure_.text(x, y + 17, Anchor::middle, mark.text, {.colour = quiet_colour});
  }
  figure_.text(right_, y + 31, Anchor::end, axis.unit, {.colour = quiet_colour});
}

bool LatencyPicture::add(const analysis::LatencyRow& row) {
  if (!row.min || !row.max || !(*row.max > *row.min)) return false;
  const double room = (*row.max - *row.min) * 0.03;
  const Scale across{std::max(0.0, *row.min - room), *row.max + room, left_, right_};
  const std::string count =
      row.samples > 0 ? fmt::format(", {} samples", thousands(row.samples)) : "";
  figure_.add_plot_title(
      row.name, fmt::format("{} to {}{}", time_text(*row.min), time_text(*row.max), count));
  figure_.skip(room_for_marks - 10);
  if (row.values.size() > 1) {
    add_bars(row, across);
  } else {
    add_line(row, across);
  }
  add_marks(row, across);
  add_axis(across);
  figure_.skip(plot_height + 46);
  return true;
}

}  // namespace

std::vector<std::uint64_t> histogram_of(const std::vector<double>& samples, double low, double high,
                                        std::size_t bins) {
  std::vector<std::uint64_t> counts(bins, 0);
  if (bins == 0 || !(high > low)) return counts;
  for (const double sample : samples) {
    if (!(sample >= low) || !(sample <= high)) continue;
    const auto bin = std::size_t((sample - low) / (high - low) * double(bins));
    ++counts[std::min(bin, bins - 1)];
  }
  return counts;
}

Result<std::string> latency_svg(const analysis::Analysis& analysis, const PictureView& view) {
  TRY_AS(latency, latency_answer(analysis));
  LatencyPicture picture(analysis.profile(), view);
  std::string steady;
  for (const analysis::LatencyRow& row : latency->rows) {
    if (!picture.add(row)) steady += (steady.empty() ? "" : ", ") + row.name;
  }
  if (!steady.empty()) picture.add_remark("Not drawn, because all samples are the same: " + steady);
  picture.add_remark("Times are of a batch, whatever its size. Each step has its own axis.");
  return picture.svg();
}

}  // namespace npuscope::report
