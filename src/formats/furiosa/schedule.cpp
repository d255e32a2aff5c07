#include "formats/furiosa/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/has_text.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "ingest/json_document.hpp"
#include "ingest/units.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::furiosa {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

constexpr NamedNumber sram_peak =
    NamedNumber{"SRAM in use", NumberQuantity::bytes, NumberRole::vtcm_peak}.not_additive();
constexpr NamedNumber sram_size =
    NamedNumber{"SRAM", NumberQuantity::bytes, NumberRole::vtcm_size}.not_additive();

constexpr std::int64_t most_cycles = std::int64_t{1} << 60;

// A whole number, in quotes or not.
std::optional<std::int64_t> whole(const simdjson::simdjson_result<element>& value) {
  std::int64_t number = 0;
  if (!value.get(number)) return number;
  std::string_view text;
  if (!value.get(text)) return parse_number<std::int64_t>(text);
  return std::nullopt;
}

// A text, or a number as one.
std::string text_of(const element& value) {
  std::string_view text;
  if (!value.get(text)) return valid_utf8(text);
  return valid_utf8(simdjson::minify(value));
}

// "EinsumByDpe" and "projection" of a line 'name: EinsumByDpe "projection"'.
struct Described {
  std::string kind, name;
  std::optional<std::int64_t> cycles;
};

std::string_view line_after(std::string_view text, std::string_view word) {
  const std::size_t at = text.find(word);
  if (at == text.npos) return {};
  text.remove_prefix(at + word.size());
  return trimmed(text.substr(0, text.find('\n')));
}

Described described(std::string_view text) {
  Described found;
  std::string_view cycles = line_after(text, "cycles:");
  found.cycles = take_number<std::int64_t>(cycles);
  const std::string_view name = line_after(text, "name:");
  const std::size_t quote = name.find('"');
  found.kind = valid_utf8(trimmed(name.substr(0, quote)));
  if (quote != name.npos) {
    const std::string_view rest = name.substr(quote + 1);
    found.name = valid_utf8(rest.substr(0, rest.rfind('"')));
  }
  return found;
}

class ScheduleReader {
 public:
  explicit ScheduleReader(const std::string& file) : losses_(file), file_(file) {}

  Result<Profile> run(const element& document) {
    describe(document);
    array tensors, instructions;
    if (!document["tensors"].get(tensors)) {
      for (const element& tensor : tensors) add_tensor(tensor);
    }
    if (document["instructions"].get(instructions)) return no_schedule();
    for (const element& instruction : instructions) add_instruction(instruction);
    if (profile_.spans.size() == 0) return no_schedule();
    add_memory(document);
    if (tried_ > 0) {
      profile_.checks.push_back({"length = the cycles that instructions name",
                                 differ_ == 0 ? Check::Outcome::passed : Check::Outcome::failed,
                                 fmt::format("{} of {} differ", differ_, tried_)});
    }
    losses_.append_to(profile_.notes);
    profile_.notes.push_back({Severity::info, file_, 0,
                              "times are cycles that the compiler estimates: nothing ran, and the "
                              "file has no clock",
                              1});
    return std::move(profile_);
  }

 private:
  tl::unexpected<Error> no_schedule() const {
    return input_error(
        "{}: a schedule of Furiosa's compiler without instructions; evaluate the "
        "kernel again (--tcl-plot)",
        file_);
  }

  StringId intern(std::string_view text) { return profile_.strings.intern(text); }

  void describe(const element& document) {
    Provenance& provenance = profile_.provenance;
    provenance.format = "Furiosa schedule";
    provenance.device = "Furiosa NPU";
    provenance.files = {file_};
    provenance.times = Origin::estimated;
    provenance.inferences = 1;
    std::string_view title;
    if (!document["title"].get(title)) provenance.graph = valid_utf8(title);
    profile_.add_clock("NPU cycles", ClockKind::unit_cycles, Hertz(0));
  }

  std::optional<Interval> lifetime_of(const element& of) {
    const auto begin = whole(of["lifetime"]["begin"]), end = whole(of["lifetime"]["end"]);
    if (!begin || !end || *begin < 0 || *end < *begin || *end > most_cycles) return std::nullopt;
    return Interval{*begin, *end};
  }

  void add_tensor(const element& from) {
    element name;
    Tensor tensor;
    if (!from["name"].get(name)) tensor.name = intern(text_of(name));
    std::string_view text;
    element shape;
    if (!from["buffer_type"].get(text)) tensor.memory = intern(valid_utf8(text));
    if (!from["shape"].get(shape)) tensor.shape = intern(text_of(shape));
    const auto size = whole(from["size"]);
    if (size && *size > 0) tensor.size = Bytes(std::uint64_t(*size));
    const auto lifetime = lifetime_of(from);
    if (lifetime && size && *size > 0 && profile_.text(tensor.memory) == "Sram") {
      changes_.emplace_back(lifetime->begin, *size);
      changes_.emplace_back(lifetime->end, -*size);
    }
    tensor_of_[std::string(profile_.text(tensor.name))] = std::uint32_t(profile_.tensors.size());
    profile_.tensors.push_back(tensor);
  }

