#include "npuscope/formats/open.hpp"

#include <algorithm>
#include <array>

#include "base/counted.hpp"
#include "base/try.hpp"
#include "formats/open_inputs.hpp"
#include "formats/open_table.hpp"
#include "formats/other_files.hpp"
#include "formats/snapshot/snapshot.hpp"

namespace npuscope {
namespace {

// In the order in which files are tried and opened: texts come last, because a summary joins the
// profile of the same inference, and so do models. Packets without a mark are tried when nothing
// else fits.
constexpr std::array formats{
    Format{"Cloud AI 100 raw statistics", Belonging::together, recognise_qaic_buffer,
           open_qaic_buffers},
    Format{"snapshot", Belonging::alone, recognise_snapshot, open_snapshots},
    Format{"Perfetto trace", Belonging::alone, recognise_perfetto, open_perfetto},
    Format{"HailoRT trace", Belonging::alone, recognise_hailo, open_hailo},
    Format{"XLA XSpace", Belonging::together, recognise_xplane, open_xplane},
    Format{"ExecuTorch ETDump", Belonging::alone, recognise_etdump, open_etdump},
    Format{"IREE profile", Belonging::alone, recognise_ireeperf, open_ireeperf},
    Format{"llama.cpp Hexagon profile", Belonging::alone, recognise_ggml, open_ggml},
    Format{"AI Hub profile", Belonging::alone, recognise_aihub, open_aihub},
    Format{"Genie profile", Belonging::alone, recognise_genie, open_genie},
    Format{"Furiosa schedule", Belonging::alone, recognise_furiosa, open_furiosa},
    Format{"OpenVINO profiling text", Belonging::alone, recognise_openvino_text,
           open_openvino_texts},
    Format{"tpu-mlir profile", Belonging::together, recognise_tpu_mlir, open_tpu_mlir},
    Format{"Torq profile", Belonging::together, recognise_torq, open_torq},
    Format{"QNN profile", Belonging::together, recognise_qnn, open_qnn},
    Format{"Tenstorrent ops", Belonging::alone, recognise_tenstorrent, open_tenstorrent},
    Format{"table of layers", Belonging::alone, recognise_described_table, open_described_tables},
    Format{"Chrome trace", Belonging::alone, recognise_chrome, open_chrome},
    Format{"Ascend profiler", Belonging::together, recognise_ascend, open_ascend},
    Format{"SigmaStar model", Belonging::together, recognise_sigmastar_model,
           open_sigmastar_models},
    Format{"Cloud AI 100 text", Belonging::together, recognise_qaic_text, open_qaic_texts},
    Format{"Perfetto trace", Belonging::alone, recognise_perfetto_without_events, open_perfetto},
};

constexpr std::size_t max_unknown_named = 100;  // of the files in folders; the rest are counted

// Errors begin with the file's name; notes have it beside the message.
std::string without_name(std::string_view message, std::string_view name) {
  const bool begins = message.starts_with(name) && message.substr(name.size()).starts_with(": ");
  return std::string(begins ? message.substr(name.size() + 2) : message);
}

class Opening {
 public:
  explicit Opening(const OpenOptions& options) : run_(options) {}

  Result<Opened> run(std::span<const std::filesystem::path> paths) {
    TRY(run_.read_own_tables());
    FoundFiles found = find_files(paths, run_.options().source.decompressed_limit);
    for (Note& note : found.notes) run_.note(std::move(note));
    for (std::size_t i = 0; i < found.files.size(); ++i) sort_in(found.files[i], i);
    if (unknown_ > max_unknown_named) {
      run_.note({Severity::info, "", 0,
                 counted(unknown_ - max_unknown_named, "more file is not a profile",
                         "more files are not profiles") +
                     " of a known format",
                 unknown_ - max_unknown_named});
    }
    for (std::size_t row = 0; row < formats.size(); ++row) {
      if (!inputs_[row].empty()) formats[row].open(inputs_[row], run_);
    }
    Opened opened = std::move(run_).finish();
    for (const SpooledPipe& pipe : found.pipes) rename(opened, pipe);
    if (opened.profiles.empty()) return nothing_opened(opened, found.files.size());
    return opened;
  }

 private:
  // Which row takes the file, by its first bytes.
  void sort_in(const FoundFile& file, std::size_t order) {
    Input input{file.path, order, file.named, 0};
    const auto head = read_head(file.path, head_bytes);
    if (!head) {  // of a folder too: it may be a part of the profile
      const std::string name = file.path.string();
      return run_.note({Severity::error, name, 0, without_name(head.error().message, name), 1});
    }
    const Candidate candidate{file.path, *head};
    if (const auto own = recognise_own_table(candidate, run_)) {
      return open_own_table(input, *own, run_);
    }
    if (auto other = what_else_it_is(candidate)) return refuse(file, {std::move(*other), false});
    for (std::size_t row = 0; row < formats.size(); ++row) {
      const auto kind = formats[row].recognise(candidate);
      if (!kind) continue;
      input.kind = *kind;
      inputs_[row].push_back(std::move(input));
      return;
    }
    if (!file.named && is_documentation(file.path)) return;
    Refusal refusal = explain_unknown(candidate);
    if (file.named) refusal.message += why_no_own_table(candidate, run_);
    refuse(file, refusal);
  }

