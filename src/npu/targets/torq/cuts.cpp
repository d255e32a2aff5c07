// How operations are cut so that a tile fits LRAM.
#include <algorithm>

#include "base/arithmetic.hpp"
#include "npu/targets/torq/stages.hpp"

namespace npuscope::npu::torq {
namespace {

constexpr std::uint64_t max_parts = 1 << 16;  // of an operation, in all

std::uint64_t sum_of(std::initializer_list<std::uint64_t> terms) {
  std::uint64_t sum = 0;
  for (const std::uint64_t term : terms) sum = term > ~sum ? ~std::uint64_t{0} : sum + term;
  return sum;
}

class Cutter {
 public:
  Cutter(const ImageShape& shape, const Target& target)
      : shape_(shape),
        program_bytes_(target.slices.program_bytes),
        room_(target.lram_for_data() - shape.ways * program_bytes_) {}

  // Channels alone or rows alone, whichever needs fewer tiles; both only where neither will do,
  // with rows in halves of halves. Every slice has a group of channels, unless nothing else fits.
  std::optional<TileCut> run() {
    const bool in_parts = shape_.segmented && shape_.window > 1 && !shape_.channelwise;
    if (in_parts) {
      if (const auto cut = strided()) return cut;
    }
    const auto usual = by_size(), rows = rows_of_images();
    const bool by_rows =
        rows && (!usual || shape_.window == 1 || tiles_of(*rows) < tiles_of(*usual));
    return by_rows ? rows : usual;
  }

 private:
  static std::uint64_t tiles_of(const TileCut& cut) { return cut.row_parts * cut.channel_parts; }

  std::optional<TileCut> by_size() {
    for (fewest_channels_ = 4 * shape_.ways;; fewest_channels_ = 1) {
      if (const auto cut = alone()) return cut;
      if (const auto cut = both()) return cut;
      if (fewest_channels_ == 1) return std::nullopt;
    }
  }

  std::optional<TileCut> alone() const {
    const bool rows_only = shape_.channelwise && shape_.element_bytes == 1;
    const std::uint64_t most = std::min(max_parts, std::max(shape_.out_rows, shape_.out_channels));
    for (std::uint64_t parts = 1; parts <= most; ++parts) {
      if (may_cut_channels(parts) && !(rows_only && parts > 1) && fits({1, parts}))
        return TileCut{1, parts};
      if (parts <= shape_.out_rows && fits({parts, 1})) return TileCut{parts, 1};
    }
    return std::nullopt;
  }

  std::optional<TileCut> both() const {
    for (std::uint64_t rows = 1;; rows = std::min(rows * 2, shape_.out_rows)) {
      for (std::uint64_t parts = 1; may_cut_channels(parts); ++parts) {
        if (fits({rows, parts})) return TileCut{rows, parts};
      }
      if (rows >= shape_.out_rows) return std::nullopt;
    }
  }

  // Of data larger than their weights in bf16 rows, each slice's data next to the other's; channels
  // too where single rows would be left, if that takes fewer tiles.
  std::optional<TileCut> rows_of_images() const {
    if (shape_.stride != 1 || shape_.channelwise || shape_.element_bytes != 2 || fits({1, 1}) ||
        shape_.weight_bytes(shape_.out_channels) >= data_of(shape_.in_rows))
      return std::nullopt;
    TileCut fewest{2, 1};
    const std::uint64_t most = std::min(max_parts, shape_.out_rows);
    while (fewest.row_parts < most && !rows_fit(fewest)) ++fewest.row_parts;
    if (!rows_fit(fewest)) return std::nullopt;
    if (shape_.rows(fewest) > 1) return fewest;
    for (std::uint64_t parts = 2; parts < tiles_of(fewest); ++parts) {
      for (std::uint64_t channels = 2; may_cut_channels_evenly(channels); ++channels) {
        if (parts * channels >= tiles_of(fewest)) break;
        if (rows_fit({parts, channels})) fewest = {parts, channels};
      }
    }
    return fewest;
  }

  bool may_cut_channels_evenly(std::uint64_t parts) const {
    return parts == 1 || shape_.out_channels / parts >= 4 * shape_.ways;
  }

  // In bf16, of data larger than all weights, which LRAM could hold twice: each slice's next to the
  // other's, but under wide windows.
  std::uint64_t copies_of(std::uint64_t data) const {
    const std::uint64_t weights = shape_.weight_bytes(shape_.out_channels);
    const bool are_apart = shape_.stride == 1 && !shape_.channelwise && shape_.element_bytes == 2 &&
                           shape_.window < 5 && !shape_.framed &&
                           weights < data_of(shape_.in_rows) &&
                           (shape_.window == 1 || weights <= room_ / 2);
    return saturating_product({are_apart ? shape_.ways : 1, data});
  }

