#include "formats/tables/table_profile.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "formats/tables/cell_numbers.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::tables {
namespace {

constexpr double most_ticks = 1e18;

const char* name_of(Statistic statistic) {
  switch (statistic) {
    case Statistic::mean: return "average";
    case Statistic::min: return "min";
    case Statistic::max: return "max";
    case Statistic::deviation: return "standard deviation";
    case Statistic::p50: return "50%";
    case Statistic::p75: return "75%";
    case Statistic::p90: return "90%";
    case Statistic::p95: return "95%";
    case Statistic::p99: return "99%";
    default: return "";
  }
}

bool has_start(const TableDescription& description, const std::vector<std::size_t>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (description.columns[i].is == TableColumn::Is::start && places[i] != no_place) return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<std::size_t>> places_in(const TableDescription& description,
                                                  const Fields& fields) {
  if (description.columns.empty() || fields.size() < 2) return std::nullopt;
  const TableColumn& first = description.columns.front();
  const auto is_first = [&](std::string_view field) {
    return field.size() >= first.head.size() && field.find(first.head) != field.npos;
  };
  if (!first.optional && std::none_of(fields.begin(), fields.end(), is_first)) return std::nullopt;
  std::vector<std::string> heads;
  for (const std::string_view field : fields) heads.push_back(plain_head(field));
  std::vector<std::size_t> places;
  std::vector<bool> is_taken(heads.size(), false);
  for (const TableColumn& column : description.columns) {
    std::size_t place = 0;  // of two alike the next
    while (place < heads.size() && (is_taken[place] || heads[place] != column.head)) ++place;
    if (place == heads.size()) {  // one cell may be several things
      place = std::size_t(std::ranges::find(heads, column.head) - heads.begin());
    }
    if (place == heads.size() && !column.optional) return std::nullopt;
    if (place < heads.size()) is_taken[place] = true;
    places.push_back(place < heads.size() ? place : no_place);
  }
  return places;
}

TableProfile::TableProfile(const TableDescription& description, std::vector<std::size_t> places,
                           CountedNotes& losses)
    : description_(description), places_(std::move(places)), losses_(losses) {
  profile_.provenance.format = description.name;
  profile_.provenance.device = description.device;
  profile_.provenance.times = description.origin;
  const auto counts_cycles = [](const TableColumn& column) {
    return is_time(column.unit) && column.unit == TableUnit::cycles &&
           (column.is == TableColumn::Is::time || column.is == TableColumn::Is::start);
  };
  profile_.base_clock =
      clock_of(std::ranges::any_of(description.columns, counts_cycles) ? TableUnit::cycles
                                                                       : TableUnit::nanoseconds);
  has_starts_ = has_start(description, places_);
  find_places();
  made_.resize(description.columns.size());
  has_gaps_.resize(description.columns.size());
  for (const std::string& note : description.notes) {
    profile_.notes.push_back({Severity::info, "", 0, note, 1});
  }
}

bool TableProfile::take(const Fields& fields, std::uint64_t offset) {
  bool is_row = true;
  if (!take_special(fields, offset, is_row)) add(fields, offset, Numbers::all);
  for (ChoicePlaces& places : rows_at_) {
    if (places.repeats < fields.size()) places.above = trimmed(fields[places.repeats]);
  }
  return is_row;
}

std::size_t TableProfile::place_of(std::string_view head) const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (description_.columns[i].head == head) return places_[i];
  }
  return no_place;
}

void TableProfile::find_places() {
  const auto find = [&](const RowChoice& chosen) {
    return ChoicePlaces{place_of(chosen.head), place_of(chosen.zero), place_of(chosen.repeats), ""};
  };
  rows_at_.clear();
  engines_at_.clear();
  is_plain_.clear();
  for (auto& columns : columns_of_) columns.clear();
  for (std::size_t i = 0; i < description_.columns.size(); ++i) {
    const TableColumn& column = description_.columns[i];
    is_plain_.push_back(column.part == 0 && description_.blanks.empty());
    if (i < places_.size() && places_[i] != no_place)
      columns_of_[std::size_t(column.is)].push_back(i);
  }
  for (const TableRow& row : description_.rows) rows_at_.push_back(find(row));
  for (const TableEngine& engine : description_.engines) engines_at_.push_back(find(engine));
}

