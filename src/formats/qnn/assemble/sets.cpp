#include "formats/qnn/assemble/sets.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/has_text.hpp"
#include "base/parallel.hpp"
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
      case Kind::htp_graph: return keep(read_htp_graph(**source, losses), losses);
      case Kind::qhas: return keep(read_qhas(**source, losses), losses);
      case Kind::viewer_text: return keep_sessions(read_viewer_text(**source, losses), losses);
      case Kind::viewer_csv: return keep_sessions(read_viewer_csv(**source, losses), losses);
      case Kind::viewer_json: return keep_sessions(read_viewer_json(**source, losses), losses);
      case Kind::estimate: return read_estimate_of(**source, "", std::move(losses));
      case Kind::log_with_estimate: return read_log(**source, losses);
      case Kind::schematic: return keep(read_schematic(**source, losses), losses);
      case Kind::qnn_graph: return keep(read_qnn_graph(**source, losses), losses);
      case Kind::framework_trace: return keep(read_framework_trace(**source, losses), losses);
      case Kind::none: break;
    }
    refuse(name, {ErrorKind::input,
                  fmt::format("{}: not a QNN artifact; give what qnn-profile-viewer wrote", name)});
  }

  // What another one has read, after what this one has.
  void take(SetReader&& other) {
    for (Artifact& artifact : other.artifacts_) {
      artifact.order = artifacts_.size();
      artifacts_.push_back(std::move(artifact));
    }
    if (unreadable_.empty()) first_error_ = std::move(other.first_error_);
    std::ranges::move(other.unreadable_, std::back_inserter(unreadable_));
  }

  Result<Sets> finish() && {
    if (artifacts_.empty()) {
      if (unreadable_.empty()) return usage_error("no QNN file was given; name at least one");
      return tl::unexpected(first_error_);
    }
    Sets sets;
    leave_out_qnn_graphs();
    leave_out_extracted_estimates();
    std::vector<Artifact> framework_traces = take_framework_traces();
    std::vector<ArtifactSet> linked = link(std::move(artifacts_));
    leave_out_emulations(linked);
    give(framework_traces, linked);
    for (ArtifactSet& set : linked) sets.profiles.push_back(assemble(std::move(set)));
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

  void read_log(ByteSource& source, CountedNotes& losses) {
    constexpr std::uint64_t max_log = std::uint64_t{1} << 30;
    const auto log = read_all(source, max_log);
    if (!log) return refuse(losses.file(), log.error());
    for (const EmbeddedTrace& trace : traces_in(*log)) {
      auto json = open_byte_source(trace.json, losses.file(), options_.source);
      if (json) read_estimate_of(**json, trace.graph, CountedNotes(losses.file()));
    }
  }

  void read_estimate_of(ByteSource& source, const std::string& graph, CountedNotes losses) {
    chrome::ReadOptions options;
    options.progress = options_.progress;
    auto events = chrome::read_events(source, options);
    if (!events) return refuse(losses.file(), events.error());
    for (const Note& note : events->notes) {
      losses.add(note.severity, note.offset, note.message, note.count);
    }
    auto estimate = read_estimate(std::move(*events), losses);
    if (estimate) estimate->graph = graph;
    keep(std::move(estimate), losses);
  }

  void keep_sessions(Result<ViewerSessions>&& sessions, CountedNotes& losses) {
    if (!sessions) return refuse(losses.file(), sessions.error());
    for (std::size_t i = 0; i < sessions->size(); ++i) {
      if (i > 0) losses = CountedNotes(losses.file());
      add_place_of(*sessions, i, losses);
      const EstimateRows rows = estimate_rows_of((*sessions)[i]);
      if (rows.any()) keep(Result<EstimateRows>(rows), CountedNotes(losses.file()));
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

  // Next to what was compiled of it, the graph before compilation says nothing more.
  void leave_out_qnn_graphs() {
    const auto is_one = [](const Artifact& artifact) { return artifact.kind == Kind::qnn_graph; };
    if (std::ranges::all_of(artifacts_, is_one)) return;
    std::vector<std::string> files;
    for (const Artifact& artifact : artifacts_) {
      if (is_one(artifact)) files.push_back(artifact.file());
    }
    std::erase_if(artifacts_, is_one);
    for (const std::string& file : files) {
      artifacts_.front().losses.add(
          Severity::info, 0,
          fmt::format("{} has a graph from before the compiler; left out, open it alone", file));
    }
  }

  // What somebody took out of a log that is there too.
  void leave_out_extracted_estimates() {
    const auto is_copy = [&](const Artifact& artifact) {
      const auto* copy = artifact.get<Estimate>();
      if (copy == nullptr || !copy->graph.empty()) return false;
      return std::ranges::any_of(artifacts_, [&](const Artifact& other) {
        const auto* whole = other.get<Estimate>();
        return whole != nullptr && !whole->graph.empty() && whole->first == copy->first &&
               whole->last == copy->last && whole->rows.size() == copy->rows.size() &&
               whole->ops.size() == copy->ops.size();
      });
    };
    std::vector<bool> is_left_out;
    for (const Artifact& artifact : artifacts_) is_left_out.push_back(is_copy(artifact));
    std::size_t place = 0;
    std::erase_if(artifacts_, [&](const Artifact&) { return is_left_out[place++]; });
  }

  std::vector<Artifact> take_framework_traces() {
    std::vector<Artifact> traces;
    const auto is_one = [](const Artifact& artifact) {
      return artifact.get<FrameworkTrace>() != nullptr;
    };
    if (std::ranges::all_of(artifacts_, is_one)) return traces;
    for (Artifact& artifact : artifacts_) {
      if (is_one(artifact)) traces.push_back(std::move(artifact));
    }
    std::erase_if(artifacts_, [](const Artifact& artifact) {
      return std::holds_alternative<std::monostate>(artifact.content) ||
             artifact.get<FrameworkTrace>() != nullptr;
    });
    return traces;
  }

  // To the graphs that it names; to all where it names none of them.
  static void give(const std::vector<Artifact>& traces, std::vector<ArtifactSet>& sets) {
    for (const Artifact& artifact : traces) {
      const auto& trace = *artifact.get<FrameworkTrace>();
      const auto names = [&](const ArtifactSet& set) {
        return trace.find(graph_of(set)) != nullptr;
      };
      const bool any = std::ranges::any_of(sets, names);
      for (ArtifactSet& set : sets) {
        if (!any || names(set)) set.artifacts.push_back(artifact);
      }
    }
  }

  // Next to an estimate of the same csv the emulation, whose times are the host's, says nothing of
  // the NPU. Without one, the csv's sums of it are numbers of its run, where it has one.
  static void leave_out_emulations(std::vector<ArtifactSet>& sets) {
    const auto has_only = [](const ArtifactSet& set, const auto* found) {
      return found != nullptr && set.artifacts.size() == 1;
    };
    std::set<std::string> run, summed;
    std::map<std::string, std::uint64_t> executes_of_estimated;  // that are left out
    for (const ArtifactSet& set : sets) {
      const auto* output = set.find<ViewerOutput>();
      if (output != nullptr && output->executes > 0) run.insert(set.artifacts.front().file());
      for (const Artifact& artifact : set.artifacts) {
        if (artifact.get<EstimateRows>() == nullptr) continue;
        summed.insert(artifact.file());
        if (set.find<Estimate>() != nullptr) executes_of_estimated[artifact.file()] = 0;
      }
    }
    std::erase_if(sets, [&](const ArtifactSet& set) {
      const std::string& file = set.artifacts.front().file();
      const auto* output = set.find<ViewerOutput>();
      if (has_only(set, set.find<EstimateRows>())) return run.contains(file);
      if (!has_only(set, output)) return false;
      if (output->executes == 0) return summed.contains(file);
      const auto estimated = executes_of_estimated.find(file);
      if (estimated == executes_of_estimated.end() || !is_emulated(*output)) return false;
      estimated->second += output->executes;
      return true;
    });
    for (ArtifactSet& set : sets) {
      for (Artifact& artifact : set.artifacts) {
        const auto estimated = executes_of_estimated.find(artifact.file());
        if (artifact.get<EstimateRows>() == nullptr || estimated == executes_of_estimated.end() ||
            estimated->second == 0) {
          continue;
        }
        artifact.losses.add(Severity::info, 0,
                            "executes of the host's emulation, whose times are the host's; left "
                            "out, open the file alone to see them",
                            std::exchange(estimated->second, 0));
      }
    }
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
  std::vector<SetReader> of_files(files.size(), SetReader(options));
  parallel_for(files.size(), [&](std::size_t i) { of_files[i].read(files[i]); });
  SetReader reader(options);
  for (SetReader& each : of_files) reader.take(std::move(each));
  return std::move(reader).finish();
}

namespace {

// The value of the header's artifact_type, whatever the white space; empty when there is none.
std::string_view artifact_type_in(std::string_view head) {
  constexpr std::string_view key = "\"artifact_type\"";
  if (!has_text(head, key)) return {};
  head.remove_prefix(head.find(key) + key.size());
  const std::size_t open = head.find('"');
  if (open == std::string_view::npos || head.find_first_not_of(" \t\r\n:") != open) return {};
  head.remove_prefix(open + 1);
  return head.substr(0, head.find('"'));
}

Kind kind_by_structure(std::string_view head) {
  if (has_text(head, "\"profilingEvents\"")) return Kind::viewer_json;
  if (has_text(head, "\"htp_overall_summary\"")) return Kind::qhas;
  if (has_text(head, "\"model.cpp\"") && has_text(head, "\"htp_graph\"")) return Kind::htp_graph;
  if (has_text(head, "\"summary_htp_frequency_ghz\"") || has_text(head, "\"stat_start_ticks\"")) {
    return Kind::run_trace;
  }
  if (is_estimate(head)) return Kind::estimate;
  if (has_text(head, "\"converter_command\"") && has_text(head, "\"copyright_str\"")) {
    return Kind::qnn_graph;
  }
  if (is_framework_trace(head)) return Kind::framework_trace;
  if (has_text(head, "\"HTP Op Type\"") || has_text(head, "\"Dominant Path Cycles\""))
    return Kind::op_trace;
  return Kind::none;
}

Kind kind_of_json(std::string_view head) {
  const std::string_view type = artifact_type_in(head);
  if (type == "OP_TRACE") return Kind::op_trace;
  if (type == "RUN_TRACE") return Kind::run_trace;
  if (type == "HTP_GRAPH") return Kind::htp_graph;
  if (type == "QHAS") return Kind::qhas;
  if (type == "QNN_PROFILE") return Kind::viewer_json;
  // An exported trace has an optrace's arguments but a trace's times.
  if (has_text(head, R"("otherData":{"writer":"npuscope")")) return Kind::none;
  return kind_by_structure(head);
}

bool is_binary(std::string_view head) {
  return std::any_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f';
  });
}

}  // namespace

Kind recognise(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return Kind::none;
  if (is_schematic(head)) return Kind::schematic;
  if (is_log_with_estimate(head)) return Kind::log_with_estimate;
  if (head[first] == '{' || head[first] == '[') return kind_of_json(head);
  // The viewer writes a blank after each comma of this row, ONNX Runtime does not.
  if (has_text(head, "Message,Time,Unit of Measurement") ||
      has_text(head, "Message, Time, Unit of Measurement")) {
    return Kind::viewer_csv;
  }
  if (has_text(head, "Qnn Init/Prepare/Finalize/De-Init/Execute/Lib-Load Statistics") ||
      has_text(head, "Printing All Data Received From Back End") ||
      has_text(head, "Execute Stats:") || has_text(head, "Execute Stats (") ||
      has_text(head, "\nqnn-profile-viewer:")) {
    return Kind::viewer_text;
  }
  return Kind::none;
}

std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, 13> names{"unknown",
                                                   "QNN OP_TRACE",
                                                   "QNN RUN_TRACE",
                                                   "QNN HTP_GRAPH",
                                                   "QNN QHAS",
                                                   "qnn-profile-viewer text",
                                                   "qnn-profile-viewer CSV",
                                                   "QNN standardised profile JSON",
                                                   "QNN HTP host estimate",
                                                   "QNN HTP host estimate",
                                                   "QNN HTP schematic",
                                                   "QNN framework op trace",
                                                   "QNN graph, not compiled"};
  return names[std::size_t(kind)];
}

