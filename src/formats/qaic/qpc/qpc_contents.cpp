#include "formats/qaic/qpc/qpc_contents.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "base/glob.hpp"
#include "base/text.hpp"
#include "formats/qaic/qpc/network_descriptor.hpp"

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

namespace {

// A name from the file that is safe as the name of a file: it stays in its folder, and a terminal
// shows it as it is.
bool safe_file_name(const std::string& name) {
  return name != "." && name != ".." && name.find('/') == std::string::npos &&
         printable(name) == name;
}

class Planner {
 public:
  Planner(std::string_view name, const std::vector<std::string>& globs)
      : name_(name), globs_(globs) {}

  void add(const QpcContainer& container) {
    std::string folder;
    for (const std::string& name : container.names) {
      if (!safe_file_name(name)) return problem(container.path, "has a name that no file may have");
      folder = segment_path(folder, name + "_dir");
    }
    for (const QpcSegment& segment : container.qpc.segments) {
      const std::string path = segment_path(container.path, segment.name);
      if (safe_file_name(segment.name)) {
        add_segment(segment, path, segment_path(folder, segment.name));
      } else if (!segment.is_qpc()) {  // its container is refused as well
        problem(path, "has a name that no file may have");
      }
    }
  }

  QpcExtraction finish() && {
    // "x_dir" may be the folder of x and the name of a segment.
    for (const ExtractedFile& file : out_.files) {
      for (auto slash = file.path.find('/'); slash != std::string::npos;
           slash = file.path.find('/', slash + 1)) {
        folders_.insert(file.path.substr(0, slash));
      }
    }
    std::erase_if(out_.files, [&](const ExtractedFile& file) {
      const bool clash = folders_.contains(file.path);
      if (clash) problem(file.path, "would be both a file and a folder");
      return clash;
    });
    return std::move(out_);
  }

 private:
  void add_segment(const QpcSegment& segment, const std::string& path, const std::string& file) {
    const bool chosen = matches(segment.name) || matches(path) || matches(file);
    // Unpacked rather than whole, unless asked for by name.
    const bool whole = segment.is_qpc() ? chosen && !globs_.empty() : chosen;
    if (whole) out_.files.push_back({file, segment.bytes, ""});
    if (segment.name == segment_network_descriptor && !segment.is_qpc()) {
      const std::string json = file + "_dir/networkdesc.json";
      if (chosen || matches(json)) add_descriptor_json(segment, path, json);
    }
  }

  void add_descriptor_json(const QpcSegment& segment, const std::string& path,
                           const std::string& file) {
    const auto descriptor = read_network_descriptor(segment.bytes, segment_path(name_, path));
    if (descriptor) {
      out_.files.push_back({file, {}, network_descriptor_json(*descriptor)});
    } else {
      out_.problems.push_back(descriptor.error());
    }
  }

  bool matches(const std::string& text) const {
    return globs_.empty() || std::any_of(globs_.begin(), globs_.end(), [&](const auto& glob) {
             return matches_glob(text, glob);
           });
  }

  void problem(const std::string& path, std::string_view what) {
    out_.problems.push_back({ErrorKind::input, fmt::format("{}: segment {} {}; it is not extracted",
                                                           name_, path, what)});
  }

  std::string_view name_;
  const std::vector<std::string>& globs_;
  QpcExtraction out_;
  std::set<std::string> folders_;
};

}  // namespace

Result<QpcExtraction> plan_qpc_extraction(ByteSpan bytes, std::string_view name,
                                          const std::vector<std::string>& globs) {
  QpcWalk walked = walk_qpc(bytes, name);
  if (walked.containers.empty()) return tl::unexpected(std::move(walked.broken.front().error));
  Planner planner(name, globs);
  for (const QpcContainer& container : walked.containers) planner.add(container);
  QpcExtraction extraction = std::move(planner).finish();
  for (BrokenQpc& broken : walked.broken) extraction.problems.push_back(std::move(broken.error));
  if (extraction.files.empty() && extraction.problems.empty()) {
    return input_error("{}: no segment matches {}; `npuscope qpc list` shows their names", name,
                       globs.empty() ? "because the container has none"
                                     : fmt::format("{}", fmt::join(globs, ", ")));
  }
  return extraction;
}

Status write_qpc_extraction(const QpcExtraction& extraction, const std::filesystem::path& folder) {
  for (const ExtractedFile& file : extraction.files) {
    const std::filesystem::path path = folder / file.path;
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);
    if (failed) {
      return output_error("{}: cannot make the folder: {}", path.parent_path().string(),
                          failed.message());
    }
    const ByteSpan bytes = file.text.empty() ? file.bytes : as_byte_span(file.text);
    if (auto written = write_file_atomically(path, bytes); !written) return written;
  }
  return {};
}

}  // namespace npuscope::qaic