void TableProfile::go_on(std::vector<std::size_t> places) {
  places_ = std::move(places);
  find_places();
  is_part_ = true;
}

void TableProfile::take_line(std::string_view line) {
  for (const TableLine& each : description_.lines) {
    if (each.is <= TableLine::Is::remark || !each.matches->found_in(line)) continue;
    const auto number = number_in(each.matches->group_in(line));
    if (!number || *number < 0) continue;
    switch (each.is) {
      case TableLine::Is::runs: runs_ = *number; break;
      case TableLine::Is::total:
      case TableLine::Is::total_of_runs: totals_.push_back({&each, *number}); break;
      default: {
        const bool is_latency = each.is == TableLine::Is::latency;
        add_number_of_run({each.name.empty() ? "inference" : each.name, each.unit, each.statistic,
                           description_.origin, is_latency},
                          *number);
      }
    }
  }
}

void TableProfile::add_number_of_run(const NumberOfRun& of, double value, std::uint32_t instance) {
  value *= ticks_in(of.unit);
  if (!(value <= most_ticks)) {
    return losses_.add(Severity::warning, 0,
                       "numbers of the run that are impossibly large; left out");
  }
  std::string name(of.name);
  if (of.statistic != Statistic::none) name += fmt::format(", {}", name_of(of.statistic));
  NamedNumber number = of.is_latency
                           ? NamedNumber{name, MeasureKind::wall, NumberRole::host_round_trip}
                       : is_time(of.unit) ? NamedNumber{name, MeasureKind::wall}
                                          : NamedNumber{name, quantity_of(of.unit)}.not_additive();
  if (of.statistic != Statistic::none) number = number.over_many(name, of.statistic);
  profile_.add_measure(Measure::Subject::profile, 0, number, of.origin,
                       is_time(of.unit) ? clock_of(of.unit) : ClockId{}, value);
  profile_.measures.back().instance = instance;
}

Profile TableProfile::finish() {
  divide_by_runs();
  rank_by_time();
  if (description_.sum_is_inference && !is_part_ && !has_starts_) add_sum();
  return std::move(profile_);
}

bool TableProfile::take_special(const Fields& fields, std::uint64_t offset, bool& is_row) {
  for (std::size_t i = 0; i < rows_at_.size(); ++i) {
    const TableRow& row = description_.rows[i];
    if (!holds(row, rows_at_[i], fields)) continue;
    switch (row.is) {
      case TableRow::Is::skipped: is_row = false; break;
      case TableRow::Is::unknown:
        is_part_ = true;
        add(fields, offset, Numbers::no_times);
        break;
      case TableRow::Is::fused: add(fields, offset, Numbers::none); break;
      case TableRow::Is::counted: add(fields, offset, Numbers::all); break;
      case TableRow::Is::total: check_total(row, fields); break;
    }
    const bool warns = row.is == TableRow::Is::unknown;
    if (!row.says.empty()) {
      losses_.add(warns ? Severity::warning : Severity::info, offset, row.says);
    }
    return true;
  }
  return false;
}

ClockId TableProfile::clock(std::string_view name, ClockKind kind, double rate) {
  const StringId id = profile_.strings.intern(name);
  for (std::size_t i = 0; i < profile_.clocks.size(); ++i) {
    if (profile_.clocks[i].name == id) return ClockId(i);
  }
  profile_.clocks.push_back({id, kind, Hertz{rate}, false, 0});
  return ClockId(profile_.clocks.size() - 1);
}

ClockId TableProfile::clock_of(TableUnit unit) {
  if (unit == TableUnit::cycles) return clock("cycles", ClockKind::unit_cycles, 0);
  return clock("nanoseconds", ClockKind::wall, 1e9);
}

std::string_view TableProfile::part_of(std::string_view text, std::size_t column) const {
  const auto is_blank = [&] { return std::ranges::count(description_.blanks, text) > 0; };
  if (is_blank()) return {};
  for (std::uint64_t part = description_.columns[column].part; part > 0; --part) {
    const std::size_t end = text.find('/');
    if (part > 1) {
      text = end == text.npos ? std::string_view() : text.substr(end + 1);
    } else {
      text = trimmed(text.substr(0, end));
    }
  }
  return is_blank() ? std::string_view() : text;
}

