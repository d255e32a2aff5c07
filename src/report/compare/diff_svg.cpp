#include "report/compare/diff_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "report/compare/diff_text.hpp"
#include "report/picture/axes.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {
namespace {

using analysis::OpChange;
using analysis::OpDifference;

constexpr double fall_height = 14, row_pitch = 20, room_at_right = 130;

const char* colour_of_fall(const Fall& fall) {
  if (fall.change == OpChange::unclear) return wait_colour;
  return fall.to > fall.from ? more_colour : less_colour;
}

std::string signed_amount(analysis::MeasuredIn unit, double value) {
  return (value > 0 ? "+" : "") + amount_text(unit, value);
}

FigureHeading heading_of(const Diff& diff) {
  const analysis::OpComparison& ops = diff.comparison.ops;
  std::string part = scope_of_sides(diff);
  if (!diff.selection.empty()) part += (part.empty() ? "" : " · ") + diff.selection;
  return {ops.known ? fmt::format("What changed, by {}", ops.column) : "What changed",
          {verdict_text(diff), "A " + side_text(diff, 0), "B " + side_text(diff, 1), part}};
}

class WaterfallPicture {
 public:
  WaterfallPicture(const Diff& diff, std::vector<Fall> falls, double width)
      : unit_(diff.comparison.ops.unit),
        falls_(std::move(falls)),
        figure_(width, heading_of(diff)) {
    double widest = text_width("all ops");
    for (const Fall& fall : falls_) widest = std::max(widest, text_width(fall.name));
    label_room_ = std::min(widest, width / 3);
    double low = 0, high = 0;
    for (const Fall& fall : falls_) {
      low = std::min({low, fall.from, fall.to});
      high = std::max({high, fall.from, fall.to});
    }
    across_ = {low, high, figure_margin + label_room_ + 10, width - figure_margin - room_at_right};
  }

  std::string draw(const Diff& diff);

 private:
  void add_falls();
  void add_row(const Fall& fall, bool is_sum);

  analysis::MeasuredIn unit_;
  std::vector<Fall> falls_;
  Figure figure_;
  double label_room_ = 0;
  Scale across_;
};

void WaterfallPicture::add_row(const Fall& fall, bool is_sum) {
  constexpr double baseline = 11.5;
  const double begin = across_.at(std::min(fall.from, fall.to));
  const double end = across_.at(std::max(fall.from, fall.to));
  const std::string amount = signed_amount(unit_, fall.to - fall.from);
  figure_.text(across_.first - 10, figure_.y() + baseline, Anchor::end,
               fitting_text(fall.name, label_room_), {.bold = is_sum, .tooltip = fall.name});
  figure_.rect({begin, figure_.y(), std::max(1.0, end - begin), fall_height}, colour_of_fall(fall),
               fmt::format("{}: {}, {}", fall.name, name_of(fall.change), amount));
  figure_.text(figure_.width() - figure_margin, figure_.y() + baseline, Anchor::end, amount,
               {.bold = is_sum});
  if (!is_sum) {  // to where the next one begins
    figure_.line(svg_path("M{} {}v{}", across_.at(fall.to), figure_.y() + fall_height,
                          row_pitch - fall_height),
                 quiet_colour);
  }
  figure_.skip(row_pitch);
}

void WaterfallPicture::add_falls() {
  const double rows = double(falls_.size() + 1) * row_pitch + 8;
  figure_.line(svg_path("M{} {}v{}", across_.at(0), figure_.y() - 4, rows), grid_colour);
  for (const Fall& fall : falls_) add_row(fall, false);
  figure_.skip(8);
  const double sum = falls_.back().to;
  add_row({"all ops", 0, sum, sum > 0 ? OpChange::slower : OpChange::faster}, true);
  std::vector<LegendEntry> legend{{more_colour, "more in B"}, {less_colour, "less in B"}};
  const bool any_unclear = std::ranges::any_of(
      falls_, [](const Fall& fall) { return fall.change == OpChange::unclear; });
  if (any_unclear) legend.push_back({wait_colour, "within the noise"});
  figure_.add_legend(legend);
  figure_.add_remark(
      "Each bar begins where the one above it ends; the last is the sum of all. Work of units that "
      "run in parallel adds up, so the sum is not the change of the wall.");
}

std::string WaterfallPicture::draw(const Diff& diff) {
  if (!falls_.empty()) {
    add_falls();
  } else if (diff.comparison.ops.known) {
    figure_.add_remark("No op changed between A and B.");
  } else {
    figure_.add_remark("The two sides have no column of ops in common.");
  }
  for (const std::string& caution : cautions(diff)) figure_.add_remark(caution);
  return figure_.svg();
}

}  // namespace

std::vector<Fall> falls_of(const std::vector<OpDifference>& rows, std::size_t max) {
  std::vector<const OpDifference*> changed;
  for (const OpDifference& row : rows) {
    if (row.estimate.delta() != 0) changed.push_back(&row);
  }
  sort_rows(changed, std::ranges::greater{},
            [](const OpDifference* row) { return std::abs(row->estimate.delta()); });
  const std::size_t listed =
      changed.size() > max ? std::max<std::size_t>(max, 1) - 1 : changed.size();
  std::vector<Fall> falls;
  double sum = 0;
  for (std::size_t i = 0; i < listed; ++i) {
    const OpDifference& row = *changed[i];
    const double from = std::exchange(sum, sum + row.estimate.delta());
    falls.push_back({row.name_b.empty() ? row.name_a : row.name_b, from, sum, row.change});
  }
  if (listed < changed.size()) {
    const double from = sum;
    for (std::size_t i = listed; i < changed.size(); ++i) sum += changed[i]->estimate.delta();
    const std::size_t others = changed.size() - listed;
    falls.push_back({fmt::format("{} other ops", thousands(others)), from, sum,
                     sum > from ? OpChange::slower : OpChange::faster, others});
  }
  return falls;
}

std::string diff_svg(const Diff& diff, const WaterfallView& view) {
  const analysis::OpComparison& ops = diff.comparison.ops;
  std::vector<Fall> falls;
  if (ops.known) falls = falls_of(ops.rows, view.max_ops);
  return WaterfallPicture(diff, std::move(falls), view.width).draw(diff);
}

}  // namespace npuscope::report
