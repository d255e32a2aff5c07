#include "report/document/provenance.hpp"

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/run_identity.hpp"
#include "base/counted.hpp"
#include "base/text.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"

namespace npuscope::report {
namespace {

bool is_loss(const Note& note) { return note.severity == Severity::error; }

}  // namespace

bool is_damaged(const Profile& profile) {
  return std::any_of(profile.notes.begin(), profile.notes.end(), is_loss);
}

std::string damage_text(const Profile& profile) {
  const auto first = std::find_if(profile.notes.begin(), profile.notes.end(), is_loss);
  if (first == profile.notes.end()) return "";
  const auto all = std::count_if(profile.notes.begin(), profile.notes.end(), is_loss);
  return fmt::format("damaged: {}{}{}; all figures are of what could be read", first->message,
                     first->offset > 0 ? fmt::format(" (byte {})", first->offset) : "",
                     all > 1 ? fmt::format(", and {} more", all - 1) : "");
}

std::string damage_sentence(const Profile& profile) {
  if (!is_damaged(profile)) return "";
  return fmt::format("{}: {}", files_text(profile), damage_text(profile));
}

std::string note_text(const Note& note) {
  std::string text = fmt::format("{}: ", stable_name(note.severity));
  if (!note.file.empty()) text += note.file + ": ";
  text += note.message;
  if (note.offset > 0) text += fmt::format(" (byte {})", note.offset);
  if (note.count > 1) text += fmt::format(" ({} times)", thousands(note.count));
  return text;
}

std::vector<std::string> note_lines(const std::vector<Note>& notes) {
  constexpr std::size_t max_named = 3;
  struct Line {
    Note note;
    std::vector<std::string_view> files;
  };
  const auto is_left_out = [](const Note& note) {
    return note.severity == Severity::info && !note.file.empty() && note.offset == 0;
  };
  std::vector<Line> lines;
  std::map<std::tuple<Severity, std::uint64_t, std::uint64_t, std::string_view>, std::size_t> known;
  for (const Note& note : notes) {
    if (note.file.empty()) {
      lines.push_back({note, {}});
      continue;
    }
    const std::string_view what = is_left_out(note) ? std::string_view() : note.message;
    const auto [place, is_new] =
        known.try_emplace({note.severity, note.offset, note.count, what}, lines.size());
    if (is_new) lines.push_back({note, {}});
    lines[place->second].files.push_back(note.file);
  }
  std::vector<std::string> texts;
  for (Line& line : lines) {
    const std::size_t count = line.files.size(), named = std::min(count, max_named);
    if (count > 1) {
      line.note.file =
          fmt::format("{}", fmt::join(line.files.begin(), line.files.begin() + named, ", "));
      if (count > named) line.note.file += fmt::format(" and {} more", count - named);
    }
    texts.push_back(count > 1 && is_left_out(line.note)
                        ? fmt::format("info: {} files are left out: {}; name one to see why", count,
                                      line.note.file)
                        : note_text(line.note));
  }
  return texts;
}

namespace {

// Instances that spans name, in order; none where they name none.
std::vector<std::uint32_t> instances_of(const Profile& profile) {
  const Spans& spans = profile.spans;
  if (spans.instance.size() != spans.size()) return {};
  constexpr std::size_t many = 1 << 16;
  std::vector<std::uint32_t> ids;
  std::uint32_t last = every_instance;
  const auto tidy = [&] {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  };
  for (const std::uint32_t id : spans.instance) {
    if (id != last && id != every_instance) ids.push_back(id);
    last = id;
    if (ids.size() < 2 * many) continue;
    tidy();
    if (ids.size() > many) return {};  // these are no inferences
  }
  tidy();
  return ids;
}

std::size_t inferences_of(const Profile& profile) { return instances_of(profile).size(); }

}  // namespace

std::string scope_of_all(const Profile& profile) { return scope_of_all(inferences_of(profile)); }

std::string scope_of_all(std::size_t inferences) {
  return inferences < 2 ? "" : fmt::format("all {} inferences together", inferences);
}

std::string scope_of_each(const Profile& profile) {
  const std::size_t count = inferences_of(profile);
  return count < 2 ? "" : scope_of_median(count - 1, true);
}

std::string scope_of_median(std::size_t inferences, bool after_the_first) {
  const char* const after = after_the_first ? " after the first" : "";
  return inferences == 1 ? fmt::format("one inference{}", after)
                         : fmt::format("one inference: the median of the {}{}", inferences, after);
}

std::string step_numbers(const Profile& profile) {
  const std::vector<std::uint32_t> ids = instances_of(profile);
  return ids.empty() || ids.back() < ids.size() ? ""
                                                : fmt::format("{} to {}", ids.front(), ids.back());
}

std::string scope_of_one(const Profile& profile, std::uint32_t inference) {
  const std::size_t count = inferences_of(profile);
  if (count < 2) return "";
  const std::string steps = step_numbers(profile);
  if (!steps.empty()) return fmt::format("one inference: number {} of {}", inference, steps);
  return fmt::format("one inference: number {} of {}, counted from 0", inference, count);
}

std::string files_text(const Profile& profile) {
  const auto& files = profile.provenance.files;
  if (files.empty()) return "(no file)";
  const auto folder_of = [](const std::string& file) {
    return std::filesystem::path(file).parent_path().string();
  };
  const std::string folder = folder_of(files.front());
  const bool share = std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    return folder_of(file) == folder;
  });
  if (!share && files.size() > 2) {
    return fmt::format("{} and {} more files", files.front(), files.size() - 1);
  }
  if (files.size() == 1 || !share || folder.empty()) return files.front();
  return folder;
}

