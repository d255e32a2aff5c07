#include "profile/kept_arguments.hpp"

#include <algorithm>

namespace npuscope {
namespace {

constexpr std::size_t rows_of_block = ArgumentBlock::rows;

}  // namespace

// Makes the rows of one part.
class KeptRows {
 public:
  // `stays_of_form`: of the forms of the part, after that of rows that keep none.
  KeptRows(const Arguments& from, const KeptArguments::Part& part,
           const std::vector<ArgumentBlock::Kept>& stays_of_form)
      : from_(from),
        part_(part),
        stays_of_form_(stays_of_form),
        form_of_shape_(from.shapes.size(), unknown),
        stays_of_shape_(from.shapes.size()) {}

  Arguments make() {
    const std::size_t rows = part_.form_of_row_.size();
    for (std::size_t first = 0; first < rows; first += rows_of_block) {
      const std::size_t last = std::min(first + rows_of_block, rows);
      if (!add_packed(first, last)) add_values(first, last);
    }
    return std::move(made_);
  }

 private:
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};

  // False where they are no block of the other table, or rows of one shape keep this and that. Most
  // blocks are copied as they are packed.
  bool add_packed(std::size_t first, std::size_t last) {
    const std::size_t first_from = part_.from_row_[first];
    if (last - first < rows_of_block || !from_.has_block_at(first_from)) return false;
    for (const std::uint32_t shape : std::exchange(shapes_, {})) form_of_shape_[shape] = unknown;
    for (std::size_t row = first; row < last; ++row) {
      if (part_.from_row_[row] != first_from + (row - first)) return false;
      const std::uint32_t form = part_.form_of_row_[row];
      const std::uint32_t shape =
          form == 0 ? from_.shape(part_.from_row_[row]) : part_.in_order_[form - 1]->first.first;
      if (form_of_shape_[shape] == unknown) {
        form_of_shape_[shape] = form;
        stays_of_shape_[shape] = stays_of_form_[form];
        shapes_.push_back(shape);
      } else if (form_of_shape_[shape] != form) {
        return false;
      }
    }
    made_.append_block_of(from_, first_from, stays_of_shape_);
    return true;
  }

  void add_values(std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) {
      const ArgumentBlock::Kept& stays = stays_of_form_[part_.form_of_row_[row]];
      values_.clear();
      if (!stays.places.empty()) {
        const ArgumentRow from = from_.row(part_.from_row_[row]);
        for (const std::uint32_t place : stays.places) values_.push_back(from.bits(place));
      }
      made_.add(row, stays.shape, values_);
    }
  }

  const Arguments& from_;
  const KeptArguments::Part& part_;
  const std::vector<ArgumentBlock::Kept>& stays_of_form_;
  Arguments made_;
  // Of the block at hand: by shape, and the shapes that it has.
  std::vector<std::uint32_t> form_of_shape_;
  std::vector<ArgumentBlock::Kept> stays_of_shape_;
  std::vector<std::uint32_t> shapes_;
  std::vector<std::uint64_t> values_;  // of a row
};

KeptArguments::Part::Part(RowRange rows)
    : rows_(rows), form_of_row_(rows.last - rows.first, 0), from_row_(rows.last - rows.first, 0) {}

void KeptArguments::Part::keep(std::size_t row, FromRow from,
                               const std::vector<std::uint32_t>& places) {
  from_row_[row - rows_.first] = std::uint32_t(from.row);
  if (places.empty()) return;
  form_of_row_[row - rows_.first] = number_of(from.shape, places) + 1;
}

std::uint32_t KeptArguments::Part::number_of(std::uint32_t shape,
                                             const std::vector<std::uint32_t>& places) {
  // Most rows keep what one of those before them keeps.
  for (const Forms::value_type* const recent : recent_) {
    if (recent != nullptr && recent->first.first == shape && recent->first.second == places) {
      return recent->second;
    }
  }
  const auto [found, is_new] = forms_.try_emplace({shape, places}, std::uint32_t(in_order_.size()));
  if (is_new) in_order_.push_back(&*found);
  recent_[1] = std::exchange(recent_[0], &*found);
  return found->second;
}

KeptArguments::KeptArguments(const Arguments& from, std::size_t rows) : from_(from) {
  constexpr std::size_t blocks_of_part = 16;
  const std::size_t blocks = (rows + rows_of_block - 1) / rows_of_block;
  for (const RowRange& range : ranges_of(blocks, blocks_of_part)) {
    const std::size_t last = std::min(range.last * rows_of_block, rows);
    parts_.emplace_back(RowRange{range.first * rows_of_block, last});
  }
}

Arguments KeptArguments::finish() {
  Arguments made;
  std::map<Form, std::uint32_t> shapes;
  std::vector<std::vector<ArgumentBlock::Kept>> stays(parts_.size());
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    stays[part].push_back({});
    for (const Part::Forms::value_type* const form : parts_[part].in_order_) {
      const auto& [shape, places] = form->first;
      const auto [found, is_new] =
          shapes.try_emplace(form->first, std::uint32_t(made.shapes.size()));
      stays[part].push_back({found->second, places});
      if (!is_new) continue;
      ArgumentShape& keys = made.shapes.emplace_back();
      for (const std::uint32_t place : places) keys.push_back(from_.shapes[shape][place]);
    }
  }
  if (shapes.empty()) return {};
  std::vector<Arguments> rows(parts_.size());
  parallel_for(parts_.size(), [&](std::size_t part) {
    rows[part] = KeptRows(from_, parts_[part], stays[part]).make();
  });
  for (Arguments& of_part : rows) made.append_rows_of(std::move(of_part));
  parts_.clear();
  return made;
}

}  // namespace npuscope
