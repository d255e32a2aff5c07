#include "base/flatbuffer.hpp"

#include <algorithm>

namespace npuscope {

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

FlatTable FlatTable::table(std::uint16_t slot) const {
  const auto at = field(slot);
  const auto table = at ? buffer_->follow(*at) : std::nullopt;
  return table ? FlatTable(*buffer_, *table) : FlatTable();
}

namespace {

template <class Value>
std::string bytes_of(Value value) {
  std::string bytes(sizeof(Value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(Value));
  return bytes;
}

template <class Value>
void put_at(std::string& bytes, std::size_t at, Value value) {
  std::memcpy(bytes.data() + at, &value, sizeof(Value));
}

}  // namespace

FlatObject FlatObject::tables(std::vector<FlatObject> elements) {
  FlatObject vector(Kind::tables);
  vector.children_ = std::move(elements);
  return vector;
}

FlatObject FlatObject::text(std::string_view text) {
  FlatObject object(Kind::text);
  object.bytes_ = text;
  return object;
}

FlatObject FlatObject::int32s(const std::vector<std::int32_t>& values) {
  FlatObject object(Kind::int32s);
  for (const std::int32_t value : values) object.bytes_ += bytes_of(value);
  return object;
}

FlatObject& FlatObject::put_int8(std::uint16_t slot, std::int8_t value) {
  scalars_[slot] = bytes_of(value);
  return *this;
}

FlatObject& FlatObject::put_int32(std::uint16_t slot, std::int32_t value) {
  scalars_[slot] = bytes_of(value);
  return *this;
}

FlatObject& FlatObject::put_uint32(std::uint16_t slot, std::uint32_t value) {
  scalars_[slot] = bytes_of(value);
  return *this;
}

FlatObject& FlatObject::put_uint64(std::uint16_t slot, std::uint64_t value) {
  scalars_[slot] = bytes_of(value);
  return *this;
}

FlatObject& FlatObject::put(std::uint16_t slot, FlatObject child) {
  places_[slot] = children_.size();
  children_.push_back(std::move(child));
  return *this;
}

// Parents before children, because offsets only lead forward.
class FlatWriter {
 public:
  std::string write(const FlatObject& root, std::string_view identifier) {
    bytes_.assign(4, '\0');
    bytes_ += identifier.substr(0, 4);
    align();
    put_at(bytes_, 0, std::uint32_t(write(root)));
    return std::move(bytes_);
  }

 private:
  using Kind = FlatObject::Kind;

  // Where the object begins.
  std::size_t write(const FlatObject& object) {
    switch (object.kind_) {
      case Kind::table: return write_table(object);
      case Kind::tables: return write_tables(object);
      default: return write_plain(object);
    }
  }

  std::size_t write_table(const FlatObject& table) {
    std::uint16_t slots = 0;
    for (const auto& [slot, value] : table.scalars_)
      slots = std::max<std::uint16_t>(slots, slot + 1);
    for (const auto& [slot, child] : table.places_)
      slots = std::max<std::uint16_t>(slots, slot + 1);
    const auto words_of = [](std::size_t bytes) { return (bytes + 3) / 4; };
    std::size_t words = 1 + table.places_.size();
    for (const auto& [slot, value] : table.scalars_) words += words_of(value.size());
    const auto table_bytes = std::uint16_t(4 * words);
    const std::size_t vtable = bytes_.size();
    bytes_.append(4 + 2 * std::size_t{slots}, '\0');
    align();
    put_at(bytes_, vtable, std::uint16_t(4 + 2 * slots));
    put_at(bytes_, vtable + 2, table_bytes);
    const std::size_t begin = bytes_.size();
    bytes_.append(table_bytes, '\0');
    put_at(bytes_, begin, std::int32_t(begin - vtable));
    std::uint16_t field = 4;
    const auto place = [&](std::uint16_t slot, std::size_t bytes) {
      put_at(bytes_, vtable + 4 + 2 * std::size_t{slot}, field);
      return begin + std::exchange(field, std::uint16_t(field + 4 * words_of(bytes)));
    };
    for (const auto& [slot, value] : table.scalars_) {
      bytes_.replace(place(slot, value.size()), value.size(), value);
    }
    for (const auto& [slot, child] : table.places_) link(place(slot, 4), table.children_[child]);
    return begin;
  }

  std::size_t write_tables(const FlatObject& vector) {
    const std::size_t begin = bytes_.size();
    bytes_ += bytes_of(std::uint32_t(vector.children_.size()));
    bytes_.append(4 * vector.children_.size(), '\0');
    for (std::size_t i = 0; i < vector.children_.size(); ++i) {
      link(begin + 4 + 4 * i, vector.children_[i]);
    }
    return begin;
  }

  std::size_t write_plain(const FlatObject& object) {
    const std::size_t element = object.kind_ == Kind::text ? 1 : 4;
    const std::size_t begin = bytes_.size();
    bytes_ += bytes_of(std::uint32_t(object.bytes_.size() / element));
    bytes_ += object.bytes_;
    if (object.kind_ == Kind::text) bytes_ += '\0';
    align();
    return begin;
  }

  void link(std::size_t at, const FlatObject& child) {
    const std::size_t to = write(child);
    put_at(bytes_, at, std::uint32_t(to - at));
  }

  void align() { bytes_.resize((bytes_.size() + 3) / 4 * 4, '\0'); }

  std::string bytes_;
};

std::string write_flatbuffer(const FlatObject& root, std::string_view identifier) {
  return FlatWriter().write(root, identifier);
}

}  // namespace npuscope