std::string warnings_text(const Profile& profile) {
  std::uint64_t warnings = 0, errors = 0;
  for (const Note& note : profile.notes) {
    warnings += note.severity == Severity::warning;
    errors += note.severity == Severity::error;
  }
  std::string text;
  if (warnings > 0) text = counted(warnings, "warning");
  if (errors > 0) {
    text += (text.empty() ? "" : ", ") + counted(errors, "error");
  }
  return text;
}

namespace {

bool has_times(const Profile& profile) {
  const auto is_time = [](const Measure& measure) { return measure.kind != MeasureKind::count; };
  return profile.spans.size() > 0 || !profile.phases.empty() ||
         std::any_of(profile.measures.begin(), profile.measures.end(), is_time);
}

}  // namespace

std::string what_was_profiled(const Profile& profile) {
  using Temperature = Provenance::Temperature;
  const Provenance& from = profile.provenance;
  std::string text = from.format.empty() ? "format unknown" : from.format;
  constexpr std::size_t longest = 28;
  const bool is_estimate = from.times == Origin::estimated;
  const std::string graph = is_estimate ? shortened(from.graph, longest) : from.graph;
  for (const std::string& part : {from.device, graph}) {
    if (!part.empty() && from.format.find(part) == std::string::npos) text += " · " + part;
  }
  if (from.times == Origin::estimated) {
    text += has_times(profile) ? " · estimated, nothing ran" : " · no times, nothing ran";
  }
  if (from.times == Origin::simulated) text += " · times are simulated, nothing ran";
  if (from.inferences > 0) {
    text += " · " + counted(from.inferences, "inference");
    if (from.temperature == Temperature::cold) text += ", cold";
    if (from.temperature == Temperature::warm) text += ", warm";
    if (from.temperature == Temperature::cold_then_warm) text += ", the first cold";
  }
  return text;
}

std::vector<std::string> about_times(const Profile& profile) {
  std::vector<std::string> cautions;
  if (const std::uint64_t slowdown = profile.provenance.simulator_slowdown; slowdown > 0) {
    cautions.push_back(fmt::format(
        "a simulator's run: its longest program took {} times its estimate at 800 MHz; times are "
        "the host's, not the NPU's, and no finding rests on them",
        thousands(slowdown)));
  }
  const std::uint64_t split = profile.provenance.split_ops;
  if (split > 0) {
    cautions.push_back(fmt::format(
        "times of {} are shares of measured programs, split by the compiler's estimate: each "
        "moment counts once, so a transfer behind a kernel has none",
        counted(split, "op")));
  }
  return cautions;
}

std::vector<std::string> cautions_of(const Profile& profile) {
  std::vector<std::string> cautions = about_times(profile);
  if (is_structure_only(profile)) cautions.emplace_back(structure_only_caution);
  return cautions;
}

bool is_structure_only(const Profile& profile) {
  using Temperature = Provenance::Temperature;
  const Provenance& from = profile.provenance;
  const bool begins_cold =
      from.temperature == Temperature::cold || from.temperature == Temperature::cold_then_warm;
  if (!begins_cold || from.instrumentation.empty()) return false;
  const ProfileContent content = analysis::content_of(profile);
  return content.has_spans && content.is_one_inference;
}

}  // namespace npuscope::report
