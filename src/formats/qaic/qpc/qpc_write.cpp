#include <cstring>
#include <set>

#include "formats/qaic/qpc/qpc_layout.hpp"

namespace npuscope::qaic {
namespace {

std::uint64_t padded(std::uint64_t size, QpcVariant variant) {
  return variant == QpcVariant::in_memory ? (size + 7) & ~std::uint64_t{7} : size;
}

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

// A container laid out but not yet copied: header and table, then all names, then all data.
struct Layout {
  QpcHeader header;
  std::vector<QpcImage> images;
};

Layout lay_out(const std::vector<QpcSegmentSource>& segments, QpcVariant variant,
               std::uint64_t base) {
  Layout layout;
  layout.images.resize(segments.size());
  std::uint64_t end = sizeof(QpcHeader) + segments.size() * sizeof(QpcImage);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    layout.images[i].name = base + end;
    end += padded(segments[i].name.size() + 1, variant);
  }
  for (std::size_t i = 0; i < segments.size(); ++i) {
    layout.images[i].start = base + end;
    layout.images[i].size = segments[i].bytes.size();
    layout.images[i].offset = segments[i].offset;
    end += padded(segments[i].bytes.size(), variant);
  }
  layout.header.size = end;
  layout.header.base = base;
  layout.header.image_count = segments.size();
  layout.header.images = base + sizeof(QpcHeader);
  return layout;
}

}  // namespace

Result<std::vector<std::byte>> write_qpc_at(const std::vector<QpcSegmentSource>& segments,
                                            QpcVariant variant, std::uint64_t base) {
  if (auto checked = check_names(segments); !checked) return tl::unexpected(checked.error());
  const Layout layout = lay_out(segments, variant, base);
  std::vector<std::byte> out(layout.header.size);
  std::memcpy(out.data(), &layout.header, sizeof(QpcHeader));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const QpcImage& image = layout.images[i];
    const QpcSegmentSource& segment = segments[i];
    std::memcpy(out.data() + sizeof(QpcHeader) + i * sizeof(QpcImage), &image, sizeof image);
    std::memcpy(out.data() + (image.name - base), segment.name.data(), segment.name.size());
    if (!segment.bytes.empty()) {
      std::memcpy(out.data() + (image.start - base), segment.bytes.data(), segment.bytes.size());
    }
  }
  return out;
}

Result<std::vector<std::byte>> write_qpc(const std::vector<QpcSegmentSource>& segments,
                                         QpcVariant variant) {
  return write_qpc_at(segments, variant, 0);
}

}  // namespace npuscope::qaic
