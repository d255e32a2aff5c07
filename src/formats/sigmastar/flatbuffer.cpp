#include "formats/sigmastar/flatbuffer.hpp"

namespace npuscope::sigmastar {

std::optional<std::uint64_t> Flatbuffer::follow(std::uint64_t at) {
  const auto offset = load<std::uint32_t>(at);
  if (!offset) return std::nullopt;
  const std::uint64_t to = at + *offset;
  if (*offset == 0 || to >= bytes_.size()) {
    fail(at);
    return std::nullopt;
  }
  return to;
}

FlatTable Flatbuffer::root() {
  const auto at = follow(0);
  return at ? FlatTable(*this, *at) : FlatTable();
}

std::string_view Flatbuffer::identifier() const {
  constexpr std::size_t at = 4, length = 4;
  if (bytes_.size() < at + length) return {};
  return as_text(bytes_).substr(at, length);
}

Flatbuffer::Extent Flatbuffer::extent(std::uint64_t at, std::size_t element_bytes) {
  const auto count = load<std::uint32_t>(at);
  if (!count) return {};
  const std::uint64_t begin = at + sizeof(std::uint32_t);
  const std::uint64_t size = std::uint64_t{*count} * element_bytes;
  if (size > bytes_.size() - begin) {
    fail(at);
    return {};
  }
  if (size > budget_) {
    exhausted_ = true;
    fail(at);
    return {};
  }
  budget_ -= size;
  return {begin, *count};
}

FlatTable::FlatTable(Flatbuffer& buffer, std::uint64_t at) : at_(at) {
  const auto back = buffer.load<std::int32_t>(at);
  if (!back) return;
  const std::int64_t vtable = std::int64_t(at) - *back;
  if (vtable < 0) {
    buffer.fail(at);
    return;
  }
  const auto vtable_bytes = buffer.load<std::uint16_t>(std::uint64_t(vtable));
  const auto table_bytes = buffer.load<std::uint16_t>(std::uint64_t(vtable) + 2);
  if (!vtable_bytes || !table_bytes) return;
  constexpr std::uint16_t head = 4;  // its own size and the table's
  const bool fits = std::uint64_t(vtable) + *vtable_bytes <= buffer.bytes_.size() &&
                    at + *table_bytes <= buffer.bytes_.size();
  if (*vtable_bytes < head || !fits) {
    buffer.fail(std::uint64_t(vtable));
    return;
  }
  buffer_ = &buffer;
  fields_ = std::uint64_t(vtable) + head;
  slots_ = std::uint16_t((*vtable_bytes - head) / sizeof(std::uint16_t));
  table_bytes_ = *table_bytes;
}

std::optional<std::uint64_t> FlatTable::field(std::uint16_t slot) const {
  if (buffer_ == nullptr || slot >= slots_) return std::nullopt;
  const std::uint64_t entry = fields_ + std::uint64_t{slot} * sizeof(std::uint16_t);
  const auto offset = buffer_->load<std::uint16_t>(entry);
  if (!offset || *offset == 0) return std::nullopt;  // absent: the default
  if (*offset >= table_bytes_) {
    buffer_->fail(entry);
    return std::nullopt;
  }
  return at_ + *offset;
}

Flatbuffer::Extent FlatTable::vector_of(std::uint16_t slot, std::size_t element_bytes) const {
  const auto at = field(slot);
  if (!at) return {};
  const auto vector = buffer_->follow(*at);
  return vector ? buffer_->extent(*vector, element_bytes) : Flatbuffer::Extent{};
}

std::string_view FlatTable::text(std::uint16_t slot) const {
  const auto extent = vector_of(slot, 1);
  if (extent.count == 0) return {};
  return as_text(buffer_->bytes_).substr(extent.begin, extent.count);
}

std::vector<FlatTable> FlatTable::tables(std::uint16_t slot) const {
  const auto extent = vector_of(slot, sizeof(std::uint32_t));
  std::vector<FlatTable> tables;
  for (std::uint32_t i = 0; i < extent.count; ++i) {
    const auto at = buffer_->follow(extent.begin + std::uint64_t{i} * sizeof(std::uint32_t));
    if (!at) break;
    tables.push_back(FlatTable(*buffer_, *at));
  }
  return tables;
}

}  // namespace npuscope::sigmastar
