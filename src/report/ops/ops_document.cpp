#include "report/ops/ops_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>

#include "analysis/ops/model_parts.hpp"
#include "analysis/ops/op_bounds.hpp"
#include "analysis/ops/op_times.hpp"
#include "base/counted.hpp"
#include "base/near_names.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "npuscope/analysis/units.hpp"
#include "profile/names.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/ops/ops_table.hpp"

namespace npuscope::report {

using namespace analysis;

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
  TRY_AS(bookkeeping, Rules::builtin("bookkeeping"));
  if (request_.fold_bookkeeping) options.folded = &*bookkeeping;
  options.sort = request_.sort;
  for (char& c : options.sort) c = c == '_' ? ' ' : c;
  if (request_.sort == name_of(request_.grouping)) options.sort = "name";
  for (const MeasureColumn& column : profile_.spans.measures) {
    if (as_key(profile_.text(column.what)) == request_.sort) {
      options.sort = profile_.text(column.what);
    }
  }
  for (const Measure& measure : profile_.measures) {
    if (request_.sort.empty()) break;
    if (measure.subject != Measure::Subject::op) continue;
    if (as_key(profile_.text(measure.what)) != request_.sort) continue;
    options.sort = profile_.text(measure.what);
    break;
  }
  std::shared_ptr<const OpSpansInGroups> spans_by_op;  // held for the table and its bounds
  if (!is_of_units(request_.grouping)) spans_by_op = analysis_.spans_by_op();
  table_ = analysis_.ops(options);
  TRY_AS(peaks, find_peaks(profile_, request_.peaks));
  MemoryOptions memory;
  memory.peaks = peaks->peaks;
  memory.rate = peaks->clock;
  bounds_ = op_bounds(analysis_, table_, request_.grouping, memory);
  return {};
}

std::string OpsTable::known_columns(bool to_sort) const {
  std::string names;
  for (const OpsTableColumn& column : columns_) {
    if (column.field.key.empty()) continue;
    if (to_sort && column.sort_name.empty()) continue;
    names += (names.empty() ? "" : ", ") + column.field.key;
  }
  return names.empty() ? "nothing" : names;
}

// Those asked for, in their order, behind what the rows are.
Status OpsTable::choose_columns() {
  if (request_.columns.empty()) return {};
  std::vector<OpsTableColumn> chosen{columns_.begin(), columns_.begin() + (is_in_order() ? 2 : 1)};
  for (const std::string& key : request_.columns) {
    const auto found =
        std::find_if(columns_.begin(), columns_.end(),
                     [&](const OpsTableColumn& column) { return column.field.key == key; });
    if (found == columns_.end()) {
      return usage_error("--columns: this profile has no column '{}'{}; it has {}", key,
                         did_you_mean(known_columns(false), key), known_columns(false));
    }
    const bool is_there =
        std::any_of(chosen.begin(), chosen.end(),
                    [&](const OpsTableColumn& column) { return column.field.key == key; });
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
    // Of the column that ranks, where that is a time, else of the first that is one.
    const auto is_time = [](const auto& column) { return column.kind != MeasureKind::count; };
    const auto* column = &table_.columns[table_.ranked_by];
    for (const auto& each : table_.columns) column = is_time(*column) ? column : &each;
    const ClockId clock = column->clock;
    if (is_time(*column) && !shows_time(profile_, clock))
      title += ", in " + unit_of(profile_, clock);
  }
  return title;
}

std::vector<std::string> OpsTable::remarks() const {
  std::vector<std::string> remarks;
  if (table_.inferences > 1) {
    remarks.push_back(fmt::format(
        "Values are {} after the first, which stands apart{} "
        "(first); 25 % and 75 % are quartiles, runs the mean; p50 and p95 are of all runs in "
        "these. "
        "--inference N shows one.",
        table_.inferences == 2 ? "of the inference"
                               : fmt::format("medians of the {} inferences", table_.inferences - 1),
        table_.first_inference == 0 ? " as cold" : ""));
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
  TRY(analyse());
  if (table_.columns.empty()) {
    return input_error("{}: {}; npuscope show lists what it holds", files_text(profile_),
                       profile_.ops.empty() ? "holds nothing about ops"
                                            : "names its ops, without a number of any");
  }
  add_names();
  add_values();
  add_model();
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
  section.facts = {
      {{"by", ""}, name_of(request_.grouping)},
      {{"sorted_by", ""}, table_.ranked_by_name},
      {{"inferences", "", Format::count}, table_.inferences},
      {{"cores", "", Format::count}, table_.cores},
      {{"moved_owners", "", Format::count}, table_.moved_owners},
      {of_kind(MeasureKind::wall, {"wall", "", Format::ticks, true, false, base}), table_.wall}};
  for (const OpColumn& column : table_.columns) {
    Field total{as_key(op_column_name(profile_, table_, column)) + "_total",
                "",
                format_of(column),
                true,
                false,
                column.clock};
    total.kind = column.kind;
    total.origin = column.origin;
    section.facts.push_back(
        {std::move(total), column.kind == MeasureKind::span ? Value() : Value(column.total)});
    if (!column.of_inferences) continue;
    section.facts.push_back({{as_key(op_column_name(profile_, table_, column)) + "_of", ""},
                             inferences_text(profile_, column, false)});
  }
  TRY(choose_columns());
  for (const OpsTableColumn& column : columns_) section.table.fields.push_back(column.field);
  section.table.names = is_in_order() ? 1 : 0;
  for (const OpBound& bound : bounds_) section.table.bounds.push_back(style_of(bound));
  for (const OpRow& row : table_.rows) {
    std::vector<Value> values;
    for (const OpsTableColumn& column : columns_) {
      values.push_back(whole_where_whole(column.get(row), column.field.format));
    }
    section.table.rows.push_back(std::move(values));
  }
  section.table.row_count = table_.row_count;
  Document document{.profile = &profile_};
  if (table_.inferences > 1) document.scope = scope_of_each(profile_);
  document.sections.push_back(std::move(section));
  return document;
}

Result<Document> ops_document(const Analysis& analysis, const OpsRequest& request) {
  auto document = OpsTable(analysis, request).make();
  if (document && request.grouping == Grouping::op && request.columns.empty()) {
    Section windows = op_windows_section(analysis, request.top, request.peaks);
    if (!windows.key.empty()) document->sections.push_back(std::move(windows));
  }
  return document;
}

}  // namespace npuscope::report
