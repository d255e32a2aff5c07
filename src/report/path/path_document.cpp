#include "report/path/path_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "analysis/path/path_groups.hpp"
#include "base/counted.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "npuscope/analysis/path.hpp"
#include "npuscope/analysis/units.hpp"
#include "report/document/provenance.hpp"
#include "report/path/path_sections.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// Trying every op of the table for free costs a pass over the graph each.
constexpr std::uint64_t max_nodes_tried = 10'000'000;
constexpr std::size_t max_rows_tried = 100;

class PathDocument {
 public:
  PathDocument(const Profile& profile, const PathAnalysis& analysis,
               const PathDocumentOptions& options)
      : profile_(profile), analysis_(analysis), options_(options) {
    const std::function<void()> parts[] = {[&] {
                                             path_ = analysis.observed();
                                             likely_ = likely_reasons(profile, path_,
                                                                      analysis.basis().instance);
                                           },
                                           [&] { executions_ = executions_by_op(analysis); }};
    parallel_for(std::size(parts), [&](std::size_t i) { parts[i](); });
    ops_ = group_path_by_op(profile, options.grouping, path_.steps, executions_);
  }

  Result<Document> make(const Scaling& scaling) {
    Document document{.profile = &profile_};
    const PathBasis& basis = analysis_.basis();
    if (basis.instance) document.scope = scope_of_one(profile_, *basis.instance);
    document.sections = {head(), parts(), ops(), units(), reasons(), steps()};
    if (options_.vendor_segments) {
      TRY_AS(vendor, vendor_section(profile_, path_, *options_.vendor_segments));
      document.sections.push_back(std::move(*vendor));
    }
    const bool asked = !options_.faster.empty() || !options_.slower.empty();
    if (asked) document.sections.push_back(what_if(scaling));
    return document;
  }

 private:
  Section head() const {
    const PathBasis& basis = analysis_.basis();
    Section section{.key = "path", .title = "CRITICAL PATH"};
    Value which;
    if (basis.instances > 1) {
      const std::string steps = step_numbers(profile_);
      const std::string all = steps.empty() ? std::to_string(basis.instances) : steps;
      which = options_.inference ? fmt::format("{}, as asked, of {}", *basis.instance, all)
                                 : fmt::format("{} of {}, nearest the median of all but the first",
                                               *basis.instance, all);
    }
    section.facts = {
        {{"inference_text", "inference"}, which},
        {{"inference", "", Format::count}, basis.instance},
        {{"inferences", "", Format::count}, basis.instances},
        {of_kind(MeasureKind::wall, {"wall", "wall", Format::ticks}), path_.wall},
        {{"work_on_path", "work on the path", Format::ticks}, path_.work},
        {{"work_share_of_wall", "of wall", Format::share}, share(double(path_.work))},
        {{"waiting_on_path", "waiting", Format::ticks}, path_.wall - path_.work},
        {{"steps", "steps", Format::count}, path_.steps.size()},
        {{"executions", "of executions", Format::count}, basis.executions},
    };
    if (basis.instances > 1) {
      section.facts.push_back(
          {of_kind(MeasureKind::wall, {"median_wall_of_rest", "median wall", Format::ticks}),
           basis.median_wall});
      section.facts.push_back(
          {of_kind(MeasureKind::wall, {"least_wall_of_rest", "min", Format::ticks}),
           basis.min_wall});
      section.facts.push_back(
          {of_kind(MeasureKind::wall, {"most_wall_of_rest", "max", Format::ticks}),
           basis.max_wall});
    }
    for (std::size_t i = 1; i < reason_count; ++i) {
      section.facts.push_back(
          {{"constraints_" + as_key(name_of(Reason(i))), "", Format::count}, basis.constraints[i]});
    }
    section.facts.push_back({{"inferred_steps", "", Format::count}, likely_.reasons.size()});
    section.facts.push_back({{"inferred_waiting", "", Format::ticks}, likely_.waiting});
    section.facts.push_back({{"inferred_within", "", Format::ticks}, likely_.within});
    section.facts.push_back({{"inferred_by_chance", "", Format::share},
                             likely_.reasons.empty() ? Value() : Value(likely_.by_chance)});
    section.facts.push_back({{"stepwise_edges", "", Format::count}, basis.stepwise_edges});
    section.facts.push_back({{"unmet_edges", "", Format::count}, basis.unmet_edges});
    section.facts.push_back({{"unmet_flows", "", Format::count}, basis.unmet_flows});
    section.facts.push_back({{"cyclic_ops", "", Format::count}, basis.cyclic_ops});
    section.remarks = remarks();
    return section;
  }