  void refuse(const FoundFile& file, const Refusal& refusal) {
    Severity severity = file.named ? Severity::error : Severity::info;
    if (refusal.is_advice && !file.named) severity = Severity::warning;
    if (severity == Severity::info && unknown_++ >= max_unknown_named) return;
    run_.note({severity, file.path.string(), 0, refusal.message, 1});
  }

  // What the user called the pipe, wherever its file is named.
  static void rename(Opened& opened, const SpooledPipe& pipe) {
    const std::string path = pipe.path.string();
    const auto in_text = [&](std::string& text) {
      for (auto at = text.find(path); at != text.npos; at = text.find(path, at)) {
        text.replace(at, path.size(), pipe.name);
        at += pipe.name.size();
      }
    };
    const auto in_notes = [&](std::vector<Note>& notes) {
      for (Note& note : notes) {
        in_text(note.file);
        in_text(note.message);
      }
    };
    in_notes(opened.notes);
    for (Profile& profile : opened.profiles) {
      in_notes(profile.notes);
      for (std::string& file : profile.provenance.files) in_text(file);
    }
  }

  static tl::unexpected<Error> nothing_opened(const Opened& opened, std::size_t files) {
    constexpr std::size_t max_quoted = 3;
    std::vector<const Note*> reasons;
    for (const Note& note : opened.notes) {
      if (!note.file.empty()) reasons.push_back(&note);
    }
    if (reasons.empty()) return input_error("no file to open; name files or folders");
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const Note* a, const Note* b) { return a->severity > b->severity; });
    if (files <= 1) return input_error("{}: {}", reasons.front()->file, reasons.front()->message);
    // Each reason once: a folder may have many files of one kind.
    std::string text;
    std::vector<std::string_view> quoted;
    for (const Note* reason : reasons) {
      if (std::ranges::find(quoted, reason->message) != quoted.end()) continue;
      if (quoted.size() == max_quoted) break;
      quoted.push_back(reason->message);
      text += fmt::format("; {}: {}", reason->file, reason->message);
    }
    return input_error("none of {} files could be opened{}", files, text);
  }

  OpenRun run_;
  std::array<std::vector<Input>, formats.size()> inputs_;
  std::size_t unknown_ = 0;
};

}  // namespace

Belonging belonging_of(const Candidate& candidate) {
  const auto takes = [&](const Format& format) { return format.recognise(candidate).has_value(); };
  const auto row = std::find_if(formats.begin(), formats.end(), takes);
  return row == formats.end() ? Belonging::unknown : row->belongs;
}

const Input& input_or_first(std::span<const Input> inputs, std::string_view file) {
  const auto found = std::ranges::find(
      inputs, file, [](const Input& input) -> std::string_view { return input.path.native(); });
  return found == inputs.end() ? inputs.front() : *found;
}

void OpenRun::fail(const Input& input, const Error& error) {
  const std::string name = input.path.string();
  note({input.named ? Severity::error : Severity::warning, name, 0,
        without_name(error.message, name), 1});
}

Opened OpenRun::finish() && {
  std::stable_sort(
      opened_.begin(), opened_.end(),
      [](const OpenedProfile& a, const OpenedProfile& b) { return a.order < b.order; });
  Opened opened;
  for (OpenedProfile& each : opened_) opened.profiles.push_back(std::move(each.profile));
  opened.notes = std::move(notes_);
  return opened;
}

Result<Opened> open_profiles(std::span<const std::filesystem::path> paths,
                             const OpenOptions& options) {
  return Opening(options).run(paths);
}

// Snapshots: what `npuscope snapshot` keeps of runs.

std::optional<FormatKind> recognise_snapshot(const Candidate& candidate) {
  if (!snapshot::looks_like(candidate.head)) return std::nullopt;
  return FormatKind{0};
}

void open_snapshots(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    auto source = open_byte_source(input.path, run.options().source);
    const auto text = source ? read_all(**source, snapshot::max_bytes)
                             : Result<std::string>(tl::unexpected(source.error()));
    auto profiles = text ? snapshot::read_snapshot(*text, input.path.string())
                         : Result<std::vector<Profile>>(tl::unexpected(text.error()));
    if (!profiles) {
      run.fail(input, profiles.error());
      continue;
    }
    for (Profile& profile : *profiles) run.add(input.order, std::move(profile));
  }
}

}  // namespace npuscope
