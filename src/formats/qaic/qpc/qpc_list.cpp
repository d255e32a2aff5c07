#include "formats/qaic/qpc/qpc_contents.hpp"
#include "formats/qaic/qpc/qpc_walk.hpp"

namespace npuscope::qaic {
namespace {

std::string content_of(const QpcSegment& segment) {
  if (segment.is_qpc()) return "nested container";
  if (segment.name == segment_network_elf) return "vendor's device code";
  if (segment.name == segment_network_descriptor) return "network descriptor";
  if (segment.name == segment_constants) return "constants";
  if (segment.name == segment_constants_descriptor) return "sizes of constants";
  if (segment.name == segment_program) return "npuscope program";
  if (segment.name == segment_target) return "npuscope hardware description";
  if (segment.name == segment_schematic) return "npuscope schematic";
  if (segment.name == "opstatsdesc.bin") return "vendor's statistics descriptor, not read";
  if (segment.name == "mdp_meta_info") return "multi-device information, not read";
  if (segment.name.ends_with(".crc")) return "vendor's checksum, not read";
  return "unknown";
}

}  // namespace

Result<QpcListing> list_qpc(ByteSpan bytes, std::string_view name) {
  QpcWalk walked = walk_qpc(bytes, name);
  if (walked.containers.empty()) return tl::unexpected(std::move(walked.broken.front().error));
  const Qpc& outer = walked.containers.front().qpc;
  QpcListing listing;
  listing.file = name;
  listing.bytes = bytes.size();
  listing.major_version = outer.major_version;
  listing.minor_version = outer.minor_version;
  listing.base = outer.base;
  for (const QpcContainer& container : walked.containers) {
    for (const QpcSegment& segment : container.qpc.segments) {
      listing.segments.push_back({segment_path(container.path, segment.name),
                                  container.file_offset + segment.file_offset, segment.bytes.size(),
                                  content_of(segment)});
    }
  }
  for (BrokenQpc& broken : walked.broken) listing.problems.push_back(std::move(broken.error));
  return listing;
}

}  // namespace npuscope::qaic
