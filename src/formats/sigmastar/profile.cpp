#include "formats/sigmastar/profile.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/sort_rows.hpp"
#include "formats/sigmastar/layer_rows.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::sigmastar {
namespace {

constexpr std::array engine_words{"conv", "vector", "DMA load", "DMA store"};  // as percent_keys
constexpr double nanoseconds_a_second = 1e9;
constexpr double max_hertz = 1e11;
constexpr double max_time = 4e18;   // cycles
constexpr double max_bytes = 1e15;  // of a transfer

// What a track of npuscope's own timelines is called; work that overlaps has lanes beside it.
std::optional<Engine> engine_named(std::string_view name) {
  name = name.substr(0, name.find(" (lane "));
  if (name == "conv" || name == "vector" || name == "scalar") return Engine::compute;
  if (name == "dma load" || name == "dma store") return Engine::dma;
  return std::nullopt;
}

// A rate at which every layer lasts total_cycle, to the nanosecond that the text resolves.
class RateFinder {
 public:
  void add(std::int64_t nanoseconds, double cycles) {
    rows_.push_back({nanoseconds, cycles});
    nanoseconds_ += double(nanoseconds);
    cycles_ += cycles;
  }
  std::uint64_t rows() const { return rows_.size(); }

  // Whole megahertz before what the sums say: that is what the tools take.
  std::optional<double> find() {
    if (nanoseconds_ <= 0 || cycles_ <= 0) return std::nullopt;
    const double sums = cycles_ / nanoseconds_ * nanoseconds_a_second;
    const double whole = std::round(sums / 1e6) * 1e6;
    for (const double rate : {whole, sums}) {
      agreeing_ = 0;
      if (rate < 1 || rate > max_hertz) continue;
      for (const Row& row : rows_) agreeing_ += agrees(row, rate);
      if (agreeing_ == rows_.size()) return rate;
    }
    return std::nullopt;
  }
  std::uint64_t agreeing() const { return agreeing_; }

 private:
  struct Row {
    std::int64_t nanoseconds;
    double cycles;
  };
  // Writers round to a nanosecond or cut at one; a double of microseconds has 15 digits.
  static bool agrees(const Row& row, double rate) {
    const double expected = row.cycles / rate * nanoseconds_a_second;
    return std::abs(double(row.nanoseconds) - expected) <= 1.5 + expected * 1e-9;
  }

  std::vector<Row> rows_;
  double nanoseconds_ = 0, cycles_ = 0;
  std::uint64_t agreeing_ = 0;
};

// What npuscope's own timelines say about themselves; nothing else of it is left to tell.
struct AboutLogs {
  std::string chip;
  bool is_incomplete = false;
};
AboutLogs take_about(chrome::Events& events) {
  const std::string_view about = events.field("otherData");
  if (!about.starts_with(R"({"writer":"ipu timeline")")) return {};
  constexpr std::string_view key = R"("chip":")";
  const auto at = about.find(key);
  std::string chip;
  if (at != about.npos) {
    const std::string_view rest = about.substr(at + key.size());
    chip = rest.substr(0, rest.find('"'));
  }
  const bool is_incomplete = about.find(fmt::format(R"("{}":true)", incomplete_key)) != about.npos;
  std::erase_if(events.fields, [](const auto& field) { return field.first == "otherData"; });
  return {chip, is_incomplete};
}

class IpuProfile {
 public:
  explicit IpuProfile(chrome::Events&& events)
      : about_(take_about(events)),
        profile_(chrome::make_profile(std::move(events))),
        rows_(profile_) {}

  Profile run();

 private:
  void name_units();
  void set_kinds();
  void set_clock();
  void number_inferences();
  void count_in_cycles(double rate);
  void take_told_cycles(std::int64_t rounding);
  void keep_cycles_apart();
  void add_measures();
  void add_unit_measures(std::size_t engine);
  void add_bytes();
  void say_what_overlaps();

