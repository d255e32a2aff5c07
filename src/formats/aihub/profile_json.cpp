#include "formats/aihub/profile_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/counted.hpp"
#include "base/has_text.hpp"
#include "base/text.hpp"
#include "ingest/json_document.hpp"
#include "ingest/units.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::aihub {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

constexpr std::int64_t most_ticks = std::int64_t{1} << 50;  // microseconds: 35 years

constexpr NamedNumber layer_time{"shortest time", MeasureKind::work, NumberRole::node_cycles};
constexpr NamedNumber layer_cycles{"shortest cycles", MeasureKind::work};
constexpr NamedNumber fastest =
    NamedNumber{"inference", MeasureKind::wall, NumberRole::host_round_trip}.over_many(
        "inference, min", Statistic::min);

struct SummaryTime {
  std::string_view key, name;
};
constexpr SummaryTime summary_times[] = {{"compile_time", "compilation on the device"},
                                         {"first_load_time", "first load"},
                                         {"warm_load_time", "warm load"}};

// Either a number, or the least and the most that were seen.
struct SummaryMemory {
  std::string_view key, range, name;
};
constexpr SummaryMemory summary_memories[] = {
    {"compile_peak_memory", "compile_memory_peak_range", "peak memory of compilation"},
    {"first_load_peak_memory", "first_load_memory_peak_range", "peak memory of the first load"},
    {"warm_load_peak_memory", "warm_load_memory_peak_range", "peak memory of a warm load"},
    {"estimated_inference_peak_memory", "inference_memory_peak_range", "peak memory of inference"},
};

class ProfileReader {
 public:
  explicit ProfileReader(const std::string& file) : losses_(file), file_(file) {}

  Result<Profile> run(const element& document) {
    describe();
    const auto summary = document["execution_summary"];
    add_inferences(summary);
    add_summary(summary);
    array layers;
    if (!document["execution_detail"].get(layers)) {
      for (const element& layer : layers) add_layer(layer);
    }
    for (const auto& [unit, count] : layers_on_) {
      of_profile({fmt::format("layers on {}", unit.empty() ? "an unknown unit" : unit),
                  NumberQuantity::count},
                 double(count));
    }
    if (profile_.spans.size() == 0 && profile_.ops.empty() && !fastest_) {
      return input_error(
          "{}: a profile of AI Hub without inferences and layers{}; download it again when its job "
          "has ended (download_profile)",
          file_, losses_.notes().empty() ? "" : " that have a number of this world");
    }
    add_layer_numbers();
    note_what_times_are();
    losses_.append_to(profile_.notes);
    return std::move(profile_);
  }

 private:
  StringId intern(std::string_view text) { return profile_.strings.intern(valid_utf8(text)); }

  void describe() {
    Provenance& provenance = profile_.provenance;
    provenance.format = "AI Hub profile";
    provenance.files = {file_};
    microseconds_ = profile_.add_clock("microseconds", ClockKind::wall, Hertz(1e6));
  }

  // Not negative, not longer than any run; nothing where the file has none (null).
  std::optional<std::int64_t> number(const simdjson::simdjson_result<element>& value) {
    element is;
    return value.get(is) || is.is_null() ? std::nullopt : number(is);
  }
  std::optional<std::int64_t> number(const element& is) {
    double value = 0;  // whole in the client's own files; other writers print 281.0
    if (!is.get(value) && value >= 0 && value <= double(most_ticks)) return std::llrint(value);
    losses_.add(Severity::warning, 0,
                "numbers that are none, negative or impossibly large; left out");
    return std::nullopt;
  }

  // The client does not say when an inference began.
  void add_inferences(const simdjson::simdjson_result<element>& summary) {
    fastest_ = number(summary["estimated_inference_time"]);
    array times;
    if (summary["all_inference_times"].get(times) || times.size() == 0) return add_fastest();
    const UnitId runtime =
        add_unit(profile_, {.engine = Engine::host, .name = intern("runtime on the device")});
    std::optional<std::int64_t> shortest;
    for (const element& time : times) {
      const auto duration = number(time);
      if (!duration) continue;
      profile_.spans.instance.push_back(std::uint32_t(profile_.spans.size()));
      profile_.spans.add(runtime, OpId::none, SpanKind::inference, 0, *duration);
      shortest = std::min(shortest.value_or(*duration), *duration);
    }
    const std::size_t count = profile_.spans.size();
    if (count == 0) return add_fastest();
    profile_.provenance.inferences = std::uint32_t(count);
    profile_.provenance.temperature =
        count > 1 ? Provenance::Temperature::cold_then_warm : Provenance::Temperature::cold;
    if (!fastest_) return;
    profile_.checks.push_back(
        {"estimated inference time = the fastest inference",
         *fastest_ == *shortest ? Check::Outcome::passed : Check::Outcome::failed,
         fmt::format("{} us of {}; the fastest {} us", *fastest_, counted(count, "inference"),
                     *shortest)});
    profile_.notes.push_back(
        {Severity::info, "", 0,
         fmt::format("AI Hub's estimated inference time ({} us) is the fastest of {}, the first "
                     "and cold one among them; pages show all, or their middle",
                     *fastest_, counted(count, "inference")),
         1});
  }

