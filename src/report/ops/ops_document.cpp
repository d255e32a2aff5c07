#include "report/ops/ops_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "analysis/ops/model_parts.hpp"
#include "analysis/ops/op_bounds.hpp"
#include "analysis/ops/op_times.hpp"
#include "base/near_names.hpp"
#include "base/text.hpp"
#include "npuscope/analysis/units.hpp"
#include "profile/names.hpp"
#include "report/document/provenance.hpp"
#include "report/document/quantity.hpp"
#include "report/document/scope.hpp"
#include "report/ops/main_kernel.hpp"
#include "report/ops/op_column_name.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// "DDR read (bytes)" as "ddr_read_bytes".
std::string key_of(std::string_view name) {
  std::string key;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      key += upper ? char(c - 'A' + 'a') : c;
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  while (key.ends_with('_')) key.pop_back();
  return key.empty() ? "column" : key;
}

using Getter = std::function<Value(const OpRow&)>;

struct Column {
  Field field;
  Getter get;
  std::string sort_name = {};  // what Analysis::ops() calls it; empty: not sorted by
};

class OpsTable {
 public:
  OpsTable(const Analysis& analysis, const OpsRequest& request)
      : analysis_(analysis), profile_(analysis.profile()), request_(request) {}

  Result<Document> make();

 private:
  Status analyse();
  void add(Field field, Getter get, std::string sort_name = {});
  void add_names();
  void add_place();
  void add_bound();
  void add_engines();
  void add_values();
  void add_value(std::size_t place);
  void add_share(std::size_t place, const std::string& key);
  void add_spread(std::size_t place, const std::string& key);
  void add_details();
  Status choose_columns();
  std::string title() const;
  std::vector<std::string> remarks() const;
  std::string known_columns(bool to_sort) const;
  bool is_beside(const OpColumn& column) const { return is_beside_timeline(profile_, column); }
  bool is_in_order() const { return request_.sort == "start"; }
  bool is_ranked(std::size_t place) const { return place == table_.ranked_by; }
  // The mean, of what is counted over all inferences after the first.
  Value of_an_inference(double sum) const {
    return table_.inferences > 1 ? sum / double(table_.inferences - 1) : sum;
  }

  const Analysis& analysis_;
  const Profile& profile_;
  const OpsRequest& request_;
  OpTable table_;
  std::vector<OpBound> bounds_;  // by row
  std::vector<Column> columns_;
  std::set<std::string> keys_;
};

void OpsTable::add(Field field, Getter get, std::string sort_name) {
  const std::string stem = field.key;
  for (int i = 2; !keys_.insert(field.key).second; ++i) field.key = fmt::format("{}_{}", stem, i);
  columns_.push_back({std::move(field), std::move(get), std::move(sort_name)});
}

// The key of a column is what it is sorted by; Analysis::ops() knows it by its name.
Status OpsTable::analyse() {
  OpOptions options;
  options.grouping = request_.grouping;
  options.top = request_.top == 0 ? ~std::size_t{0} : request_.top;
  options.rules = request_.rules;
  Result<Rules> fitting = Rules();
  if (request_.grouping == Grouping::rule && options.rules == nullptr) {
    fitting = fitting_rules(analysis_);
    if (!fitting) return tl::unexpected(fitting.error());
    options.rules = &*fitting;
  }
  options.details = true;
  options.owners_as_written = request_.owners_as_written;
  options.per_inference = true;
  options.min_share = request_.min_share;
  Result<Rules> bookkeeping = Rules::builtin("bookkeeping");
  if (!bookkeeping) return tl::unexpected(bookkeeping.error());
  if (request_.fold_bookkeeping) options.folded = &*bookkeeping;
  options.sort = request_.sort;
  for (char& c : options.sort) c = c == '_' ? ' ' : c;
  if (request_.sort == name_of(request_.grouping)) options.sort = "name";
  for (const MeasureColumn& column : profile_.spans.measures) {
    if (key_of(profile_.text(column.what)) == request_.sort) {
      options.sort = profile_.text(column.what);
    }
  }
  for (const Measure& measure : profile_.measures) {
    if (request_.sort.empty()) break;
    if (measure.subject != Measure::Subject::op) continue;
    if (key_of(profile_.text(measure.what)) != request_.sort) continue;
    options.sort = profile_.text(measure.what);
    break;
  }
  table_ = analysis_.ops(options);
  const auto peaks = find_peaks(profile_, request_.peaks);
  if (!peaks) return tl::unexpected(peaks.error());
  MemoryOptions memory;
  memory.peaks = peaks->peaks;
  memory.rate = peaks->clock;
  bounds_ = op_bounds(analysis_, table_, request_.grouping, memory);
  return {};
}

