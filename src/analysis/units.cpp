#include "npuscope/analysis/units.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/units_that_tell.hpp"

namespace npuscope::analysis {

bool Traffic::known() const {
  return std::any_of(&bytes[0][0], &bytes[0][0] + 4, [](const auto& value) { return bool(value); });
}

// "DDR read bytes", "dram_read", "VTCM write (bytes)": vendors agree on the words, not on the form.
// A word more ("ddr read bytes, constants") makes it a part of what is counted already.
std::optional<TrafficName> traffic_named(std::string_view name) {
  constexpr std::size_t longest = 60;
  if (name.size() > longest) return std::nullopt;
  bool ddr = false, vtcm = false, read = false, write = false;
  std::string word;
  const auto take_word = [&] {
    ddr = ddr || word == "ddr" || word == "dram";
    vtcm = vtcm || word == "vtcm" || word == "tcm";
    read = read || word == "read" || word == "reads";
    write = write || word == "write" || word == "writes" || word == "written";
    const bool known = word.empty() || word == "bytes" || word == "byte" || word == "total" ||
                       word == "mem" || word == "ddr" || word == "dram" || word == "vtcm" ||
                       word == "tcm" || word.starts_with("read") || word.starts_with("writ");
    word.clear();
    return known;
  };
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z')) {
      word += upper ? char(c - 'A' + 'a') : c;
    } else if (c == ' ' || c == '_' || c == '(' || c == ')') {
      if (!take_word()) return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (!take_word() || ddr == vtcm || read == write) return std::nullopt;
  return TrafficName{ddr ? Memory::ddr : Memory::vtcm, read ? Direction::read : Direction::write};
}

namespace {

void add(std::optional<double>& sum, double value) { sum = sum.value_or(0) + value; }

class Table {
 public:
  Table(const Profile& profile, const SpansByUnit& by_unit, const std::vector<std::int64_t>& own)
      : profile_(profile), by_unit_(by_unit), own_(own) {}

  UnitTable finish();

 private:
  void add_unit(UnitId unit);
  void add_engine(Engine engine, UnitId unit, std::vector<Interval> intervals, std::int64_t work);
  void add_measures();
  void add_measures_of(Measure::Subject subject, const char* source);

  const Profile& profile_;
  const SpansByUnit& by_unit_;
  const std::vector<std::int64_t>& own_;
  UnitTable table_;
  static constexpr std::size_t engine_count = std::size_t(Engine::other) + 1;
  EngineRow engines_[engine_count];
  std::vector<Interval> active_[engine_count];
};

void Table::add_engine(Engine engine, UnitId unit, std::vector<Interval> intervals,
                       std::int64_t work) {
  EngineRow& row = engines_[std::size_t(engine)];
  const IntervalSet busy = union_of(std::move(intervals));
  auto& active = active_[std::size_t(engine)];
  active.insert(active.end(), busy.begin(), busy.end());
  row.units += 1;
  row.work = saturating_add(row.work, work);
  const std::int64_t length = length_of(busy);
  if (row.busiest != UnitId::none && length <= row.domain) return;
  row.domain = length;
  row.busiest = unit;
}

void Table::add_unit(UnitId unit) {
  const Spans& spans = profile_.spans;
  UnitRow row;
  row.unit = unit;
  std::vector<Interval> waits, of_engine[engine_count];
  std::int64_t work_of_engine[engine_count] = {};
  for (const std::uint32_t i : by_unit_.of(unit)) {
    const Role role = role_of(spans.kind[i]);
    if (role == Role::wait) waits.push_back(interval_of(spans, i));
    if (role != Role::work) continue;
    const auto engine = std::size_t(engine_of(profile_, i));
    of_engine[engine].push_back(interval_of(spans, i));
    work_of_engine[engine] = saturating_add(work_of_engine[engine], own_[i]);
    row.spans += 1;
  }
  if (row.spans == 0 && waits.empty()) return;
  std::vector<Interval> busy;
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    if (of_engine[engine].empty()) continue;
    busy.insert(busy.end(), of_engine[engine].begin(), of_engine[engine].end());
    row.work = saturating_add(row.work, work_of_engine[engine]);
    add_engine(Engine(engine), unit, std::move(of_engine[engine]), work_of_engine[engine]);
  }
  const IntervalSet busy_set = union_of(std::move(busy));
  row.busy = length_of(busy_set);
  row.waiting = length_of(difference_of(union_of(std::move(waits)), busy_set));
  table_.units.push_back(std::move(row));
}

void Table::add_measures() {
  const Spans& spans = profile_.spans;
  std::vector<UnitRow*> row_of(profile_.units.size() + 1, nullptr);
  for (UnitRow& row : table_.units) {
    row_of[std::min<std::size_t>(index_of(row.unit), profile_.units.size())] = &row;
  }
  const auto add_to_rows = [&](const MeasureColumn& measure, auto place_in) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (measure.values[i] == MeasureColumn::missing) continue;
      const auto value = double(measure.values[i]);
      place_in(table_, value);
      UnitRow* row = row_of[std::min<std::size_t>(index_of(spans.unit[i]), profile_.units.size())];
      if (row != nullptr) place_in(*row, value);
    }
  };
  const MeasureColumn* path = nullptr;
  for (const MeasureColumn& measure : spans.measures) {
    if (measure.values.size() != spans.size()) continue;
    if (measure.kind == MeasureKind::dominant_path &&
        (path == nullptr || path->origin == Origin::derived)) {
      path = &measure;
    }
    if (measure.kind != MeasureKind::count) continue;
    const auto traffic = traffic_named(profile_.text(measure.what));
    if (!traffic) continue;
    add_to_rows(measure, [&](auto& row, double value) {
      add(row.traffic.of(traffic->memory, traffic->direction), value);
    });
    table_.traffic_source = "spans";
  }
  if (path != nullptr) {
    add_to_rows(*path, [](auto& row, double value) { add(row.dominant_path, value); });
  }
  // The same bytes may be told at several levels: the finest one that has any counts.
  add_measures_of(Measure::Subject::unit, "units");
  add_measures_of(Measure::Subject::op, "ops");
  add_measures_of(Measure::Subject::profile, "the whole run");
}