  std::vector<std::string> remarks() const {
    const PathBasis& basis = analysis_.basis();
    std::vector<std::string> remarks;
    const auto& found = basis.constraints;
    const std::uint64_t told =
        std::accumulate(found, found + std::size_t(Reason::issue), std::uint64_t{0});
    if (told == 0) {
      remarks.push_back(
          "The profile tells no dependencies between ops: the path knows only the order of work on "
          "each unit, so what one unit waited for on another is not on it.");
    }
    if (basis.stepwise_edges > 0) {
      std::string remark = fmt::format(
          "Edges between ops that overlap or repeat: {}. Each execution counts as waiting for the "
          "last one of the producer that had ended",
          thousands(basis.stepwise_edges));
      if (basis.unmet_edges > 0) {
        remark +=
            "; " + counted(basis.unmet_edges, "of them holds", "of them hold") + " nothing back";
      }
      remarks.push_back(remark + ".");
    }
    if (basis.unmet_flows > 0) {
      remarks.push_back(counted(basis.unmet_flows, "arrow leads back in time and holds",
                                "arrows lead back in time and hold") +
                        " nothing back.");
    }
    if (basis.cyclic_ops > 0) {
      remarks.push_back(
          fmt::format("The edges lead in circles: {} on one or between two. Only edges that "
                      "the times bear out count.",
                      counted(basis.cyclic_ops, "op is", "ops are")));
    }
    if (basis.cyclic_constraints > 0) {
      remarks.push_back(
          counted(basis.cyclic_constraints, "constraint") +
          " among executions that began at one moment would close a circle; left out.");
    }
    if (basis.edges_beyond_limit > 0) {
      remarks.push_back(counted(basis.edges_beyond_limit, "edge") +
                        " of ops that repeat, too many to follow, left out.");
    }
    return remarks;
  }

  Section parts() const {
    Section section{.key = "parts", .title = "PARTS OF THE PATH"};
    section.table.fields = {{"part", "part"},
                            {"time", "time", Format::ticks},
                            {"share_of_wall", "of wall", Format::share}};
    const auto add = [&](std::string name, std::int64_t ticks) {
      section.table.rows.push_back({name, ticks, share(double(ticks))});
    };
    for (const PathEngineRow& row : group_path_by_engine(profile_, path_.steps)) {
      add(fmt::format("work, {}", name_of(row.engine)), row.on_path);
    }
    const auto add_waiting = [&](const std::string& what, std::int64_t ticks) {
      if (ticks > 0) add("waiting, " + what, ticks);
    };
    for (const GapPart part : {GapPart::dma, GapPart::sync, GapPart::barrier}) {
      add_waiting(name_of(part), path_.gap_parts[std::size_t(part)]);
    }
    const std::int64_t rest = path_.gap_parts[std::size_t(GapPart::unrecorded)];
    add_waiting("reason inferred", likely_.waiting);
    add_waiting("nothing recorded", rest - likely_.waiting);
    return section;
  }

