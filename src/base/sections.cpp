#include "base/sections.hpp"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/try.hpp"

namespace npuscope {
namespace {

static_assert(std::endian::native == std::endian::little, "records are copied as they lie");

constexpr std::size_t magic_bytes = 8;

struct Header {
  char magic[magic_bytes] = {};
  std::uint16_t major_version = 0;
  std::uint16_t minor_version = 0;
  std::uint32_t section_count = 0;
  std::uint64_t file_size = 0;
  std::uint64_t table_checksum = 0;
};
static_assert(sizeof(Header) == 32);
constexpr std::size_t checksummed_header_bytes = offsetof(Header, table_checksum);

constexpr std::uint64_t aligned(std::uint64_t offset) { return (offset + 7) & ~std::uint64_t{7}; }

void copy_to(std::byte* destination, ByteSpan source) {
  if (!source.empty()) std::memcpy(destination, source.data(), source.size());
}

std::uint64_t table_checksum(const Header& header, ByteSpan table) {
  std::vector<std::byte> covered(checksummed_header_bytes + table.size());
  std::memcpy(covered.data(), &header, checksummed_header_bytes);
  copy_to(covered.data() + checksummed_header_bytes, table);
  return XXH3_64bits(covered.data(), covered.size());
}

std::uint64_t byte_count(const SectionEntry& entry) { return entry.count * entry.record_size; }

// Each section alone: inside the artifact, aligned, and with a size that does not overflow.
Status check_place(const SectionEntry& entry, std::size_t index, std::uint64_t table_end,
                   std::uint64_t file_size, const std::string& name) {
  if (entry.record_size == 0) {
    return input_error("{}: section {} has records of 0 bytes; the writer is at fault", name,
                       index);
  }
  if (entry.offset < table_end || entry.offset > file_size || entry.offset % 8 != 0) {
    return input_error("{}: section {} begins at byte {}, outside [{}, {}] or not 8-byte aligned",
                       name, index, entry.offset, table_end, file_size);
  }
  if (entry.count > (file_size - entry.offset) / entry.record_size) {
    return input_error("{}: section {} at byte {} has {} records of {} bytes but {} bytes are left",
                       name, index, entry.offset, entry.count, entry.record_size,
                       file_size - entry.offset);
  }
  return {};
}

// All sections together: none shares bytes, or kind and key, with another.
Status check_distinct(const std::vector<SectionEntry>& entries, const std::string& name) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto by_offset = [&](std::size_t a, std::size_t b) {
    return std::pair(entries[a].offset, entries[a].count) <
           std::pair(entries[b].offset, entries[b].count);
  };
  std::sort(order.begin(), order.end(), by_offset);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const SectionEntry& before = entries[order[i - 1]];
    if (before.offset + byte_count(before) > entries[order[i]].offset) {
      return input_error("{}: sections {} and {} overlap at byte {}; the writer is at fault", name,
                         order[i - 1], order[i], entries[order[i]].offset);
    }
  }
  const auto identity = [&](std::size_t i) { return std::pair(entries[i].kind, entries[i].key); };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return identity(a) < identity(b); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (identity(order[i - 1]) == identity(order[i])) {
      return input_error("{}: sections {} and {} are both kind {} key {}; the writer is at fault",
                         name, order[i - 1], order[i], identity(order[i]).first,
                         identity(order[i]).second);
    }
  }
  return {};
}

Result<Header> read_header(ByteSpan bytes, std::string_view magic, std::uint16_t major_version,
                           const std::string& name) {
  if (!as_text(bytes).starts_with(magic)) {
    return input_error("{}: does not begin with {}; it is another kind of file, or was zeroed",
                       name, magic);
  }
  Header header;
  if (bytes.size() < sizeof header) {
    return input_error("{}: truncated at byte {}, inside the {}-byte header; copy the file again",
                       name, bytes.size(), sizeof header);
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.major_version != major_version) {
    return input_error("{}: has layout version {}.{} but this npuscope reads version {}.x", name,
                       header.major_version, header.minor_version, major_version);
  }
  if (header.file_size != bytes.size()) {
    return input_error("{}: has {} bytes but its header says {}; copy the file again", name,
                       bytes.size(), header.file_size);
  }
  if (header.section_count > (bytes.size() - sizeof header) / sizeof(SectionEntry)) {
    return input_error("{}: {} bytes are too few for its {} sections; copy the file again", name,
                       bytes.size(), header.section_count);
  }
  return header;
}

}  // namespace

SectionWriter::SectionWriter(std::string_view magic, SectionVersion version)
    : magic_(magic), version_(version) {
  magic_.resize(magic_bytes);
}

void SectionWriter::add_bytes(std::uint32_t kind, std::uint32_t key, std::size_t record_size,
                              ByteSpan section) {
  add_section(kind, key, record_size, section.size() / record_size, section);
}

