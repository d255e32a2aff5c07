#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/ascend/kernels.hpp"
#include "ingest/delimited.hpp"

namespace npuscope::ascend {
namespace {

// What a column is, whatever the version calls it.
enum Column : std::size_t {
  name,
  type,
  core,
  start,
  duration,
  wait,
  device,
  stream,
  step,
  blocks,
  inputs,
  input_types,
  outputs,
  column_count
};

struct Heads {
  Column column;
  std::array<std::string_view, 3> heads;
};
constexpr std::array all_heads{
    Heads{name, {"Name", "Op Name", ""}},
    Heads{type, {"Type", "OP Type", ""}},
    Heads{core, {"Accelerator Core", "Task Type", "Accelerator"}},
    Heads{start, {"Start Time(us)", "Task Start Time(us)", ""}},
    Heads{duration, {"Duration(us)", "Task Duration(us)", ""}},
    Heads{wait, {"Wait Time(us)", "Task Wait Time(us)", ""}},
    Heads{device, {"Device_id", "Device ID", "Device Id"}},
    Heads{stream, {"Stream ID", "Stream Id", ""}},
    Heads{step, {"Step Id", "Step ID", "Infer ID"}},
    Heads{blocks, {"Block Dim", "Block Num", ""}},
    Heads{inputs, {"Input Shapes", "", ""}},
    Heads{input_types, {"Input Data Types", "", ""}},
    Heads{outputs, {"Output Shapes", "", ""}},
};

constexpr std::size_t no_place = ~std::size_t{0};
using Places = std::array<std::size_t, column_count>;

// None where a kernel cannot be made of such rows.
std::optional<Places> places_in(std::span<const std::string_view> heads) {
  Places places;
  places.fill(no_place);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::string_view head = trimmed(heads[i]);
    for (const Heads& each : all_heads) {
      const bool is_it = !head.empty() && std::ranges::find(each.heads, head) != each.heads.end();
      if (is_it && places[each.column] == no_place) places[each.column] = i;
    }
  }
  for (const Column needed : {name, core, start, duration}) {
    if (places[needed] == no_place) return std::nullopt;
  }
  return places;
}

bool is_stated(std::string_view text) { return !text.empty() && text != "N/A"; }

// Digits from the front of a text; none where there are none, or more than a number has.
std::optional<std::int64_t> take_digits(std::string_view& text) {
  std::int64_t number = 0;
  std::size_t size = 0;
  constexpr std::size_t most_digits = 18;
  while (size < text.size() && size < most_digits && is_digit(text[size])) {
    number = number * 10 + (text[size++] - '0');
  }
  const bool goes_on = size < text.size() && is_digit(text[size]);
  if (size == 0 || goes_on) return std::nullopt;
  text.remove_prefix(size);
  return number;
}

class KernelReader {
 public:
  explicit KernelReader(ByteSource& source) : losses_(source.name()), source_(source) {
    table_.file = source.name();
  }

  Result<KernelTable> run() {
    LineReader lines(source_, losses_, {.max_bytes = std::uint64_t{64} << 30});
    DelimitedReader records(lines, losses_, ',');
    std::optional<Places> places;
    while (records.next()) {
      if (!places) {
        places = places_in(records.cells());
        if (places) find_numbers(records.cells());
        continue;
      }
      if (records.cells().size() == 1 && trimmed(records.cells()[0]).empty()) continue;
      take(records, *places);
    }
    if (table_.kernels.empty()) {
      if (lines.error()) return tl::unexpected(*lines.error());
      return input_error(
          "{}: a table of Ascend's kernels without rows; nothing ran on the NPU "
          "while it was recorded",
          source_.name());
    }
    losses_.append_to(table_.notes);
    return std::move(table_);
  }

 private:
  void find_numbers(std::span<const std::string_view> heads) {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      auto number = kernel_number(trimmed(heads[i]));
      if (!number) continue;
      table_.numbers.push_back(std::move(*number));
      number_places_.push_back(i);
    }
  }

  void take(const DelimitedReader& records, const Places& places) {
    const std::span<const std::string_view> fields = records.cells();
    const auto field = [&](Column column) -> std::string_view {
      return places[column] < fields.size() ? trimmed(fields[places[column]]) : std::string_view();
    };
    const auto starts = microseconds_as_ns(field(start)),
               lasts = microseconds_as_ns(field(duration));
    if (!starts || !lasts || fields.size() <= places[name]) {
      return losses_.add(Severity::warning, records.offset(),
                         "kernels without a start or a duration, as where a row is cut; left out");
    }
    Kernel kernel;
    kernel.start_ns = *starts;
    kernel.duration_ns = *lasts;
    kernel.name = intern(field(name));
    kernel.type = intern(field(type));
    kernel.core = intern(field(core));
    kernel.inputs = intern(unquoted(field(inputs)));
    kernel.input_types = intern(field(input_types));
    kernel.outputs = intern(unquoted(field(outputs)));
    kernel.is_collective = is_collective(field(core), field(type), field(name));
    kernel.wait_ns = microseconds_as_ns(field(wait)).value_or(Kernel::none);
    kernel.device = whole(field(device)).value_or(0);
    kernel.stream = whole(field(stream)).value_or(Kernel::none);
    kernel.step = whole(field(step)).value_or(Kernel::none);
    kernel.blocks = whole(field(blocks)).value_or(Kernel::none);
    table_.kernels.push_back(kernel);
    for (std::size_t i = 0; i < number_places_.size(); ++i) {
      const std::size_t place = number_places_[i];
      add(table_.numbers[i], place < fields.size() ? trimmed(fields[place]) : std::string_view());
    }
  }

