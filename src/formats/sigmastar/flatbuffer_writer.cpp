#include "formats/sigmastar/flatbuffer_writer.hpp"

#include <algorithm>
#include <cstring>

namespace npuscope::sigmastar {
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
    const std::size_t fields = table.scalars_.size() + table.places_.size();
    const auto table_bytes = std::uint16_t(4 + 4 * fields);  // each field in four bytes
    const std::size_t vtable = bytes_.size();
    bytes_.append(4 + 2 * std::size_t{slots}, '\0');
    align();
    put_at(bytes_, vtable, std::uint16_t(4 + 2 * slots));
    put_at(bytes_, vtable + 2, table_bytes);
    const std::size_t begin = bytes_.size();
    bytes_.append(table_bytes, '\0');
    put_at(bytes_, begin, std::int32_t(begin - vtable));
    std::uint16_t field = 4;
    const auto place = [&](std::uint16_t slot) {
      put_at(bytes_, vtable + 4 + 2 * std::size_t{slot}, field);
      field += 4;
      return begin + field - 4;
    };
    for (const auto& [slot, value] : table.scalars_)
      bytes_.replace(place(slot), value.size(), value);
    for (const auto& [slot, child] : table.places_) link(place(slot), table.children_[child]);
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

}  // namespace npuscope::sigmastar