bool TableProfile::holds(const RowChoice& chosen, const ChoicePlaces& places,
                         const Fields& fields) {
  const auto text_at = [&](std::size_t place) {
    return place < fields.size() ? trimmed(fields[place]) : std::string_view();
  };
  const std::string_view text = text_at(places.head);
  const bool is_meant = std::ranges::count(chosen.equals, text) > 0 ||
                        (chosen.matches && chosen.matches->found_in(text));
  if (!is_meant) return false;
  if (!chosen.zero.empty() && number_in(text_at(places.zero)) != 0) return false;
  return chosen.repeats.empty() || text_at(places.repeats) == places.above;
}

void TableProfile::add_network(const Fields& fields, std::uint64_t offset) {
  std::string settings;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const TableColumn& column = description_.columns[i];
    const std::string text = valid_utf8(field(i, fields));
    switch (column.is) {
      case TableColumn::Is::network: profile_.provenance.graph = text; continue;
      case TableColumn::Is::device: profile_.provenance.device = text; continue;
      case TableColumn::Is::setting:
        settings += fmt::format("{}{} {}", settings.empty() ? "" : ", ", column.name, text);
        continue;
      case TableColumn::Is::time:
      case TableColumn::Is::latency:
      case TableColumn::Is::number:
      case TableColumn::Is::clock: break;
      default: continue;
    }
    const auto number = number_of(i, fields, offset);
    if (!number) continue;
    if (column.is == TableColumn::Is::clock) {
      const ClockId cycles = clock_of(TableUnit::cycles);
      if (*number > 0) profile_.clocks[index_of(cycles)].rate = Hertz{*number};
      continue;
    }
    const bool is_a_time = is_time(column.unit);
    if (column.is == TableColumn::Is::latency) {
      add_number_of_run(of_column(column), *number);
      continue;
    }
    const NamedNumber named = is_a_time ? NamedNumber{column.name, MeasureKind::work}
                                        : NamedNumber{column.name, quantity_of(column.unit)};
    profile_.add_measure(Measure::Subject::profile, 0, named.not_additive(), column.origin,
                         is_a_time ? clock_of(column.unit) : ClockId{},
                         *number * ticks_in(column.unit));
  }
  if (profile_.measures.empty()) {
    losses_.add(Severity::warning, offset, "networks without a number; left out");
  }
  if (!settings.empty()) profile_.notes.push_back({Severity::info, "", 0, settings, 1});
}

void TableProfile::add(const Fields& fields, std::uint64_t offset, Numbers numbers) {
  if (description_.rows_are == TableDescription::Rows::networks) {
    return add_network(fields, offset);
  }
  if (description_.rows_are == TableDescription::Rows::inferences) {
    return add_inference(fields, offset);
  }
  if (!add_op(fields, offset)) return;
  if (!has_starts_) {
    for (const std::string_view text : fields) {
      rows_ = XXH3_64bits_withSeed(text.data(), text.size(), rows_ + 1);
    }
  }
  if (numbers == Numbers::none) return;
  if (numbers == Numbers::no_times) return add_sizes(fields, offset);
  if (!has_starts_ || add_span(fields, offset)) add_numbers(fields, offset);
}

bool TableProfile::add_op(const Fields& fields, std::uint64_t offset) {
  Op op;
  StringId* const texts[] = {&op.name, &op.node, &op.kind, &op.node_kind, &op.types, &op.shape};
  for (std::size_t place = 0; place < std::size(texts); ++place) {
    for (const std::size_t i : columns_of_[place]) {
      const TableColumn& column = description_.columns[i];
      const std::string_view text = field(i, fields);
      if (text.empty()) continue;
      if (*texts[place] == StringId::empty && column.prefix.empty()) {
        *texts[place] = intern(text);
      } else {
        std::string whole(profile_.text(*texts[place]));  // of several columns
        whole.append(whole.empty() ? "" : " ").append(column.prefix).append(text);
        *texts[place] = intern(whole);
      }
      if (column.is == TableColumn::Is::shape) op.extents = shape_in(text, profile_.shapes);
    }
  }
  if (op.name == StringId::empty) {
    losses_.add(Severity::warning, offset, "rows without the name of an op; left out");
    return false;
  }
  if (op.node == StringId::empty) op.node = op.name;
  op_ = has_starts_ ? known_op(op) : std::uint32_t(profile_.ops.size());
  if (op_ < profile_.ops.size()) return true;
  op.engine = engine_of(fields);
  op.position = op_;
  profile_.ops.push_back(op);
  return true;
}

