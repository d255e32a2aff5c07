#include "report/units/units_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "analysis/units/unit_numbers.hpp"
#include "base/parallel.hpp"
#include "profile/names.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/document/shared_sections.hpp"
#include "report/units/balance_sections.hpp"

namespace npuscope::report {

namespace {

using namespace analysis;

// How many inferences there are, and how much of the timeline is none of them.
struct InferencesWithin {
  std::uint64_t count = 0;
  double between = 0;
};

InferencesWithin inferences_within(const Analysis& analysis) {
  const auto& extents = analysis.inference_extents();
  const std::int64_t wall = length_of(analysis.timeline_extent());
  return {extents.size(), double(saturating_subtract(wall, length_of(times_of(extents))))};
}

bool tells_use(const UnitNumberColumn& column) {
  switch (column.meaning.role) {
    case NumberRole::utilization:
    case NumberRole::utilization_with_waits:
    case NumberRole::active_share:
    case NumberRole::busy:
    case NumberRole::wait:
    case NumberRole::function_wait:
    case NumberRole::device_input_wait:
    case NumberRole::device_output_wait: return true;
    default: return false;
  }
}

class UnitsSections {
 public:
  UnitsSections(const Analysis& analysis, const UnitsRequest& request)
      : analysis_(analysis),
        profile_(analysis.profile()),
        request_(request),
        one_core_(analysis.one_core_ops()),
        table_(table_by_unit(analysis)) {}

  Result<Document> make() {
    Section said = stated();
    if (table_.units.empty() && said.key.empty()) {
      return input_error("{}: holds nothing about units; npuscope show lists what it holds",
                         files_text(profile_));
    }
    Document document{.profile = &profile_};
    document.scope = scope_of_all(profile_);
    const auto add = [&](Section section) {
      if (!section.key.empty()) document.sections.push_back(std::move(section));
    };
    if (!table_.units.empty()) {
      analyse();
      add(wall());
      switch (request_.by) {
        case UnitsBy::unit: add(units()); break;
        case UnitsBy::core: add(groups(UnitGrouping::core)); break;
        case UnitsBy::device: add(groups(UnitGrouping::device)); break;
        case UnitsBy::engine: break;
      }
      add(engines());
      add(overlap_section());
      add(concurrency_section());
      add(imbalance_section(analysis_));
      add(peers_section(profile_));
      add(one_core_section(analysis_, one_core_, max_rows()));
    }
    const Pmu pmu = analyse_pmu(profile_);
    add(pmu_section(pmu));
    add(pmu_cores_section(profile_, pmu));
    add(std::move(said));
    return document;
  }

 private:
  // Several sections need these: what is found from them is found faster when they are there.
  static const UnitTable& table_by_unit(const Analysis& analysis) {
    analysis.spans_by_unit();
    return analysis.units();
  }
  std::string in_ticks(const std::string& title) const { return title_in_ticks(profile_, title); }
  std::size_t max_rows() const { return request_.top == 0 ? ~std::size_t{0} : request_.top; }

  // Those have nothing to do with each other.
  void analyse() {
    const std::function<void()> questions[] = {
        [&] { steady_ = analysis_.steady_use(); }, [&] { analysis_.imbalance(); },
        [&] { analysis_.overlap(); }, [&] { analysis_.concurrency(); }};
    parallel_for(std::size(questions), [&](std::size_t i) { questions[i](); });
  }

  Section wall() const {
    Section section{.key = "wall"};
    double work = 0;
    for (const UnitRow& row : table_.units) work += double(row.work);
    const auto& time_at = analysis_.concurrency().time_at;
    double active = 0;
    for (std::size_t k = 1; k < time_at.size(); ++k) active += double(time_at[k]);
    section.facts = {{of_kind(MeasureKind::wall, {"wall", "wall", Format::ticks}), table_.wall},
                     {of_kind(MeasureKind::active, {"active", "active", Format::ticks}), active},
                     {of_kind(MeasureKind::work, {"work", "work", Format::ticks}), work},
                     {{"parallelism", "parallelism", Format::number}, ratio(work, active)}};
    section.remarks = {
        "wall is the first start to the last end, active the time in which any unit worked, work "
        "the "
        "sum over units; parallelism is work by active."};
    if (table_.wall == 0) {
      section.remarks.push_back("All spans take no time: nothing was measured.");
    }
    const InferencesWithin within = inferences_within(analysis_);
    constexpr double notable = 0.01;
    if (within.count > 1 && within.between > notable * double(table_.wall)) {
      section.remarks.push_back(fmt::format(
          "Of the wall, {} lie between the {} inferences and count as idle; use is of inferences "
          "alone, and --inference N shows one.",
          ticks_text(profile_, profile_.base_clock, within.between), within.count));
    }
    return section;
  }

