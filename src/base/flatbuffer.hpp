// The few pieces of FlatBuffers that models and dumps need, read where they lie and with every
// offset checked: tables, scalars by slot, texts, vectors. No schema and no generated code, because
// SigmaStar's tables carry slots that the public schema lacks.
//
//   Flatbuffer buffer(bytes);
//   const FlatTable model = buffer.root();
//   for (const FlatTable& code : model.tables(1)) code.scalar<std::int32_t>(3).value_or(0)
//   if (buffer.problem()) …     // an offset that leads outside, and where it stands
//
// What is absent and what is broken both read as nothing; `problem` tells them apart. Layout:
// https://flatbuffers.dev/internals/
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npuscope/base/files.hpp"

namespace npuscope {

class FlatTable;

class Flatbuffer {
 public:
  explicit Flatbuffer(ByteSpan bytes) : bytes_(bytes), budget_(4 * bytes.size() + 1024) {}

  FlatTable root();
  // Four characters behind the root's offset; empty in a shorter buffer.
  std::string_view identifier() const;
  // Where the first broken offset or length stands.
  const std::optional<std::uint64_t>& problem() const { return problem_; }
  // Not an offset but the sum of all lengths is impossible: vectors lie over one another.
  bool exhausted() const { return exhausted_; }

 private:
  friend class FlatTable;

  template <class Value>
  std::optional<Value> load(std::uint64_t at) {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(Value)) {
      fail(at);
      return std::nullopt;
    }
    Value value;
    std::memcpy(&value, bytes_.data() + at, sizeof(Value));
    return value;
  }
  // Where the offset that stands at `at` leads.
  std::optional<std::uint64_t> follow(std::uint64_t at);
  // The elements of the vector at `at`: where they begin, how many.
  struct Extent {
    std::uint64_t begin = 0;
    std::uint32_t count = 0;
  };
  Extent extent(std::uint64_t at, std::size_t element_bytes);
  void fail(std::uint64_t at) {
    if (!problem_) problem_ = at;
  }

  ByteSpan bytes_;
  std::uint64_t budget_;  // bytes of vectors still to be read: an honest buffer shares few
  std::optional<std::uint64_t> problem_;
  bool exhausted_ = false;
};

class FlatTable {
 public:
  FlatTable() = default;

  template <class Value>
  std::optional<Value> scalar(std::uint16_t slot) const {
    const auto at = field(slot);
    return at ? buffer_->load<Value>(*at) : std::nullopt;
  }
  std::string_view text(std::uint16_t slot) const;
  template <class Value>
  std::vector<Value> scalars(std::uint16_t slot) const {
    std::vector<Value> values;
    const auto extent = vector_of(slot, sizeof(Value));
    values.resize(extent.count);
    if (extent.count > 0) {
      std::memcpy(values.data(), buffer_->bytes_.data() + extent.begin,
                  values.size() * sizeof(Value));
    }
    return values;
  }
  std::vector<FlatTable> tables(std::uint16_t slot) const;
  FlatTable table(std::uint16_t slot) const;
  bool is_there() const { return buffer_ != nullptr; }

 private:
  friend class Flatbuffer;
  FlatTable(Flatbuffer& buffer, std::uint64_t at);

  std::optional<std::uint64_t> field(std::uint16_t slot) const;
  Flatbuffer::Extent vector_of(std::uint16_t slot, std::size_t element_bytes) const;

  Flatbuffer* buffer_ = nullptr;
  std::uint64_t at_ = 0;
  std::uint64_t fields_ = 0;  // where the vtable's list of fields begins
  std::uint16_t slots_ = 0;   // how many it lists
  std::uint16_t table_bytes_ = 0;
};

// FlatBuffers written without a schema: a tree of tables, texts and vectors becomes the bytes that
// flatbuffer.hpp reads.
//
//   FlatObject code = FlatObject::table();
//   code.put_int8(0, 3).put_int32(3, 3);
//   FlatObject model = FlatObject::table();
//   model.put(1, FlatObject::tables({code}));
//   const std::string bytes = write_flatbuffer(model, "SIM2");
//
// Fields are aligned to four bytes, which readers that copy them, as ours, do not mind of eight.
class FlatObject {
 public:
  static FlatObject table() { return FlatObject(Kind::table); }
  static FlatObject tables(std::vector<FlatObject> elements);
  static FlatObject text(std::string_view text);
  static FlatObject int32s(const std::vector<std::int32_t>& values);

  FlatObject& put_int8(std::uint16_t slot, std::int8_t value);
  FlatObject& put_int32(std::uint16_t slot, std::int32_t value);
  FlatObject& put_uint32(std::uint16_t slot, std::uint32_t value);
  FlatObject& put_uint64(std::uint16_t slot, std::uint64_t value);
  FlatObject& put(std::uint16_t slot, FlatObject child);

 private:
  friend class FlatWriter;
  enum class Kind : std::uint8_t { table, tables, text, int32s };
  explicit FlatObject(Kind kind) : kind_(kind) {}

  Kind kind_;
  std::map<std::uint16_t, std::string> scalars_;  // of a table, by slot: their bytes
  std::map<std::uint16_t, std::size_t> places_;   // of a table, by slot: in children_
  std::vector<FlatObject> children_;
  std::string bytes_;  // of a text or vector of scalars
};

// `identifier` has four characters.
std::string write_flatbuffer(const FlatObject& root, std::string_view identifier);

}  // namespace npuscope
