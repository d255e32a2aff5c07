// Convolutions one after the other that do not fit LRAM: cut by rows of the last one's result, so
// that a tile goes through all of them.
//
//   two 3x3, 32 channels, 60x60     30 rows of the second need 31 of the first and 32 of the data,
//                                   then the other 30
#include <algorithm>
#include <ranges>

#include "npu/targets/torq/expander.hpp"

namespace npuscope::npu::torq {

// What makes the data of a convolution, alone for it.
std::optional<std::size_t> Expander::writer_together(std::size_t index) const {
  const auto is_cut = [&](std::size_t i) {
    const Plan& plan = plans_[i];
    return lowering_.operations[i].form == Form::convolution && !lowering_.operations[i].is_int8 &&
           !plan.on_host && plan.image && !plan.is_row && plan.image->stride == 1 &&
           plan.frame == 0 && plan.turned == 0 && plan.cut != TileCut{};
  };
  const Operation& operation = lowering_.operations[index];
  if (!is_cut(index) || operation.reshaped || operation.inputs.size() != 1) return std::nullopt;
  const TensorId data = operation.inputs[0];
  const auto writer = writers_.find(data);
  const auto readers = readers_.find(data);
  const bool leaves = std::ranges::any_of(
      graph_.outputs, [&](TensorId id) { return lowering_.roots[std::size_t(id)] == data; });
  if (writer == writers_.end() || readers->second.size() != 1 || leaves || !is_cut(writer->second))
    return std::nullopt;
  return writer->second;
}

// So many rows as all of them have room for, of all of the result's channels or of parts of them,
// whichever needs fewer tiles.
void Expander::plan_together(std::size_t last) {
  if (plans_[last].reader || !plans_[last].image || plans_[last].image->out_rows < 2) return;
  constexpr std::size_t most_layers = 64;
  std::vector<std::size_t> all{last};
  for (auto writer = writer_together(last); writer && all.size() < most_layers;
       writer = writer_together(all.back())) {
    all.push_back(*writer);
  }
  if (all.size() < 2) return;
  const ImageShape& result = *plans_[last].image;
  const auto fit = [&](std::uint64_t row_parts, std::uint64_t channels) {
    std::uint64_t rows = result.rows({row_parts, 1});
    return std::ranges::all_of(all, [&](std::size_t each) {
      const ImageShape& shape = *plans_[each].image;
      if (row_parts > 1) rows = shape.rows_read(rows, row_parts);
      return rows_fit(shape, row_parts > 1 ? rows : shape.in_rows,
                      each == last ? channels : shape.out_channels, target_);
    });
  };
  const auto cut_for = [&](std::uint64_t channels) -> TileCut {
    const auto counts = std::views::iota(std::uint64_t{2}, result.out_rows);
    const auto is_little = [&](std::uint64_t parts) { return !fit(parts, channels); };
    TileCut cut{2 + std::uint64_t(std::ranges::partition_point(counts, is_little) - counts.begin()),
                1};
    const auto share = [&] { return divide_up(result.out_channels, cut.channel_parts); };
    while (share() > channels && !fit(cut.row_parts, share())) ++cut.channel_parts;
    return cut;
  };
  const auto tiles_of = [](const TileCut& cut) { return cut.row_parts * cut.channel_parts; };
  const TileCut whole = cut_for(result.out_channels), narrow = cut_for(4 * result.ways);
  const TileCut cut = tiles_of(narrow) < tiles_of(whole) ? narrow : whole;
  const std::uint64_t channels = divide_up(result.out_channels, cut.channel_parts);
  if (!fit(cut.row_parts, channels)) return;
  // The compiler was tried on up to eight layers, and with 17 was not done after minutes. A program
  // has no room for many more.
  constexpr std::uint64_t most_times = 16, most_parts = 4096;
  std::uint64_t rows = result.rows({cut.row_parts, 1}), computed = 0, needed = 0;
  for (const std::size_t each : all) {
    const ImageShape& shape = *plans_[each].image;
    computed += rows * cut.row_parts;
    needed += shape.out_rows;
    rows = shape.rows_read(rows, cut.row_parts);
  }
  if (computed > most_times * needed || tiles_of(cut) * all.size() > most_parts) return;
  plans_[last].cut = cut;
  for (std::size_t i = 1; i < all.size(); ++i) {
    plans_[all[i]].cut = {cut.row_parts, 1};
    plans_[all[i]].reader = all[i - 1];
    plans_[all[i - 1]].writer = all[i];
  }
}

// A tile of a result's rows, through all that make it.
void Expander::image_rows_together(std::uint64_t channels, std::uint64_t r) {
  struct Part {
    std::size_t operation;
    std::uint64_t rows, read;
  };
  const std::size_t last = at_;
  const TileCut cut = plan().cut;
  std::uint64_t rows =
      std::min(plan().image->rows(cut), plan().image->out_rows - r * plan().image->rows(cut));
  std::vector<Part> parts;
  for (std::optional<std::size_t> each = last; each; each = plans_[*each].writer) {
    const std::uint64_t read = plans_[*each].image->rows_read(rows, cut.row_parts);
    parts.push_back({*each, rows, read});
    rows = read;
  }
  std::optional<std::uint32_t> made;
  for (const Part& part : std::views::reverse(parts)) {
    at_ = part.operation;
    const ImageShape& shape = *plan().image;
    const auto bytes_of = [&](std::uint64_t of, std::uint64_t high, std::uint64_t wide) {
      return saturating_product({of, high, wide, shape.element_bytes});
    };
    const std::uint32_t from =
        made ? *made : new_buffer(bytes_of(shape.in_channels, part.read, shape.in_columns), true);
    if (at_ != last) {
      // Rows that a further kernel takes off go out: slices have their channels apart.
      made =
          new_buffer(bytes_of(shape.out_channels, part.rows, shape.out_columns), shape.window > 1);
      buffers_[operation().result] = *made;
    }
    image_tile(plan(), from, at_ == last ? channels : shape.out_channels, part.rows, part.read,
               false, true);
  }
}

}  // namespace npuscope::npu::torq
