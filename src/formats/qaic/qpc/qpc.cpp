#include "formats/qaic/qpc/qpc.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "base/try.hpp"
#include "formats/qaic/qpc/qpc_layout.hpp"

namespace npuscope::qaic {
namespace {

// Part of the file that belongs to one thing; parts do not overlap. That also rules out a nested
// container that contains itself.
struct Part {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string what;
};

class ContainerReader {
 public:
  ContainerReader(ByteSpan bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  Result<Qpc> read() {
    Status done = read_header();
    for (std::uint64_t i = 0; done && i < header_.image_count; ++i) done = read_segment(i);
    if (done) done = check_names();
    if (done) done = check_parts();
    if (!done) return tl::unexpected(done.error());
    return std::move(qpc_);
  }

 private:
  Status read_header() {
    if (!looks_like_qpc(bytes_)) {
      return input_error(
          "{}: not a QPC: it does not begin with 7C CD A1 00; name a program "
          "container such as programqpc.bin",
          name_);
    }
    if (bytes_.size() < sizeof header_) {
      return input_error(
          "{}: truncated at byte {}, inside the {}-byte QPC header; copy the file "
          "again",
          name_, bytes_.size(), sizeof header_);
    }
    std::memcpy(&header_, bytes_.data(), sizeof header_);
    if (header_.compression != compression_none) {
      return input_error("{}: QPC compression type {} at byte 6 is not supported, files have {}",
                         name_, header_.compression, compression_none);
    }
    if (header_.size != bytes_.size()) {
      return input_error("{}: has {} bytes but its QPC header says {}; copy the file again", name_,
                         bytes_.size(), header_.size);
    }
    const auto table = file_offset(header_.images, sizeof header_);
    if (!table) {
      return input_error("{}: segment table at {:#x} lies outside the file (base {:#x}, {} bytes)",
                         name_, header_.images, header_.base, bytes_.size());
    }
    if (header_.image_count > (bytes_.size() - *table) / sizeof(QpcImage)) {
      return input_error("{}: {} bytes after byte {} are too few for the {} segments it claims",
                         name_, bytes_.size() - *table, *table, header_.image_count);
    }
    table_ = *table;
    parts_.push_back({0, sizeof header_, "the header"});
    add_part(table_, header_.image_count * sizeof(QpcImage), "the segment table");
    qpc_.major_version = header_.major_version;
    qpc_.minor_version = header_.minor_version;
    qpc_.base = header_.base;
    qpc_.segments.reserve(header_.image_count);
    return {};
  }

  Status read_segment(std::uint64_t index) {
    QpcImage image;
    std::memcpy(&image, bytes_.data() + table_ + index * sizeof image, sizeof image);
    QpcSegment segment;
    if (auto named = read_name(index, image, segment); !named) return named;
    const auto start = file_offset(image.start, 0);
    if (!start || image.size > bytes_.size() - *start) {
      return input_error(
          "{}: segment {} ({}) has {} bytes at {:#x}, outside the file (base {:#x}, "
          "{} bytes); copy the file again",
          name_, index, segment.name, image.size, image.start, header_.base, bytes_.size());
    }
    segment.file_offset = *start;
    segment.bytes = bytes_.subspan(*start, image.size);
    segment.offset = image.offset;
    add_part(*start, image.size, "segment " + segment.name);
    qpc_.segments.push_back(std::move(segment));
    return {};
  }

  Status read_name(std::uint64_t index, const QpcImage& image, QpcSegment& segment) {
    const auto begin = file_offset(image.name, 0);
    if (!begin || *begin == bytes_.size()) {
      return input_error(
          "{}: name of segment {} at {:#x} lies outside the file (base {:#x}, {} "
          "bytes)",
          name_, index, image.name, header_.base, bytes_.size());
    }
    const std::string_view text = as_text(bytes_).substr(*begin, max_segment_name_bytes + 1);
    const std::size_t length = text.find('\0');
    if (length == std::string_view::npos || length == 0) {
      return input_error(
          "{}: name of segment {} at byte {} is empty or does not end within {} "
          "bytes",
          name_, index, *begin, text.size());
    }
    segment.name = text.substr(0, length);
    add_part(*begin, length + 1, "the name of segment " + segment.name);
    return {};
  }

  // Pointers count from the header's base, whichever address the writer had.
  std::optional<std::uint64_t> file_offset(std::uint64_t pointer, std::uint64_t lowest) const {
    const std::uint64_t offset = pointer - header_.base;
    if (pointer < header_.base || offset < lowest || offset > bytes_.size()) return std::nullopt;
    return offset;
  }

  void add_part(std::uint64_t begin, std::uint64_t size, std::string what) {
    if (size > 0) parts_.push_back({begin, begin + size, std::move(what)});
  }

  Status check_names() const {
    std::vector<std::string_view> names;
    for (const QpcSegment& segment : qpc_.segments) names.push_back(segment.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice == names.end()) return {};
    return input_error("{}: two segments are named {}; the writer is at fault", name_, *twice);
  }

  Status check_parts() {
    std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      if (parts_[i].begin < parts_[i - 1].end) {
        return input_error("{}: {} and {} overlap at byte {}; the writer is at fault", name_,
                           parts_[i - 1].what, parts_[i].what, parts_[i].begin);
      }
    }
    return {};
  }