  static void add(KernelNumber& number, std::string_view text) {
    using Is = KernelNumber::Is;
    if (number.is == Is::other) {
      const double unknown = std::numeric_limits<double>::quiet_NaN();
      number.rates.push_back(text == "0.0" ? 0 : parse_number<double>(text).value_or(unknown));
      return;
    }
    const auto value = number.is == Is::time ? microseconds_as_ns(text) : whole(text);
    number.values.push_back(value.value_or(KernelNumber::missing));
  }

  static std::optional<std::int64_t> whole(std::string_view text) {
    const auto number = take_digits(text);  // "31.0" too
    return number && *number >= 0 && (text.empty() || text.front() == '.') ? number : std::nullopt;
  }
  static std::string_view unquoted(std::string_view text) {
    while (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
      text = text.substr(1, text.size() - 2);
    }
    return text;
  }
  StringId intern(std::string_view text) {
    if (!is_stated(text)) return StringId::empty;
    const bool is_ascii = std::ranges::none_of(text, [](char c) { return c < 0; });
    return is_ascii ? table_.strings.intern(text) : table_.strings.intern(valid_utf8(text));
  }

  CountedNotes losses_;
  ByteSource& source_;
  KernelTable table_;
  std::vector<std::size_t> number_places_;
};

// "mac" and "mte2" as people read them.
std::string pipe_name(std::string_view pipe) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> names{
      {{"mac", "MAC"}, {"vec", "vector"}, {"mte1", "MTE1"}, {"mte2", "MTE2"}, {"mte3", "MTE3"}}};
  for (const auto& [word, meaning] : names) {
    if (pipe == word) return std::string(meaning);
  }
  std::string name(pipe);
  std::ranges::replace(name, '_', ' ');
  return name;
}

}  // namespace

std::optional<KernelNumber> kernel_number(std::string_view head) {
  std::string_view unit;
  if (const std::size_t at = head.find('('); at != head.npos && head.ends_with(')')) {
    unit = head.substr(at + 1, head.size() - at - 2);
    head = head.substr(0, at);
  }
  KernelNumber number;
  std::string core;
  if (head == "aicore_time") head = "aic_total_time";
  if (head == "aiv_time") head = "aiv_total_time";
  if (head == "total_cycles") head = "aic_total_cycles";
  if (head.starts_with("aic_") || head.starts_with("aiv_")) {
    core = head[2] == 'c' ? "AI Core" : "AI Vector Core";
    head.remove_prefix(4);
  } else if (head != "cube_utilization" && head != "memory_bound") {
    return std::nullopt;
  }
  if (head == "total_time") {
    number.is = KernelNumber::Is::time;
    number.name = core + " time";
  } else if (head.ends_with("_time")) {
    number.is = KernelNumber::Is::time;
    number.name = core + " " + pipe_name(head.substr(0, head.size() - 5)) + " time";
  } else if (head.ends_with("_cycles")) {
    number.is = KernelNumber::Is::cycles;
    number.name = core + " cycles, over blocks";
  } else {
    // Of the pipes that have a time: the same by the core's.
    constexpr std::array<std::string_view, 7> timed{"mac_ratio",    "vec_ratio",  "scalar_ratio",
                                                    "mte1_ratio",   "mte2_ratio", "mte3_ratio",
                                                    "fixpipe_ratio"};
    if (std::ranges::find(timed, head) != timed.end()) return std::nullopt;
    number.name = core.empty() ? pipe_name(head) : core + " " + pipe_name(head);
    if (!unit.empty()) number.name += fmt::format(" ({})", unit);
  }
  return number;
}

bool is_collective(std::string_view core, std::string_view type, std::string_view name) {
  return core == "HCCL" || core == "COMMUNICATION" || core == "CCU" || type.starts_with("hcom_") ||
         name.starts_with("hcom_");
}

std::optional<std::int64_t> microseconds_as_ns(std::string_view text) {
  if (text == "0.0") return 0;  // most counters: of the kind of core that a kernel does not use
  const auto whole = take_digits(text);
  constexpr std::int64_t most = std::int64_t{4} << 50;  // the year 2112
  if (!whole || *whole > most) return std::nullopt;
  std::int64_t ns = *whole * 1000;
  if (text.empty()) return ns;
  if (text.front() != '.') return std::nullopt;
  text.remove_prefix(1);
  std::int64_t scale = 100;
  for (std::size_t i = 0; i < text.size(); ++i, scale /= 10) {
    if (!is_digit(text[i])) return std::nullopt;
    ns += (text[i] - '0') * scale;
    if (i == 3 && text[i] >= '5') ++ns;
  }
  return ns;
}

bool looks_like_kernels(std::string_view head) {
  constexpr int max_records = 4;
  auto source = open_byte_source(head, "");
  if (!source) return false;
  CountedNotes losses;
  LineReader lines(**source, losses);
  DelimitedReader records(lines, losses, ',');
  for (int i = 0; i < max_records && records.next(); ++i) {
    if (places_in(records.cells())) return true;
  }
  return false;
}

Result<KernelTable> read_kernels(ByteSource& source) { return KernelReader(source).run(); }

}  // namespace npuscope::ascend