std::optional<std::string> vendor_binary_advice(const std::filesystem::path& path,
                                                std::string_view head) {
  const std::string name = path.filename().string();
  const bool log = name.starts_with("qnn-profiling-data") && name.ends_with(".log");
  if (name.ends_with("_qnn.log") && is_binary(head) && recognise(head) == Kind::none) {
    return fmt::format(
        "{}: is a QNN profiling log, a closed binary format, and holds no estimate of the host; "
        "open the csv next to it, or record with profiling_level=optrace and soc_model=52, "
        "62, 63, 72 or 77",
        path.string());
  }
  const bool schematic = name.ends_with("_schematic.bin");
  if ((!log && !schematic) || recognise(head) != Kind::none) return std::nullopt;
  constexpr std::string_view viewer =
      "qnn-profile-viewer --config config.json --reader libQnnHtpOptraceProfilingReader.so";
  if (head.empty()) {
    return fmt::format("{}: is empty; copy it from the device again", path.string());
  }
  if (!is_binary(head)) {
    return fmt::format(
        "{}: is named like a QNN binary but holds text; copy it from the device again as a binary "
        "file (adb pull or tar)",
        path.string());
  }
  if (log) {
    return fmt::format(
        "{}: is a QNN profiling log, a closed binary format; decode it with '{} --input_log {} "
        "--schematic <graph>_schematic.bin --output chrometrace.json' and open what that writes",
        path.string(), viewer, name);
  }
  return fmt::format(
      "{}: is a QNN optrace schematic, a closed binary format that decodes a profiling log of the "
      "same graph; run '{} --input_log qnn-profiling-data_0.log --schematic {} --output "
      "chrometrace.json' and open what that writes",
      path.string(), viewer, name);
}

}  // namespace npuscope::qnn
