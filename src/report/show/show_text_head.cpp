#include "report/show/show_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "report/document/damage.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {

// One file by its path; several by their folder, if they share it, and their names.
void PageText::print_files() {
  constexpr std::size_t max_named = 8;
  const auto& files = profile_.provenance.files;
  if (files.size() < 2) {
    out_ += shortened(printable(files.empty() ? "(no file)" : files.front()), width_) + "\n";
    return;
  }
  const auto folder_of = [](const std::string& file) {
    return std::filesystem::path(file).parent_path().string();
  };
  const std::string folder = folder_of(files.front());
  const bool share = std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    return folder_of(file) == folder;
  });
  std::string names;
  for (std::size_t i = 0; i < std::min(files.size(), max_named); ++i) {
    names += (i > 0 ? ", " : "") + (share ? file_name(files[i]) : files[i]);
  }
  if (files.size() > max_named) {
    names += fmt::format(" and {} more", files.size() - max_named);
  }
  const std::string title = share && !folder.empty() ? folder : file_name(files.front());
  out_ += shortened(printable(title), width_) + "\n";
  line("files", names);
}

void PageText::print_identity() {
  const Provenance& from = profile_.provenance;
  print_files();
  if (is_damaged(profile_)) line("caution", damage_text(profile_));
  line("format", from.format.empty()    ? "unknown"
                 : from.version.empty() ? from.format
                                        : from.format + ", " + from.version);
  if (!from.device.empty()) line("device", from.device);
  if (!from.graph.empty()) line("graph", from.graph);
  constexpr const char* temperatures[] = {"", "cold", "warm", "the first cold, then warm"};
  std::string runs;
  if (from.inferences > 0) runs = thousands(from.inferences);
  const std::string temperature = temperatures[std::size_t(from.temperature)];
  if (!temperature.empty()) runs += (runs.empty() ? "" : ", ") + temperature;
  if (!from.instrumentation.empty()) {
    runs += (runs.empty() ? "instrumented: " : "; instrumented: ") + from.instrumentation;
  }
  if (!runs.empty()) line("inferences", runs);
  if (!page_.selection.empty()) line("selection", page_.selection);
  if (const std::string scope = scope_of_all(profile_); !scope.empty()) line("scope", scope);
  if (page_.structure_only) {
    line("caution", structure_only_caution);
  }
}

void PageText::print_contents() {
  std::string all;
  const auto add = [&](std::uint64_t count, const char* one, const char* many) {
    if (count > 0) all += (all.empty() ? "" : ", ") + counted(count, one, many);
  };
  add(profile_.spans.size(), "span", "spans");
  add(profile_.ops.size(), "op", "ops");
  add(profile_.units.size(), "unit", "units");
  add(profile_.phases.size(), "phase", "phases");
  add(profile_.counters.size(), "counter sample", "counter samples");
  add(profile_.flows.size(), "flow", "flows");
  add(profile_.edges.size(), "dependency", "dependencies");
  add(profile_.tensors.size(), "tensor", "tensors");
  add(profile_.measures.size(), "number", "numbers");
  line("holds", all.empty() ? "nothing" : all);
  const std::size_t base = index_of(profile_.base_clock);
  if (profile_.spans.size() == 0 || base >= profile_.clocks.size()) return;
  const Clock& clock = profile_.clocks[base];
  std::string text =
      fmt::format("{} ({})", profile_.text(clock.name), unit_of(profile_, profile_.base_clock));
  if (clock.rate.value > 0) {
    if (unit_of(profile_, profile_.base_clock) != "ns") {
      text += ", " + hertz_text(clock.rate.value);
    }
  } else if (page_.rate && page_.rate->origin == Origin::derived) {
    text += fmt::format(", {} ({})", hertz_text(page_.rate->rate.value),
                        derived_rate_text(page_.rate->error));
  } else if (page_.rate) {
    text += fmt::format(", {} during this phase", hertz_text(page_.rate->rate.value));
  } else {
    text += ", rate unknown: no times in seconds";
  }
  line("clock", text);
}

}  // namespace npuscope::report