// Where it begins, and what of it is one op after another.
void OpsTable::add_place() {
  const auto place_of = [&](const OpRow& row) { return std::size_t(&row - table_.rows.data()); };
  if (is_in_order()) {
    add({"", "#", Format::count}, [=](const OpRow& row) { return Value(place_of(row) + 1); });
    std::swap(columns_[0], columns_[1]);
  }
  const bool has_start = std::any_of(table_.rows.begin(), table_.rows.end(), [](const OpRow& row) {
    return row.details.start.has_value();
  });
  if (!has_start) return;
  const ClockId base = profile_.base_clock;
  add(
      {"start", is_in_order() ? "start" : "", Format::ticks, true, true, base},
      [](const OpRow& row) { return Value(row.details.start); }, "start");
}

void OpsTable::add_bound() {
  const auto bound_of = [&](const OpRow& row) -> const OpBound& {
    return bounds_[std::size_t(&row - table_.rows.data())];
  };
  const auto text = [](const char* word) { return *word == '\0' ? Value() : Value(word); };
  add({"bound", is_in_order() ? "bound" : "", Format::name, true, true},
      [=](const OpRow& row) { return text(name_of(bound_of(row))); });
  add({"bound_from", ""}, [=](const OpRow& row) { return text(source_of(bound_of(row).kind)); });
  if (is_in_order()) {
    add({"", "mostly", Format::name, false, true},
        [&](const OpRow& row) { return main_kernel(profile_, row); });
  }
  add({"main_kind", ""}, [&](const OpRow& row) {
    const StringId kind = row.kinds == 1 ? row.kind : row.main_kind;
    return kind == StringId::empty ? Value() : Value(profile_.text(kind));
  });
  add({"main_share", "", Format::share}, [](const OpRow& row) {
    return row.kinds > 1 && row.main_kind != StringId::empty ? Value(row.main_share) : Value();
  });
}

void OpsTable::add_engines() {
  const bool shows_hardware = request_.grouping != Grouping::unit;
  add({"on", shows_hardware ? "on" : "", Format::name, false, true}, [&](const OpRow& row) {
    const Value engines = engines_of(row);
    const auto waiting = table_.place_of("waiting");
    const bool only_waits = !engines.known() && waiting && row.values[*waiting];
    return only_waits ? Value("waits only") : engines;
  });
}

void OpsTable::add_names() {
  add(
      {name_of(request_.grouping), name_of(request_.grouping)},
      [](const OpRow& row) { return Value(row.name); }, "name");
  if (is_in_order()) add_place();
  if (request_.grouping == Grouping::op) {
    add({"layers", "layers", Format::count, false, true},
        [](const OpRow& row) { return row.layers > 1 ? Value(row.layers) : Value(); });
  }
  if (request_.grouping != Grouping::kind && !is_of_units(request_.grouping)) {
    add({"kind", is_in_order() ? "" : "kind", Format::name, false, true}, [&](const OpRow& row) {
      if (row.kinds > 1) return Value(fmt::format("{} kinds", row.kinds));
      return row.kind == StringId::empty ? Value() : Value(profile_.text(row.kind));
    });
  }
  if (!is_in_order()) add_engines();
  const bool counts = std::any_of(table_.rows.begin(), table_.rows.end(),
                                  [](const OpRow& row) { return row.runs > 0; });
  add(
      {"runs", counts && !is_in_order() ? "runs" : "", Format::count},
      [&](const OpRow& row) { return of_an_inference(double(row.runs)); }, "runs");
  add(
      {"instances", "", Format::count},
      [&](const OpRow& row) { return of_an_inference(double(row.instances)); }, "instances");
  add({"ops", "", Format::count}, [](const OpRow& row) { return Value(row.ops); });
  add({"units", "", Format::count}, [](const OpRow& row) { return Value(row.units); });
}

Format format_of(const OpColumn& column) {
  if (column.kind != MeasureKind::count) return Format::ticks;
  const bool is_bytes = column.meaning.quantity == NumberQuantity::bytes;
  return is_bytes ? Format::bytes : Format::number;
}