  Section engines() const {
    Section section{.key = "engines", .title = in_ticks("HARDWARE")};
    section.table.fields = {{"class", "class"},
                            {"units", "units", Format::count},
                            of_kind(MeasureKind::domain, {"domain", "domain", Format::ticks}),
                            {"domain_share_of_wall", "of wall", Format::share},
                            of_kind(MeasureKind::active, {"active", "active", Format::ticks}),
                            of_kind(MeasureKind::work, {"work", "work", Format::ticks, false}),
                            {"use", "use", Format::share, true, true},
                            {"use_first", "first", Format::share, false, true},
                            {"use_least", "min", Format::share, false, true},
                            {"use_most", "max", Format::share, false, true},
                            {"use_inferences", "", Format::count},
                            {"use_is", "confidence", Format::name, false},
                            {"busiest_unit", "busiest unit", Format::name, false}};
    const auto& steady = steady_;
    for (const EngineRow& row : table_.engines) {
      const auto found = std::find_if(steady.begin(), steady.end(), [&](const SteadyUse& each) {
        return each.engine == row.engine;
      });
      Value use, first, min, max, inferences;
      std::string origin = is_structure_only(profile_) ? "structure only" : "one sample";
      if (found != steady.end()) {
        use = found->share.median_of_rest;
        first = found->share.first;
        min = found->share.min;
        max = found->share.max;
        inferences = found->share.count;
        origin = "steady";
      }
      section.table.rows.push_back({name_of(row.engine), row.units, row.domain,
                                    ratio(double(row.domain), double(table_.wall)), row.active,
                                    row.work, use, first, min, max, inferences, origin,
                                    path_of(profile_, row.busiest)});
    }
    section.remarks = {
        "domain is the busiest unit of the class, which bounds it; active, the time in which any "
        "of "
        "its units worked; work, their sum. An op counts for the class that it uses, not for the "
        "lane "
        "that it is drawn on."};
    if (!steady.empty()) {
      section.remarks.push_back(fmt::format(
          "use is the domain's share of an inference's wall: the median of the {} after the first, "
          "which stands apart (first); min and max are of all.",
          steady.front().share.count - 1));
    }
    if (is_structure_only(profile_)) {
      section.remarks.push_back(
          "Shares of one cold, instrumented inference are not utilisation; run several inferences, "
          "or "
          "read the counters of the device.");
    }
    return section;
  }

  Section units() const {
    Section section{.key = "units", .title = in_ticks("UNITS")};
    section.table.fields = {
        {"unit", "unit"},
        {"spans", "spans", Format::count, false},
        of_kind(MeasureKind::unit_busy, {"busy", "busy", Format::ticks}),
        {"busy_share_of_wall", "of wall", Format::share},
        of_kind(MeasureKind::active, {"waiting_for_dma", "DMA wait", Format::ticks}),
        {"waiting_for_dma_share_of_wall", "of wall", Format::share, false},
        of_kind(MeasureKind::active, {"at_syncs", "sync", Format::ticks}),
        {"at_syncs_share_of_wall", "of wall", Format::share, false},
        of_kind(MeasureKind::active, {"at_barriers", "barrier", Format::ticks}),
        {"at_barriers_share_of_wall", "of wall", Format::share, false},
        {"idle", "idle", Format::ticks},
        {"idle_share_of_wall", "of wall", Format::share},
        of_kind(MeasureKind::work, {"work", "", Format::ticks})};
    std::vector<const UnitRow*> rows;
    for (const UnitRow& row : table_.units) rows.push_back(&row);
    section.table.row_count = rows.size();
    if (rows.size() > max_rows()) rows.resize(max_rows());
    const auto wall = double(table_.wall);
    for (const UnitRow* row : rows) {
      const std::int64_t taken = saturating_add(row->busy, row->waiting);
      const std::int64_t idle = std::max<std::int64_t>(0, saturating_subtract(table_.wall, taken));
      const auto of_wall = [&](std::int64_t part) { return ratio(double(part), wall); };
      section.table.rows.push_back({path_of(profile_, row->unit), row->spans, row->busy,
                                    of_wall(row->busy), row->waiting_for_dma,
                                    of_wall(row->waiting_for_dma), row->at_syncs,
                                    of_wall(row->at_syncs), row->at_barriers,
                                    of_wall(row->at_barriers), idle, of_wall(idle), row->work});
    }
    section.remarks = {
        "busy, waits and idle add up to the wall. A wait counts where the unit does not work; "
        "where "
        "several waits overlap, for DMA before sync before barrier. idle is what no span covers."};
    return section;
  }

