#include <algorithm>

#include "formats/sigmastar/builtin_layout_files.hpp"
#include "formats/sigmastar/log_layout.hpp"

namespace npuscope::sigmastar {
namespace {

struct Chip {
  std::string_view name;
  std::optional<std::uint32_t> alignment = {};  // of widths of image inputs, in bytes
};

// Names in SigmaStar's documents and images; alignments as real images have them.
constexpr Chip chips[] = {{"muffin"},  {"mochi"},    {"maruko", 16}, {"opera", 32}, {"pcupid"},
                          {"souffle"}, {"ifado"},    {"iford"},      {"ibopper"},   {"ifackel"},
                          {"jaguar1"}, {"ifliegen"}, {"tiramisu"},   {"pudding"}};

const Chip* find_chip(std::string_view name) {
  const auto* found = std::find_if(std::begin(chips), std::end(chips),
                                   [&](const Chip& chip) { return chip.name == name; });
  return found == std::end(chips) ? nullptr : found;
}

}  // namespace

bool is_known_chip(std::string_view chip) { return find_chip(chip) != nullptr; }

std::optional<std::uint32_t> alignment_of_chip(std::string_view chip) {
  const Chip* found = find_chip(chip);
  return found != nullptr ? found->alignment : std::nullopt;
}

Result<LogLayout> layout_of_chip(std::string_view chip) {
  std::string names;
  for (const auto& [file, toml] : builtin_layout_files) {
    auto layout = parse_layout(toml, fmt::format("layouts/{}.toml", file));
    if (!layout) return layout;
    for (const std::string& name : layout->chips) {
      if (name == chip) return layout;
      names += names.empty() ? name : ", " + name;
    }
  }
  return usage_error(
      "-v {}: {}; convert the log with SigmaStar's performance_timeline.py and open its "
      "log_ctrl0.json, or describe the layout in a file (--layout); built in: {}",
      chip,
      is_known_chip(chip) ? "the layout of this chip's IPU log is not public"
                          : "no chip that npuscope knows",
      names);
}

}  // namespace npuscope::sigmastar
