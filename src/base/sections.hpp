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
  std::uint64_t bytes() const;  // of what finish() makes
  std::vector<std::byte> finish() const;
  void finish(std::vector<std::byte>& out) const;  // appends it

 private:
  void add_bytes(std::uint32_t kind, std::uint32_t key, std::size_t record_size, ByteSpan section);

  std::string magic_;
  SectionVersion version_;
  std::vector<SectionEntry> entries_;
  std::vector<ByteSpan> sections_;
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
    TRY(check(entry, sizeof(Record)));
    std::vector<Record> out(entry.count);
    if (!out.empty()) std::memcpy(out.data(), bytes(entry).data(), out.size() * sizeof(Record));
    return out;
  }

 private:
  Status check(const SectionEntry& entry, std::size_t record_size) const;

  std::string name_;
  ByteSpan bytes_;
  std::vector<SectionEntry> entries_;
};

}  // namespace npuscope
