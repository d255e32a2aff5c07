#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/counted.hpp"
#include "base/try.hpp"
#include "npuscope/profile/intervals.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/memory/memory_document.hpp"
#include "report/memory/memory_sections.hpp"
#include "report/picture/axes.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {

namespace {

using analysis::MemoryRow;
using analysis::MemoryTable;
using analysis::RooflineVerdict;

constexpr double plot_height = 360, left_room = 62, bottom_room = 44, label_height = 14;
constexpr double largest_radius = 26, smallest_radius = 3;
constexpr std::size_t max_labels = 8;

struct Point {
  const MemoryRow* row = nullptr;
  double intensity = 0;  // MACs per byte
  double rate = 0;       // MACs a second; a tick where no rate is known
};

const char* colour_of_verdict(RooflineVerdict verdict) {
  switch (verdict) {
    case RooflineVerdict::compute: return engine_colour(Engine::hmx);
    case RooflineVerdict::memory: return engine_colour(Engine::hvx);
    case RooflineVerdict::dispatch: return engine_colour(Engine::dma_issue);
    case RooflineVerdict::latency: return engine_colour(Engine::compute);
    case RooflineVerdict::unknown: break;
  }
  return engine_colour(Engine::other);
}

// "1.5 TMAC/s", without a space between a prefix and its unit.
std::string scaled(double value, const char* unit) {
  constexpr std::pair<double, const char*> prefixes[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [size, prefix] : prefixes) {
    if (value >= size) return fmt::format("{:.3g} {}{}", value / size, prefix, unit);
  }
  return fmt::format("{:.3g} {}", value, unit);
}

class RooflineDrawing {
 public:
  RooflineDrawing(Figure& figure, const Profile& profile, const MemoryTable& table)
      : figure_(figure), profile_(profile), table_(table) {}

  bool draw() {
    const std::vector<Point> found = points();
    if (found.empty()) {
      figure_.add_remark("No roofline: no op has MACs, bytes of DDR and a time.");
      return false;
    }
    figure_.add_plot_title("Roofline", scope_of_each(profile_));
    place_axes(found);
    draw_axes();
    draw_ceilings();
    draw_points(found);
    std::string remark = "A circle is an op, its area the time that it was active.";
    const std::size_t without = table_.rows.size() - found.size();
    if (without > 0) {
      remark += fmt::format(" {} no MACs or no DDR traffic and {} not drawn.",
                            counted(without, "op has", "ops have"), without == 1 ? "is" : "are");
    }
    figure_.add_remark(remark);
    return true;
  }

 private:
  bool has_seconds() const { return table_.roofs.seconds_per_tick > 0; }
  const char* rate_unit() const { return has_seconds() ? "MAC/s" : "MAC a tick"; }
  double per_tick(double value) const {
    return has_seconds() ? value / table_.roofs.seconds_per_tick : value;
  }

  std::vector<Point> points() const {
    std::vector<Point> found;
    for (const MemoryRow& row : table_.rows) {
      const analysis::Placement& placement = row.placement;
      if (!placement.intensity || !(row.work.ticks > 0)) continue;
      found.push_back({&row, *placement.intensity,
                       placement.macs_per_s.value_or(row.work.all_macs() / row.work.ticks)});
    }
    std::ranges::sort(found, std::ranges::greater{},
                      [](const Point& point) { return point.row->active; });
    return found;
  }

  // The peak that counts for most of the MACs.

  std::optional<double> mac_peak() const {
    const auto& macs = table_.work.macs;
    const std::size_t most = std::size_t(std::ranges::max_element(macs) - macs.begin());
    const auto& peak = table_.roofs.macs_per_tick[most];
    return peak ? std::optional(per_tick(*peak)) : std::nullopt;
  }

  // bytes a second, or a tick
  std::optional<double> ddr_peak() const {
    const auto& peak = table_.roofs.ddr_bytes_per_tick;
    return peak ? std::optional(per_tick(*peak)) : std::nullopt;
  }