  bool rows_fit(const TileCut& cut) const {
    return fit_rows(shape_.rows_read(cut), shape_.channels(cut));
  }

 public:
  bool fit_rows(std::uint64_t rows, std::uint64_t channels) const {
    const std::uint64_t made =
        saturating_product({channels, rows, shape_.out_columns, shape_.element_bytes});
    const std::uint64_t weights = shape_.weight_bytes(round_up(channels, 4));
    return sum_of({copies_of(data_of(rows)), made, weights}) <= room_;
  }

 private:
  // Rows as many as LRAM holds with their four parts, then channels; or rows alone if that takes no
  // more tiles, unless all rows fit or windows are wide.
  std::optional<TileCut> strided() const {
    std::uint64_t rows = 1, channels = 1, rows_alone = 1;
    while (!parts_fit(rows) && rows < shape_.out_rows) ++rows;
    if (!parts_fit(rows)) return std::nullopt;
    while (!strided_fits({rows, channels}) && channels < shape_.out_channels) ++channels;
    while (!strided_fits({rows_alone, 1}) && rows_alone < shape_.out_rows) ++rows_alone;
    const bool may_be_alone = rows > 1 && shape_.window <= 3 && strided_fits({rows_alone, 1});
    if (may_be_alone && rows_alone <= rows * channels) return TileCut{rows_alone, 1};
    if (!strided_fits({rows, channels})) return std::nullopt;
    return TileCut{rows, channels};
  }

  // Rows of a tile that does not begin at the border, even in number.
  std::uint64_t even_rows(std::uint64_t row_parts) const {
    if (row_parts == 1) return shape_.in_rows;
    const std::uint64_t rows = shape_.rows({row_parts, 1});
    const std::uint64_t even = round_up(shape_.stride * rows + shape_.window / 2, 2);
    return std::min(shape_.in_rows, std::max(even, shape_.rows_read({row_parts, 1})));
  }

  std::uint64_t data_of(std::uint64_t rows) const {
    return saturating_product({shape_.in_channels, rows, shape_.in_columns, shape_.element_bytes});
  }

  bool parts_fit(std::uint64_t row_parts) const {
    return saturating_product({2, data_of(even_rows(row_parts))}) <= room_of_one();
  }

  std::uint64_t room_of_one() const { return room_ + (shape_.ways - 1) * program_bytes_; }

  // Parts, weights and results; those and what is taken off them. With wide windows the first tile
  // keeps the data next to their parts.
  bool strided_fits(const TileCut& cut) const {
    const std::uint64_t rows = shape_.rows(cut), channels = shape_.channels(cut);
    const bool is_wide = shape_.window / 2 % 2 != 0 && shape_.window > 3;
    const bool is_cut = cut.row_parts > 1;
    const std::uint64_t read =
        is_wide && is_cut ? shape_.stride * (rows + 1) : even_rows(cut.row_parts);
    const std::uint64_t made = is_cut && !is_wide ? read / 2 : rows;
    const auto results = [&](std::uint64_t count) {
      return saturating_product({channels, count, shape_.out_columns, shape_.element_bytes});
    };
    const std::uint64_t data = saturating_product({is_wide && is_cut ? 2u : 1u, data_of(read)});
    const std::uint64_t weights = shape_.weight_bytes(round_up(channels, 4));
    return parts_fit(cut.row_parts) && sum_of({data, weights, results(made)}) <= room_ &&
           (!is_cut || is_wide || sum_of({results(made), results(rows)}) <= room_);
  }

  bool may_cut_channels(std::uint64_t parts) const {
    return parts == 1 || (parts <= shape_.out_channels && parts <= max_parts &&
                          shape_.out_channels / parts >= fewest_channels_);
  }

