#include "jobs/torq/whole_workbook.hpp"

#include <optional>
#include <string>

#include "npuscope/base/byte_source.hpp"

namespace npuscope::jobs {
namespace {

constexpr std::string_view rows_begin = "<sheetData>", rows_end = "</sheetData>";

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= std::uint32_t(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

// A part of the archive. Offsets are those of PKWARE's APPNOTE, 4.3.7, "Local file header".
struct Part {
  std::string_view name, packed;
  std::string_view checksum;  // CRC-32 of the text, four bytes
  std::uint32_t size = 0;     // of the text

  static std::optional<Part> next(std::string_view& archive) {
    constexpr std::size_t head = 30;
    constexpr std::uint32_t deflated = 8;
    if (archive.size() < head || number_at(archive, 8, 2) != deflated) return std::nullopt;
    const std::uint64_t name = number_at(archive, 26, 2), extra = number_at(archive, 28, 2);
    const std::uint64_t packed = number_at(archive, 18, 4), begin = head + name + extra;
    if (archive.size() < begin + packed) return std::nullopt;
    const Part part{archive.substr(head, name), archive.substr(begin, packed),
                    archive.substr(14, 4), number_at(archive, 22, 4)};
    archive.remove_prefix(begin + packed);
    return part;
  }

  // As a gzip file (RFC 1952, 2.3), whose deflated data and checksum are the same.
  std::string as_gzip() const {
    constexpr std::string_view head{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10};
    std::string gzip(head);
    gzip.append(packed).append(checksum);
    for (int shift = 0; shift < 32; shift += 8) gzip += char(size >> shift & 0xff);
    return gzip;
  }
};

// The first and the last bytes of a text, and how long it is.
struct Ends {
  std::string first, last;
  std::uint64_t size = 0;

  static constexpr std::size_t kept = 64 << 10;  // what stands before and after the rows is shorter

  static std::optional<Ends> of(const Part& part) {
    const std::string gzip = part.as_gzip();
    auto source = open_byte_source(gzip, std::string(part.name));
    if (!source) return std::nullopt;
    Ends ends;
    std::string piece(kept, '\0');
    while (true) {
      const auto count = (*source)->read(piece);
      if (!count) return std::nullopt;
      if (*count == 0) return ends;
      const std::string_view text(piece.data(), *count);
      ends.size += text.size();
      ends.first.append(text.substr(0, kept - ends.first.size()));
      ends.last.append(text);
      if (ends.last.size() > kept) ends.last.erase(0, ends.last.size() - kept);
    }
  }
};

// From its declaration to the end tag of its first element.
bool is_document(const Ends& text) {
  const std::size_t root = text.first.find("\n<");
  if (!text.first.starts_with("<?xml ") || root == text.first.npos) return false;
  const std::size_t end = text.first.find_first_of(" >", root + 2);
  if (end == text.first.npos) return false;
  std::string_view last = text.last;
  while (last.ends_with('\n')) last.remove_suffix(1);
  return last.ends_with("</" + text.first.substr(root + 2, end - root - 2) + ">");
}

bool has_rows(const Ends& sheet, std::uint64_t bytes_of_rows) {
  const std::size_t begin = sheet.first.find(rows_begin), end = sheet.last.rfind(rows_end);
  if (begin == sheet.first.npos || end == sheet.last.npos) return false;
  const std::uint64_t before = begin + rows_begin.size(), after = sheet.last.size() - end;
  return sheet.size == before + bytes_of_rows + after;
}

}  // namespace

bool is_whole_workbook(ByteSpan workbook, std::uint64_t bytes_of_rows) {
  constexpr std::string_view local_header = "PK\x03\x04";
  std::string_view rest = as_text(workbook);
  bool has_sheet = false;
  while (rest.starts_with(local_header)) {
    const auto part = Part::next(rest);
    if (!part) return false;
    const auto text = Ends::of(*part);
    if (!text || !is_document(*text)) return false;
    if (!part->name.starts_with("xl/worksheets/")) continue;
    has_sheet = has_rows(*text, bytes_of_rows);
  }
  return has_sheet;
}

}  // namespace npuscope::jobs
