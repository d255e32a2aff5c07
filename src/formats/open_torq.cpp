// Synaptics Torq: compile-time timelines, runtime logs, and debug information, which says what the
// actions of the logs are.
#include <algorithm>
#include <set>

#include "formats/open_table.hpp"
#include "formats/torq/annotate/annotate.hpp"
#include "formats/torq/annotate/pairing.hpp"
#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/memory/dispatch_memory.hpp"
#include "formats/torq/profile/timeline_debug.hpp"
#include "formats/torq/runtime_log.hpp"
#include "formats/torq/timeline.hpp"

namespace npuscope {
namespace {

enum TorqKind : FormatKind {
  timeline,
  runtime_log,
  debug_info,
  annotated_table,
  bytecode,
  tensor_sizes,
  dispatch_memory
};

void complete(Profile& profile, const std::string& file) {
  for (Note& note : profile.notes) {
    if (note.file.empty()) note.file = file;
  }
  if (profile.provenance.files.empty()) profile.provenance.files = {file};
}

// Where debug information that no log uses has the same dispatch, that is opened in its place: it
// has all that the timeline has, and more.
void open_timeline(const Input& input, const torq::DebugInfo* debug,
                   const torq::DebugInfo& without_logs, OpenRun& run) {
  auto source = open_byte_source(input.path, run.options().source);
  if (!source) return run.fail(input, source.error());
  const auto read = torq::read_timeline(**source);
  if (!read) return run.fail(input, read.error());
  if (torq::dispatch_of(*read, without_logs) != nullptr) return;
  const std::filesystem::path folder = input.path.parent_path();
  torq::SourceFiles sources({folder, folder / ".."});
  Profile profile = torq::make_profile(*read, &sources, debug);
  complete(profile, input.path.string());
  run.add(input.order, std::move(profile));
}

// Files that are a profile each.
void open_alone(const Input& input, OpenRun& run) {
  auto source = open_byte_source(input.path, run.options().source);
  if (!source) return run.fail(input, source.error());
  const std::filesystem::path folder = input.path.parent_path();
  torq::SourceFiles sources({folder, folder / ".."});
  auto profile = input.kind == annotated_table ? torq::read_annotated_profile(**source)
                 : input.kind == tensor_sizes  ? torq::read_tensor_sizes(**source, sources)
                                               : torq::read_dispatch_memory(**source);
  if (!profile) return run.fail(input, profile.error());
  complete(*profile, input.path.string());
  run.add(input.order, std::move(*profile));
}

std::optional<torq::DebugInfo> debug_of(const Input& input, const torq::RuntimeLog& log) {
  auto source = open_byte_source(input.path);
  if (!source) return std::nullopt;
  const auto timeline = torq::read_timeline(**source);
  if (!timeline) return std::nullopt;
  const std::filesystem::path folder = input.path.parent_path();
  return torq::debug_of_timeline(
      *timeline, log, std::make_shared<torq::SourceFiles>(std::vector{folder, folder / ".."}));
}

// The only one that is nearest to a log.
const Input* timeline_of(const Input& log, const std::vector<const Input*>& timelines) {
  const Input* only = nullptr;
  std::size_t nearest = 0, count = 0;
  for (const Input* each : timelines) {
    const std::size_t common = torq::folders_in_common(log.path, each->path);
    if (common < nearest) continue;
    count = common == nearest ? count + 1 : 1;
    nearest = common;
    only = each;
  }
  if (count != 1) return nullptr;
  return only;
}

// Without debug information a timeline, if there is one, says what programs did.
void open_log(const Input& input, const torq::DebugInfo* debug, const Input* timeline,
              OpenRun& run) {
  auto source = open_byte_source(input.path, run.options().source);
  if (!source) return run.fail(input, source.error());
  const auto log = torq::read_log(**source, run.options().progress);
  if (!log) return run.fail(input, log.error());
  std::optional<torq::DebugInfo> near;
  if (debug != nullptr) near = torq::nearest_to(input.path, *debug);
  if (near) debug = &*near;
  std::string coverage;
  std::vector<Note> odd;
  std::optional<torq::DebugInfo> of_timeline;
  if (debug == nullptr && timeline != nullptr) of_timeline = debug_of(*timeline, *log);
  if (debug != nullptr) {
    const auto pairing = torq::check_pairing(*log, *debug);
    if (!pairing) return run.fail(input, pairing.error());
    coverage = torq::coverage_text(*pairing);
    odd = pairing->notes;
  }
  Profile profile = torq::make_profile(*log, of_timeline ? &*of_timeline : debug);
  if (of_timeline) {
    odd.push_back({Severity::warning, timeline->path.string(), 0,
                   "programs are split by this timeline: nothing says that it is of the compile "
                   "that ran, nor where a program ends in it; debug information does",
                   1});
  }
  profile.notes.insert(profile.notes.begin(), odd.begin(), odd.end());
  if (!coverage.empty()) {
    profile.notes.insert(profile.notes.begin(), {Severity::warning, "", 0,
                                                 coverage + "; other programs have no names", 1});
  }
  complete(profile, input.path.string());
  if (of_timeline) profile.provenance.files.push_back(timeline->path.string());
  if (debug != nullptr) {
    const std::vector<Note>& unreadable = debug->sources->unreadable();
    profile.notes.insert(profile.notes.end(), unreadable.begin(), unreadable.end());
    auto& files = profile.provenance.files;
    files.insert(files.end(), debug->files.begin(), debug->files.end());
  }
  run.add(input.order, std::move(profile));
}

// The files that hold no dispatch, as notes or as the error of what the user named.
std::optional<torq::DebugInfo> load(std::span<const Input> inputs, OpenRun& run) {
  std::vector<std::filesystem::path> files;
  for (const Input& input : inputs) {
    if (input.kind == debug_info) files.push_back(input.path);
  }
  if (files.empty()) return std::nullopt;
  auto debug = torq::load_debug_info(files, {});
  if (!debug) {
    for (const Input& input : inputs) {
      if (input.kind == debug_info) run.fail(input, debug.error());
    }
    return std::nullopt;
  }
  for (const Note& note : debug->notes) {
    if (note.severity == Severity::info && note.file.ends_with(".onnx")) {
      run.note(note);
      continue;
    }
    run.fail(input_or_first(inputs, note.file), Error{ErrorKind::input, note.message});
  }
  return std::move(*debug);
}

// Whether the text that was made of bytecode is there, too.
bool is_text_among(std::span<const Input> inputs, const Input& of) {
  return std::any_of(inputs.begin(), inputs.end(), [&](const Input& each) {
    return each.kind == debug_info && each.path.stem() == of.path.stem();
  });
}

// The dispatches that are nearest to none of the logs.
torq::DebugInfo without_logs(const torq::DebugInfo& debug, std::span<const Input> inputs) {
  std::set<std::string> used;
  for (const Input& input : inputs) {
    if (input.kind != runtime_log) continue;
    const auto near = torq::nearest_to(input.path, debug);
    for (const auto& each : (near ? *near : debug).dispatches) used.insert(each.file);
  }
  torq::DebugInfo rest;
  rest.sources = debug.sources;
  for (const torq::DispatchInfo& each : debug.dispatches) {
    if (!used.contains(each.file)) rest.dispatches.push_back(each);
  }
  return rest;
}

bool uses_npu(const torq::DispatchInfo& dispatch) {
  return std::any_of(
      dispatch.programs.begin(), dispatch.programs.end(),
      [](const torq::ProgramRun& each) { return each.executor == torq::Executor::nss; });
}

// Without a log that they belong to: the compiler's estimates, of all dispatches of a model as one.
void open_estimates(std::span<const Input> inputs, const torq::DebugInfo& debug, OpenRun& run) {
  bool any = false;
  std::uint64_t without_npu = 0;
  for (const auto& model : debug.by_model()) {
    std::vector<const torq::DispatchInfo*> estimated;
    std::uint64_t on_host = 0;
    for (const torq::DispatchInfo* dispatch : model) {
      const Input& input = input_or_first(inputs, dispatch->file);
      if (torq::has_estimates(*dispatch)) {
        estimated.push_back(dispatch);
      } else if (!uses_npu(*dispatch)) {
        ++on_host;
      } else {
        run.fail(input, Error{ErrorKind::input,
                              "has no estimates; compile with --torq-enable-profiling, or open it "
                              "together with a runtime log"});
      }
    }
    without_npu += on_host;
    if (estimated.empty()) continue;
    auto profile = torq::make_profile(estimated, &debug);
    if (!profile) continue;
    any = true;
    if (on_host > 0) {
      profile->notes.push_back({Severity::info, model.front()->file, 0,
                                fmt::format("{} of {} dispatches have no work of the NPU, only of "
                                            "the host or none, which the compiler does not "
                                            "estimate: they are in no sum",
                                            on_host, model.size()),
                                1});
    }
    run.add(input_or_first(inputs, estimated.front()->file).order, std::move(*profile));
  }
  if (any || without_npu < debug.dispatches.size()) return;
  run.fail(input_or_first(inputs, debug.dispatches.front().file),
           Error{ErrorKind::input,
                 "has no work of the NPU, only of the host, which the compiler does not estimate; "
                 "open it together with a runtime log"});
}

}  // namespace

std::optional<FormatKind> recognise_torq(const Candidate& candidate) {
  if (torq::recognise_timeline(candidate.head) != torq::TimelineVersion::none) return timeline;
  if (torq::recognise_log(candidate.head) != torq::LogKind::none) return runtime_log;
  if (torq::looks_like_mlir(candidate.head)) return debug_info;
  if (torq::looks_like_mlir_bytecode(candidate.head)) return bytecode;
  if (torq::looks_like_annotated_csv(candidate.head)) return annotated_table;
  if (torq::looks_like_tensor_sizes(candidate.head)) return tensor_sizes;
  if (torq::looks_like_dispatch_memory(candidate.head)) return dispatch_memory;
  return std::nullopt;
}

void open_torq(std::span<const Input> inputs, OpenRun& run) {
  const auto debug = load(inputs, run);
  const torq::DebugInfo of_no_log = debug ? without_logs(*debug, inputs) : torq::DebugInfo{};
  std::vector<const Input*> timelines;
  for (const Input& input : inputs) {
    if (input.kind == timeline) timelines.push_back(&input);
  }
  for (const Input& input : inputs) {
    const torq::DebugInfo* known = debug ? &*debug : nullptr;
    if (input.kind == timeline) open_timeline(input, known, of_no_log, run);
    const bool is_alone = input.kind == annotated_table || input.kind == tensor_sizes ||
                          input.kind == dispatch_memory;
    if (is_alone) open_alone(input, run);
    if (input.kind == runtime_log) open_log(input, known, timeline_of(input, timelines), run);
  }
  for (const Input& input : inputs) {
    if (input.kind == bytecode && !is_text_among(inputs, input)) {
      run.fail(input, Error{ErrorKind::input, torq::mlir_bytecode_advice(input.path.string())});
    }
  }
  if (!of_no_log.dispatches.empty()) open_estimates(inputs, of_no_log, run);
}

}  // namespace npuscope