void Table::add_measures_of(Measure::Subject subject, const char* source) {
  if (table_.traffic.known()) return;
  const bool of_units = subject == Measure::Subject::unit;
  const UnitsThatTell tell(profile_, of_units);
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != subject || measure.kind != MeasureKind::count) continue;
    const auto traffic = traffic_named(profile_.text(measure.what));
    if (!traffic) continue;
    if (!of_units || !tell.include(UnitId(measure.subject_id), *traffic)) {
      add(table_.traffic.of(traffic->memory, traffic->direction), measure.value);
    }
    table_.traffic_source = source;
    if (!of_units) continue;
    const auto row = std::find_if(table_.units.begin(), table_.units.end(), [&](const auto& unit) {
      return index_of(unit.unit) == measure.subject_id;
    });
    if (row != table_.units.end()) {
      add(row->traffic.of(traffic->memory, traffic->direction), measure.value);
    }
  }
}

UnitTable Table::finish() {
  table_.wall = length_of(timeline_of(profile_));
  for (std::size_t i = 0; i < engine_count; ++i) engines_[i].engine = Engine(i);
  for (std::size_t unit = 0; unit < profile_.units.size(); ++unit) {
    add_unit(UnitId(std::uint32_t(unit)));
  }
  add_unit(UnitId::none);
  for (std::size_t i = 0; i < engine_count; ++i) {
    engines_[i].active = length_of(union_of(std::move(active_[i])));
    if (engines_[i].units > 0) table_.engines.push_back(engines_[i]);
  }
  add_measures();
  return std::move(table_);
}

}  // namespace

UnitTable analyse_units(const Profile& profile, const SpansByUnit& by_unit,
                        const std::vector<std::int64_t>& own) {
  return Table(profile, by_unit, own).finish();
}

namespace {

// Threads of one kind often share a name: "HVX" of lane 2 is "HVX 2".
std::string name_of_unit(const Profile& profile, const Unit& unit) {
  const std::string name(profile.text(unit.name));
  if (name.empty()) return fmt::format("{} {}", name_of(unit.engine), unit.lane);
  const bool is_lane = unit.parent != UnitId::none && (domain_of(unit.engine) == Domain::compute ||
                                                       domain_of(unit.engine) == Domain::movement);
  const bool numbered = name.find_first_of("0123456789") != std::string::npos;
  return is_lane && !numbered ? fmt::format("{} {}", name, unit.lane) : name;
}

}  // namespace

std::string path_of(const Profile& profile, UnitId unit) {
  constexpr int deepest = 16;  // parents may form a ring in a forged profile
  std::string path;
  for (int depth = 0; depth < deepest && index_of(unit) < profile.units.size(); ++depth) {
    const Unit& here = profile.units[index_of(unit)];
    const std::string name = name_of_unit(profile, here);
    path = path.empty() ? name : name + " > " + path;
    unit = here.parent;
  }
  return path.empty() ? "(no unit)" : path;
}

}  // namespace npuscope::analysis
