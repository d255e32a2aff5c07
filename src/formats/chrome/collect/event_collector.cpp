#include "formats/chrome/collect/event_collector.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace npuscope::chrome {

void ThreadTable::add(const Metadata& metadata) {
  using enum Metadata::What;
  if (metadata.what == thread_name || metadata.what == thread_sort_index) {
    const std::uint32_t thread = index(metadata.process_id, metadata.thread_id);
    if (thread >= named_.size()) named_.resize(thread + 1);
    if (metadata.what == thread_name) {
      named_[thread].name = metadata.text;
    } else {
      named_[thread].sort_index = metadata.number;
    }
    return;
  }
  const auto [process, is_new] = processes_.try_emplace(std::uint32_t(metadata.process_id));
  if (is_new) process_order_.push_back(metadata.process_id);
  if (metadata.what == process_name) process->second.name = metadata.text;
  if (metadata.what == process_labels) process->second.labels = metadata.text;
  if (metadata.what == process_sort_index) process->second.sort_index = metadata.number;
}

std::vector<Thread> ThreadTable::take_threads() {
  std::vector<Thread> threads;
  threads.reserve(threads_.size());
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Thread& thread = threads.emplace_back();
    thread.process_id = StringId(threads_.high(i));
    thread.thread_id = StringId(threads_.low(i));
    if (i < named_.size()) {
      thread.thread_name = named_[i].name;
      thread.thread_sort_index = named_[i].sort_index;
    }
    const auto process = processes_.find(threads_.high(i));
    if (process == processes_.end()) continue;
    process->second.has_thread = true;
    thread.process_name = process->second.name;
    thread.process_labels = process->second.labels;
    thread.process_sort_index = process->second.sort_index;
  }
  for (const StringId id : process_order_) {
    const Process& process = processes_[std::uint32_t(id)];
    if (process.has_thread) continue;
    threads.push_back({id, StringId::empty, process.name, StringId::empty, process.labels,
                       process.sort_index, 0});
  }
  return threads;
}

namespace {

// For `size` rows, and for the rest of the file when the rows so far are of `part_of_file`.
// At least half as many again, and no more than eight times as many: the beginning of a file may
// not be like the rest of it.
template <class Value>
void make_room(Column<Value>& column, std::size_t size, double part_of_file) {
  if (size <= column.capacity()) return;
  const double expected = part_of_file > 0 ? double(size) / part_of_file : 0;
  const double least = column.empty() ? double(size) : double(size) * 1.5;
  column.reserve(std::size_t(std::clamp(expected * 1.01, least, double(size) * 8)));
}

// Behind the rows of the chunks before it.
template <class Row, class Value, class ValueOf>
void append_column(const std::vector<Row>& rows, Column<Value>& to, double part_of_file,
                   ValueOf value_of) {
  const std::size_t before = to.size();
  make_room(to, before + rows.size(), part_of_file);
  to.resize(before + rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) to[before + i] = value_of(rows[i]);
}

// Columns that stay empty as long as no row has a value.
template <class Value>
void begin_column(Column<Value>& column, std::size_t rows_before, double part_of_file) {
  make_room(column, rows_before, part_of_file);
  column.assign(rows_before, Value{});
}

bool is_text(const ArgumentKey& key) {
  return key.type == ArgumentType::text || key.type == ArgumentType::json;
}

// `rows_before` of them are there. `shapes` are the file's for those of the chunk.
template <class Row, class Part>
void append_arguments(RowBuffer<Row>& from, const Part& part,
                      const std::vector<std::uint32_t>& shapes, std::size_t rows_before,
                      Arguments& to) {
  if (from.values.empty() && to.empty()) return;
  for (const Row& row : from.rows) {
    for (const std::uint32_t place : part.text_places[row.arguments.shape]) {
      std::uint64_t& bits = from.values[row.arguments.first + place];
      bits = std::uint64_t(part.strings[bits]);
    }
  }
  to.add_rows(rows_before, from.rows.size(), from.values, [&](std::size_t row) {
    const ArgumentPlace& place = from.rows[row].arguments;
    return ArgumentPlace{shapes[place.shape], place.first};
  });
}

}  // namespace

void EventCollector::append(ChunkTable&& table) {
  Part part;
  part.table = std::move(table);
  strings_.intern(part.table.strings.texts, part.strings);
  number_threads(part);
  for (const ArgumentShape& shape : part.table.shapes) {
    auto& places = part.text_places.emplace_back();
    for (std::uint32_t place = 0; place < shape.size(); ++place) {
      if (is_text(shape[place])) places.push_back(place);
    }
  }
  number_shapes(part, part.table.slices, slice_shapes_, part.slice_shapes);
  number_shapes(part, part.table.ends, slice_shapes_, part.slice_shapes);
  number_shapes(part, part.table.marks, mark_shapes_, part.mark_shapes);
  events_ += part.table.slices.rows.size() + part.table.marks.rows.size() +
             part.table.ends.rows.size() + part.table.metadata.size();
  has_begins_ = has_begins_ || part.table.has_begins;
  problems_.add(part.table.problems);
  // Slices last: the others say how many stand before them.
  append_marks(part);
  append_ends(part);
  append_slices(part);
  buffers_.give_back(std::move(part.table.chunk.buffer));
}

