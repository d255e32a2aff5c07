#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/findings/findings_document.hpp"
#include "report/graph/graph_document.hpp"
#include "report/identities/identities.hpp"
#include "report/latency/latency_document.hpp"
#include "report/memory/memory_document.hpp"
#include "report/ops/ops_document.hpp"
#include "report/path/path_document.hpp"
#include "report/show/show.hpp"
#include "report/timeline/timeline_document.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::report::identities {
namespace {

using nlohmann::json;

constexpr std::size_t all_columns = 20'000;  // nothing is shortened, left out or wrapped

Value value_of(const json& from) {
  if (from.is_string()) return from.get<std::string>();
  if (from.is_boolean()) return from.get<bool>();
  if (from.is_number_integer()) return from.get<std::int64_t>();
  if (from.is_number()) return from.get<double>();
  if (!from.is_array()) return {};
  if (!from.empty() && from[0].is_string()) return from.get<std::vector<std::string>>();
  return from.get<std::vector<std::int64_t>>();
}

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// "1 rules", "1 lines": a plural after one.
std::string plural_of_one(std::string_view text) {
  constexpr std::string_view may_follow[] = {"us",  "ns",  "ms", "s",      "is",
                                             "has", "was", "as", "cycles", "ticks"};
  for (std::size_t at = 0; (at = text.find("1 ", at)) != text.npos; ++at) {
    if (at > 0 && text[at - 1] != ' ' && text[at - 1] != '(' && text[at - 1] != '\n') continue;
    std::size_t end = at + 2;
    while (end < text.size() && is_letter(text[end])) ++end;
    const std::string_view word = text.substr(at + 2, end - at - 2);
    const bool ends =
        end == text.size() || std::string_view(" ,;:.)\n").find(text[end]) != text.npos;
    const bool is_plural = word.ends_with('s') && !word.ends_with("ous") && !word.ends_with("ss");
    if (ends && is_plural && !std::ranges::count(may_follow, word)) {
      return std::string(text.substr(at, 40));
    }
  }
  return {};
}

// "1 of them hold": a verb for several after one.
std::string verb_of_several(std::string_view text) {
  for (const std::string_view verb : {"hold", "are", "were", "have", "do", "lie"}) {
    const std::size_t at = text.find(fmt::format(" 1 of them {} ", verb));
    if (at != text.npos) return std::string(text.substr(at, 40));
  }
  return {};
}

// "-0.0 %", "-0 us", "+0.0 %": nothing has no sign.
std::string signed_nothing(std::string_view text) {
  for (std::size_t at = 0; (at = text.find_first_of("-+", at)) != text.npos; ++at) {
    if (at == 0 || text[at - 1] != ' ' || text.substr(at + 1, 1) != "0") continue;
    const std::size_t end = text.find_first_not_of("0.", at + 1);
    if (end == text.npos || text[end] == ' ' || text[end] == '\n') {
      return std::string(text.substr(at, 20));
    }
  }
  return {};
}

}  // namespace

void try_words(const std::string& page, std::string_view text, Tried& tried) {
  const std::string plural = plural_of_one(text), nothing = signed_nothing(text),
                    verb = verb_of_several(text);
  tried.holds("one does what one does", verb.empty(), page + ": " + verb);
  tried.holds("one is not a plural", plural.empty(), page + ": " + plural);
  tried.holds("nothing has no sign", nothing.empty(), page + ": " + nothing);
}

namespace {

// Reads the text beside the JSON, from the top: every fact and row with its numbers as the JSON has
// them, in the order of the page.
class TextBesideJson {
 public:
  TextBesideJson(std::string page, const Document& document, Tried& tried)
      : page_(std::move(page)), profile_(document.profile), tried_(tried) {
    std::string_view text = text_ = document_text(document, all_columns);
    try_words(page_, text, tried_);
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      lines_.push_back(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    const json all = json::parse(documents_json({&document, 1}, {}), nullptr, false);
    tried_.holds("JSON is JSON", all.is_object(), page_);
    if (!all.is_object()) return;
    read(document.sections, document.profile != nullptr ? all["profiles"][0] : all);
  }

 private:
  void read(const std::vector<Section>& sections, const json& of) {
    std::map<std::string, std::size_t> places;  // of sections in a list
    for (const Section& section : sections) {
      if (section.key == "notes") continue;  // JSON has them for all pages
      const std::size_t place = places[section.key]++;
      json empty = json::object();
      const json* found = &empty;
      if (!section.key.empty() && of.contains(section.key)) found = &of[section.key];
      if (section.in_list && found->is_array()) found = &(*found)[place];
      if (!section.key.empty()) {
        tried_.holds("JSON has every section of the text", found != &empty && found->is_object(),
                     page_ + " " + section.key);
        tried_.holds("a section stands in the JSON once", section.in_list || place == 0,
                     page_ + " " + section.key);
      }
      read(section, *found);
    }
  }

  void read(const Section& section, const json& of) {
    for (const Fact& fact : section.facts) {
      const std::string text = read(fact.field, fact.value, of, section.key);
      if (fact.field.label.empty() || !fact.value.known()) continue;
      find({printable(fact.field.label), text}, section.key);
    }
    const Table& table = section.table;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      std::vector<std::string> cells;
      json empty = json::object();
      const bool has = of.contains("rows") && i < of["rows"].size();
      tried_.holds("JSON has every row of the text", has || section.key.empty(),
                   page_ + " " + section.key);
      for (std::size_t column = 0; column < table.fields.size(); ++column) {
        const Field& field = table.fields[column];
        const std::string text =
            read(field, table.rows[i][column], has ? of["rows"][i] : empty, section.key);
        if (!field.label.empty()) cells.push_back(text);
      }
      if (cells.empty()) continue;
      while (cells.back().ends_with(' ')) cells.back().pop_back();  // at the end of its line
      constexpr std::size_t whole = 400;  // names of kilobytes lose their middle
      for (std::string& cell : cells) cell.resize(std::min(cell.size(), whole));
      find(cells, section.key);
    }
    read(section.parts, of);
  }

