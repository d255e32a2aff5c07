#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/memory/memory_groups.hpp"
#include "analysis/ops/op_times.hpp"
#include "base/text.hpp"
#include "npuscope/analysis/units.hpp"
#include "profile/names.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/ops/ops_table.hpp"

namespace npuscope::report {

using namespace analysis;

void OpsTable::add(Field field, OpGetter get, std::string sort_name) {
  const std::string stem = field.key;
  for (int i = 2; !keys_.insert(field.key).second; ++i) field.key = fmt::format("{}_{}", stem, i);
  columns_.push_back({std::move(field), std::move(get), std::move(sort_name)});
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
  Field field{"bound", is_in_order() ? "bound" : "", Format::name, true, true};
  field.is_bound = true;
  add(std::move(field), [=](const OpRow& row) { return text(name_of(bound_of(row))); });
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
  const bool holds_several = std::ranges::any_of(table_.rows, [&](const OpRow& row) {
    return layers_of_one_name(profile_, table_, row).has_value();
  });
  add({"ops", holds_several ? "ops" : "", Format::count},
      [](const OpRow& row) { return Value(row.ops); });
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
    Field field{key + suffix,
                is_ranked(place) && !is_in_order() ? label : "",
                format_of(column),
                false,
                true,
                column.clock};
    field.kind = column.kind;
    field.origin = column.origin;
    add(std::move(field), [place, value](const OpRow& row) {
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
  const std::string key = as_key(name);
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
  field.kind = column.kind;
  field.origin = column.origin;
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

// MACs by name, and by the cycles that ops are ranked by; not of rows of several layers.
void OpsTable::add_model() {
  if (request_.model.empty()) return;
  std::map<std::string, double> macs_of;
  for (const NodeMacs& node : request_.model) macs_of[plain_node_name(node.name)] += node.macs;
  std::map<std::string, double> of_row;
  for (const OpRow& row : table_.rows) {
    const auto found = macs_of.find(plain_node_name(row.name));
    if (row.layers == 1 && found != macs_of.end()) of_row.insert({row.name, found->second});
  }
  const auto macs = [of_row = std::move(of_row)](const OpRow& row) -> std::optional<double> {
    const auto found = of_row.find(row.name);
    return found != of_row.end() ? std::optional(found->second) : std::nullopt;
  };
  add({"macs", "MACs", Format::number, true, true}, macs);
  if (table_.columns.empty()) return;
  const std::size_t place = table_.ranked_by;
  const OpColumn& column = table_.columns[place];
  const std::size_t clock = index_of(column.clock);
  const bool counts_cycles = column.kind != MeasureKind::count && clock < profile_.clocks.size() &&
                             profile_.clocks[clock].kind == ClockKind::unit_cycles;
  if (!counts_cycles) return;
  add({"macs_per_cycle", "MACs a cycle", Format::number, true, true}, [=](const OpRow& row) {
    const auto of = macs(row);
    const double cycles = row.values[place].value_or(0);
    return of ? ratio(*of, cycles) : Value();
  });
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
        return if_positive(spread.cores);
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

std::string op_column_name(const Profile& profile, const analysis::OpTable& table,
                           const analysis::OpColumn& column) {
  std::size_t same = 0;
  bool is_of_other_origin = false;
  for (const analysis::OpColumn& other : table.columns) {
    same += other.name == column.name;
    is_of_other_origin |= other.name == column.name && other.origin != column.origin;
  }
  // "MACs" of what the file says next to "MACs, estimated".
  if (is_of_other_origin && column.origin == Origin::estimated) {
    return fmt::format("{}, {}", column.name, stable_name(column.origin));
  }
  if (same < 2 || column.kind == MeasureKind::count ||
      index_of(column.clock) >= profile.clocks.size()) {
    return column.name;
  }
  return fmt::format("{}, {}", column.name,
                     profile.text(profile.clocks[index_of(column.clock)].name));
}

bool is_beside_timeline(const Profile& profile, const analysis::OpColumn& column) {
  return column.of_inferences && column.kind != MeasureKind::count && profile.spans.size() > 0;
}

std::string inferences_text(const Profile& profile, const analysis::OpColumn& column, bool brief) {
  using Temperature = Provenance::Temperature;
  const auto [first, last] = *column.of_inferences;
  const Temperature whole = profile.provenance.temperature;
  const bool begins_cold = whole == Temperature::cold || whole == Temperature::cold_then_warm;
  const char* temperature = !begins_cold ? "" : first == 0 ? "cold" : "warm";
  if (brief && *temperature != 0) return temperature;
  std::string text = first == last ? fmt::format("inference {}", first)
                                   : fmt::format("inferences {} to {}", first, last);
  if (*temperature != 0) text += fmt::format(", {}", temperature);
  return text;
}

std::string beside_timeline_text(const Profile& profile, const analysis::OpColumn& column) {
  const auto [first, last] = *column.of_inferences;
  return fmt::format("{}of {}{}; times of spans are of one inference{}",
                     first == last ? "" : "median ", inferences_text(profile, column, false),
                     column.kind == MeasureKind::work ? ", summed over threads" : "",
                     is_structure_only(profile) ? ", the cold one" : "");
}

Value main_kernel(const Profile& profile, const analysis::OpRow& row) {
  if (row.kinds == 1 && row.kind != row.label) return profile.text(row.kind);
  if (row.main_kind == StringId::empty || row.kinds < 2) return {};
  const std::string kind(profile.text(row.main_kind));
  constexpr double nearly_all = 0.995;
  return row.main_share >= nearly_all ? kind
                                      : fmt::format("{} {:.0f} %", kind, 100 * row.main_share);
}

std::optional<std::uint64_t> layers_of_one_name(const Profile& profile, const OpTable& table,
                                                const OpRow& row) {
  const bool is_of_layers = profile.spans.size() == 0 && table.ranked_by < table.columns.size() &&
                            table.columns[table.ranked_by].meaning.role == NumberRole::node_cycles;
  return is_of_layers && row.ops > 1 ? std::optional(std::uint64_t(row.ops)) : std::nullopt;
}

Style style_of(const OpBound& bound) {
  const auto of_work = [](bool moves) { return moves ? Style::moves : Style::computes; };
  switch (bound.kind) {
    case BoundKind::unknown: break;
    case BoundKind::movement: return Style::moves;
    case BoundKind::waiting:
    case BoundKind::latency: return Style::waits;
    case BoundKind::engine: return of_work(domain_of(bound.engine) != Domain::compute);
    case BoundKind::resource:
      if (bound.resource == Resource::dispatch) return Style::waits;
      return of_work(bound.resource == Resource::ddr || bound.resource == Resource::vtcm);
    case BoundKind::window:
      if (bound.window == WindowBound::dispatch) return Style::waits;
      return of_work(bound.window == WindowBound::ddr);
  }
  return Style::plain;
}

Value engines_of(const analysis::OpRow& row) {
  std::string text;
  for (const Engine engine : row.engines) {
    text += (text.empty() ? "" : "+") + std::string(name_of(engine));
  }
  return if_any(text);
}

}  // namespace npuscope::report