void EventCollector::number_threads(Part& part) {
  const PairTable& threads = part.table.threads;
  part.threads.reserve(threads.size());
  for (std::size_t i = 0; i < threads.size(); ++i) {
    part.threads.push_back(
        threads_.index(part.strings[threads.high(i)], part.strings[threads.low(i)]));
  }
  for (Metadata& metadata : part.table.metadata) {
    metadata.process_id = part.strings[std::uint32_t(metadata.process_id)];
    metadata.thread_id = part.strings[std::uint32_t(metadata.thread_id)];
    metadata.text = part.strings[std::uint32_t(metadata.text)];
    threads_.add(metadata);
  }
}

// Each of the chunk's shapes where it is used.
template <class Row>
void EventCollector::number_shapes(const Part& part, const RowBuffer<Row>& rows, ShapeTable& table,
                                   std::vector<std::uint32_t>& numbers) {
  constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();
  ArgumentShape keys;
  numbers.resize(part.table.shapes.size(), unknown);
  for (const Row& row : rows.rows) {
    std::uint32_t& number = numbers[row.arguments.shape];
    if (number != unknown) continue;
    keys = part.table.shapes[row.arguments.shape];
    for (ArgumentKey& key : keys) key.name = part.strings[std::uint32_t(key.name)];
    number = table.intern(keys);
  }
}

void EventCollector::append_slices(Part& part) {
  const std::vector<SliceRow>& rows = part.table.slices.rows;
  const double part_of_file = part.table.chunk.part_of_file;
  const auto append = [&](auto& to, auto value_of) {
    append_column(rows, to, part_of_file, value_of);
  };
  const bool has_category = std::ranges::any_of(
      rows, [](const SliceRow& row) { return row.category != StringId::empty; });
  append_arguments(part.table.slices, part, part.slice_shapes, slices_.size(), slices_.arguments);
  if (has_category || !slices_.category.empty()) {
    if (slices_.category.empty()) {
      begin_column(slices_.category, slices_.size(), part_of_file);
    }
    append(slices_.category,
           [&](const SliceRow& row) { return part.strings[std::uint32_t(row.category)]; });
  }
  append(slices_.name, [&](const SliceRow& row) { return part.strings[std::uint32_t(row.name)]; });
  append(slices_.start, [](const SliceRow& row) { return row.start; });
  append(slices_.duration, [](const SliceRow& row) { return row.duration; });
  append(slices_.thread, [&](const SliceRow& row) { return part.threads[row.thread]; });
}

void EventCollector::append_marks(Part& part) {
  const double part_of_file = part.table.chunk.part_of_file;
  const auto append = [&](auto& to, auto value_of) {
    append_column(part.table.marks.rows, to, part_of_file, value_of);
  };
  const auto string = [&](StringId id) { return part.strings[std::uint32_t(id)]; };
  const auto slices_before = std::uint32_t(slices_.size());
  append_arguments(part.table.marks, part, part.mark_shapes, marks_.size(), marks_.arguments);
  append(marks_.name, [&](const MarkRow& row) { return string(row.name); });
  append(marks_.category, [&](const MarkRow& row) { return string(row.category); });
  append(marks_.id, [&](const MarkRow& row) { return string(row.id); });
  append(marks_.time, [](const MarkRow& row) { return row.time; });
  append(marks_.binding, [](const MarkRow& row) { return row.binding; });
  append(marks_.slices_before,
         [&](const MarkRow& row) { return slices_before + row.slices_before; });
  append(marks_.thread, [&](const MarkRow& row) { return part.threads[row.thread]; });
  append(marks_.phase, [](const MarkRow& row) { return row.phase; });
}

void EventCollector::append_ends(Part& part) {
  const double part_of_file = part.table.chunk.part_of_file;
  const auto append = [&](auto& to, auto value_of) {
    append_column(part.table.ends.rows, to, part_of_file, value_of);
  };
  const auto slices_before = std::uint32_t(slices_.size());
  append_arguments(part.table.ends, part, part.slice_shapes, ends_.size(), ends_.arguments);
  append(ends_.name, [&](const EndRow& row) { return part.strings[std::uint32_t(row.name)]; });
  append(ends_.time, [](const EndRow& row) { return row.time; });
  append(ends_.slices_before, [&](const EndRow& row) { return slices_before + row.slices_before; });
  append(ends_.thread, [&](const EndRow& row) { return part.threads[row.thread]; });
}

Events EventCollector::finish() {
  Events events;
  events.strings = std::move(strings_);
  events.threads = threads_.take_threads();
  events.slices = std::move(slices_);
  events.marks = std::move(marks_);
  if (has_begins_ || ends_.size() > 0) {
    pair_begins_and_ends(events.slices, ends_, slice_shapes_, problems_);
  }
  events.slices.arguments.shapes = slice_shapes_.take_shapes();
  events.marks.arguments.shapes = mark_shapes_.take_shapes();
  return events;
}

}  // namespace npuscope::chrome