  Section groups(UnitGrouping grouping) const {
    const bool by_core = grouping == UnitGrouping::core;
    Section section{.key = "units", .title = in_ticks(by_core ? "CORES" : "DEVICES")};
    section.table.fields = {
        {by_core ? "core" : "device", by_core ? "core" : "device"},
        {"units", "units", Format::count},
        {"spans", "spans", Format::count, false},
        of_kind(MeasureKind::active, {"active", "active", Format::ticks}),
        {"active_share_of_wall", "of wall", Format::share},
        of_kind(MeasureKind::active, {"waiting", "only waiting", Format::ticks}),
        {"waiting_share_of_wall", "of wall", Format::share},
        {"idle", "idle", Format::ticks},
        {"idle_share_of_wall", "of wall", Format::share},
        of_kind(MeasureKind::work, {"work", "work", Format::ticks, false})};
    const auto rows = analysis_.unit_groups(grouping);
    section.table.row_count = rows.size();
    for (const UnitGroupRow& row : rows) {
      if (section.table.rows.size() == max_rows()) break;
      const std::int64_t taken = saturating_add(row.active, row.waiting);
      const std::int64_t idle = std::max<std::int64_t>(0, saturating_subtract(table_.wall, taken));
      const auto of_wall = [&](std::int64_t part) {
        return ratio(double(part), double(table_.wall));
      };
      section.table.rows.push_back({row.name, row.units, row.spans, row.active, of_wall(row.active),
                                    row.waiting, of_wall(row.waiting), idle, of_wall(idle),
                                    row.work});
    }
    section.remarks = {
        "active is the time in which any unit of it worked, only waiting that in which some waited "
        "and none worked; work is the sum over its units."};
    return section;
  }

  // What the files themselves say of how busy units were: counters before all else.
  Section stated() const {
    Section section{.key = "stated", .title = "REPORTED BY THE FILES"};
    section.table.fields = {{"unit", "unit"},
                            {"number", "number"},
                            {"value", "value", Format::number},
                            {"clock", "in", Format::name, true, true},
                            {"origin", "from"}};
    const UnitNumbers numbers = analyse_unit_numbers(profile_);
    for (std::size_t row = 0; row < numbers.row_count(); ++row) {
      for (const UnitNumber& number : numbers.row(row)) {
        const UnitNumberColumn& column = numbers.columns[number.column];
        if (!tells_use(column)) continue;
        section.table.row_count += 1;
        if (section.table.rows.size() >= max_rows()) continue;
        const bool is_time = column.meaning.quantity == NumberQuantity::time;
        section.table.rows.push_back({path_of(profile_, number.unit), column.name, number.value,
                                      is_time ? Value(unit_of(profile_, column.clock)) : Value(),
                                      stable_name(column.origin)});
      }
    }
    if (section.table.rows.empty()) return {};
    section.remarks = {
        "Trust a counter of the device first, then steady use, then what a tool made of one "
        "trace."};
    return section;
  }

