#include "report/html/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <unordered_map>

#include "analysis/ops/model_parts.hpp"
#include "analysis/ops/op_keys.hpp"
#include "base/packed_text.hpp"
#include "npuscope/profile/unit_path.hpp"
#include "report/document/document_json.hpp"
#include "report/document/provenance.hpp"
#include "report/findings/findings_document.hpp"
#include "report/graph/graph_document.hpp"
#include "report/html/page_template.hpp"
#include "report/memory/memory_document.hpp"
#include "report/ops/ops_document.hpp"
#include "report/path/path_document.hpp"
#include "report/show/show.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::report {

namespace {

const char* word_of(Format format) {
  switch (format) {
    case Format::name: return "name";
    case Format::names: return "names";
    case Format::numbers: return "numbers";
    case Format::truth: return "truth";
    case Format::count: return "count";
    case Format::number: return "number";
    case Format::exact: return "exact";
    case Format::ticks: return "ticks";
    case Format::seconds: return "seconds";
    case Format::bytes: return "bytes";
    case Format::bytes_per_second: return "bytes_per_second";
    case Format::hertz: return "hertz";
    case Format::share: return "share";
    case Format::change: return "change";
    case Format::bar: return "bar";
  }
  return "name";
}

void write_field(Json& json, const Field& field) {
  if (field.key.empty()) return;
  json.object([&] {
    json.member("key", field.key);
    json.member("label", field.label);
    json.member("format", word_of(field.format));
    if (field.clock) json.member("clock", index_of(*field.clock));
    if (field.only_if_known) json.member("only_if_known", true);
  });
}

void write_layout(Json& json, const std::vector<Section>& sections) {
  json.array(sections, [&](const Section& section) {
    if (section.key.empty()) return;
    json.object([&] {
      json.member("key", section.key);
      json.member("title", section.title);
      json.array("facts", section.facts, [&](const Fact& fact) { write_field(json, fact.field); });
      json.array("fields", section.table.fields,
                 [&](const Field& field) { write_field(json, field); });
      json.key("parts");
      write_layout(json, section.parts);
      if (section.in_list) json.member("in_list", true);
    });
  });
}

}  // namespace

void write_page(Json& json, std::string_view command, const Document& document) {
  json.member("command", command);
  json.member("scope", or_null(document.scope));
  json.object("values", [&] { write_sections(json, document.sections); });
  json.key("layout");
  write_layout(json, document.sections);
}

namespace {

// All pages of one profile, as the report shows them, and what else it says of it
// (web/src/data/report.ts, ProfileReport).
struct ProfilePages {
  std::string report;  // JSON
  std::vector<OpRows> op_rows;
  std::vector<FindingPlace> places;
};

ProfilePages profile_pages(const analysis::Analysis& analysis, const ReportRequest& request,
                           const ReportPart& part);

using namespace analysis;

class Pages {
 public:
  Pages(const Analysis& analysis, const ReportRequest& request, const ReportPart& part)
      : analysis_(analysis), profile_(analysis.profile()), request_(request), part_(part) {}