void OpsTable::add_share(std::size_t place, const std::string& key) {
  const OpColumn& column = table_.columns[place];
  const bool of_wall = column.of_base_clock && column.kind == MeasureKind::active;
  const bool has_share = of_wall || column.kind == MeasureKind::work ||
                         column.kind == MeasureKind::dominant_path || is_ranked(place);
  if (!has_share || column.kind == MeasureKind::span) return;
  const double whole = of_wall ? table_.wall : column.whole.value_or(column.total);
  const char* of = of_wall ? "of_wall" : column.whole ? "of_run" : "of_all";
  const char* label = of_wall ? "of wall" : column.whole ? "of run" : "of all";
  const bool shown = is_ranked(place) || of_wall;
  add({fmt::format("{}_share_{}", key, of), shown ? label : "", Format::share, is_ranked(place)},
      [place, whole](const OpRow& row) {
        if (!row.values[place] || !(whole > 0)) return Value();
        return Value(*row.values[place] / whole);
      });
}

// The first inference and the quartiles of the others.
void OpsTable::add_spread(std::size_t place, const std::string& key) {
  if (table_.inferences < 2) return;
  const OpColumn& column = table_.columns[place];
  const auto add_one = [&](const char* suffix, const char* label, auto value) {
    add({key + suffix, is_ranked(place) && !is_in_order() ? label : "", format_of(column), false,
         true, column.clock},
        [place, value](const OpRow& row) {
          if (place >= row.spreads.size() || !row.values[place]) return Value();
          return Value(value(row.spreads[place]));
        });
  };
  add_one("_first", "first", [](const OverInferences& over) { return over.first; });
  add_one("_p25", "25 %", [](const OverInferences& over) { return std::optional(over.low); });
  add_one("_p75", "75 %", [](const OverInferences& over) { return std::optional(over.high); });
}

void OpsTable::add_value(std::size_t place) {
  const OpColumn& column = table_.columns[place];
  const std::string name = op_column_name(profile_, table_, column);
  const std::string key = key_of(name);
  const bool main =
      is_ranked(place) || (column.of_base_clock && column.name != "span") || is_beside(column);
  // Without a timeline its numbers are all that there is to show.
  const bool shown = main || memory_route_of(column.meaning.role) || profile_.spans.size() == 0 ||
                     table_.wall == 0 || !table_.place_of("work");
  const bool own_clock = column.kind != MeasureKind::count && column.clock != profile_.base_clock;
  std::string label = own_clock && name == column.name
                          ? fmt::format("{}, {}", name, unit_of(profile_, column.clock))
                          : name;
  if (column.of_inferences) label += ", " + inferences_text(profile_, column, true);
  Field field{key, shown ? label : "", format_of(column), is_ranked(place), true};
  if (column.kind != MeasureKind::count) field.clock = column.clock;
  add(
      std::move(field), [place](const OpRow& row) { return Value(row.values[place]); },
      column.name);
  add_share(place, key);
  if (column.core_cycles && !is_of_units(request_.grouping)) {
    add({key + "_share_of_core", shown ? "of core" : "", Format::share, false},
        [place, whole = *column.core_cycles](const OpRow& row) {
          return row.values[place] ? Value(*row.values[place] / whole) : Value();
        });
  }
  add_spread(place, key);
}

void OpsTable::add_values() {
  if (table_.columns.empty()) return;
  add_value(table_.ranked_by);
  if (is_in_order()) {
    add_bound();
    add_engines();
  }
  const auto add_those = [&](auto does) {
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      if (!is_ranked(i) && does(table_.columns[i])) add_value(i);
    }
  };
  add_those([&](const OpColumn& column) { return is_beside(column); });
  add_those([](const OpColumn& column) { return column.of_base_clock; });
  if (profile_.spans.size() > 0) add_details();
  add_those([&](const OpColumn& column) { return !column.of_base_clock && !is_beside(column); });
}