  // The data and their four parts; then these, weights and what is made of them. Where rows are cut
  // all of a result that LRAM could hold is kept beside the data.
  bool fits(const TileCut& cut) const {
    const std::uint64_t channels = shape_.channels(cut), data = shape_.data_bytes(cut);
    const bool takes_off = cut.row_parts > 1 && shape_.window > 1 && shape_.stride == 1;
    const auto results = [&](std::uint64_t result_channels, std::uint64_t rows) {
      return saturating_product({result_channels, rows, shape_.out_columns, shape_.element_bytes});
    };
    std::uint64_t weights = 0;
    for (const std::uint64_t part : parts_of(channels, shape_.ways, 4)) {
      weights = sum_of({weights, shape_.weight_bytes(round_up(part, 4))});
    }
    const std::uint64_t makes =
        results(channels, takes_off ? shape_.rows_read(cut) : shape_.rows(cut));
    const std::uint64_t whole = results(shape_.out_channels, shape_.out_rows);
    const bool keeps_all = cut.row_parts > 1 && cut.channel_parts == 1 && whole <= room_;
    if (keeps_all && sum_of({whole, data}) > room_ + (shape_.ways - 1) * program_bytes_)
      return false;
    if (shape_.segmented && sum_of({data, data}) > room_) return false;
    // An image of constants is each slice's own, next to what is left of the result without
    // borders.
    const bool is_whole = cut == TileCut{};
    const std::uint64_t frames = shape_.framed && is_whole
                                     ? sum_of({saturating_product({shape_.ways - 1, data}), makes})
                                     : 0;
    const std::uint64_t made = shape_.framed && cut.row_parts == 1
                                   ? saturating_product({channels, shape_.in_rows,
                                                         shape_.in_columns, shape_.element_bytes})
                                   : makes;
    return sum_of({copies_of(data), weights, made, frames,
                   saturating_product({channels, shape_.bias_bytes})}) <= room_;
  }

  const ImageShape& shape_;
  std::uint64_t program_bytes_, room_, fewest_channels_ = 1;
};

}  // namespace

// Slices that share a tile have whole groups of four channels each.
std::uint64_t ImageShape::channels(const TileCut& cut) const {
  const std::uint64_t even = divide_up(out_channels, cut.channel_parts), groups = 4 * ways;
  const bool shares = ways > 1 && !channelwise && cut.channel_parts > 1 && even > groups;
  return shares ? out_channels / cut.channel_parts / groups * groups : even;
}

std::uint64_t ImageShape::rows(const TileCut& cut) const {
  return divide_up(out_rows, cut.row_parts);
}

std::uint64_t ImageShape::rows_read(const TileCut& cut) const {
  return cut.row_parts == 1 ? in_rows : rows_read(rows(cut), cut.row_parts);
}

std::uint64_t ImageShape::rows_read(std::uint64_t made, std::uint64_t row_parts) const {
  // Of two tiles each ends at a border.
  const bool has_border = row_parts == 2 && in_rows > 1 && !framed && reach <= window;
  const std::uint64_t beyond = has_border ? (window - 1) / 2 : 0;
  const std::uint64_t needed =
      sum_of({saturating_product({made - 1, stride}), std::max(window, reach) - beyond});
  return std::min(in_rows, stride == 1 ? needed : round_up(needed, 2));
}

std::uint64_t ImageShape::rows_of_tile(std::uint64_t made, bool is_first, bool is_last) const {
  const std::uint64_t border = window / 2, windows = stride * (made - 1) + window;
  const std::uint64_t reached = stride * (out_rows - 1) + window - border;
  const std::uint64_t beyond = is_last && reached > in_rows ? reached - in_rows : 0;
  const std::uint64_t read = windows - std::min(windows - 1, (is_first ? border : 0) + beyond);
  return std::min(in_rows, read);
}

std::uint64_t ImageShape::data_bytes(const TileCut& cut) const {
  return saturating_product(
      {channelwise ? channels(cut) : in_channels, rows_read(cut), in_columns, element_bytes});
}

std::uint64_t ImageShape::weight_bytes(std::uint64_t part) const {
  const std::uint64_t padded = part < 4 ? part : round_up(part, 4);
  return saturating_product({padded, channelwise ? 1 : in_channels, window_area, element_bytes});
}

std::optional<TileCut> cut_of(const ImageShape& shape, const Target& target) {
  return Cutter(shape, target).run();
}

bool rows_fit(const ImageShape& shape, std::uint64_t rows, std::uint64_t channels,
              const Target& target) {
  return Cutter(shape, target).fit_rows(rows, channels);
}

std::vector<std::uint64_t> parts_of(std::uint64_t channels, std::uint64_t ways,
                                    std::uint64_t group) {
  const std::uint64_t each = channels / ways / group * group;
  if (ways < 2 || each == 0) return {channels};
  std::vector<std::uint64_t> parts(ways, each);
  if (const std::uint64_t left = channels - ways * each; left > 0) parts.push_back(left);
  return parts;
}

}  // namespace npuscope::npu::torq
