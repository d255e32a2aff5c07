#include "formats/parquet/table_writer.hpp"

#include "base/try.hpp"
#include "formats/parquet/compact_protocol.hpp"

namespace npuscope::parquet {
namespace {

constexpr std::int64_t most_rows_of_group = 122'880;
constexpr std::size_t most_bytes_of_group = std::size_t{64} << 20;
constexpr std::string_view magic = "PAR1";

PhysicalType physical_type(Type type) {
  switch (type) {
    case Type::integer: return PhysicalType::int64;
    case Type::real: return PhysicalType::real64;
    case Type::text: break;
  }
  return PhysicalType::bytes;
}

CompactStruct schema_element(const Column& column) {
  CompactStruct element;
  element.i32(1, std::int32_t(physical_type(column.type)));
  element.i32(3, std::int32_t(column.is_nullable ? Repetition::optional : Repetition::required));
  element.text(4, column.name);
  if (column.type == Type::text) {
    element.i32(6, std::int32_t(ConvertedType::utf8));
    CompactStruct logical;
    logical.structure(1, {});  // STRING
    element.structure(10, logical);
  }
  return element;
}

CompactStruct statistics_of(const Statistics& of) {
  CompactStruct said;
  said.i64(3, of.nulls);
  if (of.max) said.text(5, *of.max);
  if (of.min) said.text(6, *of.min);
  return said;
}

}  // namespace

TableWriter::TableWriter(std::vector<Column> columns, Properties properties, WriteBytes write)
    : properties_(std::move(properties)), write_(std::move(write)) {
  for (Column& column : columns) columns_.emplace_back(std::move(column));
  this->write(magic);
}

void TableWriter::write(std::string_view bytes) {
  write_(bytes);
  offset_ += bytes.size();
}

Status TableWriter::row(std::span<const Value> values) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (const Status added = columns_[i].add(values[i]); !added) return added;
    bytes += columns_[i].bytes();
  }
  ++rows_;
  ++rows_of_group_;
  if (rows_of_group_ < most_rows_of_group && bytes < most_bytes_of_group) return {};
  return write_group();
}

// The chunk to the file; what the footer says of it.
CompactStruct TableWriter::write_chunk(const Column& column, const Chunk& chunk) {
  const auto begin = std::int64_t(offset_);
  const bool has_dictionary = chunk.dictionary_bytes > 0;
  CompactStruct data;
  data.i32(1, std::int32_t(physical_type(column.type)));
  std::vector encodings{std::int32_t(Encoding::plain), std::int32_t(Encoding::run_lengths)};
  if (has_dictionary) encodings.push_back(std::int32_t(Encoding::dictionary));
  data.list(2, encodings);
  data.list(3, std::vector{column.name});
  data.i32(4, std::int32_t(Codec::zstd));
  data.i64(5, chunk.values);
  data.i64(6, chunk.uncompressed_bytes);
  data.i64(7, std::int64_t(chunk.pages.size()));
  data.i64(9, begin + std::int64_t(chunk.dictionary_bytes));
  if (has_dictionary) data.i64(11, begin);
  data.structure(12, statistics_of(chunk.statistics));
  write(chunk.pages);
  CompactStruct said;
  said.i64(2, begin);
  said.structure(3, data);
  return said;
}

Status TableWriter::write_group() {
  if (rows_of_group_ == 0) return {};
  const auto begin = std::int64_t(offset_);
  std::int64_t uncompressed = 0;
  std::vector<CompactStruct> chunks;
  for (ColumnValues& column : columns_) {
    TRY_AS(chunk, column.take_chunk());
    uncompressed += chunk->uncompressed_bytes;
    chunks.push_back(write_chunk(column.column(), *chunk));
  }
  CompactStruct group;
  group.list(1, chunks);
  group.i64(2, uncompressed);
  group.i64(3, rows_of_group_);
  group.i64(5, begin);
  group.i64(6, std::int64_t(offset_) - begin);
  groups_.push_back(std::move(group));
  rows_of_group_ = 0;
  return {};
}

// The root, then its columns.
std::vector<CompactStruct> TableWriter::schema() const {
  std::vector<CompactStruct> elements(1);
  elements[0].text(4, "schema");
  elements[0].i32(5, std::int32_t(columns_.size()));
  for (const ColumnValues& values : columns_) elements.push_back(schema_element(values.column()));
  return elements;
}

Status TableWriter::finish() {
  if (const Status written = write_group(); !written) return written;
  std::vector<CompactStruct> properties, orders;
  for (const auto& [key, value] : properties_) {
    CompactStruct property;
    property.text(1, key);
    property.text(2, value);
    properties.push_back(std::move(property));
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    CompactStruct order;
    order.structure(1, {});  // the type's own
    orders.push_back(std::move(order));
  }
  CompactStruct footer;
  footer.i32(1, 2);  // version of the format
  footer.list(2, schema());
  footer.i64(3, std::int64_t(rows_));
  footer.list(4, groups_);
  footer.list(5, properties);
  footer.text(6, "npuscope");
  footer.list(7, orders);
  const std::string bytes = footer.bytes();
  write(bytes);
  const auto size = std::uint32_t(bytes.size());
  write({reinterpret_cast<const char*>(&size), sizeof size});
  write(magic);
  return {};
}

}  // namespace npuscope::parquet