  AboutLogs about_;
  Profile profile_;
  LayerRows rows_;
  ClockId cycles_{};
  bool has_engine_tracks_ = false;
  std::array<std::vector<double>, percent_keys.size()> of_unit_;  // cycles, by unit
  std::vector<double> layers_of_unit_;
};

Profile IpuProfile::run() {
  profile_.provenance.format = timeline_format;
  profile_.provenance.device =
      "SigmaStar IPU" + (about_.chip.empty() ? "" : " (" + about_.chip + ")");
  profile_.provenance.platform = Provenance::Platform::sigmastar_ipu;
  if (about_.chip == "ipu-muffin") profile_.provenance.target = about_.chip;
  profile_.provenance.instrumentation = "IPU log";
  name_units();
  set_kinds();
  set_clock();
  number_inferences();
  add_measures();
  say_what_overlaps();
  add_bytes();
  return std::move(profile_);
}

void IpuProfile::name_units() {
  for (const LayerRow& layer : rows_.layers()) {
    Unit& unit = profile_.units[index_of(profile_.spans.unit[layer.row])];
    unit.engine = Engine::core;
    unit.core = layer.core;
  }
  for (std::size_t i = 0; i < profile_.units.size(); ++i) {
    Unit& unit = profile_.units[i];
    const auto engine = engine_named(profile_.text(unit.name));
    const auto core = core_of(profile_, UnitId(i));
    if (!engine || unit.engine != Engine::thread || !core) continue;
    unit.engine = *engine;
    unit.core = *core;
  }
  for (Unit& unit : profile_.units) {
    const bool has_parent = unit.engine == Engine::thread && unit.parent != UnitId::none;
    if (!has_parent || profile_.text(unit.name) != "run") continue;
    const Unit& parent = profile_.units[index_of(unit.parent)];
    if (profile_.text(parent.name) == "corectrl") unit.engine = Engine::device;
  }
}

void IpuProfile::set_kinds() {
  Spans& spans = profile_.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::slice) continue;
    const Unit& unit = profile_.units[index_of(spans.unit[row])];
    if (unit.engine == Engine::device) spans.kind[row] = SpanKind::inference;
    if (unit.engine != Engine::compute && unit.engine != Engine::dma) continue;
    spans.kind[row] = SpanKind::op;
    has_engine_tracks_ = true;
  }
  const SpanKind kind = has_engine_tracks_ ? SpanKind::async : SpanKind::op;
  for (const LayerRow& layer : rows_.layers()) spans.kind[layer.row] = kind;
}

void IpuProfile::set_clock() {
  RateFinder finder;
  for (const LayerRow& layer : rows_.layers()) {
    if (layer.cycles >= 0) finder.add(profile_.spans.duration[layer.row], layer.cycles);
  }
  if (finder.rows() == 0) return keep_cycles_apart();
  const auto rate = finder.find();
  profile_.checks.push_back(
      {"wall duration = total_cycle / frequency",
       rate ? Check::Outcome::passed : Check::Outcome::failed,
       rate ? fmt::format("{} layers at {:.6g} MHz", finder.rows(), *rate / 1e6)
            : fmt::format("{} of {} layers agree on a frequency; times are "
                          "nanoseconds, cycles stand apart",
                          finder.agreeing(), finder.rows())});
  rate ? count_in_cycles(*rate) : keep_cycles_apart();
}

// A layer lasts total_cycle. Where rounding alone makes it begin before the one before it on its
// unit has ended, it begins at that end.
void IpuProfile::take_told_cycles(std::int64_t rounding) {
  Spans& spans = profile_.spans;
  std::vector<std::size_t> order;
  for (const LayerRow& layer : rows_.layers()) {
    order.push_back(layer.row);
    if (layer.cycles >= 0) spans.duration[layer.row] = std::llround(layer.cycles);
  }
  sort_rows(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(spans.unit[a], spans.start[a]) < std::pair(spans.unit[b], spans.start[b]);
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t before = order[i - 1], row = order[i];
    if (spans.unit[before] != spans.unit[row]) continue;
    const std::int64_t end = saturating_add(spans.start[before], spans.duration[before]);
    const std::int64_t over = saturating_subtract(end, spans.start[row]);
    if (over > 0 && over <= rounding) spans.start[row] = end;
  }
}