void SectionWriter::add_section(std::uint32_t kind, std::uint32_t key, std::size_t record_size,
                                std::uint64_t count, ByteSpan section) {
  payload_bytes_ = aligned(payload_bytes_);
  SectionEntry entry;
  entry.kind = kind;
  entry.key = key;
  entry.record_size = std::uint32_t(record_size);
  entry.offset = payload_bytes_;  // from the end of the table; seal() adds its size
  entry.count = count;
  entries_.push_back(entry);
  sections_.push_back(section);
  payload_bytes_ += byte_count(entry);
}

std::uint64_t SectionWriter::table_end() const {
  return sizeof(Header) + entries_.size() * sizeof(SectionEntry);
}

std::uint64_t SectionWriter::bytes() const { return table_end() + payload_bytes_; }

std::vector<std::byte> SectionWriter::finish() const {
  std::vector<std::byte> out;
  finish(out);
  return out;
}

void SectionWriter::finish(std::vector<std::byte>& out) const {
  const std::size_t begin = out.size();
  place(out);
  seal(std::span(out).subspan(begin));
}

void SectionWriter::place(std::vector<std::byte>& out) const {
  const std::size_t begin = out.size();
  out.reserve(begin + bytes());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    out.resize(begin + table_end() + entries_[i].offset);
    out.insert(out.end(), sections_[i].begin(), sections_[i].end());
  }
  out.resize(begin + bytes());
}

void SectionWriter::seal(std::span<std::byte> made) const {
  std::vector<SectionEntry> entries = entries_;
  for (SectionEntry& entry : entries) {
    entry.offset += table_end();
    entry.checksum = XXH3_64bits(made.data() + entry.offset, byte_count(entry));
  }
  const ByteSpan table = std::as_bytes(std::span(entries));

  Header header;
  std::memcpy(header.magic, magic_.data(), magic_bytes);
  header.major_version = version_.major;
  header.minor_version = version_.minor;
  header.section_count = std::uint32_t(entries.size());
  header.file_size = bytes();
  header.table_checksum = table_checksum(header, table);
  copy_to(made.data(), std::as_bytes(std::span(&header, 1)));
  copy_to(made.data() + sizeof header, table);
}

Result<SectionReader> SectionReader::open(ByteSpan bytes, std::string_view magic,
                                          std::uint16_t major_version, std::string name) {
  TRY_AS(header, read_header(bytes, magic, major_version, name));

  SectionReader reader;
  reader.entries_.resize(header->section_count);
  const ByteSpan table =
      bytes.subspan(sizeof(Header), reader.entries_.size() * sizeof(SectionEntry));
  if (table_checksum(*header, table) != header->table_checksum) {
    return input_error(
        "{}: checksum of the section table (bytes 0 to {}) does not match; the file "
        "is damaged, copy it again",
        name, sizeof(Header) + table.size());
  }
  copy_to(reinterpret_cast<std::byte*>(reader.entries_.data()), table);
  for (std::size_t i = 0; i < reader.entries_.size(); ++i) {
    TRY(check_place(reader.entries_[i], i, sizeof(Header) + table.size(), bytes.size(), name));
  }
  TRY(check_distinct(reader.entries_, name));
  reader.name_ = std::move(name);
  reader.bytes_ = bytes;
  return reader;
}

const SectionEntry* SectionReader::find(std::uint32_t kind, std::uint32_t key) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const SectionEntry& entry) {
    return entry.kind == kind && entry.key == key;
  });
  return found == entries_.end() ? nullptr : &*found;
}

ByteSpan SectionReader::bytes(const SectionEntry& entry) const {
  return bytes_.subspan(entry.offset, byte_count(entry));
}

bool SectionReader::intact(const SectionEntry& entry) const {
  const ByteSpan section = bytes(entry);
  return XXH3_64bits(section.data(), section.size()) == entry.checksum;
}

Status SectionReader::check_record_size(const SectionEntry& entry, std::size_t record_size) const {
  if (entry.record_size == record_size) return {};
  return input_error("{}: section kind {} key {} has records of {} bytes, expected {}", name_,
                     entry.kind, entry.key, entry.record_size, record_size);
}

Status SectionReader::copy(const SectionEntry& entry, std::span<std::byte> out) const {
  constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  const ByteSpan section = bytes(entry);
  for (std::size_t at = 0; at < section.size(); at += piece_bytes) {
    const ByteSpan piece = section.subspan(at, std::min(piece_bytes, section.size() - at));
    copy_to(out.data() + at, piece);
    if (forget_) forget_(piece);
  }
  // Of the copy, so that the section is read once.
  if (XXH3_64bits(out.data(), out.size()) == entry.checksum) return {};
  return input_error(
      "{}: checksum of section kind {} key {} (bytes {} to {}) does not match; "
      "the file is damaged, copy it again",
      name_, entry.kind, entry.key, entry.offset, entry.offset + byte_count(entry));
}

}  // namespace npuscope