  Section overlap_section() const {
    Section section{.key = "overlap", .title = in_ticks("OVERLAP")};
    section.table.fields = {
        {"a", "class"},
        {"b", "with"},
        of_kind(MeasureKind::active, {"both", "both active", Format::ticks}),
        {"share_of_smaller", "of shorter", Format::share},
        {"share_of_wall", "of wall", Format::share},
        of_kind(MeasureKind::active, {"active_a", "class active", Format::ticks, false}),
        of_kind(MeasureKind::active, {"active_b", "other active", Format::ticks, false})};
    for (std::size_t i = 0; i < analysis_.overlap().engines.size(); ++i) {
      for (std::size_t j = i + 1; j < analysis_.overlap().engines.size(); ++j) {
        const Engine a = analysis_.overlap().engines[i], b = analysis_.overlap().engines[j];
        const auto both = double(analysis_.overlap().of(a, b));
        const auto smaller =
            double(std::min(analysis_.overlap().active(a), analysis_.overlap().active(b)));
        section.table.rows.push_back({name_of(a), name_of(b), analysis_.overlap().of(a, b),
                                      ratio(both, smaller), ratio(both, double(table_.wall)),
                                      analysis_.overlap().active(a),
                                      analysis_.overlap().active(b)});
      }
    }
    if (section.table.rows.empty()) return {};
    section.facts = {
        {{"several_classes", "two classes or more", Format::ticks}, analysis_.overlap().several}};
    if (analysis_.overlap().active(Engine::dma) > 0) {
      section.facts.push_back(
          {{"dma_hidden", "DMA behind compute", Format::ticks}, analysis_.overlap().hidden_dma});
      section.facts.push_back({{"dma_hidden_share_of_dma", "of all DMA", Format::share},
                               ratio(double(analysis_.overlap().hidden_dma),
                                     double(analysis_.overlap().active(Engine::dma)))});
    }
    section.remarks = {"of shorter: both, by the shorter of the two times in which each worked."};
    return section;
  }

  Section concurrency_section() const {
    Section section{.key = "concurrency", .title = in_ticks("CONCURRENCY")};
    section.table.fields = {{"units", "units", Format::count},
                            of_kind(MeasureKind::active, {"time", "time", Format::ticks}),
                            {"share_of_wall", "of wall", Format::share}};
    std::vector<std::int64_t> time_at = analysis_.concurrency().time_at;
    double active = 0, weighted = 0;
    // What lies before the first work and after the last of the wall has no unit at work either.
    const std::int64_t inside =
        std::accumulate(time_at.begin(), time_at.end(), std::int64_t{0},
                        [](auto a, auto b) { return saturating_add(a, b); });
    if (!time_at.empty()) {
      time_at[0] = saturating_add(time_at[0], saturating_subtract(table_.wall, inside));
    }
    for (std::size_t k = 0; k < time_at.size(); ++k) {
      const std::int64_t time = time_at[k];
      if (k > 0) active += double(time);
      weighted += double(k) * double(time);
      if (time <= 0) continue;
      section.table.rows.push_back({k, time, ratio(double(time), double(table_.wall))});
    }
    if (section.table.rows.empty()) return {};
    constexpr std::size_t readable = 8;
    if (section.table.rows.size() > readable) {  // in JSON each, in text several together
      for (Field& field : section.table.fields) field.label.clear();
      section.drawing.push_back(fmt::format("  {:<10} {:>12}  of wall", "units", "time"));
      for (const LevelsAtOnce& levels : concurrency_histogram(time_at)) {
        section.drawing.push_back(
            fmt::format("  {:<10} {:>12}  {:>7}", levels.label,
                        ticks_text(profile_, profile_.base_clock, double(levels.time)),
                        percent_text(double(levels.time), double(table_.wall))));
      }
    }
    section.facts = {
        {{"mean_while_active", "average while active", Format::number}, ratio(weighted, active)},
        {{"most", "max", Format::count}, analysis_.concurrency().max()}};
    return section;
  }

  const Analysis& analysis_;
  const Profile& profile_;
  const UnitsRequest& request_;
  // Before there is anything else: it takes most memory, which the others can have afterwards.
  std::vector<OneCoreOp> one_core_;
  const UnitTable& table_;
  std::vector<SteadyUse> steady_;
};

}  // namespace

Result<Document> units_document(const Analysis& analysis, const UnitsRequest& request) {
  return UnitsSections(analysis, request).make();
}

}  // namespace npuscope::report
