#include "jobs/torq/torq_files.hpp"

#include <algorithm>

#include "formats/open_inputs.hpp"
#include "formats/perfetto/read/read.hpp"
#include "formats/torq/runtime_log.hpp"
#include "formats/torq/timeline.hpp"
#include "npuscope/base/byte_source.hpp"

namespace npuscope::jobs {

Result<TorqFiles> sort_torq_files(const std::vector<std::string>& paths) {
  std::vector<std::filesystem::path> names(paths.begin(), paths.end());
  FoundFiles found = find_files(names, ByteSourceOptions{}.decompressed_limit);
  TorqFiles files;
  files.notes = std::move(found.notes);
  std::vector<std::filesystem::path> debug;
  for (const FoundFile& file : found.files) {
    constexpr std::size_t head_bytes = std::size_t{64} << 10;
    const auto head = read_head(file.path, head_bytes);
    if (!head) {
      files.notes.push_back({Severity::error, file.path.string(), 0, head.error().message, 1});
    } else if (torq::recognise_timeline(*head) != torq::TimelineVersion::none) {
      files.timelines.push_back(file.path);
    } else if (torq::recognise_log(*head) != torq::LogKind::none) {
      files.logs.push_back(file.path);
    } else if (torq::looks_like_mlir(*head) || torq::looks_like_mlir_bytecode(*head)) {
      debug.push_back(file.path);
    } else if (torq::looks_like_annotated_csv(*head)) {
      files.tables.push_back(file.path);
    } else if (perfetto::looks_like(*head)) {
      files.traces.push_back(file.path);
    } else if (head->empty()) {
      files.notes.push_back({Severity::error, file.path.string(), 0,
                             "is empty; was the runtime ended before it wrote its log?", 1});
    } else if (head->starts_with("\xff\xfe") || head->starts_with("\xfe\xff")) {
      files.notes.push_back({Severity::error, file.path.string(), 0,
                             "text in UTF-16, as PowerShell's > writes; save it as UTF-8", 1});
    } else {
      files.notes.push_back({file.named ? Severity::error : Severity::info, file.path.string(), 0,
                             "not a timeline, runtime log, debug information, annotated table or "
                             "trace of Torq; left out",
                             1});
    }
  }
  if (!debug.empty()) {
    auto loaded = torq::load_debug_info(debug, {});
    if (loaded) {
      files.debug = std::move(*loaded);
      files.notes.insert(files.notes.end(), files.debug->notes.begin(), files.debug->notes.end());
    } else if (debug.size() == found.files.size()) {
      return tl::unexpected(loaded.error());
    } else {
      files.notes.push_back({Severity::warning, "", 0, loaded.error().message, 1});
    }
  }
  const std::size_t known = files.logs.size() + files.timelines.size() + files.tables.size() +
                            files.traces.size() + (files.debug ? 1 : 0);
  if (known > 0) return files;
  for (const Note& note : files.notes) {
    if (note.severity == Severity::error) return input_error("{}: {}", note.file, note.message);
  }
  return input_error("no file of Torq among those named; name a runtime log or a timeline");
}

Error nothing_among(const TorqFiles& files, std::string_view asked_for, std::string_view advice) {
  std::string text = fmt::format("no {} among the files; {}", asked_for, advice);
  const auto left_out = std::find_if(files.notes.begin(), files.notes.end(), [](const Note& note) {
    return note.severity == Severity::error;
  });
  if (left_out != files.notes.end()) {
    text += fmt::format(" ({}: {})", left_out->file, left_out->message);
  }
  return {ErrorKind::input, std::move(text)};
}

}  // namespace npuscope::jobs