  // As text has it, of the JSON where that has it.
  std::string read(const Field& field, const Value& value, const json& of,
                   const std::string& section) {
    if (field.key.empty() || !of.contains(field.key)) {
      tried_.holds("JSON has every value of the text", field.key.empty() || section.empty(),
                   page_ + " " + section + " " + field.key);
      return printable(value_text(profile_, field, value));
    }
    try_size(field, value, section);
    const std::string text = value_text(profile_, field, value);
    const std::string of_json = value_text(profile_, field, value_of(of[field.key]));
    tried_.holds("values of text and JSON are the same", text == of_json,
                 fmt::format("{} {} {}: {} and {}", page_, section, field.key, text, of_json));
    return printable(of_json);
  }

  // Times, bytes and shares are not negative, shares of a whole at most all of it.
  void try_size(const Field& field, const Value& value, const std::string& section) {
    const double* real = std::get_if<double>(&value.held());
    const std::int64_t* whole = std::get_if<std::int64_t>(&value.held());
    if (real == nullptr && whole == nullptr) return;
    const double number = real != nullptr ? *real : double(*whole);
    const std::string detail = fmt::format("{} {} {}: {}", page_, section, field.key, number);
    switch (field.format) {
      case Format::ticks:
      case Format::seconds:
      case Format::bytes:
      case Format::count:
        tried_.holds("a number of a page is not negative", number >= 0, detail);
        break;
      case Format::share:
        tried_.holds("a share of a page is one", number >= 0 && number <= 1 + 1e-9, detail);
        break;
      default: break;
    }
  }

  // The next line with these texts, one after the other.
  void find(const std::vector<std::string>& texts, const std::string& section) {
    const auto has_all = [&](std::string_view line) {
      std::size_t place = 0;
      for (const std::string& text : texts) {
        place = line.find(text, place);
        if (place == line.npos) return false;
        place += text.size();
      }
      return true;
    };
    std::size_t line = at_;
    while (line < lines_.size() && !has_all(lines_[line])) ++line;
    const bool is_there = line < lines_.size();
    tried_.holds("text has the values of the JSON", is_there,
                 fmt::format("{} {}: {}", page_, section, fmt::join(texts, " | ")));
    if (is_there) at_ = line;
  }

  std::string page_;
  const Profile* profile_;
  Tried& tried_;
  std::string text_;
  std::vector<std::string_view> lines_;
  std::size_t at_ = 0;
};

}  // namespace

void try_texts(const Sample& sample, Tried& tried) {
  const auto read = [&](const std::string& page, const Result<Document>& document) {
    if (document) TextBesideJson(page, *document, tried);
  };
  constexpr std::size_t many = 1'000;
  read("first page", first_page(sample.analysis, {.width = 100}));
  read("show", show_document(sample.analysis, {.top = many}));
  for (const auto grouping : {analysis::Grouping::op, analysis::Grouping::kind}) {
    OpsRequest request;
    request.grouping = grouping;
    request.top = many;
    read(std::string("ops by ") + name_of(grouping), ops_document(sample.analysis, request));
  }
  for (const UnitsBy by : {UnitsBy::unit, UnitsBy::core}) {
    read("units", units_document(sample.analysis, {.by = by, .top = many}));
  }
  PathDocumentOptions path;
  path.top = path.steps = 40;
  read("path", path_document(sample.analysis, path));
  for (const std::string& note : note_lines(sample.profile().notes))
    try_words("notes", note, tried);
  read("diagnose", make_findings_document(sample.analysis, {.with_rest = true}));
  MemoryRequest memory;
  memory.top = many;
  read("memory", make_memory_document(sample.analysis, memory));
  read("latency", latency_document(sample.analysis));
  if (!sample.profile().ops.empty()) {
    read("graph", graph_document(GraphView(sample.analysis), {.top = many, .rows = many}));
  }
  const auto rows = sample.analysis.timeline({.top = many});
  if (rows.wall > 0 && !rows.rows.empty()) {
    const TimelineView view{.width = 100, .origin = rows.window.begin};
    const auto cells = sample.analysis.cells(rows, {.columns = timeline_columns(rows, view)});
    read("timeline", make_timeline_document(sample.profile(), rows, cells, view));
  }
}

}  // namespace npuscope::report::identities
