#include "report/memory/memory_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "npuscope/profile/intervals.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/memory/memory_sections.hpp"
#include "report/memory/roofline_drawing.hpp"
#include "report/picture/axes.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {
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
  std::string path = fmt::format("M{} {}", svg_number(left), svg_number(up.first));
  for (std::size_t bucket = 0; bucket < bytes.size(); ++bucket) {
    path += fmt::format("V{}H{}", svg_number(up.at(double(bytes[bucket]))),
                        svg_number(x_of(bucket + 1)));
  }
  path += fmt::format("V{}z", svg_number(up.first));
  double sum = 0;
  for (const std::int64_t each : bytes) sum += double(each);
  figure.filled_path(path, colour_of_route(route),
                     fmt::format("{}: {} in all", name_of(route), bytes_text(sum)));
  figure.line(fmt::format("M{} {}H{}", svg_number(left), svg_number(up.first), svg_number(right)),
              quiet_colour);
  figure.text(left - 8, up.first - 14, Anchor::end, name_of(route), {.bold = true});
  figure.text(left - 8, up.first, Anchor::end, bytes_text(sum), {.colour = quiet_colour});
  figure.text(left - 8, up.last + 8, Anchor::end, amount_of_bucket(series, table, max),
              {.size = 11, .colour = quiet_colour});
  const bool is_ddr = route == Route::ddr_read || route == Route::ddr_write;
  const double at_peak = peak_of_bucket(series, table);
  if (is_ddr && at_peak > 0 && at_peak <= max) {
    figure.line(
        fmt::format("M{} {}H{}", svg_number(left), svg_number(up.at(at_peak)), svg_number(right)),
        "#1c2126", 1, "5 4");
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
  const auto answer = memory_answer(analysis, request);
  if (!answer) return tl::unexpected(answer.error());
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
    if (auto page = make_memory_document(analysis, request); !page) {
      return tl::unexpected(page.error());
    }
  }
  for (const std::string& remark : roofline_remarks(table, answer->peaks, request.is_part)) {
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