  ByteSpan bytes_;
  std::string_view name_;
  QpcHeader header_;
  std::uint64_t table_ = 0;
  std::vector<Part> parts_;
  Qpc qpc_;
};

}  // namespace

bool looks_like_qpc(ByteSpan bytes) {
  std::uint32_t magic = 0;
  if (bytes.size() < sizeof magic) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == qpc_magic;
}

bool QpcSegment::is_qpc() const { return looks_like_qpc(bytes); }

const QpcSegment* Qpc::find(std::string_view name) const {
  const auto found = std::find_if(segments.begin(), segments.end(),
                                  [&](const QpcSegment& segment) { return segment.name == name; });
  return found == segments.end() ? nullptr : &*found;
}

Result<Qpc> read_qpc(ByteSpan bytes, std::string_view name) {
  return ContainerReader(bytes, name).read();
}

namespace {

Status check_names(const std::vector<QpcSegmentSource>& segments) {
  std::set<std::string_view> names;
  for (const QpcSegmentSource& segment : segments) {
    const std::string& name = segment.name;
    if (name.empty() || name.size() > max_segment_name_bytes ||
        name.find('\0') != std::string::npos) {
      return usage_error("segment name '{}' has {} bytes or a NUL; 1 to {} bytes are possible",
                         name.substr(0, max_segment_name_bytes), name.size(),
                         max_segment_name_bytes);
    }
    if (!names.insert(name).second) {
      return usage_error("two segments are named {}; a QPC needs distinct names", name);
    }
  }
  return {};
}

}  // namespace

// Header and table, then all names, then all data.
Result<std::vector<std::byte>> write_qpc_at(std::vector<QpcSegmentSource> segments,
                                            QpcVariant variant, std::uint64_t base) {
  TRY(check_names(segments));
  std::vector<QpcImage> images(segments.size());
  std::vector<std::byte> out(sizeof(QpcHeader) + images.size() * sizeof(QpcImage));
  constexpr std::size_t padding = 16;  // of a name and its segment, the name's end included
  std::size_t bytes = out.size();
  for (const QpcSegmentSource& each : segments) {
    bytes += each.name.size() + each.bytes.size() + each.append_bytes + padding;
  }
  out.reserve(bytes);
  const auto append = [&](ByteSpan part) { out.insert(out.end(), part.begin(), part.end()); };
  const auto pad = [&] {
    if (variant == QpcVariant::in_memory) out.resize((out.size() + 7) / 8 * 8);
  };
  for (std::size_t i = 0; i < segments.size(); ++i) {
    images[i].name = base + out.size();
    append(as_byte_span(segments[i].name));
    out.push_back(std::byte{0});
    pad();
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    images[i].start = base + out.size();
    segments[i].append ? segments[i].append(out) : append(segments[i].bytes);
    segments[i].bytes = {};
    images[i].size = base + out.size() - images[i].start;
    images[i].offset = segments[i].offset;
    pad();
  }
  QpcHeader header;
  header.size = out.size();
  header.base = base;
  header.image_count = images.size();
  header.images = base + sizeof(QpcHeader);
  std::memcpy(out.data(), &header, sizeof header);
  if (!images.empty()) {
    std::memcpy(out.data() + sizeof header, images.data(), images.size() * sizeof(QpcImage));
  }
  return out;
}

Result<std::vector<std::byte>> write_qpc(std::vector<QpcSegmentSource> segments,
                                         QpcVariant variant) {
  return write_qpc_at(std::move(segments), variant, 0);
}

}  // namespace npuscope::qaic