  void place_axes(const std::vector<Point>& points) {
    constexpr double max = std::numeric_limits<double>::max();
    double low[] = {max, max}, high[] = {0, 0};
    const auto take = [&](int axis, double value) {
      low[axis] = std::min(low[axis], value);
      high[axis] = std::max(high[axis], value);
    };
    for (const Point& point : points) {
      take(0, point.intensity);
      take(1, point.rate);
    }
    if (const auto peak = mac_peak()) {
      take(1, *peak);
      if (const auto ddr = ddr_peak()) take(0, *peak / *ddr);
    }
    x_ = log_scale(low[0], high[0], figure_margin + left_room, figure_.width() - figure_margin - 8);
    y_ = log_scale(low[1], high[1], figure_.y() + plot_height, figure_.y());
  }

  void draw_axes() {
    for (const double mark : log_marks(x_.low, x_.high)) {
      figure_.line(svg_path("M{} {}V{}", x_.at(mark), y_.first, y_.last), grid_colour);
      figure_.text(x_.at(mark), y_.first + 17, Anchor::middle, number_text(mark),
                   {.colour = quiet_colour});
    }
    for (const double mark : log_marks(y_.low, y_.high)) {
      figure_.line(svg_path("M{} {}H{}", x_.first, y_.at(mark), x_.last), grid_colour);
      figure_.text(x_.first - 6, y_.at(mark) + 4, Anchor::end, scaled(mark, ""),
                   {.colour = quiet_colour});
    }
    figure_.text((x_.first + x_.last) / 2, y_.first + 36, Anchor::middle,
                 "MACs per byte of DDR traffic", {.colour = quiet_colour});
    figure_.text(figure_margin + 4, (y_.first + y_.last) / 2, Anchor::middle,
                 has_seconds() ? "MACs a second" : "MACs a tick",
                 {.colour = quiet_colour, .upwards = true});
  }

  void draw_ceilings() {
    const auto macs = mac_peak(), ddr = ddr_peak();
    if (macs) {
      const double begin = ddr ? std::max(x_.low, *macs / *ddr) : x_.low;
      figure_.line(svg_path("M{} {}H{}", x_.at(begin), y_.at(*macs), x_.last), "#1c2126", 2);
      figure_.text(x_.last - 4, y_.at(*macs) - 6, Anchor::end, "peak " + scaled(*macs, rate_unit()),
                   {.bold = true});
    }
    if (!ddr) return;
    const double low = std::max(x_.low, y_.low / *ddr);
    const double high = std::min({x_.high, y_.high / *ddr, macs ? *macs / *ddr : x_.high});
    if (!(low < high)) return;
    figure_.line(
        svg_path("M{} {}L{} {}", x_.at(low), y_.at(low * *ddr), x_.at(high), y_.at(high * *ddr)),
        "#1c2126", 2);
    const double middle = std::sqrt(low * high);  // of the line, as both axes are logarithmic
    figure_.text(
        x_.at(middle) + 12, y_.at(middle * *ddr) + 16, Anchor::start,
        fmt::format("{} {}", table_.roofs.ddr_is_of_cores ? "cores' DDR peak" : "DDR peak",
                    has_seconds() ? value_text(nullptr, {"", "", Format::bytes_per_second}, *ddr)
                                  : scaled(*ddr, "B a tick")),
        {.bold = true});
  }

  void draw_points(const std::vector<Point>& points) {
    longest_ = points.front().row->active;
    std::vector<LegendEntry> legend;
    for (const Point& point : points) {
      const RooflineVerdict verdict = point.row->placement.verdict;
      const char* const colour = colour_of_verdict(verdict);
      figure_.circle(x_.at(point.intensity), y_.at(point.rate), radius_of(point), colour,
                     tooltip_of(point));
      const bool is_listed = std::ranges::any_of(
          legend, [&](const LegendEntry& entry) { return entry.colour == colour; });
      if (is_listed) continue;
      legend.push_back({colour, verdict == RooflineVerdict::unknown
                                    ? "verdict unknown"
                                    : fmt::format("{} bound", name_of(verdict))});
    }
    std::vector<Box> taken;
    for (const Point& point : points) {
      if (taken.size() == max_labels) break;
      draw_label(point, taken);
    }
    figure_.skip(plot_height + bottom_room);
    figure_.add_legend(legend);
  }

  double radius_of(const Point& point) const {
    return std::max(smallest_radius, largest_radius * std::sqrt(point.row->active / longest_));
  }