void IpuProfile::count_in_cycles(double rate) {
  Clock& clock = profile_.clocks[index_of(profile_.base_clock)];
  clock.name = profile_.strings.intern("IPU cycles");
  clock.kind = ClockKind::unit_cycles;
  clock.rate = Hertz{rate};
  cycles_ = profile_.base_clock;
  const auto cycles_of = [&](std::int64_t nanoseconds) {
    const double exact = double(nanoseconds) * (rate / nanoseconds_a_second);
    return std::int64_t(std::llround(std::clamp(exact, -max_time, max_time)));
  };
  Spans& spans = profile_.spans;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::int64_t end = cycles_of(saturating_add(spans.start[row], spans.duration[row]));
    spans.start[row] = cycles_of(spans.start[row]);
    spans.duration[row] = saturating_subtract(end, spans.start[row]);
  }
  take_told_cycles(2 + std::int64_t(2 * rate / nanoseconds_a_second));
  for (std::int64_t& time : profile_.counters.time) time = cycles_of(time);
  for (Phase& phase : profile_.phases) {
    phase.start = cycles_of(phase.start);
    phase.duration = cycles_of(phase.duration);
  }
}

void IpuProfile::keep_cycles_apart() {
  cycles_ = profile_.add_clock("IPU cycles", ClockKind::unit_cycles, Hertz(0));
  if (rows_.layers().empty()) return;
  profile_.spans.processor_cycles.assign(profile_.spans.size(), -1);
  for (const LayerRow& layer : rows_.layers()) {
    if (layer.cycles >= 0) {
      profile_.spans.processor_cycles[layer.row] = std::llround(layer.cycles);
    }
  }
}

// Of a log of several inferences, where the core control says when each began and ended and all
// work is in one of them.
void IpuProfile::number_inferences() {
  Spans& spans = profile_.spans;
  std::vector<Interval> inferences;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] == SpanKind::inference) inferences.push_back(interval_of(spans, row));
  }
  if (inferences.size() < 2) return;
  std::sort(inferences.begin(), inferences.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Column<std::uint32_t> instance;
  instance.reserve(spans.size());
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const auto next =
        std::partition_point(inferences.begin(), inferences.end(),
                             [&](const Interval& each) { return each.begin <= spans.start[row]; });
    if (next == inferences.begin() || (next - 1)->end < interval_of(spans, row).end) return;
    instance.push_back(std::uint32_t(next - inferences.begin() - 1));
  }
  spans.instance = std::move(instance);
}

// Called by the engine's word.
constexpr NamedNumber busy{"busy", MeasureKind::work, NumberRole::busy};
constexpr NamedNumber busy_share{"busy percent of layers", NumberQuantity::share, NumberRole::busy};

void IpuProfile::add_measures() {
  layers_of_unit_.assign(profile_.units.size(), 0);
  for (const LayerRow& layer : rows_.layers()) {
    if (layer.cycles < 0) continue;
    layers_of_unit_[index_of(profile_.spans.unit[layer.row])] += layer.cycles;
  }
  for (std::size_t engine = 0; engine < percent_keys.size(); ++engine) {
    MeasureColumn column = profile_.column_of(
        busy.called(fmt::format("{} busy", engine_words[engine])), Origin::derived, cycles_);
    column.values.assign(profile_.spans.size(), MeasureColumn::missing);
    of_unit_[engine].assign(profile_.units.size(), -1);
    bool any = false;
    for (const LayerRow& layer : rows_.layers()) {
      if (layer.cycles < 0 || layer.percent[engine] < 0) continue;
      const double busy_cycles = layer.percent[engine] / 100 * layer.cycles;
      column.values[layer.row] = std::llround(busy_cycles);
      double& sum = of_unit_[engine][index_of(profile_.spans.unit[layer.row])];
      sum = std::max(sum, 0.0) + busy_cycles;
      any = true;
    }
    if (!any) continue;
    profile_.spans.measures.push_back(std::move(column));
    add_unit_measures(engine);
  }
}

