#include "report/html/profile_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <unordered_map>

#include "analysis/ops/model_parts.hpp"
#include "analysis/ops/op_keys.hpp"
#include "npuscope/profile/unit_path.hpp"
#include "report/document/damage.hpp"
#include "report/document/profile_json.hpp"
#include "report/document/provenance.hpp"
#include "report/findings/findings_document.hpp"
#include "report/graph/graph_document.hpp"
#include "report/html/page_json.hpp"
#include "report/memory/memory_document.hpp"
#include "report/ops/ops_document.hpp"
#include "report/path/path_document.hpp"
#include "report/show/show.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

class Pages {
 public:
  Pages(const Analysis& analysis, const ReportRequest& request, const ReportPart& part)
      : analysis_(analysis), profile_(analysis.profile()), request_(request), part_(part) {}

  ProfilePages make();

 private:
  void add_page(std::string_view key, const std::string& command, const Result<Document>& document);
  void add_ops(Grouping grouping);
  void add_findings();
  void find_op_rows(Grouping grouping, const Document& document);
  void find_places(const Document& document);
  void add_pages();
  void say_what_it_is();
  void write_verdict(const Document& first);

  const Analysis& analysis_;
  const Profile& profile_;
  const ReportRequest& request_;
  const ReportPart& part_;
  ProfilePages made_;
  Json json_{made_.report, compact_layout()};
  std::vector<std::pair<std::string, std::string>> missing_;  // page, why
};

void Pages::add_page(std::string_view key, const std::string& command,
                     const Result<Document>& document) {
  if (document) {
    json_.object(key, [&] { write_page(json_, "npuscope " + command, *document); });
  } else {
    missing_.emplace_back(key, document.error().message);
  }
}

void Pages::add_ops(Grouping grouping) {
  const std::string word = name_of(grouping);
  const auto document = ops_document(analysis_, {.grouping = grouping, .top = request_.top});
  add_page("ops_" + word, "ops --by " + word, document);
  if (document && !is_of_units(grouping)) find_op_rows(grouping, *document);
}

// Rows have the names of the groups that ops are in.
void Pages::find_op_rows(Grouping grouping, const Document& document) {
  if (document.sections.empty()) return;
  std::unordered_map<std::string_view, std::int64_t> row_of_name;
  for (const auto& row : document.sections.front().table.rows) {
    const auto* name = row.empty() ? nullptr : std::get_if<std::string>(&row.front().held());
    if (name != nullptr) row_of_name.emplace(*name, std::int64_t(row_of_name.size()));
  }
  OpOptions options{.grouping = grouping};
  Result<Rules> rules = Rules();
  if (grouping == Grouping::rule) {
    const auto parts = model_parts(profile_, analysis_.ops(options_of_parts()));
    rules = Rules::builtin(parts ? parts->rules : "transformer");
    if (!rules) return;
    options.rules = &*rules;
  }
  const OpKeys keys(profile_, options);
  OpRows rows{name_of(grouping), std::vector<std::int64_t>(profile_.ops.size(), -1)};
  for (std::size_t op = 0; op < profile_.ops.size(); ++op) {
    const std::uint32_t group = keys.of(OpId(std::uint32_t(op)));
    if (group == OpKeys::none) continue;
    const auto found = row_of_name.find(keys.name(group));
    if (found != row_of_name.end()) rows.row_of_op[op] = found->second;
  }
  made_.op_rows.push_back(std::move(rows));
}

void Pages::add_findings() {
  const auto document = make_findings_document(
      analysis_, {.peaks = request_.peaks, .is_part = part_.leaves_out_rows, .with_rest = true});
  add_page("diagnose", "diagnose --all", document);
  if (document) find_places(*document);
}

void Pages::find_places(const Document& document) {
  std::unordered_map<std::string, std::int64_t> unit_of_path;
  for (std::size_t i = 0; i < profile_.units.size(); ++i) {
    unit_of_path.emplace(path_of(profile_, UnitId(std::uint32_t(i))), std::int64_t(i));
  }
  std::int64_t finding = 0;
  for (const Section& section : document.sections) {
    if (section.key != "findings") continue;
    for (const Section& part : section.parts) {
      if (part.key != "places") continue;
      for (const auto& row : part.table.rows) {
        const auto* unit = std::get_if<std::string>(&row[0].held());
        const auto found = unit == nullptr ? unit_of_path.end() : unit_of_path.find(*unit);
        made_.places.push_back(
            {finding,
             found == unit_of_path.end() ? -1 : found->second,
             {std::get<std::int64_t>(row[1].held()), std::get<std::int64_t>(row[2].held())}});
      }
    }
    ++finding;
  }
}

void Pages::write_verdict(const Document& first) {
  std::string verdict;
  for (const Section& section : first.sections) {
    if (section.key != "findings" || section.table.rows.empty()) continue;
    for (const Value& value : section.table.rows.front()) {
      const auto* text = std::get_if<std::string>(&value.held());
      if (text != nullptr && text->size() > verdict.size()) verdict = *text;
    }
  }
  json_.member("verdict", verdict);
}

void Pages::say_what_it_is() {
  const Document first = first_page(analysis_, {.peaks = request_.peaks});
  write_profile_head(json_, profile_, first.scope, part_.selection);
  json_.member("title", fmt::format("{}{}{}", files_text(profile_),
                                    first.about.empty() ? "" : " · ", first.about));
  json_.array("clocks",
              std::views::iota(std::size_t{0}, std::max<std::size_t>(1, profile_.clocks.size())),
              [&](std::size_t i) { write_clock(json_, profile_, ClockId(std::uint32_t(i))); });
  write_verdict(first);
  std::vector<std::string> cautions;
  if (is_structure_only(profile_)) cautions.push_back(structure_only_caution);
  if (is_damaged(profile_)) cautions.push_back("records that the files held are missing");
  json_.member("cautions", cautions);
}

ProfilePages Pages::make() {
  json_.object([&] {
    say_what_it_is();
    json_.object("pages", [&] { add_pages(); });
    json_.object("missing_pages", [&] {
      for (const auto& [key, why] : missing_) json_.member(key, why);
    });
    write_notes(json_, profile_.notes);
  });
  return std::move(made_);
}

void Pages::add_pages() {
  const std::size_t top = request_.top;
  add_page("show", "show",
           show_document(analysis_, {.top = 0,
                                     .leaves_out_rows = part_.leaves_out_rows,
                                     .is_part = !part_.selection.empty(),
                                     .peaks = request_.peaks}));
  add_findings();
  auto spans_by_op = analysis_.spans_by_op();  // held for the tables
  for (const Grouping grouping :
       {Grouping::op, Grouping::node, Grouping::part, Grouping::kind, Grouping::layer,
        Grouping::rule, Grouping::core, Grouping::unit}) {
    add_ops(grouping);
  }
  spans_by_op.reset();
  add_page("units", "units", units_document(analysis_, {.top = top}));
  add_page("path", "path", path_document(analysis_, {.top = top, .steps = top}));
  MemoryRequest memory;
  memory.peaks = request_.peaks;
  memory.is_part = part_.leaves_out_rows;
  memory.top = top;
  memory.buckets = request_.limits.max_buckets;
  add_page("memory", "memory", make_memory_document(analysis_, memory));
  const GraphView view(analysis_);
  add_page("graph", "graph", graph_document(view, {.top = top, .rows = top}));
}

}  // namespace

ProfilePages profile_pages(const Analysis& analysis, const ReportRequest& request,
                           const ReportPart& part) {
  return Pages(analysis, request, part).make();
}

}  // namespace npuscope::report
