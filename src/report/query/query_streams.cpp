// CSV and JSON of a query: rows go out as they come.
#include <cmath>

#include "base/json_writer.hpp"
#include "profile/csv_output.hpp"
#include "report/query/query_cells.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::report {

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

}  // namespace npuscope::report
