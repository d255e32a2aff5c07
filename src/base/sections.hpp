// The frame that npuscope's own binary artifacts share (statistics buffers, programs): a
// header, a table of sections, and sections of fixed-size little-endian records, each section with
// its own checksum. docs/formats/sections.md has the byte table.
//
//   offset  size  field
//        0     8  magic            8 characters, e.g. "NPUSTATS"
//        8     2  major version    a reader refuses another major version
//       10     2  minor version    newer minor versions only add sections
//       12     4  section count
//       16     8  file size        bytes, everything included
//       24     8  table checksum   XXH3-64 of bytes [0, 24) followed by the section table
//       32  40*n  section table    see SectionEntry
//        …        sections         each 8-byte aligned, zero padding between
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope {

struct SectionEntry {
  std::uint32_t kind = 0;         // meaning defined by the artifact
  std::uint32_t key = 0;          // tells sections of one kind apart, e.g. core * threads + thread
  std::uint32_t record_size = 0;  // bytes
  std::uint32_t reserved = 0;
  std::uint64_t offset = 0;    // bytes from the start of the artifact
  std::uint64_t count = 0;     // records
  std::uint64_t checksum = 0;  // XXH3-64 of the records
};
static_assert(sizeof(SectionEntry) == 40);

struct SectionVersion {
  std::uint16_t major = 1;
  std::uint16_t minor = 0;
};

class SectionWriter {
 public:
  SectionWriter(std::string_view magic, SectionVersion version);

  // What is added must stay where it is until finish(): it is copied there, once.
  template <class Record>
  void add(std::uint32_t kind, std::uint32_t key, std::span<const Record> records) {
    static_assert(std::is_trivially_copyable_v<Record>);
    add_bytes(kind, key, sizeof(Record), std::as_bytes(records));
  }
  void add_text(std::uint32_t kind, std::uint32_t key, std::string_view text) {
    add_bytes(kind, key, 1, as_byte_span(text));
  }
  // Records that are zeros in place(), and may be written there until seal().
  template <class Record>
  void add_room(std::uint32_t kind, std::uint32_t key, std::uint64_t count) {
    static_assert(std::is_trivially_copyable_v<Record>);
    add_section(kind, key, sizeof(Record), count, {});
  }
  std::uint64_t bytes() const;  // of what finish() makes
  std::vector<std::byte> finish() const;
  void finish(std::vector<std::byte>& out) const;  // appends it

  // finish() in two steps: where `made` begins all sections are placed, and then what says of them
  // what they are.
  void place(std::vector<std::byte>& out) const;
  // Of this kind, in the order in which they were added.
  template <class Record>
  std::vector<std::span<Record>> rooms(std::uint32_t kind, std::span<std::byte> made) const {
    std::vector<std::span<Record>> rooms;
    for (const SectionEntry& entry : entries_) {
      if (entry.kind != kind) continue;
      std::byte* const begin = made.data() + table_end() + entry.offset;
      rooms.emplace_back(reinterpret_cast<Record*>(begin), entry.count);
    }
    return rooms;
  }
  void seal(std::span<std::byte> made) const;

 private:
  void add_bytes(std::uint32_t kind, std::uint32_t key, std::size_t record_size, ByteSpan section);
  void add_section(std::uint32_t kind, std::uint32_t key, std::size_t record_size,
                   std::uint64_t count, ByteSpan section);
  std::uint64_t table_end() const;

  std::string magic_;
  SectionVersion version_;
  std::vector<SectionEntry> entries_;
  std::vector<ByteSpan> sections_;  // empty: room
  std::uint64_t payload_bytes_ = 0;
};

// Reads hostile bytes: open() checks magic, version, table checksum and that every section lies
// inside `bytes` and none overlap; a section's own checksum is checked by intact().
class SectionReader {
 public:
  // `name` is what error messages call the artifact (a path).
  static Result<SectionReader> open(ByteSpan bytes, std::string_view magic,
                                    std::uint16_t major_version, std::string name);

  const std::vector<SectionEntry>& entries() const { return entries_; }
  const SectionEntry* find(std::uint32_t kind, std::uint32_t key = 0) const;
  bool intact(const SectionEntry& entry) const;
  ByteSpan bytes(const SectionEntry& entry) const;
  std::string_view text(const SectionEntry& entry) const { return as_text(bytes(entry)); }

  // The records, copied out. An input error names the section when its record size is not
  // Record's or its checksum does not match.
  template <class Record>
  Result<std::vector<Record>> records(const SectionEntry& entry) const {
    static_assert(std::is_trivially_copyable_v<Record>);
    TRY(check_record_size(entry, sizeof(Record)));
    std::vector<Record> out(entry.count);
    TRY(copy(entry, std::as_writable_bytes(std::span(out))));
    return out;
  }
  // Called with bytes that records() has copied, a piece at a time.
  void forget_with(std::function<void(ByteSpan)> forget) { forget_ = std::move(forget); }

 private:
  Status check_record_size(const SectionEntry& entry, std::size_t record_size) const;
  Status copy(const SectionEntry& entry, std::span<std::byte> out) const;

  std::string name_;
  ByteSpan bytes_;
  std::function<void(ByteSpan)> forget_;
  std::vector<SectionEntry> entries_;
};

}  // namespace npuscope