  // By name, or by place in the list.
  std::optional<std::uint32_t> tensor_named(const element& by) {
    std::int64_t place = 0;
    if (!by.get(place)) {
      const bool is_there = place >= 0 && std::size_t(place) < profile_.tensors.size();
      return is_there ? std::optional(std::uint32_t(place)) : std::nullopt;
    }
    element name;
    const auto found = tensor_of_.find(text_of(by["name"].get(name) ? by : name));
    return found == tensor_of_.end() ? std::nullopt : std::optional(found->second);
  }

  void add_instruction(const element& from) {
    const auto lifetime = lifetime_of(from);
    if (!lifetime) {
      return losses_.add(Severity::warning, 0,
                         "instructions without a lifetime, or that end before they begin; left "
                         "out");
    }
    std::set<std::string> contexts;
    array list;
    if (!from["contexts"].get(list)) {
      for (const element& context : list) contexts.insert(text_of(context));
    }
    contexts.erase("Noop");
    if (contexts.empty()) {
      return losses_.add(Severity::info, 0, "instructions that occupy no context (Noop); left out");
    }
    std::string_view text;
    const Described is = described(from["description"].get(text) ? std::string_view() : text);
    if (is.cycles) {
      ++tried_;
      differ_ += *is.cycles != length_of(*lifetime);
    }
    const OpId op = add_op(from, is, *contexts.begin());
    for (const std::string& context : contexts) {
      const UnitId unit = unit_of(context);
      const bool moves = profile_.units[index_of(unit)].engine == Engine::dma;
      profile_.spans.add(unit, op, moves ? SpanKind::transfer : SpanKind::op, lifetime->begin,
                         length_of(*lifetime));
    }
    connect(from, op);
  }

  OpId add_op(const element& from, const Described& is, const std::string& context) {
    element index;
    const std::string number = from["index"].get(index) ? std::string() : text_of(index);
    const auto id = OpId(std::uint32_t(profile_.ops.size()));
    Op op;
    op.kind = op.node_kind = intern(is.kind.empty() ? context : is.kind);
    op.name = intern(!is.name.empty()   ? is.name
                     : !is.kind.empty() ? fmt::format("{} {}", is.kind, number)
                                        : fmt::format("{} {}", context, number));
    op.node = op.name;
    op.engine = engine_of(context);
    op.position = index_of(id);
    op.once_per_inference = true;
    profile_.ops.push_back(op);
    return id;
  }

  static Engine engine_of(std::string_view context) {
    return context.starts_with("Dma") ? Engine::dma : Engine::compute;
  }

  UnitId unit_of(const std::string& context) {
    const auto [found, is_new] = units_.try_emplace(context, UnitId::none);
    if (is_new) {
      found->second = add_unit(profile_, {.engine = engine_of(context), .name = intern(context)});
    }
    return found->second;
  }

  // From whoever made a tensor to whoever takes it.
  void connect(const element& from, OpId op) {
    constexpr std::size_t max_edges = std::size_t{1} << 24;
    array tensors;
    if (!from["input_tensors"].get(tensors)) {
      for (const element& each : tensors) {
        const auto tensor = tensor_named(each);
        if (!tensor) continue;
        profile_.tensor_uses.push_back({*tensor, op});
        const OpId producer = profile_.tensors[*tensor].producer;
        const bool is_made = producer != OpId::none && producer != op;
        if (is_made && profile_.edges.size() < max_edges) {
          profile_.edges.push_back({producer, op, EdgeKind::data});
        }
      }
    }
    if (!from["output_tensors"].get(tensors)) {
      for (const element& each : tensors) {
        if (const auto tensor = tensor_named(each)) profile_.tensors[*tensor].producer = op;
      }
    }
  }

  // What ends goes before what begins.
  void add_memory(const element& document) {
    const auto add = [&](const NamedNumber& number, std::int64_t value) {
      profile_.add_measure(Measure::Subject::profile, 0, number, Origin::estimated, {},
                           double(value));
    };
    std::sort(changes_.begin(), changes_.end());
    std::int64_t now = 0, peak = 0;
    for (const auto& [time, change] : changes_) {
      now = saturating_add(now, change);
      peak = std::max(peak, now);
    }
    if (peak > 0) add(sram_peak, peak);
    const auto total = whole(document["total_memory"]);
    if (total && *total > 0) add(sram_size, *total);
  }

  CountedNotes losses_;
  std::string file_;
  Profile profile_;
  std::map<std::string, std::uint32_t, std::less<>> tensor_of_;
  std::map<std::string, UnitId> units_;
  std::vector<std::pair<std::int64_t, std::int64_t>> changes_;  // of the SRAM: time, bytes
  std::uint64_t tried_ = 0, differ_ = 0;
};

}  // namespace

bool looks_like_schedule(std::string_view head) {
  const auto has = [&](std::string_view word) { return has_text(head, word); };
  return has("\"instructions\"") && has("\"contexts\"") && has("\"lifetime\"") &&
         (has("\"total_memory\"") || has("\"page_size\""));
}

Result<Profile> read_schedule(ByteSource& source) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 30;
  return read_json_document(
      source, max_bytes, "a schedule of Furiosa's compiler", "copy the file again",
      [&](const element& document) { return ScheduleReader(source.name()).run(document); });
}

}  // namespace npuscope::furiosa