void OpsTable::add_details() {
  const auto ticks = [&](const char* key, const char* label, auto get, std::string sort) {
    add({key, label, Format::ticks, false, true, profile_.base_clock}, get, std::move(sort));
  };
  ticks(
      "p50", "p50", [](const OpRow& row) { return Value(row.details.p50); }, "p50");
  ticks(
      "p95", "p95", [](const OpRow& row) { return Value(row.details.p95); }, "p95");
  add(
      {"cycles_per_packet", "cyc/packet", Format::number, false, true},
      [](const OpRow& row) { return Value(row.details.cycles_per_packet); }, "cycles per packet");
  add(
      {"output_bytes", "", Format::bytes, false, true},
      [&](const OpRow& row) {
        const auto& bytes = row.details.output_bytes;
        return bytes ? of_an_inference(*bytes) : Value();
      },
      "output bytes");
  const auto of_layer = [&](const char* key, const char* label, auto get) {
    ticks(
        key, label,
        [get](const OpRow& row) {
          return row.details.layers ? Value(get(*row.details.layers)) : Value();
        },
        "");
  };
  if (request_.grouping == Grouping::op) {
    of_layer("layer_work_min", "min of layers", [](const LayerSpread& each) { return each.min; });
    of_layer("layer_work_median", "", [](const LayerSpread& each) { return each.median; });
    of_layer("layer_work_max", "max of layers", [](const LayerSpread& each) { return each.max; });
  }
  if (table_.cores == 0) return;
  const bool several = table_.cores > 1 && request_.grouping != Grouping::core &&
                       request_.grouping != Grouping::unit;
  add(
      {"cores", several ? "cores" : "", Format::count, false},
      [](const OpRow& row) {
        const CoreSpread& spread = row.details.spread;
        return spread.cores > 0 ? Value(spread.cores) : Value();
      },
      "cores");
  const auto of_core = [&](const char* key, const char* label, auto get) {
    ticks(
        key, several ? label : "",
        [get](const OpRow& row) {
          const CoreSpread& spread = row.details.spread;
          return spread.cores > 0 ? Value(get(spread)) : Value();
        },
        "");
  };
  of_core("core_work_least", "min", [](const CoreSpread& spread) { return spread.min; });
  of_core("core_work_median", "median", [](const CoreSpread& spread) { return spread.median; });
  of_core("core_work_most", "max", [](const CoreSpread& spread) { return spread.max; });
  add({"most_loaded_core", several ? "most loaded" : "", Format::name, false, true},
      [&](const OpRow& row) {
        const CoreSpread& spread = row.details.spread;
        if (spread.cores > 1 && spread.min == spread.max) return Value();
        const UnitId unit = spread.most_loaded;
        if (index_of(unit) >= profile_.units.size()) return Value();
        const Unit& of = profile_.units[index_of(unit)];
        return Value(fmt::format("device {} core {}", of.device, of.core));
      });
}

std::string OpsTable::known_columns(bool to_sort) const {
  std::string names;
  for (const Column& column : columns_) {
    if (column.field.key.empty()) continue;
    if (to_sort && column.sort_name.empty()) continue;
    names += (names.empty() ? "" : ", ") + column.field.key;
  }
  return names.empty() ? "nothing" : names;
}

// Those asked for, in their order, behind what the rows are.
Status OpsTable::choose_columns() {
  if (request_.columns.empty()) return {};
  std::vector<Column> chosen{columns_.begin(), columns_.begin() + (is_in_order() ? 2 : 1)};
  for (const std::string& key : request_.columns) {
    const auto found = std::find_if(columns_.begin(), columns_.end(),
                                    [&](const Column& column) { return column.field.key == key; });
    if (found == columns_.end()) {
      return usage_error("--columns: this profile has no column '{}'{}; it has {}", key,
                         did_you_mean(known_columns(false), key), known_columns(false));
    }
    const bool is_there = std::any_of(chosen.begin(), chosen.end(), [&](const Column& column) {
      return column.field.key == key;
    });
    if (is_there) continue;
    chosen.push_back(*found);
    Field& field = chosen.back().field;
    field.needed = true;
    field.only_if_known = false;
    if (field.label.empty()) {
      field.label = field.key;
      std::replace(field.label.begin(), field.label.end(), '_', ' ');
    }
  }
  columns_ = std::move(chosen);
  return {};
}

std::string OpsTable::title() const {
  std::string name = name_of(request_.grouping);
  for (char& c : name) c = c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c;
  std::string title = name == "OP" ? "OPS" : "OPS BY " + name;
  title += is_in_order() ? ", in order of execution" : ", by " + table_.ranked_by_name;
  if (!table_.columns.empty()) {
    const ClockId clock = table_.columns[table_.ranked_by].clock;
    if (!shows_time(profile_, clock)) title += ", in " + unit_of(profile_, clock);
  }
  return title;
}

