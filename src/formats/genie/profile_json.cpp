#include "formats/genie/profile_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/counted.hpp"
#include "base/has_text.hpp"
#include "base/text.hpp"
#include "ingest/json_document.hpp"
#include "ingest/units.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::genie {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::int64_t most_ticks = std::int64_t{1} << 50;  // microseconds: 35 years

// What calls say of themselves. Others stay under the file's own name.
struct KnownNumber {
  std::string_view key;
  NamedNumber number;
};
constexpr KnownNumber known_numbers[] = {
    {"init-time", {"initialisation", MeasureKind::wall}},
    {"num-prompt-tokens", {"prompt tokens", NumberQuantity::count}},
    {"prompt-processing-rate", {"prompt tokens per second", NumberQuantity::rate}},
    {"time-to-first-token", {"time to first token", MeasureKind::wall}},
    {"num-generated-tokens", {"generated tokens", NumberQuantity::count}},
    {"token-generation-rate", {"generated tokens per second", NumberQuantity::rate}},
    {"token-generation-time", {"token generation", MeasureKind::wall}},
    {"token-acceptance-rate", {"tokens accepted per step", NumberQuantity::rate}},
    {"lora-adapter-switching-time", {"switch of the LoRA adapter", MeasureKind::wall}},
};

// What a user waits for: an answer, an embedding, the outputs of a pipeline.
constexpr std::string_view queries[] = {"GenieDialog_query", "GenieDialog_tokenQuery",
                                        "GenieDialog_embeddingQuery", "GenieEmbedding_generate",
                                        "GeniePipeline_execute"};

class ProfileReader {
 public:
  explicit ProfileReader(const std::string& file) : losses_(file), file_(file) {}

  Result<Profile> run(const element& document) {
    Provenance& provenance = profile_.provenance;
    provenance.format = "Genie profile";
    provenance.files = {file_};
    provenance.platform = Provenance::Platform::hexagon;
    clock_ = profile_.add_clock("microseconds", ClockKind::wall, Hertz(1e6));
    array components;
    if (!document["components"].get(components)) {
      for (const element& component : components) add_component(component);
    }
    if (profile_.phases.empty()) {
      return input_error(
          "{}: a Genie profile without calls{}; run the prompt again with --profile, and let the "
          "program end by itself",
          file_, losses_.notes().empty() ? "" : " that have a name and a duration");
    }
    count_from_the_first();
    provenance.inferences = queries_;
    provenance.temperature = Provenance::Temperature::warm;  // the call before has loaded the model
    if (queries_ > 0) {
      profile_.notes.push_back(
          {Severity::info, "", 0,
           "an inference is a whole query, from its call to its end: the prompt and all tokens of "
           "the answer; the file says nothing of the operators",
           1});
    }
    losses_.append_to(profile_.notes);
    return std::move(profile_);
  }

 private:
  StringId intern(std::string_view text) { return profile_.strings.intern(valid_utf8(text)); }

  static std::optional<std::int64_t> ticks(const simdjson::simdjson_result<element>& value) {
    double number = 0;  // whole in the client's own files; other writers print 5.0
    if (value.get(number) || !(number >= 0 && number <= double(most_ticks))) return std::nullopt;
    return std::llrint(number);
  }

  void add_component(const element& component) {
    std::string_view name, type;
    array events;
    if (component["events"].get(events)) {
      return losses_.add(Severity::warning, 0, "components without calls; left out");
    }
    if (component["type"].get(type)) type = "component";
    if (component["name"].get(name)) name = "";
    const UnitId unit = add_unit(
        profile_,
        {.engine = Engine::host,
         .name = intern(name.empty() ? std::string(type) : fmt::format("{} {}", type, name))});
    for (const element& event : events) add_event(event, unit);
  }

  void add_event(const element& event, UnitId unit) {
    std::string_view type;
    object members;
    const auto duration = ticks(event["duration"]), start = ticks(event["start"]);
    if (event["type"].get(type) || event.get(members) || !duration) {
      return losses_.add(Severity::warning, 0,
                         "calls without a name, or without a duration of this world; left out");
    }
    if (!start) losses_.add(Severity::warning, 0, "calls that do not say when they began: at 0");
    const std::int64_t begin = start.value_or(0);
    const bool is_inference = std::ranges::count(queries, type) > 0;
    const std::uint32_t instance = is_inference ? queries_++ : 0;
    profile_.phases.push_back(
        {intern(type), instance, unit, begin, *duration, double(*duration), outermost_phase});
    if (is_inference) {
      profile_.spans.instance.push_back(instance);
      profile_.spans.add(unit, OpId::none, SpanKind::inference, begin, *duration);
    }
    for (const auto [key, value] : members) {
      object number;
      if (!value.get(number))
        add_number(key, number, type, is_inference ? instance : every_instance);
    }
  }

  void add_number(std::string_view key, const object& from, std::string_view call,
                  std::uint32_t instance) {
    double value = 0;
    std::string_view unit;
    if (from["value"].get(value) || !std::isfinite(value) || value < 0 ||
        value > double(most_ticks)) {
      return losses_.add(Severity::warning, 0,
                         "numbers of calls that are none, negative or impossibly large; left out");
    }
    if (from["unit"].get(unit)) unit = "";
    const auto known = std::ranges::find(known_numbers, key, &KnownNumber::key);
    const double scale = unit == "us" ? 1 : unit == "ms" ? 1e3 : unit == "s" ? 1e6 : 0;
    NamedNumber number =
        known != std::end(known_numbers)
            ? known->number
            : NamedNumber{key, scale > 0 ? NumberQuantity::time : NumberQuantity::count};
    const bool is_time = number.meaning.quantity == NumberQuantity::time;
    if (is_time && !(scale > 0)) {
      return losses_.add(Severity::warning, 0, "times in a unit that is not known; left out");
    }
    if (known == std::end(known_numbers)) {
      if (is_time) number = {key, MeasureKind::wall};
      if (!is_time && !unit.empty()) number.name = name_ = fmt::format("{} in {}", key, unit);
    }
    if (instance == every_instance) {
      number.name = name_ = fmt::format("{}, {}", number.name, call);
    }
    profile_.add_measure(Measure::Subject::profile, 0, number.not_additive(), Origin::measured,
                         is_time ? clock_ : ClockId{}, is_time ? value * scale : value);
    profile_.measures.back().instance = instance;
  }

  // The file counts from the start of the machine.
  void count_from_the_first() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const Phase& phase : profile_.phases) first = std::min(first, phase.start);
    for (Phase& phase : profile_.phases) phase.start -= first;
    for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
      profile_.spans.start[row] -= first;
    }
  }

  CountedNotes losses_;
  std::string file_;
  Profile profile_;
  ClockId clock_{};
  std::uint32_t queries_ = 0;
  std::string name_;  // of a number, while it is added
};

}  // namespace

bool looks_like_profile_json(std::string_view head) {
  return has_text(head, "\"GENIE_PROFILE\"") || has_text(head, "\"GenieDialog_create\"") ||
         has_text(head, "\"GeniePipeline_create\"") || has_text(head, "\"GenieEmbedding_create\"");
}

Result<Profile> read_profile_json(ByteSource& source) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 28;
  return read_json_document(
      source, max_bytes, "a Genie profile", "copy it again",
      [&](const element& document) { return ProfileReader(source.name()).run(document); });
}

}  // namespace npuscope::genie
