#include "report/query/query_output.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <set>

#include "base/json_writer.hpp"
#include "profile/csv_output.hpp"
#include "report/document/document_json.hpp"

namespace npuscope::report {
namespace {

std::string real_text(double number) {
  const double size = std::abs(number);
  if (!std::isfinite(number) || size >= 1e15 || (size < 1e-4 && size > 0)) {
    return fmt::format("{:.6g}", number);
  }
  const int whole = size < 1 ? 0 : int(std::floor(std::log10(size))) + 1;
  std::string text = fmt::format("{:.{}f}", number, std::max(2, 6 - whole));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text += '0';
  return text;
}

}  // namespace

std::vector<std::string> distinct_names(const std::vector<std::string>& names) {
  std::vector<std::string> distinct;
  std::set<std::string> known;
  for (const std::string& name : names) {
    std::string unused = name;
    for (std::size_t i = 2; known.contains(unused); ++i) unused = fmt::format("{}_{}", name, i);
    known.insert(unused);
    distinct.push_back(unused);
  }
  return distinct;
}

std::string hexadecimal(ByteSpan bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    constexpr const char* digits = "0123456789abcdef";
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::string cell_text(const query::Cell& cell) {
  struct Print {
    std::string operator()(std::monostate) const { return "NULL"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(double number) const { return real_text(number); }
    std::string operator()(std::string_view text) const { return std::string(text); }
    std::string operator()(ByteSpan bytes) const {
      constexpr std::size_t max = 500;  // more than a line shows
      return hexadecimal(bytes.first(std::min(max, bytes.size())));
    }
  };
  return std::visit(Print{}, cell);
}

// CSV and JSON of a query: rows go out as they come.
struct QueryCsv::Writer {
  explicit Writer(WriteText write) : sink(std::move(write)), out(sink), csv(out) {}

  WriteText sink;
  TextOutput out;
  Csv csv;
};

QueryCsv::QueryCsv(WriteText write, const QueryOptions& options)
    : QuerySink(options.max_rows), writer_(std::make_unique<Writer>(std::move(write))) {}
QueryCsv::~QueryCsv() = default;

void QueryCsv::columns(const std::vector<std::string>& names) {
  for (const std::string& name : distinct_names(names)) writer_->csv.text(name);
  writer_->csv.end_row();
}

bool QueryCsv::row(std::span<const query::Cell> cells) {
  if (!takes_row()) return false;
  struct Write {
    Csv& csv;
    void operator()(std::monostate) const { csv.nothing(); }
    void operator()(std::int64_t number) const { csv.number(number); }
    void operator()(double number) const {
      std::isfinite(number) ? csv.number(number) : csv.nothing();
    }
    void operator()(std::string_view text) const { csv.text(text); }
    void operator()(ByteSpan bytes) const { csv.text(hexadecimal(bytes)); }
  };
  for (const query::Cell& cell : cells) std::visit(Write{writer_->csv}, cell);
  writer_->csv.end_row();
  return true;
}

void QueryCsv::finish() { writer_->out.flush(); }

struct QueryJson::Writer {
  explicit Writer(WriteText write) : sink(std::move(write)), out(sink), json(out, rows) {}

  std::string head;
  void add(const query::Cell& cell);

  // A row a line.
  static constexpr JsonLayout rows{
      .first = "\n", .between = ",\n", .last = "\n", .numbers = JsonNumbers::shortest};
  static constexpr JsonLayout row = JsonLayout::wide();

  WriteText sink;
  TextOutput out;
  JsonWriter<TextOutput> json;
  std::vector<JsonKey> keys;
};

void QueryJson::Writer::add(const query::Cell& cell) {
  struct Write {
    JsonWriter<TextOutput>& json;
    void operator()(std::monostate) const { json.null(); }
    void operator()(std::int64_t number) const { json.value(number); }
    void operator()(double number) const { json.value(number); }
    void operator()(std::string_view text) const { json.value(text); }
    void operator()(ByteSpan bytes) const { json.value(hexadecimal(bytes)); }
  };
  std::visit(Write{json}, cell);
}

QueryJson::QueryJson(WriteText write, const QueryOptions& options, std::string head)
    : QuerySink(options.max_rows), writer_(std::make_unique<Writer>(std::move(write))) {
  writer_->head = std::move(head);
}
QueryJson::~QueryJson() = default;

void QueryJson::columns(const std::vector<std::string>& names) {
  const std::vector<std::string> distinct = distinct_names(names);
  for (const std::string& name : distinct) writer_->keys.emplace_back(name, Writer::row);
  JsonWriter<TextOutput>& json = writer_->json;
  writer_->out.add(writer_->head);
  writer_->out.add("\n  \"columns\": ");
  json.array(
      distinct, [&](const std::string& name) { json.value(name); }, Writer::row);
  writer_->out.add(",\n  \"rows\": ");
  json.begin_array();
}

bool QueryJson::row(std::span<const query::Cell> cells) {
  if (!takes_row()) return false;
  writer_->json.begin_object(Writer::row);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    writer_->json.key(writer_->keys[i]);
    writer_->add(cells[i]);
  }
  writer_->json.end_object();
  return true;
}

void QueryJson::finish() {
  writer_->json.end_array();
  writer_->out.add(
      fmt::format(",\n  \"row_count\": {},\n  \"has_more\": {}\n}}\n", rows(), has_more()));
  writer_->out.flush();
}

std::string query_json_head(std::string_view command, std::span<const QueriedProfile> profiles,
                            std::span<const Note> notes) {
  std::string text = json_text([&](Json& json) {
    json.objects("profiles", profiles, [&](const QueriedProfile& queried) {
      json.member("name", queried.name);
      write_profile_head(json, *queried.profile, {}, queried.selection);
      write_notes(json, queried.profile->notes);
    });
    write_notes(json, notes);
  });
  text.resize(text.rfind("\n}"));
  return with_json_head(command, text) + ",";
}

}  // namespace npuscope::report