  std::string tooltip_of(const Point& point) const {
    const MemoryRow& row = *point.row;
    std::string text = fmt::format("{}: {} MACs per byte, {}, active {}",
                                   row.label.empty() ? "(no op)" : row.label,
                                   number_text(point.intensity), scaled(point.rate, rate_unit()),
                                   ticks_text(profile_, profile_.base_clock, row.active));
    if (row.placement.verdict != RooflineVerdict::unknown) {
      text += fmt::format(", {} bound", name_of(row.placement.verdict));
    }
    return text;
  }

  void draw_label(const Point& point, std::vector<Box>& taken) {
    constexpr double room = 190, size = 11;
    const std::string name = fitting_text(point.row->label, room, size);
    const double width = text_width(name, size), radius = radius_of(point) + 4;
    const bool is_right = x_.at(point.intensity) + radius + width > x_.last;
    const double x = x_.at(point.intensity) + (is_right ? -radius : radius);
    const Box box{is_right ? x - width : x, y_.at(point.rate) - label_height / 2, width,
                  label_height};
    const bool is_free = std::ranges::none_of(taken, [&](const Box& other) {
      return box.x < other.x + other.width && other.x < box.x + box.width &&
             box.y < other.y + other.height && other.y < box.y + box.height;
    });
    if (!is_free) return;
    taken.push_back(box);
    figure_.text(x, box.y + label_height - 3, is_right ? Anchor::end : Anchor::start, name,
                 {.size = size});
  }

  Figure& figure_;
  const Profile& profile_;
  const MemoryTable& table_;
  Scale x_, y_;
  double longest_ = 1;
};

}  // namespace

bool draw_roofline(Figure& figure, const Profile& profile, const MemoryTable& table) {
  return RooflineDrawing(figure, profile, table).draw();
}