  Section ops() const {
    const bool by_kind = options_.grouping == Grouping::kind;
    Section section{.key = "ops",
                    .title = by_kind ? "KINDS OF OPS ON THE PATH" : "OPS ON THE PATH"};
    section.table.fields = {{"op", by_kind ? "kind" : "op"},
                            {"layers", "layers", Format::count, false, true},
                            {"kind", by_kind ? "" : "kind", Format::name, false},
                            {"executions", "executions", Format::count, false},
                            of_kind(MeasureKind::work, {"work", "work", Format::ticks}),
                            {"on_path", "on the path", Format::ticks},
                            {"on_path_share_of_wall", "of wall", Format::share},
                            {"waiting_before", "waiting before", Format::ticks},
                            {"slack", "slack", Format::ticks},
                            {"gain_if_free", "gain if free", Format::ticks, true, true},
                            of_kind(MeasureKind::dominant_path,
                                    {"dominant_path", "dominant path", Format::ticks, true, true})};
    const std::size_t count = std::min(options_.top, ops_.rows.size());
    const std::vector<std::optional<double>> gain = gains(count);
    bool dominant = false;
    for (std::size_t i = 0; i < count; ++i) {
      const PathOpRow& row = ops_.rows[i];
      dominant = dominant || row.dominant_path;
      section.table.rows.push_back(
          {label_of(row.name), row.layers > 1 ? Value(row.layers) : Value(),
           row.kind == StringId::empty ? Value() : profile_.text(row.kind), row.executions,
           row.work, row.on_path, share(double(row.on_path)), row.gaps, row.slack, gain[i],
           row.dominant_path});
    }
    section.table.row_count = ops_.rows.size();
    section.remarks.push_back(
        "Slack: how much later an execution of the op could have ended, alone, at the same wall. "
        "Gain if free: what the wall loses when the op takes no time and all else stays.");
    if (dominant) {
      section.remarks.push_back(
          "The vendor's dominant path gives each moment to one running op by rank of its unit, not "
          "by "
          "what waits for what: another kind of number, not to be subtracted from this path.");
    }
    return section;
  }

  Section units() const {
    Section section{.key = "units", .title = "UNITS ON THE PATH"};
    section.table.fields = {{"unit", "unit"},
                            {"steps", "steps", Format::count},
                            {"on_path", "on the path", Format::ticks},
                            {"on_path_share_of_wall", "of wall", Format::share},
                            {"waiting_before", "waiting before", Format::ticks}};
    const auto rows = group_path_by_unit(profile_, path_.steps);
    for (std::size_t i = 0; i < std::min(options_.top, rows.size()); ++i) {
      section.table.rows.push_back({path_of(profile_, rows[i].unit), rows[i].steps, rows[i].on_path,
                                    share(double(rows[i].on_path)), rows[i].gaps});
    }
    section.table.row_count = rows.size();
    return section;
  }

  Section reasons() const {
    Section section{.key = "reasons", .title = "WAITS OF THE STEPS"};
    section.table.fields = {{"reason", "reason"},
                            {"steps", "steps", Format::count},
                            {"waiting_before", "waiting before", Format::ticks},
                            {"waiting_share_of_wall", "of wall", Format::share},
                            {"delay", "above min", Format::ticks}};
    for (const PathReasonRow& row : group_path_by_reason(path_.steps)) {
      section.table.rows.push_back(
          {name_of(row.reason), row.steps, row.gaps, share(double(row.gaps)), row.delays});
    }
    return section;
  }

