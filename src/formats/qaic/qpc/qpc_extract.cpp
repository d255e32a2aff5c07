#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/qpc_contents.hpp"
#include "formats/qaic/qpc/qpc_walk.hpp"

namespace npuscope::qaic {
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
             return ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
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
