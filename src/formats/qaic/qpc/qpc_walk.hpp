// A container and all those nested in it. A nested container that is broken does not hide the
// others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/qaic/qpc/qpc.hpp"

namespace npuscope::qaic {

inline constexpr std::uint32_t max_qpc_depth = 8;  // containers inside containers

struct QpcContainer {
  std::vector<std::string> names;  // of the segments on the way, none for the outer one
  std::string path;                // the same joined by '/'
  std::uint64_t file_offset = 0;   // where it begins in the outer one
  Qpc qpc;
};

struct BrokenQpc {
  std::string path;
  Error error;
};

struct QpcWalk {
  std::vector<QpcContainer> containers;  // each before those nested in it, in file order
  std::vector<BrokenQpc> broken;
};

QpcWalk walk_qpc(ByteSpan bytes, std::string_view name);

// The path of a segment: names from the outer container inwards, joined by '/'.
std::string segment_path(std::string_view container_path, std::string_view segment_name);

}  // namespace npuscope::qaic