namespace {

using analysis::BandwidthSeries;
using analysis::MemoryTable;
using analysis::Route;

constexpr double height_of_route = 84, room_at_left = 96, pixels_per_bucket = 3;

const char* colour_of_route(Route route) {
  switch (route) {
    case Route::ddr_read: return engine_colour(Engine::hvx);
    case Route::ddr_write: return engine_colour(Engine::hmx);
    case Route::vtcm_read: return engine_colour(Engine::dma);
    case Route::vtcm_write: return engine_colour(Engine::dma_issue);
    case Route::multicast: return engine_colour(Engine::compute);
  }
  return engine_colour(Engine::other);
}

std::string amount_of_bucket(const BandwidthSeries& series, const MemoryTable& table,
                             double bytes) {
  const double seconds = double(series.width) * table.roofs.seconds_per_tick;
  const Field rate{"", "", seconds > 0 ? Format::bytes_per_second : Format::bytes};
  return value_text(nullptr, rate, seconds > 0 ? bytes / seconds : bytes);
}

// What the bytes of DDR reach in a bucket at the hardware's peak; 0: not known.
double peak_of_bucket(const BandwidthSeries& series, const MemoryTable& table) {
  return table.roofs.ddr_bytes_per_tick.value_or(0) * double(series.width);
}

bool is_above_peak(const BandwidthSeries& series, const MemoryTable& table) {
  const double possible = analysis::impossible_share * peak_of_bucket(series, table);
  const auto is_above = [&](std::int64_t bytes) { return double(bytes) > possible; };
  return possible > 0 &&
         std::ranges::any_of(std::array{Route::ddr_read, Route::ddr_write}, [&](Route route) {
           return std::ranges::any_of(series.bytes[std::size_t(route)], is_above);
         });
}

// One route over time, with its own scale, and the DDR's peak where it lies within.
void draw_route(Figure& figure, const BandwidthSeries& series, const MemoryTable& table,
                Route route) {
  const auto& bytes = series.bytes[std::size_t(route)];
  const double left = figure_margin + room_at_left, right = figure.width() - figure_margin;
  const auto max = double(*std::ranges::max_element(bytes));
  const Scale up{0, std::max(1.0, max), figure.y() + height_of_route, figure.y() + 6};
  const auto x_of = [&](std::size_t bucket) {
    return left + (right - left) * double(bucket) / double(bytes.size());
  };
  std::string path = svg_path("M{} {}", left, up.first);
  for (std::size_t bucket = 0; bucket < bytes.size(); ++bucket) {
    path += svg_path("V{}H{}", up.at(double(bytes[bucket])), x_of(bucket + 1));
  }
  path += svg_path("V{}z", up.first);
  double sum = 0;
  for (const std::int64_t each : bytes) sum += double(each);
  figure.filled_path(path, colour_of_route(route),
                     fmt::format("{}: {} in all", name_of(route), bytes_text(sum)));
  figure.line(svg_path("M{} {}H{}", left, up.first, right), quiet_colour);
  figure.text(left - 8, up.first - 14, Anchor::end, name_of(route), {.bold = true});
  figure.text(left - 8, up.first, Anchor::end, bytes_text(sum), {.colour = quiet_colour});
  figure.text(left - 8, up.last + 8, Anchor::end, amount_of_bucket(series, table, max),
              {.size = 11, .colour = quiet_colour});
  const bool is_ddr = route == Route::ddr_read || route == Route::ddr_write;
  const double at_peak = peak_of_bucket(series, table);
  if (is_ddr && at_peak > 0 && at_peak <= max) {
    figure.line(svg_path("M{} {}H{}", left, up.at(at_peak), right), "#1c2126", 1, "5 4");
    figure.text(right, up.at(at_peak) - 3, Anchor::end, "DDR peak", {.size = 11});
  }
  figure.skip(height_of_route + 8);
}

void draw_time(Figure& figure, const Profile& profile, const BandwidthSeries& series) {
  const double left = figure_margin + room_at_left, right = figure.width() - figure_margin;
  const std::int64_t begin = series.timeline.begin;
  const Interval window{begin,
                        saturating_add(begin, std::int64_t(series.buckets()) * series.width)};
  const TimelineAxis axis = make_axis(profile, window, begin, 9);
  const Scale across{double(window.begin), double(window.end), left, right};
  for (const TimelineMark& mark : axis.marks) {
    figure.text(across.at(double(mark.time)), figure.y() + 8,
                mark.time == window.end ? Anchor::end : Anchor::middle, mark.text,
                {.colour = quiet_colour});
  }
  figure.text((left + right) / 2, figure.y() + 24, Anchor::middle,
              fmt::format("time ({})", axis.unit), {.colour = quiet_colour});
  figure.skip(34);
}

void draw_traffic(Figure& figure, const Profile& profile, const BandwidthSeries& series,
                  const MemoryTable& table) {
  figure.skip(figure_margin);
  figure.add_plot_title("Traffic over time", scope_of_all(profile));
  for (std::size_t i = 0; i < analysis::route_count; ++i) {
    const auto& bytes = series.bytes[i];
    const bool has_any = std::ranges::any_of(bytes, [](std::int64_t each) { return each > 0; });
    if (has_any) draw_route(figure, series, table, Route(i));
  }
  draw_time(figure, profile, series);
  figure.add_remark(
      "A span's bytes are spread evenly over its duration; each route has its own scale, up to the "
      "rate at its left.");
  const bool above = is_above_peak(series, table);
  if (above) figure.add_remark(transfer_time_remark(table, above));
}

bool has_traffic(const BandwidthSeries& series) {
  return std::ranges::any_of(series.bytes, [](const std::vector<std::int64_t>& bytes) {
    return std::ranges::any_of(bytes, [](std::int64_t each) { return each > 0; });
  });
}

}  // namespace

Result<std::string> memory_svg(const analysis::Analysis& analysis, const MemoryRequest& request,
                               const PictureView& view) {
  const Profile& profile = analysis.profile();
  TRY_AS(answer, memory_answer(analysis, request));
  const MemoryTable& table = answer->table;
  PictureFacts about{.selection = view.selection};
  if (table.wall > 0) about.facts.push_back(roofline_verdict(profile, table));
  Figure figure(view.width, picture_heading("Memory", profile, about));
  const double room = view.width - 2 * figure_margin - room_at_left;
  const BandwidthSeries series =
      analysis.bandwidth(std::size_t(std::max(10.0, room / pixels_per_bucket)));
  const bool draws_traffic = has_traffic(series);
  const bool draws_roofline = draw_roofline(figure, profile, table);
  if (!draws_roofline && !draws_traffic) {  // which the page may be refused for
    TRY(make_memory_document(analysis, request));
  }
  for (const std::string& remark :
       roofline_remarks(profile, table, answer->peaks, request.is_part)) {
    figure.add_remark(remark);
  }
  if (draws_traffic) {
    draw_traffic(figure, profile, series, table);
  } else {
    figure.add_remark("No traffic over time: no span says how many bytes it moved.");
  }
  return figure.svg();
}

}  // namespace npuscope::report
