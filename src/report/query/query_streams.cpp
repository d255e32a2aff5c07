// CSV and JSON of a query: rows go out as they come.
#include <cmath>

#include "base/text.hpp"
#include "report/export/csv_output.hpp"
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
  explicit Writer(WriteText write) : sink(std::move(write)), out(sink) {}

  void add(const query::Cell& cell);
  void add_string(std::string_view text) {
    escaped.assign(1, '"');
    append_json_escaped(escaped, text);
    out.add(escaped += '"');
  }

  WriteText sink;
  TextOutput out;
  std::vector<std::string> keys;  // `"op": `
  std::string escaped;
};

void QueryJson::Writer::add(const query::Cell& cell) {
  struct Write {
    Writer& writer;
    void operator()(std::monostate) const { writer.out.add("null"); }
    void operator()(std::int64_t number) const { writer.out.add_number(number); }
    void operator()(double number) const {  // JSON has no infinity
      std::isfinite(number) ? writer.out.add_number(number) : writer.out.add("null");
    }
    void operator()(std::string_view text) const { writer.add_string(text); }
    void operator()(ByteSpan bytes) const { writer.add_string(hexadecimal(bytes)); }
  };
  std::visit(Write{*this}, cell);
}

QueryJson::QueryJson(WriteText write, const QueryOptions& options)
    : QuerySink(options.max_rows), writer_(std::make_unique<Writer>(std::move(write))) {}
QueryJson::~QueryJson() = default;

void QueryJson::columns(const std::vector<std::string>& names) {
  for (const std::string& name : distinct_names(names)) {
    std::string key = writer_->keys.empty() ? "\"" : ", \"";
    append_json_escaped(key, name);
    writer_->keys.push_back(key + "\": ");
  }
  writer_->out.add('[');
}

bool QueryJson::row(std::span<const query::Cell> cells) {
  const bool is_first = rows() == 0;
  if (!takes_row()) return false;
  writer_->out.add(is_first ? "\n{" : ",\n{");
  for (std::size_t i = 0; i < cells.size(); ++i) {
    writer_->out.add(writer_->keys[i]);
    writer_->add(cells[i]);
  }
  writer_->out.add('}');
  return true;
}

void QueryJson::finish() {
  writer_->out.add(rows() > 0 ? "\n]\n" : "]\n");
  writer_->out.flush();
}

}  // namespace npuscope::report