  void add_fastest() {
    if (fastest_ && *fastest_ > 0) of_profile(fastest, double(*fastest_), microseconds_);
  }

  void of_profile(const NamedNumber& named, double value, ClockId clock = {}) {
    profile_.add_measure(Measure::Subject::profile, 0, named, Origin::measured, clock, value);
  }

  void add_summary(const simdjson::simdjson_result<element>& summary) {
    for (const SummaryTime& time : summary_times) {
      const auto value = number(summary[time.key]);
      if (value && *value > 0)
        of_profile({time.name, MeasureKind::wall}, double(*value), microseconds_);
    }
    for (const SummaryMemory& memory : summary_memories) {
      const NamedNumber named = NamedNumber{memory.name, NumberQuantity::bytes}.not_additive();
      array range;
      if (!summary[memory.range].get(range) && range.size() == 2) {
        const auto least = number(range.at(0)), most = number(range.at(1));
        if (!least || !most || *most == 0) continue;
        const bool is_one = *least == *most;
        of_profile(is_one ? named : named.called(fmt::format("{}, most", memory.name)),
                   double(*most));
        if (!is_one)
          of_profile(named.called(fmt::format("{}, least", memory.name)), double(*least));
      } else if (const auto peak = number(summary[memory.key]); peak && *peak > 0) {
        of_profile(named, double(*peak));
      }
    }
  }

  static Engine engine_of(std::string_view unit) {
    if (unit == "NPU") return Engine::compute;
    return unit == "CPU" ? Engine::host : Engine::other;
  }

  void add_layer(const element& from) {
    std::string_view name, type, unit;
    if (from["name"].get(name)) {
      return losses_.add(Severity::warning, 0, "layers without a name; left out");
    }
    Op op;
    op.name = op.node = intern(name);
    if (!from["type"].get(type)) op.kind = op.node_kind = intern(type);
    if (!from["compute_unit"].get(unit)) {
      op.engine = engine_of(unit);
      op.provider = intern(unit);
      if (op.engine == Engine::compute)
        profile_.provenance.platform = Provenance::Platform::hexagon;
    }
    ++layers_on_[std::string(unit)];
    op.position = std::uint32_t(profile_.ops.size());
    op.once_per_inference = true;
    profile_.ops.push_back(op);
    numbers_.push_back({number(from["execution_time"]), number(from["execution_cycles"])});
  }

  struct LayerNumbers {
    std::optional<std::int64_t> time, cycles;
    // The client writes 0 for what was not measured, and for less than one microsecond.
    bool is_known() const { return time.value_or(0) > 0 || cycles.value_or(0) > 0; }
  };

  // Times first, of which pages rank by the first; cycles where no layer has a time.
  void add_layer_numbers() {
    const auto has = [&](auto member) {
      return std::ranges::any_of(
          numbers_, [&](const LayerNumbers& of) { return (of.*member).value_or(0) > 0; });
    };
    const bool has_times = has(&LayerNumbers::time), has_cycles = has(&LayerNumbers::cycles);
    const ClockId cycles =
        has_cycles ? profile_.add_clock("cycles", ClockKind::unit_cycles, Hertz(0)) : ClockId{};
    for (std::uint32_t i = 0; i < numbers_.size(); ++i) {
      const LayerNumbers& of = numbers_[i];
      if (!of.is_known()) {
        ++unknown_;
        continue;
      }
      const auto add = [&](const NamedNumber& named, ClockId clock, std::int64_t value) {
        profile_.add_measure(Measure::Subject::op, i, named, Origin::measured, clock,
                             double(value));
      };
      if (has_times && of.time) add(layer_time, microseconds_, *of.time);
      if (of.cycles) add(layer_cycles, cycles, *of.cycles);
    }
  }

  void note_what_times_are() {
    if (numbers_.size() > unknown_) {
      profile_.notes.push_back(
          {Severity::info, "", 0,
           "the time of a layer is the shortest that it took in any inference: their sum is less "
           "than an inference takes, and layers that ran at once count each",
           1});
    }
    if (unknown_ == 0) return;
    const bool has_none = unknown_ == numbers_.size();
    losses_.add(has_none ? Severity::warning : Severity::info, 0,
                has_none
                    ? "layers without a time: the job recorded none; name the QNN profile of the "
                      "same job, where it has one (record-help aihub)"
                    : "layers without a time: part of another layer, or not measured",
                unknown_);
  }

  CountedNotes losses_;
  std::string file_;
  Profile profile_;
  ClockId microseconds_{};
  std::optional<std::int64_t> fastest_;
  std::vector<LayerNumbers> numbers_;               // of profile_.ops
  std::map<std::string, std::uint64_t> layers_on_;  // by what ran them
  std::uint64_t unknown_ = 0;
};

}  // namespace

bool looks_like_profile_json(std::string_view head) {
  const auto has = [&](std::string_view word) { return has_text(head, word); };
  return (has("\"execution_summary\"") && has("\"estimated_inference_time\"")) ||
         (has("\"execution_detail\"") && has("\"compute_unit\""));  // with its keys sorted
}

Result<Profile> read_profile_json(ByteSource& source) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 28;
  return read_json_document(
      source, max_bytes, "a profile of AI Hub", "download it again",
      [&](const element& document) { return ProfileReader(source.name()).run(document); });
}

}  // namespace npuscope::aihub
