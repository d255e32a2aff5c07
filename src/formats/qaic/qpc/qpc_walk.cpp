#include "formats/qaic/qpc/qpc_walk.hpp"

namespace npuscope::qaic {
namespace {

struct Container {
  ByteSpan bytes;
  std::vector<std::string> names;
  std::string path;
  std::uint64_t file_offset = 0;
};

void walk(const Container& place, std::string_view name, QpcWalk& out) {
  const std::string full_name = segment_path(name, place.path);
  if (place.names.size() > max_qpc_depth) {
    const std::string message =
        fmt::format("{}: containers are nested more than {} deep; extract the inner one first",
                    full_name, max_qpc_depth);
    out.broken.push_back({place.path, {ErrorKind::input, message}});
    return;
  }
  auto qpc = read_qpc(place.bytes, full_name);
  if (!qpc) {
    out.broken.push_back({place.path, std::move(qpc.error())});
    return;
  }
  std::vector<Container> nested;
  for (const QpcSegment& segment : qpc->segments) {
    if (!segment.is_qpc()) continue;
    Container& inner = nested.emplace_back(place);
    inner.bytes = segment.bytes;
    inner.names.push_back(segment.name);
    inner.path = segment_path(place.path, segment.name);
    inner.file_offset += segment.file_offset;
  }
  out.containers.push_back({place.names, place.path, place.file_offset, std::move(*qpc)});
  for (const Container& inner : nested) walk(inner, name, out);
}

}  // namespace

std::string segment_path(std::string_view container_path, std::string_view segment_name) {
  if (container_path.empty()) return std::string(segment_name);
  if (segment_name.empty()) return std::string(container_path);
  return fmt::format("{}/{}", container_path, segment_name);
}

QpcWalk walk_qpc(ByteSpan bytes, std::string_view name) {
  QpcWalk out;
  walk({bytes, {}, "", 0}, name, out);
  return out;
}

Result<std::vector<QpcProgram>> find_programs(ByteSpan bytes, std::string_view name) {
  QpcWalk walked = walk_qpc(bytes, name);
  if (!walked.broken.empty()) return tl::unexpected(std::move(walked.broken.front().error));
  std::vector<QpcProgram> programs;
  for (QpcContainer& container : walked.containers) {
    if (container.qpc.find(segment_network_descriptor) == nullptr) continue;
    programs.push_back({std::move(container.path), std::move(container.qpc)});
  }
  return programs;
}

}  // namespace npuscope::qaic