// The number of the op with these texts, else that of the next one.
std::uint32_t TableProfile::known_op(const Op& op) {
  const auto texts_of = [](const Op& of) {
    return OpTexts{of.name, of.node, of.kind, of.node_kind, of.types, of.shape};
  };
  last_op_of_.resize(std::max(last_op_of_.size(), profile_.strings.size()), OpId::none);
  OpId& last = last_op_of_[std::uint32_t(op.name)];
  if (last == OpId::none || texts_of(profile_.ops[index_of(last)]) != texts_of(op)) {
    last = op_of_.try_emplace(texts_of(op), OpId(profile_.ops.size())).first->second;
  }
  return index_of(last);
}

std::optional<double> TableProfile::number_of(std::size_t i, const Fields& fields,
                                              std::uint64_t offset) {
  const TableColumn& column = description_.columns[i];
  const std::string_view text = field(i, fields);
  auto number = number_in(text);
  if (!number) {
    const std::string_view unit = word_of(column.unit);  // "1419 us"
    if (text.ends_with(unit)) number = number_in(text.substr(0, text.size() - unit.size()));
  }
  if (!number) {
    if (!text.empty() && places_[i] != no_place) {
      if (not_a_number_.empty()) not_a_number_ = fmt::format("'{}' is '{}'", column.head, text);
      losses_.add(Severity::warning, offset,
                  fmt::format("'{}' is not a number in some rows; left out", column.head));
    }
    return std::nullopt;
  }
  if (*number == 0 && column.zero_is_unknown) return std::nullopt;
  const double ticks = is_time(column.unit) ? *number * ticks_in(column.unit) : 0;
  if (ticks >= 0 && ticks <= most_ticks) return number;
  losses_.add(
      Severity::warning, offset,
      fmt::format("'{}' is negative or impossibly long in some rows; left out", column.head));
  return std::nullopt;
}

void TableProfile::add_inference(const Fields& fields, std::uint64_t offset) {
  const auto interval = interval_of(fields, offset);
  if (!interval) return;
  const auto instance = std::uint32_t(profile_.spans.size());
  profile_.spans.instance.push_back(instance);
  profile_.spans.add(unit_of(fields, Engine::host), OpId::none, SpanKind::inference,
                     interval->start, interval->duration);
  profile_.provenance.inferences = instance + 1;
  if (description_.is_warm) profile_.provenance.temperature = Provenance::Temperature::warm;
  for (const std::size_t i : columns_of_[std::size_t(TableColumn::Is::number)]) {
    if (const auto number = number_of(i, fields, offset)) {
      add_number_of_run(of_column(description_.columns[i]), *number, instance);
    }
  }
}

std::optional<TableProfile::Interval> TableProfile::interval_of(const Fields& fields,
                                                                std::uint64_t offset) {
  const auto first_of = [&](TableColumn::Is is) -> std::optional<std::int64_t> {
    for (const std::size_t i : columns_of_[std::size_t(is)]) {
      if (const auto number = number_of(i, fields, offset)) {
        return std::llrint(*number * ticks_in(description_.columns[i].unit));
      }
    }
    return std::nullopt;
  };
  const auto start = first_of(TableColumn::Is::start), duration = first_of(TableColumn::Is::time);
  if (start && duration) return Interval{*start, *duration};
  losses_.add(Severity::warning, offset, "rows without a start or a time; left out");
  return std::nullopt;
}

UnitId TableProfile::unit_of(const Fields& fields, Engine engine) {
  std::string_view unit = "device";
  for (const std::size_t i : columns_of_[std::size_t(TableColumn::Is::unit)]) {
    const std::string_view text = field(i, fields), prefix = description_.columns[i].prefix;
    if (text.empty()) continue;
    unit = prefix.empty() ? text : std::string_view(unit_.assign(prefix).append(text));
  }
  const StringId name = intern(unit);
  unit_of_.resize(std::max(unit_of_.size(), profile_.strings.size()), UnitId::none);
  UnitId& known = unit_of_[std::uint32_t(name)];
  if (known == UnitId::none) {
    known = UnitId(profile_.units.size());
    profile_.units.push_back({.engine = engine == Engine::none ? Engine::device : engine,
                              .lane = std::uint32_t(profile_.units.size()),
                              .name = name});
  }
  return known;
}

