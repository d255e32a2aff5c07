// Opens what Qualcomm's qnn-profile-viewer writes for the HTP, alone or together:
//
//   OP_TRACE    <o>.json            the ops of the first execute on their hardware lanes
//   RUN_TRACE   <o>_runtrace.json   the phases of every execute, in timer ticks and cycles
//   HTP_GRAPH   <o>_htp.json        the compiled graph
//   QHAS        <o>_qnn_htp_analysis_summary.json   totals and the cycles of each op
//   and its own text, CSV and standardised JSON: host times, the cycles of each node
//
// and what the backend writes where no device is at hand:
//
//   the host estimate, in <csv>_qnn.log or alone       ops on lanes, in estimated cycles
//   <graph>_schematic.bin           the compiled graph, the bytes of each op, what waits for what
//   qnn_op_trace.json               which node of the model became what, and which did not
//
//   const Kind kind = recognise(*read_head(path, recognition_bytes));
//   auto sets = read_sets(std::vector<File>{{"a.json", Kind::op_trace}, {"b.json", Kind::qhas}});
//   for (const Profile& profile : sets->profiles) …      // one, when both are of one run
//
// Files become one profile when their contents say that they are of one run of one graph: absolute
// cycles that lie in one another, op ids, graph names. Files that contradict each other become
// profiles of their own, each with a note that names the evidence. A profile's checks are the
// identities that such files obey (docs/formats/qnn.md), tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qnn {

enum class Kind : std::uint8_t {
  none,
  op_trace,
  run_trace,
  htp_graph,
  qhas,
  viewer_text,
  viewer_csv,
  viewer_json,
  estimate,
  log_with_estimate,
  schematic,
  framework_trace,
  qnn_graph,
};

// So many bytes of a (decompressed) file are enough for recognise().
inline constexpr std::size_t recognition_bytes = std::size_t{64} << 10;

// What a file is by its first bytes: by its header's artifact_type, else by its structure.
Kind recognise(std::string_view head);
std::string_view name_of(Kind kind);  // "QNN OP_TRACE"

// For what is closed (a profiling log, a context binary) or of no use by itself (the QNN graph, the
// tensor log): one sentence that says what the file is and what to open instead; none for other
// files. `head` is the file's start.
std::optional<std::string> vendor_binary_advice(const std::filesystem::path& path,
                                                std::string_view head);

struct File {
  std::filesystem::path path;
  Kind kind = Kind::none;
};

struct ReadOptions {
  ByteSourceOptions source;
  ProgressReport progress;  // bytes of the OP_TRACE being read
};

struct Sets {
  std::vector<Profile> profiles;  // in the order of their first files
  std::vector<Note> unreadable;   // files of which nothing could be read, and why; errors
};

// An input error when nothing could be read.
Result<Sets> read_sets(std::span<const File> files, const ReadOptions& options = {});

}  // namespace npuscope::qnn