void IpuProfile::add_unit_measures(std::size_t engine) {
  const auto add = [&](std::size_t unit, const NamedNumber& number, double value) {
    profile_.add_measure(Measure::Subject::unit, std::uint32_t(unit), number, Origin::derived,
                         cycles_, value);
  };
  const std::string word = engine_words[engine];
  for (std::size_t unit = 0; unit < profile_.units.size(); ++unit) {
    const double cycles = of_unit_[engine][unit];
    if (cycles < 0 || layers_of_unit_[unit] <= 0) continue;
    add(unit, busy.called(word + " busy"), cycles);
    add(unit, busy_share.called(word + " busy percent of layers"),
        100 * cycles / layers_of_unit_[unit]);
  }
}

// What each transfer moved, where the log says it: between the chip and DDR.
void IpuProfile::add_bytes() {
  const Arguments& arguments = profile_.spans.arguments;
  if (arguments.empty()) return;
  std::vector<std::size_t> place_of_bytes;  // by shape
  for (const ArgumentShape& shape : arguments.shapes) {
    const auto found = std::find_if(shape.begin(), shape.end(), [&](const ArgumentKey& key) {
      return profile_.text(key.name) == "bytes";
    });
    place_of_bytes.push_back(std::size_t(found - shape.begin()));
  }
  for (const std::string_view direction : {"load", "store"}) {
    MeasureColumn column = profile_.column_of(
        direction == "load" ? ddr_read_bytes : ddr_write_bytes, Origin::measured);
    column.values.assign(profile_.spans.size(), MeasureColumn::missing);
    bool any = false;
    for (std::size_t row = 0; row < profile_.spans.size(); ++row) {
      const Unit& unit = profile_.units[index_of(profile_.spans.unit[row])];
      const std::uint32_t shape = arguments.shape(row);
      if (unit.engine != Engine::dma || place_of_bytes[shape] == arguments.shapes[shape].size() ||
          profile_.text(unit.name).find(direction) == std::string_view::npos) {
        continue;
      }
      const auto bytes = arguments.at(row, place_of_bytes[shape]).as_number();
      if (!bytes || !(*bytes >= 0) || *bytes > max_bytes) continue;
      column.values[row] = std::llround(*bytes);
      any = true;
    }
    if (any) profile_.spans.measures.push_back(std::move(column));
  }
}

void IpuProfile::say_what_overlaps() {
  const auto& files = profile_.provenance.files;
  const std::string file = files.empty() ? "" : files.front();
  if (about_.is_incomplete) {
    profile_.notes.push_back({Severity::error, file, 0,
                              "the IPU log is incomplete: it was cut, or its buffer was too small "
                              "(--ipu_log_size)",
                              1});
  }
  profile_.notes.push_back({Severity::info, file, 0,
                            "made from an IPU log: writing it costs time; take performance figures "
                            "from a run without it",
                            1});
  if (!profile_.spans.measures.empty()) {
    profile_.notes.push_back({Severity::info, file, 0,
                              "conv, vector, DMA load and DMA store run side by side: their "
                              "percentages of a layer overlap and need not add up to 100",
                              rows_.layers().size()});
  }
  if (rows_.unreadable() > 0) {
    profile_.notes.push_back(
        {Severity::warning, file, 0,
         "cycles or percentages that are not numbers or out of range, left out",
         rows_.unreadable()});
  }
}

}  // namespace

bool is_ipu_timeline(const chrome::Events& events) {
  for (const ArgumentShape& shape : events.slices.arguments.shapes) {
    for (const ArgumentKey& key : shape) {
      const LayerKey role = layer_key_named(events.strings[key.name]);
      if (tells_layer(role) && role != LayerKey::total_cycle) return true;
    }
  }
  return false;
}

Profile make_ipu_profile(chrome::Events&& events) { return IpuProfile(std::move(events)).run(); }

}  // namespace npuscope::sigmastar
