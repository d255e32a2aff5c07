#include "formats/sigmastar/log_layout.hpp"

#include <toml++/toml.h>
#include <algorithm>

#include "formats/sigmastar/builtin_layout_files.hpp"

namespace npuscope::sigmastar {
namespace {

constexpr std::int64_t max_record_bytes = 4096;
constexpr std::uint32_t max_code_bits = 12;  // of engine and mark: looked up in a table

// As entries of the file.
constexpr std::array<std::string_view, log_engine_count> engine_keys{
    "layer", "conv", "vector", "dma_load", "dma_store", "scalar", "run"};

// Reads entries and keeps the first error.
class LayoutReader {
 public:
  LayoutReader(const toml::table& root, const std::string& name) : root_(root), name_(name) {}

  LogLayout read() {
    LogLayout layout;
    text("name", layout.name);
    layout.description = root_["description"].value_or(std::string());
    texts("chips", layout.chips);
    layout.record_bytes = std::uint32_t(whole("record.bytes", 1, max_record_bytes));
    if (root_.at_path("record.header_bytes")) {
      layout.header_bytes = std::uint64_t(whole("record.header_bytes", 0, 1 << 30));
    }
    layout.time = field("fields.time", layout, 64);
    layout.layer = field("fields.layer", layout, 32);
    layout.engine = field("fields.engine", layout, max_code_bits);
    layout.mark = field("fields.mark", layout, max_code_bits);
    if (root_.at_path("fields.sequence")) {
      layout.sequence = field("fields.sequence", layout, 64);
    }
    if (root_.at_path("fields.bytes")) layout.bytes = field("fields.bytes", layout, 32);
    if (root_.at_path("fields.tile")) layout.tile = field("fields.tile", layout, 16);
    layout.cycles_per_tick = whole("time.cycles_per_tick", 1, 1 << 20);
    const auto shared = root_.at_path("time.cores_share_clock").value<bool>();
    if (!shared) fail("time.cores_share_clock", "true or false");
    layout.cores_share_clock = shared.value_or(false);
    layout.begin_marks = values("marks.begin", layout.mark);
    layout.end_marks = values("marks.end", layout.mark);
    for (std::size_t i = 0; i < engine_keys.size(); ++i) {
      const std::string path = fmt::format("engines.{}", engine_keys[i]);
      const bool needed = LogEngine(i) == LogEngine::layer;
      if (needed || root_.at_path(path)) layout.engine_values[i] = values(path, layout.engine);
    }
    if (root_.at_path("tiles")) read_tiles(layout);
    return layout;
  }
  const std::string& error() const { return error_; }

 private:
  void fail(const std::string& path, std::string_view expected) {
    if (!error_.empty()) return;
    const toml::node* node = root_.at_path(path).node();
    error_ =
        node != nullptr
            ? fmt::format("{}:{}: {} must be {}", name_, node->source().begin.line, path, expected)
            : fmt::format("{}: {} is missing; it must be {}", name_, path, expected);
  }

  void text(const std::string& path, std::string& out) {
    const auto value = root_.at_path(path).value<std::string>();
    if (!value || value->empty()) return fail(path, "a text");
    out = *value;
  }

  void texts(const std::string& path, std::vector<std::string>& out) {
    const auto* array = root_.at_path(path).as_array();
    if (array == nullptr) return fail(path, "a list of texts");
    for (const auto& element : *array) {
      const auto value = element.value<std::string>();
      if (!value) return fail(path, "a list of texts");
      out.push_back(*value);
    }
  }

  std::int64_t whole(const std::string& path, std::int64_t min, std::int64_t max) {
    const auto* value = root_.at_path(path).as_integer();
    if (value == nullptr || value->get() < min || value->get() > max) {
      fail(path, fmt::format("a whole number from {} to {}", min, max));
      return min;
    }
    return value->get();
  }

  BitField field(const std::string& path, const LogLayout& layout, std::uint32_t max_bits) {
    BitField field;
    const std::int64_t record_bits = std::int64_t{layout.record_bytes} * 8;
    field.bit = std::uint32_t(whole(path + ".bit", 0, record_bits - 1));
    field.bits = std::uint32_t(whole(path + ".bits", 1, max_bits));
    if (std::int64_t{field.bit} + field.bits > record_bits) {
      fail(path, "within the record");
    } else if (field.bit % 8 + field.bits > 64) {
      fail(path, "within eight bytes");
    }
    return field;
  }

  // One value or a list of them.
  std::vector<std::uint64_t> values(const std::string& path, const BitField& field) {
    std::vector<std::uint64_t> out;
    const std::int64_t max = (std::int64_t{1} << field.bits) - 1;
    const std::string expected = fmt::format("a number from 0 to {}, or a list of them", max);
    const auto take = [&](const toml::node* node) {
      const auto* value = node != nullptr ? node->as_integer() : nullptr;
      if (value == nullptr || value->get() < 0 || value->get() > max) return fail(path, expected);
      out.push_back(std::uint64_t(value->get()));
    };
    const auto entry = root_.at_path(path);
    if (const auto* array = entry.as_array()) {
      for (const auto& element : *array) take(&element);
    } else {
      take(entry.node());
    }
    return out;
  }

  void read_tiles(LogLayout& layout) {
    if (!layout.tile) fail("fields.tile", "the field of what [tiles] is about");
    layout.tile_buffers = std::uint32_t(whole("tiles.buffers", 1, 1 << 10));
    std::vector<std::string> names;
    texts("tiles.order", names);
    for (const std::string& name : names) {
      const auto* key = std::find(engine_keys.begin() + 1, engine_keys.end() - 1, name);
      const bool is_engine = key != engine_keys.end() - 1;
      const auto engine = LogEngine(key - engine_keys.begin());
      if (!is_engine || std::find(layout.tile_order.begin(), layout.tile_order.end(), engine) !=
                            layout.tile_order.end()) {
        return fail("tiles.order", "a list of engines, each once: conv, vector, dma_load …");
      }
      layout.tile_order.push_back(engine);
    }
  }

  const toml::table& root_;
  const std::string& name_;
  std::string error_;
};

}  // namespace

const char* name_of(LogEngine engine) {
  constexpr const char* names[] = {"layers",    "conv",   "vector", "dma load",
                                   "dma store", "scalar", "run"};
  return names[std::size_t(engine)];
}

Result<LogLayout> parse_layout(std::string_view text, const std::string& name) {
  toml::table root;
  try {
    root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return input_error("{}:{}: {}", name, error.source().begin.line, error.description());
  }
  LayoutReader reader(root, name);
  LogLayout layout = reader.read();
  if (!reader.error().empty()) return input_error("{}", reader.error());
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
