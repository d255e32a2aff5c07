#include "formats/sigmastar/log_layout.hpp"

#include <algorithm>

#include "base/toml_reader.hpp"
#include "base/try.hpp"
#include "formats/sigmastar/builtin_layout_files.hpp"

namespace npuscope::sigmastar {
namespace {

constexpr std::int64_t max_record_bytes = 4096;
constexpr std::uint32_t max_code_bits = 12;  // of engine and mark: looked up in a table

// As entries of the file.
constexpr std::array<std::string_view, log_engine_count> engine_keys{
    "layer", "conv", "vector", "dma_load", "dma_store", "scalar", "run"};

BitField read_field(TomlReader& in, const std::string& path, const LogLayout& layout,
                    std::uint32_t max_bits, Needed needed) {
  BitField field;
  const std::int64_t record_bits = std::int64_t{layout.record_bytes} * 8;
  in.whole(path + ".bit", field.bit, 0, record_bits - 1, needed);
  in.whole(path + ".bits", field.bits, 1, max_bits, needed);
  if (std::int64_t{field.bit} + field.bits > record_bits) {
    in.fail(path, "'{}' must be within the record", path);
  } else if (field.bit % 8 + field.bits > 64) {
    in.fail(path, "'{}' must be within eight bytes", path);
  }
  return field;
}

std::vector<std::uint64_t> read_values(TomlReader& in, const std::string& path,
                                       const BitField& field, Needed needed) {
  std::vector<std::uint64_t> values;
  in.whole_numbers(path, values, (std::int64_t{1} << field.bits) - 1, needed);
  return values;
}

void read_tiles(TomlReader& in, LogLayout& layout) {
  if (!layout.tile) in.fail("fields.tile", "'fields.tile', which [tiles] is about, is missing");
  in.whole("tiles.buffers", layout.tile_buffers, 1, 1 << 10, Needed::yes);
  std::vector<std::string> names;
  in.texts("tiles.order", names, Needed::yes);
  for (const std::string& name : names) {
    const auto* key = std::find(engine_keys.begin() + 1, engine_keys.end() - 1, name);
    const bool is_engine = key != engine_keys.end() - 1;
    const auto engine = LogEngine(key - engine_keys.begin());
    if (!is_engine || std::find(layout.tile_order.begin(), layout.tile_order.end(), engine) !=
                          layout.tile_order.end()) {
      return in.fail("tiles.order",
                     "'tiles.order' must be a list of engines, each once: conv, "
                     "vector, dma_load …");
    }
    layout.tile_order.push_back(engine);
  }
}

LogLayout read_layout(TomlReader& in) {
  LogLayout layout;
  in.text("name", layout.name, Needed::yes);
  in.text("description", layout.description);
  in.texts("chips", layout.chips, Needed::yes);
  layout.record_bytes = 1;
  in.whole("record.bytes", layout.record_bytes, 1, max_record_bytes, Needed::yes);
  in.whole("record.header_bytes", layout.header_bytes, 0, 1 << 30);
  const auto field = [&](const char* path, std::uint32_t max_bits) {
    return read_field(in, path, layout, max_bits, Needed::yes);
  };
  const auto field_or_none = [&](const char* path, std::uint32_t max_bits) {
    return in.has(path) ? std::optional(field(path, max_bits)) : std::nullopt;
  };
  layout.time = field("fields.time", 64);
  layout.layer = field("fields.layer", 32);
  layout.engine = field("fields.engine", max_code_bits);
  layout.mark = field("fields.mark", max_code_bits);
  layout.sequence = field_or_none("fields.sequence", 64);
  layout.bytes = field_or_none("fields.bytes", 32);
  layout.tile = field_or_none("fields.tile", 16);
  in.whole("time.cycles_per_tick", layout.cycles_per_tick, 1, 1 << 20, Needed::yes);
  in.yes_or_no("time.cores_share_clock", layout.cores_share_clock, Needed::yes);
  layout.begin_marks = read_values(in, "marks.begin", layout.mark, Needed::yes);
  layout.end_marks = read_values(in, "marks.end", layout.mark, Needed::yes);
  for (std::size_t i = 0; i < engine_keys.size(); ++i) {
    const Needed needed{LogEngine(i) == LogEngine::layer};
    const std::string path = fmt::format("engines.{}", engine_keys[i]);
    layout.engine_values[i] = read_values(in, path, layout.engine, needed);
  }
  if (in.has("tiles")) read_tiles(in, layout);
  return layout;
}

}  // namespace

const char* name_of(LogEngine engine) {
  constexpr const char* names[] = {"layers",    "conv",   "vector", "dma load",
                                   "dma store", "scalar", "run"};
  return names[std::size_t(engine)];
}

Result<LogLayout> parse_layout(std::string_view text, const std::string& name) {
  TRY_AS(root, parse_toml(text, name, ErrorKind::input));
  const TomlFile file{name, ErrorKind::input};
  TomlReader in(*root, file);
  LogLayout layout = read_layout(in);
  TRY(in.finish());
  return layout;
}

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
