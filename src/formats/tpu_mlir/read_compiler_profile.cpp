#include <cmath>
#include <limits>

#include "base/has_text.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/tpu_mlir/compiler_profile.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::tpu_mlir {
namespace {

struct EngineWords {
  std::string_view head, name;
  std::string_view id;  // the field with its commands' numbers
};
constexpr std::array<EngineWords, engine_count> engine_words{{{"ENGINE_BD", "BD", "b"},
                                                              {"ENGINE_GDMA", "GDMA", "g"},
                                                              {"ENGINE_HAU", "HAU", "h"},
                                                              {"ENGINE_SDMA", "SDMA", "sd"}}};
constexpr std::array<const char*, direction_count> direction_names{"S2L", "L2S", "S2S", "L2L"};

constexpr std::int64_t most_cycles = std::int64_t{1} << 60;

// "total_cycle:15936" of a line, the number after `word`.
template <class Number>
std::optional<Number> number_after(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == line.npos) return std::nullopt;
  std::string_view rest = trimmed(line.substr(at + word.size()));
  return take_number<Number>(rest);
}

class ProfileReader {
 public:
  explicit ProfileReader(ByteSource& source) : source_(source), losses_(source.name()) {
    profile_.file = source.name();
  }

  Result<CompilerProfile> run() {
    LineReader lines(source_, losses_, {.max_bytes = std::uint64_t{64} << 30});
    std::string_view line;
    while (lines.next(line)) {
      offset_ = lines.offset();
      take(line);
    }
    if (profile_.commands.empty()) {
      if (lines.error()) return tl::unexpected(*lines.error());
      return input_error(
          "{}: a compiler profile of tpu-mlir without commands; compile the model again", file());
    }
    if (!profile_.has_end) {
      losses_.add(Severity::error, offset_,
                  "the file breaks off before its total (API_END): what comes after is missing, "
                  "and the clock is unknown; copy the file again");
    }
    losses_.append_to(profile_.notes);
    return std::move(profile_);
  }

 private:
  const std::string& file() const { return profile_.file; }

  void take(std::string_view line) {
    const std::size_t first = line.find('|');
    const bool has_cells =
        first != line.npos && !line.starts_with("API_END") && !line.starts_with("GDMA SUMMARY");
    if (has_cells) return take_cells(line);
    const std::string_view text = trimmed(line);
    if (text.empty() || text.starts_with("---") || text.starts_with("###")) return;
    if (text.starts_with("s: start time")) return;
    if (text.starts_with("ENGINE_")) return take_heads(line);
    if (take_end(text)) return;
    take_cells(line);
  }

  void take_heads(std::string_view line) {
    for (std::size_t engine = 0; engine < engine_count; ++engine) {
      const std::size_t at = line.find(engine_words[engine].head);
      columns_[engine] = at;
    }
  }

  bool take_end(std::string_view line) {
    if (line.starts_with("API_END")) {
      const auto cycles = number_after<std::int64_t>(line, "total_cycle:");
      if (cycles && *cycles >= 0 && *cycles < most_cycles) {
        profile_.total_cycles = *cycles;
        profile_.has_end = true;
      }
      return true;
    }
    if (line.starts_with("TCYC")) {
      for (std::size_t i = 0; i < engine_count; ++i) {
        std::string word(engine_words[i].name == "BD" ? "bdc" : engine_words[i].name);
        for (char& c : word) c = char(c | 0x20);
        profile_.engine_cycles[i] = number_after<std::int64_t>(line, word + "_cycle:");
      }
      return true;
    }
    if (line.starts_with("GDMA SUMMARY")) {
      for (std::size_t i = 0; i < direction_count; ++i) {
        profile_.bytes[i] =
            number_after<std::int64_t>(line, fmt::format("{}:", direction_names[i]));
      }
      return true;
    }
    if (line.starts_with("DDR BW USAGE")) {
      const auto share = number_after<double>(line, ":");
      if (share && *share >= 0 && std::isfinite(*share)) profile_.bandwidth_share = *share;
      return true;
    }
    if (line.starts_with("flops:")) {
      profile_.flops = number_after<std::int64_t>(line, "flops:").value_or(0);
      const double ms = number_after<double>(line, "runtime:").value_or(0);
      constexpr double ns_per_ms = 1e6, longest_ms = 1e9;
      if (ms > 0 && ms < longest_ms) profile_.runtime_ns = std::llround(ms * ns_per_ms);
      return true;
    }
    return line.starts_with("DDR DATASIZE");
  }