  Section steps() const {
    Section section{.key = "steps", .title = "STEPS"};
    section.table.fields = {{"step", "step", Format::count},
                            {"start", "start", Format::ticks},
                            {"waiting_before", "waiting", Format::ticks},
                            {"duration", "duration", Format::ticks},
                            {"op", "op"},
                            {"kind", "kind", Format::name, false, true},
                            {"unit", "unit"},
                            {"reason", "reason"},
                            {"after", "after"},
                            {"after_unit", "", Format::name},
                            {"likely_after", "likely after, inferred", Format::name, true, true},
                            {"likely_after_unit", "", Format::name},
                            {"likely_ended_before", "", Format::ticks},
                            {"dma", "", Format::ticks},
                            {"semaphore", "", Format::ticks},
                            {"barrier", "", Format::ticks},
                            {"unrecorded", "", Format::ticks},
                            {"delay", "", Format::ticks}};
    const auto& steps = path_.steps;
    std::vector<std::size_t> shown(steps.size());
    std::iota(shown.begin(), shown.end(), std::size_t{0});
    if (options_.steps < steps.size()) {
      const auto cost = [&](std::size_t i) { return steps[i].gap + steps[i].duration; };
      std::partial_sort(shown.begin(), shown.begin() + std::ptrdiff_t(options_.steps), shown.end(),
                        [&](std::size_t a, std::size_t b) {
                          return cost(a) != cost(b) ? cost(a) > cost(b) : a < b;
                        });
      shown.resize(options_.steps);
      std::sort(shown.begin(), shown.end());
      section.remarks.push_back(
          "The steps that took longest, with what they waited before; --steps all "
          "prints every one.");
    }
    for (const std::size_t i : shown) {
      const PathStep& step = steps[i];
      const PathStep* const before = i > 0 ? &steps[i - 1] : nullptr;
      std::optional<std::string> after, after_unit, likely_after, likely_unit;
      std::optional<std::int64_t> ended_before;
      if (before != nullptr) {
        after = op_name(before->row);
        after_unit = path_of(profile_, before->unit);
      }
      if (const LikelyReason* likely = likely_reason_of(i)) {
        likely_after = op_name(likely->row);
        likely_unit = path_of(profile_, profile_.spans.unit[likely->row]);
        ended_before = likely->ended_before;
      }
      const auto part = [&](GapPart of) { return step.gap_parts[std::size_t(of)]; };
      section.table.rows.push_back(
          {i + 1, step.start - path_.begin, step.gap, step.duration, op_name(step.row),
           op_kind(step.row), path_of(profile_, step.unit), name_of(step.reason), after, after_unit,
           likely_after, likely_unit, ended_before, part(GapPart::dma), part(GapPart::sync),
           part(GapPart::barrier), part(GapPart::unrecorded), step.delay});
    }
    section.table.row_count = steps.size();
    if (!likely_.reasons.empty()) {
      const std::size_t count = likely_.reasons.size();
      section.remarks.push_back(fmt::format(
          "Inferred: of {} {} nothing recorded says why {} waited; the op named ended on another "
          "unit "
          "at most {} ticks before. {:.1f} % of all moments lie so close behind some end. Slack "
          "and "
          "what-if take no notice of it.",
          thousands(count), count == 1 ? "step" : "steps", count == 1 ? "it" : "they",
          thousands(std::uint64_t(likely_.within)), likely_.by_chance * 100));
    }
    return section;
  }

  Section what_if(const Scaling& scaling) const {
    const WhatIf answer = analysis_.what_if(scaling);
    Section section{.key = "what_if", .title = "WHAT IF"};
    std::vector<std::string> rules;
    for (const std::string& rule : options_.faster) rules.push_back("faster " + rule);
    for (const std::string& rule : options_.slower) rules.push_back("slower " + rule);
    const double gain = answer.before - answer.after;
    section.facts = {
        {{"rules", "rules", Format::names}, rules},
        {of_kind(MeasureKind::wall, {"wall_before", "wall before", Format::ticks}), answer.before},
        {of_kind(MeasureKind::wall, {"wall_after", "wall after", Format::ticks}), answer.after},
        {{"gain", "gain", Format::ticks}, gain},
        {{"gain_share_of_wall", "of wall before", Format::share}, share(gain)},
        {{"taken_off_path", "removed from path", Format::ticks}, answer.off_the_path},
        {{"wall_if_free", "wall if free", Format::ticks},
         options_.faster.empty() ? Value() : Value(answer.limit)},
        {{"gain_ends_at_speedup", "limit speed-up", Format::number}, answer.limit_speedup}};
    section.table = moved_ops(answer);
    if (!options_.faster.empty() && answer.limit_speedup) {
      section.remarks.push_back(
          fmt::format("Made {:.3g} times as fast or more, all that gets faster gains no more than "
                      "it does then: "
                      "another path holds the wall.",
                      *answer.limit_speedup));
    }
    section.remarks.push_back(
        "Every start is computed again with the same constraints, latencies and order on each "
        "unit. "
        "Shared bandwidth is not modelled: what moves data beside a faster op may become slower.");
    return section;
  }

