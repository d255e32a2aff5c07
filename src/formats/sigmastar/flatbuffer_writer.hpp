// FlatBuffers written without a schema: a tree of tables, texts and vectors becomes the bytes that
// flatbuffer.hpp reads.
//
//   FlatObject code = FlatObject::table();
//   code.put_int8(0, 3).put_int32(3, 3);
//   FlatObject model = FlatObject::table();
//   model.put(1, FlatObject::tables({code}));
//   const std::string bytes = write_flatbuffer(model, "SIM2");
//
// All scalars are at most four bytes, so four-byte alignment is enough.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npuscope::sigmastar {

class FlatObject {
 public:
  static FlatObject table() { return FlatObject(Kind::table); }
  static FlatObject tables(std::vector<FlatObject> elements);
  static FlatObject text(std::string_view text);
  static FlatObject int32s(const std::vector<std::int32_t>& values);

  FlatObject& put_int8(std::uint16_t slot, std::int8_t value);
  FlatObject& put_int32(std::uint16_t slot, std::int32_t value);
  FlatObject& put_uint32(std::uint16_t slot, std::uint32_t value);
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

}  // namespace npuscope::sigmastar
