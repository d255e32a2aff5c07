#include "formats/chrome/collect/event_collector.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/parallel.hpp"
#include "formats/chrome/collect/pairing.hpp"

namespace npuscope::chrome {
namespace {

// Joins one column of all parts and frees it there. `column_of(part)` is the column, `convert(part,
// value)` the value for the whole file; a part whose column is empty though it has rows gets
// `missing`.
template <class Value, class Parts, class ColumnOf, class RowsOf, class Convert>
void join_column(Parts& parts, Column<Value>& to, ColumnOf column_of, RowsOf rows_of,
                 Convert convert) {
  std::vector<std::size_t> begins(parts.size() + 1, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) begins[i + 1] = begins[i] + rows_of(parts[i]);
  to.resize(begins.back());
  parallel_for(parts.size(), [&](std::size_t i) {
    auto& from = column_of(parts[i]);
    const std::size_t rows = begins[i + 1] - begins[i];
    for (std::size_t row = 0; row < rows; ++row) {
      to[begins[i] + row] = from.empty() ? Value{} : convert(parts[i], from[row]);
    }
    std::remove_cvref_t<decltype(from)>().swap(from);
  });
}

bool is_string(ArgumentType type) {
  return type == ArgumentType::text || type == ArgumentType::json;
}

// Rewrites the strings among a part's values.
template <class Part>
void number_values(Part& part, Arguments& arguments) {
  for (std::size_t row = 0; row < arguments.shape.size(); ++row) {
    const ArgumentShape& shape = part.chunk_shapes[arguments.shape[row]];
    for (std::size_t place = 0; place < shape.size(); ++place) {
      if (!is_string(shape[place].type)) continue;
      std::uint64_t& bits = arguments.values[arguments.first[row] + place];
      bits = std::uint64_t(part.strings[bits]);
    }
  }
}

template <class Parts, class TableOf>
void join_arguments(Parts& parts, Arguments& to, TableOf table_of,
                    const std::vector<std::uint32_t> Parts::value_type::*shapes) {
  const bool any = std::any_of(parts.begin(), parts.end(),
                               [&](auto& part) { return !table_of(part).arguments.empty(); });
  if (!any) return;
  const auto rows_of = [&](auto& part) { return table_of(part).size(); };
  std::vector<std::size_t> begins(parts.size() + 1, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    begins[i + 1] = begins[i] + table_of(parts[i]).arguments.values.size();
  }
  parallel_for(parts.size(), [&](std::size_t i) {
    Arguments& arguments = table_of(parts[i]).arguments;
    number_values(parts[i], arguments);
    for (std::uint32_t& first : arguments.first) first += std::uint32_t(begins[i]);
  });
  join_column(
      parts, to.values, [&](auto& part) -> auto& { return table_of(part).arguments.values; },
      [&](auto& part) { return table_of(part).arguments.values.size(); },
      [](auto&, std::uint64_t bits) { return bits; });
  join_column(
      parts, to.first, [&](auto& part) -> auto& { return table_of(part).arguments.first; }, rows_of,
      [](auto&, std::uint32_t first) { return first; });
  join_column(
      parts, to.shape, [&](auto& part) -> auto& { return table_of(part).arguments.shape; }, rows_of,
      [&](auto& part, std::uint32_t shape) { return (part.*shapes)[shape]; });
}

}  // namespace

void EventCollector::append(ChunkTable&& table) {
  Part& part = parts_.emplace_back();
  part.strings.reserve(table.strings.texts.size());
  strings_.intern(table.strings.texts, part.strings);
  part.threads.reserve(table.threads.size());
  for (std::size_t i = 0; i < table.threads.size(); ++i) {
    part.threads.push_back(
        threads_.index(part.strings[table.threads.high(i)], part.strings[table.threads.low(i)]));
  }
  for (Metadata& metadata : table.metadata) {
    metadata.process_id = part.strings[std::uint32_t(metadata.process_id)];
    metadata.thread_id = part.strings[std::uint32_t(metadata.thread_id)];
    metadata.text = part.strings[std::uint32_t(metadata.text)];
    threads_.add(metadata);
  }
  part.chunk_shapes = std::move(table.shapes);
  part.slices = std::move(table.slices);
  part.marks = std::move(table.marks);
  part.ends = std::move(table.ends);
  drop_surplus(part.slices.arguments, slice_values_, table.chunk.offset);
  drop_surplus(part.ends.arguments, slice_values_, table.chunk.offset);
  drop_surplus(part.marks.arguments, mark_values_, table.chunk.offset);
  number_shapes(part);
  events_ += part.slices.size() + part.marks.size() + part.ends.size() + table.metadata.size();
  has_begins_ = has_begins_ || table.has_begins;
  problems_.add(table.problems);
  buffers_.give_back(std::move(table.chunk.buffer));
}

// Values are numbered with 32 bits.
void EventCollector::drop_surplus(Arguments& arguments, std::uint64_t& values,
                                  std::uint64_t offset) {
  if (values + arguments.values.size() <= std::numeric_limits<std::uint32_t>::max()) {
    values += arguments.values.size();
    return;
  }
  const auto rows = std::ranges::count_if(arguments.shape, [](auto shape) { return shape != 0; });
  problems_.add(Problem::too_many_arguments, offset, std::uint64_t(rows));
  arguments = {};
}

// Each of the chunk's shapes where it is used.
void EventCollector::number_shapes(Part& part) {
  constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
  ArgumentShape keys;
  const auto number = [&](const Arguments& arguments, std::vector<std::uint32_t>& numbers,
                          ShapeTable& table) {
    numbers.resize(part.chunk_shapes.size(), unknown);
    for (const std::uint32_t shape : arguments.shape) {
      if (numbers[shape] != unknown) continue;
      keys = part.chunk_shapes[shape];
      for (ArgumentKey& key : keys) key.name = part.strings[std::uint32_t(key.name)];
      numbers[shape] = table.intern(keys);
    }
  };
  number(part.slices.arguments, part.slice_shapes, slice_shapes_);
  number(part.ends.arguments, part.slice_shapes, slice_shapes_);
  number(part.marks.arguments, part.mark_shapes, mark_shapes_);
}

Events EventCollector::finish() {
  Events events;
  events.strings = std::move(strings_);
  events.threads = threads_.take_threads();
  Ends ends;
  number_slices_before();
  join_ends(ends);
  join_slices(events.slices);
  join_marks(events.marks);
  parts_.clear();
  if (has_begins_ || ends.size() > 0) {
    pair_begins_and_ends(events.slices, ends, slice_shapes_, problems_);
  }
  events.slices.arguments.shapes = slice_shapes_.take_shapes();
  events.marks.arguments.shapes = mark_shapes_.take_shapes();
  return events;
}

void EventCollector::join_slices(Slices& to) {
  const auto rows = [](Part& part) { return part.slices.size(); };
  const auto string = [](Part& part, StringId id) { return part.strings[std::uint32_t(id)]; };
  const auto same = [](Part&, std::int64_t value) { return value; };
  join_arguments(
      parts_, to.arguments, [](Part& part) -> auto& { return part.slices; }, &Part::slice_shapes);
  join_column(
      parts_, to.start, [](Part& part) -> auto& { return part.slices.start; }, rows, same);
  join_column(
      parts_, to.duration, [](Part& part) -> auto& { return part.slices.duration; }, rows, same);
  join_column(
      parts_, to.name, [](Part& part) -> auto& { return part.slices.name; }, rows, string);
  const bool categories = std::any_of(
      parts_.begin(), parts_.end(), [](const Part& part) { return !part.slices.category.empty(); });
  if (categories) {
    join_column(
        parts_, to.category, [](Part& part) -> auto& { return part.slices.category; }, rows,
        string);
  }
  join_column(
      parts_, to.thread, [](Part& part) -> auto& { return part.slices.thread; }, rows,
      [](Part& part, std::uint32_t thread) { return part.threads[thread]; });
}

void EventCollector::join_marks(Marks& to) {
  const auto rows = [](Part& part) { return part.marks.size(); };
  const auto string = [](Part& part, StringId id) { return part.strings[std::uint32_t(id)]; };
  const auto same = [](Part&, auto value) { return value; };
  join_arguments(
      parts_, to.arguments, [](Part& part) -> auto& { return part.marks; }, &Part::mark_shapes);
  join_column(
      parts_, to.name, [](Part& part) -> auto& { return part.marks.name; }, rows, string);
  join_column(
      parts_, to.category, [](Part& part) -> auto& { return part.marks.category; }, rows, string);
  join_column(
      parts_, to.id, [](Part& part) -> auto& { return part.marks.id; }, rows, string);
  join_column(
      parts_, to.time, [](Part& part) -> auto& { return part.marks.time; }, rows, same);
  join_column(
      parts_, to.binding, [](Part& part) -> auto& { return part.marks.binding; }, rows, same);
  join_column(
      parts_, to.slices_before, [](Part& part) -> auto& { return part.marks.slices_before; }, rows,
      same);
  join_column(
      parts_, to.thread, [](Part& part) -> auto& { return part.marks.thread; }, rows,
      [](Part& part, std::uint32_t thread) { return part.threads[thread]; });
  join_column(
      parts_, to.phase, [](Part& part) -> auto& { return part.marks.phase; }, rows, same);
}

// Before the slices of the parts, whose numbers it needs.
void EventCollector::number_slices_before() {
  std::vector<std::uint32_t> slices(parts_.size() + 1, 0);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    slices[i + 1] = slices[i] + std::uint32_t(parts_[i].slices.size());
  }
  parallel_for(parts_.size(), [&](std::size_t i) {
    for (std::uint32_t& before : parts_[i].ends.slices_before) before += slices[i];
    for (std::uint32_t& before : parts_[i].marks.slices_before) before += slices[i];
  });
}

void EventCollector::join_ends(Ends& to) {
  const auto rows = [](Part& part) { return part.ends.size(); };
  const auto same = [](Part&, auto value) { return value; };
  join_arguments(
      parts_, to.arguments, [](Part& part) -> auto& { return part.ends; }, &Part::slice_shapes);
  join_column(
      parts_, to.name, [](Part& part) -> auto& { return part.ends.name; }, rows,
      [](Part& part, StringId id) { return part.strings[std::uint32_t(id)]; });
  join_column(
      parts_, to.time, [](Part& part) -> auto& { return part.ends.time; }, rows, same);
  join_column(
      parts_, to.slices_before, [](Part& part) -> auto& { return part.ends.slices_before; }, rows,
      same);
  join_column(
      parts_, to.thread, [](Part& part) -> auto& { return part.ends.thread; }, rows,
      [](Part& part, std::uint32_t thread) { return part.threads[thread]; });
}

}  // namespace npuscope::chrome