std::vector<std::string> OpsTable::remarks() const {
  std::vector<std::string> remarks;
  if (table_.inferences > 1) {
    remarks.push_back(fmt::format(
        "Values are medians of the {} inferences after the first, which stands apart{} "
        "(first); 25 % and 75 % are quartiles, runs the mean; p50 and p95 are of all runs in "
        "these. "
        "--inference N shows one.",
        table_.inferences - 1, table_.first_inference == 0 ? " as cold" : ""));
  }
  if (is_in_order()) {
    const OpTimes& times = analysis_.op_times();
    remarks.push_back(
        times.inferences > 1
            ? fmt::format("start: in inference {}, from its first op on.", times.inference)
            : "start: from the first op on.");
  }
  const bool any_bound = std::any_of(bounds_.begin(), bounds_.end(), [](const OpBound& bound) {
    return bound.kind != BoundKind::unknown;
  });
  if (any_bound && is_in_order()) {
    remarks.push_back(
        "bound: by the roofline (npuscope memory); waiting: longer than it works; latency: no "
        "resource is busy for 65 %; else the engine with 65 % of the work.");
  }
  if (table_.place_of("work")) {
    const bool of_runs = std::any_of(table_.rows.begin(), table_.rows.end(),
                                     [](const OpRow& row) { return row.details.p50.has_value(); });
    std::string work = "work is a sum over units and instances and may exceed the wall";
    if (table_.place_of("active")) work += "; active counts each moment once";
    if (of_runs) work += "; p50 and p95 are of a run, from its first start to its last end";
    remarks.push_back(work + ".");
  }
  for (const OpColumn& column : table_.columns) {
    if (!is_beside(column)) continue;
    remarks.push_back(fmt::format("{}: {}.", column.name, beside_timeline_text(profile_, column)));
  }
  if (table_.moved_owners > 0) {
    remarks.push_back(fmt::format(
        "{} HMX ops that the files give to a reshape (X_post_reshape) count for the operator "
        "before "
        "it (X), whose product they are; --owners-as-written leaves them where they are.",
        thousands(table_.moved_owners)));
  }
  const bool of_run = std::any_of(table_.columns.begin(), table_.columns.end(),
                                  [](const OpColumn& column) { return column.whole.has_value(); });
  const std::string of_wall =
      table_.wall > 0 && table_.place_of("active")
          ? fmt::format("of wall, the timeline's {}; ",
                        ticks_text(profile_, profile_.base_clock, table_.wall))
          : "";
  remarks.push_back(fmt::format("Shares: {}of all, the sum over all rows{}", of_wall,
                                of_run ? "; of run, what the files say of the whole run." : "."));
  return remarks;
}

// Sums of whole numbers are whole numbers: 100000 in CSV and JSON, not 1e+05.
Value whole_where_whole(Value value, Format format) {
  constexpr double exact = 9'007'199'254'740'992.0;  // 2^53
  const double* number = std::get_if<double>(&value.held());
  if (number == nullptr || format == Format::share || !(std::abs(*number) < exact)) return value;
  return *number == std::floor(*number) ? Value(std::int64_t(*number)) : value;
}

Result<Document> OpsTable::make() {
  if (const Status analysed = analyse(); !analysed) return tl::unexpected(analysed.error());
  if (table_.columns.empty()) {
    return input_error("{}: holds nothing about ops; npuscope show lists what it holds",
                       files_text(profile_));
  }
  add_names();
  add_values();
  if (!is_in_order()) {
    add_place();
    add_bound();
  }
  if (!table_.sort_is_known) {
    return usage_error("--sort: this profile has no column '{}' to sort by{}; it has {}",
                       request_.sort, did_you_mean(known_columns(true), request_.sort),
                       known_columns(true));
  }
  const ClockId base = profile_.base_clock;
  Section section{.key = "ops", .title = title(), .remarks = remarks()};
  section.facts = {{{"by", ""}, name_of(request_.grouping)},
                   {{"sorted_by", ""}, table_.ranked_by_name},
                   {{"inferences", "", Format::count}, table_.inferences},
                   {{"cores", "", Format::count}, table_.cores},
                   {{"moved_owners", "", Format::count}, table_.moved_owners},
                   {{"wall", "", Format::ticks, true, false, base}, table_.wall}};
  for (const OpColumn& column : table_.columns) {
    section.facts.push_back({{key_of(op_column_name(profile_, table_, column)) + "_total", "",
                              format_of(column), true, false, column.clock},
                             column.kind == MeasureKind::span ? Value() : Value(column.total)});
    if (!column.of_inferences) continue;
    section.facts.push_back({{key_of(op_column_name(profile_, table_, column)) + "_of", ""},
                             inferences_text(profile_, column, false)});
  }
  if (const Status chosen = choose_columns(); !chosen) return tl::unexpected(chosen.error());
  for (const Column& column : columns_) section.table.fields.push_back(column.field);
  section.table.names = is_in_order() ? 1 : 0;
  for (const OpRow& row : table_.rows) {
    std::vector<Value> values;
    for (const Column& column : columns_) {
      values.push_back(whole_where_whole(column.get(row), column.field.format));
    }
    section.table.rows.push_back(std::move(values));
  }
  section.table.row_count = table_.row_count;
  Document document{.profile = &profile_};
  document.scope = scope_of_each(profile_);
  document.sections.push_back(std::move(section));
  return document;
}

}  // namespace

Result<Document> ops_document(const Analysis& analysis, const OpsRequest& request) {
  return OpsTable(analysis, request).make();
}

}  // namespace npuscope::report
