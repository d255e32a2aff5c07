#include "fleet/sqlite/sqlite_tables.hpp"

#include <fmt/format.h>

#include "fleet/place/store_place.hpp"
#include "query/sqlite_output.hpp"

namespace npuscope::fleet {
namespace {

// Rows of unique tables lie in the order of their keys, so that those of a run lie together.
std::string create_sql(const Table& table) {
  std::string columns, keys;
  for (const Column& column : table.columns) {
    columns += fmt::format("{}\"{}\" {}{}", columns.empty() ? "" : ", ", column.name,
                           sql_name(column.type), column.is_nullable ? "" : " NOT NULL");
    if (column.is_key) keys += fmt::format("{}\"{}\"", keys.empty() ? "" : ", ", column.name);
  }
  if (table.sort == Rows::repeating) {
    return fmt::format("CREATE TABLE \"{}\"({})", table.name, columns);
  }
  const bool is_number =
      table.columns[0].type == schema::Type::integer && keys.find(',') == keys.npos;
  return fmt::format("CREATE TABLE \"{}\"({}, PRIMARY KEY({})){}", table.name, columns, keys,
                     is_number ? "" : " WITHOUT ROWID");
}

}  // namespace

std::string insert_sql(const Table& table) {
  std::string marks;
  for (std::size_t i = 0; i < table.columns.size(); ++i) marks += i == 0 ? "?" : ",?";
  return fmt::format("INSERT {}INTO \"{}\" VALUES({})",
                     table.sort == Rows::dimension ? "OR IGNORE " : "", table.name, marks);
}

const std::vector<SqliteStatement>& sqlite_statements() {
  static const std::vector<SqliteStatement> statements = [] {
    std::vector<SqliteStatement> made;
    for (const Table& table : schema()) {
      made.push_back({table.name, create_sql(table)});
      if (table.sort != Rows::repeating) continue;
      made.push_back(
          {"", fmt::format("CREATE INDEX \"{}_run\" ON \"{}\"(\"run\")", table.name, table.name)});
    }
    return made;
  }();
  return statements;
}

namespace {

class InsertRows : public query::RowSink {
 public:
  InsertRows(query::SqliteOutput& output, const Table& table)
      : output_(output), insert_(output, insert_sql(table)) {}

  void columns(const std::vector<std::string>&) override {}
  bool row(std::span<const query::Cell> cells) override {
    struct Bind {
      query::SqliteInsert& insert;
      void operator()(std::monostate) const { insert.nothing(); }
      void operator()(std::int64_t number) const { insert.number(number); }
      void operator()(double number) const { insert.number(number); }
      void operator()(std::string_view text) const { insert.copy(text); }
      void operator()(ByteSpan) const { insert.nothing(); }
    };
    for (const query::Cell& cell : cells) std::visit(Bind{insert_}, cell);
    insert_.end_row();
    return output_.good();
  }

 private:
  query::SqliteOutput& output_;
  query::SqliteInsert insert_;
};

}  // namespace

Status copy_to_sqlite(Store& store, const std::filesystem::path& file, std::string_view runs) {
  query::SqliteOutput output(file);
  output.run("BEGIN");
  for (const SqliteStatement& each : sqlite_statements()) output.run(each.sql.c_str());
  output.run(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", application_id,
                         schema_version)
                 .c_str());
  for (const Table& table : schema()) {
    if (!output.good()) break;
    InsertRows insert(output, table);
    if (const Status done = store.run(select_sql(table, runs), insert); !done) return done;
  }
  output.run("COMMIT");
  const std::string problem = output.close();
  if (problem.empty()) return {};
  return output_error("{}: the database cannot be written ({}); check disk and permissions",
                      file.string(), problem);
}

}  // namespace npuscope::fleet
