// Structures of Apache Thrift's compact protocol, in which Parquet says what a file and a page
// hold.
//
//   CompactStruct page;
//   page.i32(1, 0);                                   // PageHeader.type = DATA_PAGE
//   page.structure(5, header);                        // .data_page_header
//   output += page.bytes();                           // with the byte that ends it
//
// Fields are written in the order of their numbers. Source: the Thrift project's description of the
// compact protocol (thrift-compact-protocol.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope::parquet {

// The numbers by which parquet.thrift names types, encodings and kinds of pages; those that are
// written.
enum class PhysicalType : std::int32_t { int64 = 2, real64 = 5, bytes = 6 };
enum class Repetition : std::int32_t { required = 0, optional = 1 };
enum class ConvertedType : std::int32_t { utf8 = 0 };
enum class Encoding : std::int32_t { plain = 0, run_lengths = 3, dictionary = 8 };
enum class PageType : std::int32_t { data = 0, dictionary = 2 };
enum class Codec : std::int32_t { zstd = 6 };

// Unsigned, seven bits a byte, the lowest first.
inline void append_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += char(value | 0x80);
  to += char(value);
}

class CompactStruct {
 public:
  void i32(int field, std::int32_t value) { number(field, Type::i32, value); }
  void i64(int field, std::int64_t value) { number(field, Type::i64, value); }
  void text(int field, std::string_view value) {
    head(field, Type::binary);
    append_text(value);
  }
  void structure(int field, const CompactStruct& value) {
    head(field, Type::structure);
    fields_ += value.bytes();
  }

  void list(int field, const std::vector<CompactStruct>& values) {
    list_head(field, Type::structure, values.size());
    for (const CompactStruct& value : values) fields_ += value.bytes();
  }
  void list(int field, const std::vector<std::int32_t>& values) {
    list_head(field, Type::i32, values.size());
    for (const std::int32_t value : values) append_varint(fields_, zigzag(value));
  }
  void list(int field, const std::vector<std::string>& values) {
    list_head(field, Type::binary, values.size());
    for (const std::string& value : values) append_text(value);
  }

  // With the byte that ends it.
  std::string bytes() const { return fields_ + '\0'; }

 private:
  enum class Type : std::uint8_t { i32 = 5, i64 = 6, binary = 8, list = 9, structure = 12 };

  static std::uint64_t zigzag(std::int64_t value) {
    return std::uint64_t(value) << 1 ^ std::uint64_t(value >> 63);
  }

  // Fields here are at most 15 apart, as all of Parquet's are.
  void head(int field, Type type) {
    fields_ += char((field - last_) << 4 | int(type));
    last_ = field;
  }
  void number(int field, Type type, std::int64_t value) {
    head(field, type);
    append_varint(fields_, zigzag(value));
  }
  void append_text(std::string_view value) {
    append_varint(fields_, value.size());
    fields_ += value;
  }
  void list_head(int field, Type of, std::size_t size) {
    head(field, Type::list);
    if (size < 15) {
      fields_ += char(size << 4 | std::size_t(of));
    } else {
      fields_ += char(0xF0 | int(of));
      append_varint(fields_, size);
    }
  }

  std::string fields_;
  int last_ = 0;
};

}  // namespace npuscope::parquet