bool TableProfile::add_span(const Fields& fields, std::uint64_t offset) {
  std::uint32_t instance = every_instance;
  for (const std::size_t i : columns_of_[std::size_t(TableColumn::Is::inference)]) {
    instance = parse_number<std::uint32_t>(field(i, fields)).value_or(instance);
  }
  const auto interval = interval_of(fields, offset);
  if (!interval) return false;
  Spans& spans = profile_.spans;
  spans.add(unit_of(fields, profile_.ops[op_].engine), OpId(op_), SpanKind::op, interval->start,
            interval->duration);
  if (instance != every_instance || !spans.instance.empty()) {
    spans.instance.resize(spans.size(), 0);
    spans.instance.back() = instance == every_instance ? 0 : instance;
  }
  return true;
}

double TableProfile::calls_in(const Fields& fields) const {
  for (const std::size_t i : columns_of_[std::size_t(TableColumn::Is::calls)]) {
    const auto calls = number_in(field(i, fields));
    return calls && *calls > 0 ? *calls : 1;  // 0: less than once in each, which rounding hides
  }
  return 1;
}

void TableProfile::add_numbers(const Fields& fields, std::uint64_t offset) {
  const double calls = calls_in(fields);
  if (calls > 0) least_calls_ = least_calls_ > 0 ? std::min(least_calls_, calls) : calls;
  // Times first: pages rank ops by the first number.
  for (const TableColumn::Is wanted :
       {TableColumn::Is::time, TableColumn::Is::number, TableColumn::Is::calls}) {
    if (wanted == TableColumn::Is::time && has_starts_) continue;  // of the span
    for (const std::size_t i : columns_of_[std::size_t(wanted)]) {
      auto number = number_of(i, fields, offset);
      if (!number) {
        if (wanted == TableColumn::Is::time) has_gaps_[i] = true;
        continue;
      }
      if (wanted == TableColumn::Is::time) sums_[i] += * number *= calls;
      if (wanted != TableColumn::Is::number && description_.calls_are_of_runs) {
        per_run_.push_back(profile_.measures.size());
      }
      add_number(i, *number);
    }
  }
}

// Of a row without a time a 0 says nothing.
void TableProfile::add_sizes(const Fields& fields, std::uint64_t offset) {
  if (has_starts_) return;  // numbers are those of spans
  for (const std::size_t i : columns_of_[std::size_t(TableColumn::Is::number)]) {
    if (is_time(description_.columns[i].unit)) continue;
    const auto number = number_of(i, fields, offset);
    if (number && *number != 0) add_number(i, *number);
  }
}

void TableProfile::add_number(std::size_t i, double value) {
  const TableColumn& column = description_.columns[i];
  const double ticks = value * ticks_in(column.unit);
  const auto subject = has_starts_ ? Measure::Subject::span : Measure::Subject::op;
  const auto id = has_starts_ ? std::uint32_t(profile_.spans.size() - 1) : op_;
  if (made_[i]) {
    Measure& made = profile_.measures.emplace_back(*made_[i]);
    made.subject_id = id;
    made.value = ticks;
    return;
  }
  if (!is_time(column.unit)) {
    NamedNumber number{column.name, quantity_of(column.unit)};
    profile_.add_measure(subject, id, number, column.origin, {}, ticks);
    made_[i] = profile_.measures.back();
    return;
  }
  const auto role = column.is == TableColumn::Is::time ? NumberRole::node_cycles : NumberRole::none;
  profile_.add_measure(subject, id, NamedNumber{column.name, MeasureKind::work, role},
                       column.origin, clock_of(column.unit), ticks);
  made_[i] = profile_.measures.back();
}

StringId TableProfile::intern(std::string_view text) {
  if (const auto known = profile_.strings.find(text)) return *known;
  return profile_.strings.intern(valid_utf8(text));
}

Engine TableProfile::engine_of(const Fields& fields) const {
  for (std::size_t i = 0; i < engines_at_.size(); ++i) {
    const TableEngine& each = description_.engines[i];
    if (holds(each, engines_at_[i], fields)) return each.engine;
  }
  return Engine::none;
}

}  // namespace npuscope::tables