  ProfilePages make() {
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

 private:
  void add_page(std::string_view key, const std::string& command,
                const Result<Document>& document) {
    if (document) {
      json_.object(key, [&] { write_page(json_, "npuscope " + command, *document); });
    } else {
      missing_.emplace_back(key, document.error().message);
    }
  }

  void add_ops(Grouping grouping) {
    const std::string word = name_of(grouping);
    const auto document = ops_document(analysis_, {.grouping = grouping, .top = request_.top});
    add_page("ops_" + word, "ops --by " + word, document);
    if (document && !is_of_units(grouping)) find_op_rows(grouping, *document);
  }

  void add_findings() {
    const auto document = make_findings_document(
        analysis_, {.peaks = request_.peaks, .is_part = part_.leaves_out_rows, .with_rest = true});
    add_page("diagnose", "diagnose --all", document);
    if (document) find_places(*document);
  }

  // Rows have the names of the groups that ops are in.
  void find_op_rows(Grouping grouping, const Document& document) {
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

  // The place of each op's part among those of page "show".
  void find_model_parts() {
    const OpTable ops = analysis_.ops(options_of_parts());
    const auto parts = model_parts(profile_, ops);
    if (!parts) return;
    std::unordered_map<std::string_view, std::int64_t> place_of_part, place_of_row;
    for (const ModelPart& part : parts->parts) {
      place_of_part.emplace(part.name, std::int64_t(place_of_part.size()));
    }
    for (std::size_t row = 0; row < ops.rows.size(); ++row) {
      const auto part = place_of_part.find(parts->part_of_row[row]);
      if (part != place_of_part.end()) place_of_row.emplace(ops.rows[row].name, part->second);
    }
    const OpKeys keys(profile_, options_of_parts());
    OpRows rows{"model_part", std::vector<std::int64_t>(profile_.ops.size(), -1)};
    for (std::size_t op = 0; op < profile_.ops.size(); ++op) {
      const std::uint32_t group = keys.of(OpId(std::uint32_t(op)));
      if (group == OpKeys::none) continue;
      const auto found = place_of_row.find(keys.name(group));
      if (found != place_of_row.end()) rows.row_of_op[op] = found->second;
    }
    made_.op_rows.push_back(std::move(rows));
  }

  void find_places(const Document& document) {
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

  void add_pages() {
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
    find_model_parts();
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

  void say_what_it_is() {
    const Document first = first_page(analysis_, {.peaks = request_.peaks});
    write_profile_head(json_, profile_, first.scope, part_.selection);
    json_.member("title", fmt::format("{}{}{}", files_text(profile_),
                                      first.about.empty() ? "" : " · ", first.about));
    json_.array("clocks",
                std::views::iota(std::size_t{0}, std::max<std::size_t>(1, profile_.clocks.size())),
                [&](std::size_t i) { write_clock(json_, profile_, ClockId(std::uint32_t(i))); });
    write_verdict(first);
    std::vector<std::string> cautions = cautions_of(profile_);
    if (is_damaged(profile_)) cautions.push_back("records that the files held are missing");
    json_.member("cautions", cautions);
  }

  void write_verdict(const Document& first) {
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

  const Analysis& analysis_;
  const Profile& profile_;
  const ReportRequest& request_;
  const ReportPart& part_;
  ProfilePages made_;
  Json json_{made_.report, compact_layout()};
  std::vector<std::pair<std::string, std::string>> missing_;  // page, why
};

ProfilePages profile_pages(const Analysis& analysis, const ReportRequest& request,
                           const ReportPart& part) {
  return Pages(analysis, request, part).make();
}

std::string filled(std::string_view page, std::string_view mark, std::string_view by) {
  const std::size_t at = page.find(mark);
  return std::string(page.substr(0, at)).append(by).append(page.substr(at + mark.size()));
}

template <class Fill>
std::string compact(Fill fill) {
  std::string text;
  Json json(text, compact_layout());
  json.object([&] { fill(json); });
  return text;
}

void write_list(Json& json, std::string_view key, const std::vector<std::string>& values) {
  json.array(key, values, [&](const std::string& value) { json.raw(value); });
}

// JSON without blanks, as json_text() writes it.
std::string indented(std::string_view json) {
  std::string out;
  std::size_t depth = 0;
  bool in_text = false;
  const auto add_line = [&] { out.append(1, '\n').append(2 * depth, ' '); };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const bool ends = c == '}' || c == ']';
    if (ends && !in_text) {
      --depth;
      if (json[i - 1] != '{' && json[i - 1] != '[') add_line();
    }
    out += c;
    if (c == '"') in_text = !in_text;
    if (!in_text) {
      if (c == ':') out += ' ';
      if (c == '{' || c == '[') {
        ++depth;
        if (json[i + 1] != '}' && json[i + 1] != ']') add_line();
      }
      if (c == ',') add_line();
    } else if (c == '\\') {
      out += json[++i];
    }
  }
  return out += '\n';
}

}  // namespace

void ReportPage::expect(const Profile& profile) {
  // Few enough are read as soon as they are there.
  constexpr std::size_t many = 5, max_ops = 50'000;
  needs_coarse_ = needs_coarse_ || (profile.spans.size() > many * request_.limits.coarse_spans &&
                                    profile.ops.size() <= max_ops);
}

void ReportPage::add(const analysis::Analysis& analysis, const ReportPart& part) {
  expect(analysis.profile());
  ProfilePages pages = profile_pages(analysis, request_, part);
  profiles_.push_back(std::move(pages.report));
  const auto add = [](Columns& to, ProfileColumns columns) {
    to.heads.push_back(std::move(columns.head));
    to.bytes += columns.bytes;
  };
  add(columns_, profile_columns(analysis, pages.op_rows, pages.places, request_.limits,
                                columns_.bytes.size()));
  if (!needs_coarse_) return;
  add(coarse_,
      coarse_columns(analysis, pages.op_rows, pages.places, request_.limits, coarse_.bytes.size()));
}

void ReportPage::set_comparison(const Document& document) {
  comparison_ = compact([&](Json& json) { write_page(json, "npuscope diff", document); });
}

void ReportPage::set_fleet(const FleetReport& fleet) {
  fleet_ = compact([&](Json& json) {
    json.member("store", fleet.store);
    json.member("where", or_null(fleet.where));
    json.objects("pages", fleet.pages, [&](const FleetReport::Page& page) {
      write_page(json, page.command, page.document);
    });
    json.objects("missing", fleet.missing, [&](const auto& missing) {
      json.member("command", missing.first);
      json.member("why", missing.second);
    });
  });
}

void ReportPage::add_notes(const std::vector<Note>& notes) {
  notes_.insert(notes_.end(), notes.begin(), notes.end());
}

void ReportPage::write_members(Json& json) const {
  json.member("arguments", request_.arguments);
  write_list(json, "profiles", profiles_);
  json.key("comparison");
  json.raw(comparison_);
  json.key("fleet");
  json.raw(fleet_);
  write_notes(json, notes_);
}

std::string ReportPage::json() const {
  return indented(compact([&](Json& json) { write_members(json); }));
}

// The length of the head, the head, zeros up to a multiple of eight, the columns.
std::string ReportPage::Columns::packed() const {
  const std::string head = compact([&](Json& json) { write_list(json, "profiles", heads); });
  std::string all;
  for (int shift = 0; shift < 32; shift += 8) all += char(head.size() >> shift);
  all += head;
  while (all.size() % 8 != 0) all += '\0';
  return packed_text(all + bytes);
}

std::string ReportPage::report() const {
  return compact([&](Json& json) {
    json.member("schema_version", json_schema_version);
    json.member("npuscope", NPUSCOPE_VERSION);
    json.member("command", "report");
    write_members(json);
  });
}

std::string ReportPage::report_data() const {
  return compact([&](Json& json) {
    json.member("format", "npuscope report data");
    json.member("version", report_data_version);
    json.key("report");
    json.raw(report());
    json.member("data", columns_.packed());
  });
}

std::string ReportPage::html() const {
  std::string page =
      filled(page_template[0].second, "<!--npuscope-report-->", packed_text(report()));
  page = filled(page, "<!--npuscope-coarse-->", needs_coarse_ ? coarse_.packed() : "");
  return filled(page, "<!--npuscope-data-->", columns_.packed());
}

}  // namespace npuscope::report