  // A command in each column that has one; the columns are padded with blanks.
  void take_cells(std::string_view line) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    for (std::size_t at = 0; at < line.size();) {
      std::size_t end = at;
      while (end < line.size() && !is_blank(line[end])) ++end;
      if (end > at) take_command(line.substr(at, end - at), column_at(at));
      at = std::max(end, at + 1);
    }
  }

  CommandEngine column_at(std::size_t at) const {
    std::size_t found = 0;
    for (std::size_t engine = 1; engine < engine_count; ++engine) {
      if (columns_[engine] != no_column && columns_[engine] <= at) found = engine;
    }
    return CommandEngine(found);
  }

  // "Load_19|GDMA_TENSOR|s:0|b:0|g:1|e:3238|t:3239|dr:0|sz:49152|bw:14.13".
  void take_command(std::string_view cell, CommandEngine engine) {
    Command command;
    command.engine = engine;
    const auto next = [&cell] {
      const std::size_t end = std::min(cell.find('|'), cell.size());
      const std::string_view field = cell.substr(0, end);
      cell.remove_prefix(std::min(cell.size(), end + 1));
      return field;
    };
    const std::string_view layer = next(), name = next();
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    command.start = command.cycles = -1;
    while (!cell.empty()) {
      std::string_view field = next();
      const std::size_t colon = std::min(field.find(':'), field.size());
      const std::string_view key = field.substr(0, colon);
      field.remove_prefix(std::min(field.size(), colon + 1));
      const auto number = parse_number<std::int64_t>(field);
      if (!number) continue;  // the bandwidth, which its bytes and cycles tell better
      if (key == "s") command.start = *number;
      if (key == "e") end = *number;
      if (key == "t") command.cycles = *number;
      if (key == "sz") command.bytes = *number;
      if (key == "dr" && *number >= 0 && std::size_t(*number) < direction_count) {
        command.direction = Direction(*number);
      }
      for (std::size_t i = 0; i < engine_count; ++i) {
        if (key == engine_words[i].id) command.ids[i] = *number;
      }
    }
    const bool is_sound = !name.empty() && command.start >= 0 && command.start < most_cycles &&
                          command.cycles >= 0 && command.cycles < most_cycles;
    if (!is_sound) {
      return losses_.add(Severity::warning, offset_,
                         "commands without a name, start or length, as where a line is cut; left "
                         "out");
    }
    if (command.bytes < 0) {
      command.bytes = 0;
      losses_.add(Severity::warning, offset_, "fewer than 0 bytes; taken as none");
    }
    // The end is inclusive, and one before the start of a command that takes no time.
    if (end != std::numeric_limits<std::int64_t>::min() &&
        end != command.start + command.cycles - 1) {
      losses_.add(Severity::warning, offset_,
                  "ends that are not start + length - 1: the lengths are used");
    }
    command.layer = profile_.strings.intern(valid_utf8(layer));
    command.command = profile_.strings.intern(valid_utf8(name));
    profile_.commands.push_back(command);
  }

  static constexpr std::size_t no_column = std::string_view::npos;
  ByteSource& source_;
  CountedNotes losses_;
  CompilerProfile profile_;
  std::array<std::size_t, engine_count> columns_{0, no_column, no_column, no_column};
  std::uint64_t offset_ = 0;
};

}  // namespace

const char* name_of(CommandEngine engine) { return engine_words[std::size_t(engine)].name.data(); }
const char* name_of(Direction direction) { return direction_names[std::size_t(direction)]; }

bool looks_like_compiler_profile(std::string_view head) {
  return has_text(head, "bd_id") && has_text(head, "gdma_id") && has_text(head, "ENGINE_BD");
}

Result<CompilerProfile> read_compiler_profile(ByteSource& source) {
  return ProfileReader(source).run();
}

}  // namespace npuscope::tpu_mlir
