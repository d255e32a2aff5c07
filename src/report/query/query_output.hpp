// Rows of a query as text, CSV or JSON. CSV and JSON go out as rows come in, however many.
//
//   QueryTable table({.width = 100, .max_rows = 1'000});
//   database.run("SELECT op, work FROM op_times ORDER BY work DESC", table);
//   table.text()                  op         work
//                                 MatMul_0  32707
//   QueryCsv                      op,work
//                                 MatMul_0,32707
//   QueryJson                     …, "columns": ["op", "work"],
//                                 "rows": [{"op": "MatMul_0", "work": 32707}], "row_count": 1,
//                                 "has_more": false}
//
// NULL is NULL in text, null in JSON, nothing in CSV. Blobs are hexadecimal. Columns that are named
// alike get numbers: work, work_2.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/profile/profile.hpp"
#include "npuscope/query/database.hpp"
#include "query/schema.hpp"

namespace npuscope::report {

// Cells of a query on their way out.

// The names with a number behind those that were there before: work, work_2.
std::vector<std::string> distinct_names(const std::vector<std::string>& names);

std::string hexadecimal(ByteSpan bytes);

// For people: whole numbers as they are, others with six digits, two of
// them behind the point at least.
std::string cell_text(const query::Cell& cell);

struct QueryOptions {
  std::size_t width = 100;     // of text
  std::uint64_t max_rows = 0;  // 0: all
};

class QuerySink : public query::RowSink {
 public:
  // Whether rows were left out for being more than the most.
  bool has_more() const { return has_more_; }
  std::uint64_t rows() const { return rows_; }

 protected:
  explicit QuerySink(std::uint64_t max_rows) : max_rows_(max_rows) {}
  // Counts a row; false when it is one too many.
  bool takes_row();

 private:
  std::uint64_t max_rows_;
  std::uint64_t rows_ = 0;
  bool has_more_ = false;
};

// Keeps the rows, because columns are as wide as what is in them: give it a most.
class QueryTable : public QuerySink {
 public:
  explicit QueryTable(const QueryOptions& options)
      : QuerySink(options.max_rows), width_(options.width) {}

  void columns(const std::vector<std::string>& names) override;
  bool row(std::span<const query::Cell> cells) override;

  // Numbers to the right, names to the left; the widest columns are shortened to fit the width.
  std::string text() const;
  std::string markdown() const;

 private:
  std::size_t width_;
  std::vector<std::string> names_;
  std::vector<bool> is_text_;  // by column
  std::vector<std::vector<std::string>> rows_;
};

using WriteText = std::function<void(std::string_view)>;

class QueryCsv : public QuerySink {
 public:
  QueryCsv(WriteText write, const QueryOptions& options);
  ~QueryCsv() override;

  void columns(const std::vector<std::string>& names) override;
  bool row(std::span<const query::Cell> cells) override;
  void finish();  // hands on what is left

 private:
  struct Writer;
  std::unique_ptr<Writer> writer_;
};

// An object whose rows are objects, one a line. `head` is the object as far as it goes before the
// rows, its last comma included. After an error it is left without its end, so that nobody takes
// it for all.
class QueryJson : public QuerySink {
 public:
  QueryJson(WriteText write, const QueryOptions& options, std::string head);
  ~QueryJson() override;

  void columns(const std::vector<std::string>& names) override;
  bool row(std::span<const query::Cell> cells) override;
  void finish();  // the end of the object

 private:
  struct Writer;
  std::unique_ptr<Writer> writer_;
};

// The head that QueryJson takes, of what `command` asks.
struct QueriedProfile {
  std::string_view name;  // in SQL
  std::string_view selection;
  const Profile* profile;
};
std::string query_json_head(std::string_view command, std::span<const QueriedProfile> profiles,
                            std::span<const Note> notes);

// What --schema prints; of one table, nothing where there is no such table.
std::string query_schema_text(const std::vector<query::TableInfo>& tables, std::size_t width,
                              std::string_view table = {});
// {"tables": [{"name", "is_view", "meaning", "select",
//              "columns": [{"name", "type", "unit", "nullable", "meaning"}]}],
//  "functions": [{"call", "meaning"}]}
std::string query_schema_json(const std::vector<query::TableInfo>& tables);

}  // namespace npuscope::report