  Table moved_ops(const WhatIf& answer) const {
    const PathOps after = group_path_by_op(profile_, options_.grouping, answer.steps, executions_);
    Table table;
    table.fields = {{"op", "op"},
                    {"on_path_before", "on the path before", Format::ticks},
                    {"on_path_after", "after", Format::ticks}};
    std::vector<std::pair<const PathOpRow*, std::int64_t>> rows;  // and what it was
    for (std::size_t op = 0; op < after.of_op.size(); ++op) {
      if (after.of_op[op] == no_row) continue;
      rows.push_back({&after.rows[after.of_op[op]], ops_.rows[ops_.of_op[op]].on_path});
    }
    std::sort(rows.begin(), rows.end());  // rows of one label together; they lie most first
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    for (const auto& [row, before] : rows) {
      if (row->on_path == 0 && before == 0) continue;
      table.row_count += 1;
      if (table.rows.size() < options_.top) {
        table.rows.push_back({label_of(row->name), before, row->on_path});
      }
    }
    return table;
  }

  const LikelyReason* likely_reason_of(std::size_t step) const {
    const auto& reasons = likely_.reasons;
    const auto found = std::lower_bound(
        reasons.begin(), reasons.end(), step,
        [](const LikelyReason& each, std::size_t place) { return each.step < place; });
    return found != reasons.end() && found->step == step ? &*found : nullptr;
  }

  double share(double ticks) const { return path_.wall > 0 ? ticks / double(path_.wall) : NAN; }
  static std::string label_of(std::string_view text) {
    return text.empty() ? "(no op)" : std::string(text);
  }
  std::string op_name(std::uint32_t row) const {
    const std::size_t op = index_of(profile_.spans.op[row]);
    if (op >= profile_.ops.size()) return "(no op)";
    const Op& named = profile_.ops[op];
    return label_of(profile_.text(named.name != StringId::empty ? named.name : named.kind));
  }
  Value op_kind(std::uint32_t row) const {
    const std::size_t op = index_of(profile_.spans.op[row]);
    if (op >= profile_.ops.size() || profile_.ops[op].kind == StringId::empty) return {};
    return profile_.text(profile_.ops[op].kind);
  }

  // By how much the wall falls when each of the first rows takes no time.
  std::vector<std::optional<double>> gains(std::size_t rows) const {
    std::vector<std::optional<double>> gains(rows);
    const std::uint64_t cost = std::max<std::uint64_t>(analysis_.basis().executions, 1);
    std::vector<std::size_t> tried;
    for (std::size_t row = 0; row < rows; ++row) {
      if (ops_.rows[row].on_path == 0) {
        gains[row] = 0;  // what is not on the longest path does not make it shorter
      } else if (tried.size() < max_nodes_tried / cost && row < max_rows_tried) {
        tried.push_back(row);
      }
    }
    std::vector<Scaling> scalings(tried.size());
    for (std::size_t i = 0; i < tried.size(); ++i) {
      for (const std::uint32_t of : ops_.of_op) scalings[i].of_op.push_back(of == tried[i] ? 0 : 1);
    }
    const std::vector<double> walls = analysis_.walls_if(scalings);
    for (std::size_t i = 0; i < tried.size(); ++i) {
      gains[tried[i]] = double(path_.wall) - walls[i];
    }
    return gains;
  }

  const Profile& profile_;
  const PathAnalysis& analysis_;
  const PathDocumentOptions& options_;
  CriticalPath path_;
  LikelyReasons likely_;
  ExecutionsByOp executions_;
  PathOps ops_;
};

}  // namespace

Result<Document> path_document(const analysis::Analysis& analysis,
                               const PathDocumentOptions& options) {
  const Profile& profile = analysis.profile();
  TRY_AS(scaling, scaling_of(profile, options.faster, options.slower));
  const Result<PathAnalysis> path =
      options.inference ? analysis.path(*options.inference) : analysis.path();
  if (!path) return tl::unexpected(path.error());
  return PathDocument(profile, *path, options).make(*scaling);
}

}  // namespace npuscope::report
