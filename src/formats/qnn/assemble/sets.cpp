#include "formats/qnn/assemble/sets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/qnn/assemble/assembly.hpp"
#include "formats/qnn/assemble/evidence.hpp"

namespace npuscope::qnn {
namespace {

class SetReader {
 public:
  explicit SetReader(const ReadOptions& options) : options_(options) {}

  void read(const File& file) {
    kind_ = file.kind;
    const std::string name = file.path.string();
    auto source = open_byte_source(file.path, options_.source);
    if (!source) return refuse(name, source.error());
    CountedNotes losses(name);
    switch (file.kind) {
      case Kind::op_trace:
      case Kind::run_trace: return read_trace(**source, std::move(losses));
      case Kind::htp_graph: return keep(read_htp_graph(**source, losses), std::move(losses));
      case Kind::qhas: return keep(read_qhas(**source, losses), std::move(losses));
      case Kind::viewer_text: return keep_sessions(read_viewer_text(**source, losses), losses);
      case Kind::viewer_csv: return keep_sessions(read_viewer_csv(**source, losses), losses);
      case Kind::viewer_json: return keep_sessions(read_viewer_json(**source, losses), losses);
      case Kind::none: break;
    }
    refuse(name, {ErrorKind::input,
                  fmt::format("{}: not a QNN artifact; give what qnn-profile-viewer wrote", name)});
  }

  Result<Sets> finish() && {
    if (artifacts_.empty()) {
      if (unreadable_.empty()) return usage_error("no QNN file was given; name at least one");
      return tl::unexpected(first_error_);
    }
    Sets sets;
    for (ArtifactSet& set : link(std::move(artifacts_))) {
      sets.profiles.push_back(assemble(std::move(set)));
    }
    sets.unreadable = std::move(unreadable_);
    return sets;
  }

 private:
  void read_trace(ByteSource& source, CountedNotes losses) {
    chrome::ReadOptions options;
    options.progress = options_.progress;
    auto events = chrome::read_events(source, options);
    if (!events) return refuse(losses.file(), events.error());
    for (const Note& note : events->notes) {
      losses.add(note.severity, note.offset, note.message, note.count);
    }
    if (kind_ == Kind::op_trace) {
      auto trace = read_op_trace(std::move(*events), losses);
      return keep(std::move(trace), losses);
    }
    auto traces = read_run_traces(std::move(*events), losses);
    if (traces.empty()) {
      return refuse(
          losses.file(),
          {ErrorKind::input,
           fmt::format("{}: is a RUN_TRACE without a phase; decode the log again", losses.file())});
    }
    for (RunTrace& trace : traces) {
      keep(Result<RunTrace>(std::move(trace)), losses);
      losses = CountedNotes(losses.file());
    }
  }

  void keep_sessions(Result<ViewerSessions>&& sessions, CountedNotes& losses) {
    if (!sessions) return refuse(losses.file(), sessions.error());
    for (std::size_t i = 0; i < sessions->size(); ++i) {
      if (i > 0) losses = CountedNotes(losses.file());
      add_place_of(*sessions, i, losses);
      keep(Result<ViewerOutput>(std::move((*sessions)[i])), losses);
    }
  }

  // Which session of the file an output is of, and which of its graphs.
  static void add_place_of(const ViewerSessions& sessions, std::size_t place,
                           CountedNotes& losses) {
    const auto begins = [](const ViewerOutput& output) { return output.graph_number == 0; };
    const auto all = std::ranges::count_if(sessions, begins);
    const ViewerOutput& output = sessions[place];
    if (all > 1) {
      const auto number =
          std::count_if(sessions.begin(), sessions.begin() + std::ptrdiff_t(place) + 1, begins);
      losses.add(Severity::info, 0,
                 fmt::format("session {} of {} in this file; each begins cold", number, all));
    }
    if (output.graphs > 1) {
      losses.add(Severity::info, 0,
                 fmt::format("graph {} of {} in this file: '{}'; each has its own inferences",
                             output.graph_number + 1, output.graphs, printable(output.graph)));
    }
  }

  template <class Content>
  void keep(Result<Content>&& content, const CountedNotes& losses) {
    if (!content) return refuse(losses.file(), content.error());
    const std::size_t order = artifacts_.size();
    Artifact& artifact = artifacts_.emplace_back();
    artifact.order = order;
    artifact.kind = kind_;
    artifact.losses = losses;
    artifact.content = std::move(*content);
  }

  void refuse(const std::string& name, const Error& error) {
    if (unreadable_.empty()) first_error_ = error;
    unreadable_.push_back({Severity::error, name, 0, error.message, 1});
  }

  const ReadOptions& options_;
  std::vector<Artifact> artifacts_;
  std::vector<Note> unreadable_;
  Error first_error_;
  Kind kind_ = Kind::none;
};

}  // namespace

Result<Sets> read_sets(std::span<const File> files, const ReadOptions& options) {
  SetReader reader(options);
  for (const File& file : files) reader.read(file);
  return std::move(reader).finish();
}

}  // namespace npuscope::qnn
