// Looking inside a QPC: what its segments are, and the files they become.
//
//   auto files = plan_qpc_extraction(bytes, "programqpc.bin", {"*networkdesc.bin"});
//   files->files[0].path    QAicGraph_slice00_dir/networkdesc.bin
//   return write_qpc_extraction(*files, "out");
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/qaic/qpc/qpc.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::qaic {

// A container and all those nested in it. A nested container that is broken does not hide the
// others.

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

struct QpcListedSegment {
  std::string path;               // "constants.bin", "QAicGraph_slice00/constants.bin"
  std::uint64_t file_offset = 0;  // of its first byte, in the outer container
  std::uint64_t bytes = 0;
  std::string content;  // in words
};

struct QpcListing {
  std::string file;
  std::uint64_t bytes = 0;
  std::uint32_t major_version = 0;
  std::uint32_t minor_version = 0;
  std::uint64_t base = 0;
  std::vector<QpcListedSegment> segments;  // each container's before those of nested ones
  std::vector<Error> problems;             // nested containers that are broken
};

// An input error when the outer container is broken.
Result<QpcListing> list_qpc(ByteSpan bytes, std::string_view name);

struct ExtractedFile {
  std::string path;  // relative; names come from the file and were checked: it leads nowhere else
  ByteSpan bytes;    // of the container
  std::string text;  // written instead when `bytes` is empty: JSON made from a segment
};

struct QpcExtraction {
  std::vector<ExtractedFile> files;
  std::vector<Error> problems;  // what cannot be extracted; the rest can
};

// The files of the segments whose name, path or file path matches one of `globs` (all, when there
// is none). A nested container becomes the folder NAME_dir; networkdesc.bin also becomes
// networkdesc.bin_dir/networkdesc.json. `bytes` must outlive the result. An input error when the
// outer container is broken or nothing matches.
Result<QpcExtraction> plan_qpc_extraction(ByteSpan bytes, std::string_view name,
                                          const std::vector<std::string>& globs);

// Makes `folder` and what lies in it. Stops at the first output error.
Status write_qpc_extraction(const QpcExtraction& extraction, const std::filesystem::path& folder);

// What can be said about a QPC without a device: is it whole, are its parts there, and do its
// descriptor and its program speak of the same ops.
//
//   const QpcValidation validation = validate_qpc(bytes, "programqpc.bin");
//   if (!validation.valid()) ...
enum class QpcVerdict : std::uint8_t { ok, warning, error };
std::string_view name_of(QpcVerdict verdict);

struct QpcFinding {
  QpcVerdict verdict = QpcVerdict::ok;
  std::string container;  // "" for the outer one, else its path
  std::string check;      // container, segments, constants, descriptor, program, ops
  std::string message;
};

struct ValidatedProgram {
  std::string container;
  std::string network_name;
  std::uint32_t nsps = 0;  // cores it needs
};

struct QpcValidation {
  std::string file;
  std::vector<QpcFinding> findings;
  std::vector<ValidatedProgram> programs;

  bool valid() const;  // no finding is an error
};

// Never fails: what is broken is a finding.
QpcValidation validate_qpc(ByteSpan bytes, std::string_view name);

}  // namespace npuscope::qaic
