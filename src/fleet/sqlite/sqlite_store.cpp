#include "fleet/sqlite/sqlite_store.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <tuple>
#include <unordered_set>

#include "base/file_identity.hpp"
#include "base/try.hpp"
#include "fleet/place/store_place.hpp"
#include "fleet/sqlite/sqlite_tables.hpp"
#include "fleet/store.hpp"
#include "query/functions.hpp"

namespace npuscope::fleet {
namespace {

// Another writer may be committing a batch: seconds on a slow disk.
constexpr int busy_milliseconds = 60'000;

// Why nothing can be made in its folder, where that is so: SQLite tries to read what it could not
// make, and says of that alone what the system said.
std::string folder_problem(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  return refusal_of_folder(folder);
}

// What SQLite objects to, and what to do.
Error error_of(int code, const std::string& message, const std::string& name, ErrorKind kind) {
  const auto error = [&](ErrorKind of, const char* text) {
    return Error{of, fmt::format("{}: {} ({})", name, text, message)};
  };
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return error(ErrorKind::input, "not a fleet's store; name one that `fleet add` made");
    case SQLITE_CORRUPT:
      return error(ErrorKind::input, "damaged; restore a copy, or add the runs to a new store");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return error(ErrorKind::output, "another program keeps writing to it; try again");
    case SQLITE_FULL:
      return error(ErrorKind::output,
                   "the disk is full, nothing of this batch was kept; make room");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return error(ErrorKind::output,
                   "cannot be written; check the permissions of it and its folder");
    case SQLITE_CANTOPEN: {
      const std::string problem = folder_problem(name);
      return {kind, fmt::format("{}: cannot be opened; check the path and permissions ({})", name,
                                problem.empty() ? message : problem)};
    }
    default: return error(kind, "the database failed; check the disk");
  }
}

// One column of numbers of a statement that has no parameters.
template <class Take>
int each_row(sqlite3* handle, const std::string& sql, Take&& take) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, nullptr);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) take(statement);
  }
  sqlite3_finalize(statement);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

std::string column_text(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text != nullptr ? text : "";
}

std::string list_of(std::span<const Id> ids) { return fmt::format("{}", fmt::join(ids, ",")); }

void insert_rows(query::SqliteOutput& writer, const Table& table, const Batch& batch,
                 const std::unordered_set<Id>& known) {
  query::SqliteInsert insert(writer, insert_sql(table));
  for (std::size_t row = 0; row < table.count(batch) && writer.good(); ++row) {
    if (table.sort != Rows::dimension && known.contains(table.run_of(batch, row))) continue;
    for (const Column& column : table.columns) schema::add_cell(column.get(batch, row), insert);
    insert.end_row();
  }
}

}  // namespace

SqliteStore::SqliteStore(const std::filesystem::path& file, const query::Limits& limits)
    : name_(file.string()), file_(file), limits_(limits) {}

Status SqliteStore::failure(ErrorKind kind) {
  return tl::unexpected(error_of(writer_->code(), writer_->error(), name_, kind));
}

Status SqliteStore::taken_back() {
  const Status failed = failure(ErrorKind::output);
  sqlite3_exec(writer_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  return failed;
}

// Several programs may make it at once: the first one that writes does, the others find it made.
Status SqliteStore::make_tables() {
  const auto is_empty = [&] {
    std::int64_t objects = 1;  // also where it is no database: nothing is written into that
    each_row(writer_->handle(), "SELECT count(*) FROM sqlite_schema",
             [&](sqlite3_stmt* row) { objects = sqlite3_column_int64(row, 0); });
    return objects == 0;
  };
  if (!is_empty()) return {};
  // The way a new file is written may be chosen by one program at a time, and SQLite does not
  // always wait for the other.
  constexpr int pause_milliseconds = 50;
  for (int waited = 0; waited < busy_milliseconds; waited += pause_milliseconds) {
    const int code =
        sqlite3_exec(writer_->handle(), "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
    if (code != SQLITE_BUSY) break;
    sqlite3_sleep(pause_milliseconds);
  }
  writer_->run("PRAGMA journal_mode=WAL; BEGIN IMMEDIATE");
  if (writer_->good() && is_empty()) {
    for (const SqliteStatement& each : sqlite_statements()) writer_->run(each.sql.c_str());
    writer_->run(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", application_id,
                             schema_version)
                     .c_str());
  }
  writer_->run("COMMIT");
  return writer_->good() ? Status() : failure(ErrorKind::output);
}

Status SqliteStore::check_tables() {
  std::int64_t application = 0, version = 0;
  sqlite3* handle = writer_->handle();
  int code = each_row(handle, "PRAGMA application_id",
                      [&](sqlite3_stmt* row) { application = sqlite3_column_int64(row, 0); });
  if (code == SQLITE_OK) {
    code = each_row(handle, "PRAGMA user_version",
                    [&](sqlite3_stmt* row) { version = sqlite3_column_int64(row, 0); });
  }
  std::map<std::string, std::string> tables;
  if (code == SQLITE_OK) {
    code = each_row(handle, "SELECT name, sql FROM sqlite_schema WHERE type='table'",
                    [&](sqlite3_stmt* row) { tables[column_text(row, 0)] = column_text(row, 1); });
  }
  if (code != SQLITE_OK) {
    return tl::unexpected(error_of(code, sqlite3_errmsg(handle), name_, ErrorKind::input));
  }
  if (application != application_id) {
    return input_error(
        "{}: a SQLite file that is not a fleet's store; name one that `fleet add` made", name_);
  }
  if (version != schema_version) {
    return input_error(
        "{}: a fleet's store of schema version {}, this npuscope has version {}; use the npuscope "
        "that made it, or add the runs to a new store",
        name_, version, schema_version);
  }
  for (const SqliteStatement& each : sqlite_statements()) {
    if (each.table.empty() || tables[each.table] == each.sql) continue;
    return input_error("{}: the table {} is not as npuscope makes it; restore a copy", name_,
                       each.table);
  }
  return {};
}

Status SqliteStore::connect_reader() {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(file_.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  reading_.reset(handle);
  if (code != SQLITE_OK || query::add_functions(handle) != SQLITE_OK) {
    return tl::unexpected(error_of(code, sqlite3_errmsg(handle), name_, ErrorKind::input));
  }
  sqlite3_hard_heap_limit64(sqlite3_int64(limits_.memory_bytes));
  sqlite3_busy_timeout(handle, busy_milliseconds);
  sqlite3_exec(handle, "PRAGMA query_only=1; PRAGMA cache_size=-262144", nullptr, nullptr, nullptr);
  reader_.emplace(handle, limits_, catalogue());
  return {};
}

Result<std::unique_ptr<Store>> SqliteStore::open(const std::filesystem::path& file, StoreMode mode,
                                                 const query::Limits& limits) {
  std::unique_ptr<SqliteStore> store(new SqliteStore(file, limits));
  store->writer_ = std::make_unique<query::SqliteOutput>(file);
  if (!store->writer_->good()) {
    return tl::unexpected(
        store->failure(mode == StoreMode::make ? ErrorKind::output : ErrorKind::input).error());
  }
  sqlite3_busy_timeout(store->writer_->handle(), busy_milliseconds);
  if (mode == StoreMode::make) {
    TRY(store->make_tables());
  }
  TRY(store->check_tables());
  if (mode != StoreMode::read) {
    store->writer_->run("PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536");
  }
  TRY(store->connect_reader());
  return store;
}

Result<Added> SqliteStore::add(const Batch& batch) {
  writer_->run("BEGIN IMMEDIATE");
  if (!writer_->good()) return tl::unexpected(failure(ErrorKind::output).error());
  // By the connection that reads, while no other one writes.
  auto known = known_runs(*this, batch);
  if (!known) {
    writer_->run("ROLLBACK");
    return tl::unexpected(known.error());
  }
  for (const Table& table : schema()) insert_rows(*writer_, table, batch, known->runs);
  writer_->run("COMMIT");
  if (!writer_->good()) return tl::unexpected(taken_back().error());
  return added_of(batch, std::move(*known));
}

Result<Removed> SqliteStore::remove(std::span<const Id> runs) {
  Removed removed;
  constexpr std::size_t at_once = 1'000;
  writer_->run("BEGIN IMMEDIATE");
  for (std::size_t at = 0; at < runs.size() && writer_->good(); at += at_once) {
    const std::string ids = list_of(runs.subspan(at, std::min(at_once, runs.size() - at)));
    for (const Table& table : schema()) {
      if (table.sort == Rows::dimension) continue;
      writer_->run(
          fmt::format("DELETE FROM \"{}\" WHERE {} IN ({})", table.name, table.columns[0].name, ids)
              .c_str());
      const auto rows = std::uint64_t(sqlite3_changes64(writer_->handle()));
      if (table.name == "runs") removed.runs += rows;
      if (table.name == "op_runs") removed.op_runs += rows;
    }
  }
  writer_->run(
      "DELETE FROM ops WHERE id NOT IN (SELECT op FROM op_runs) AND id NOT IN "
      "(SELECT op FROM spans WHERE op IS NOT NULL);"
      "DELETE FROM units WHERE id NOT IN (SELECT unit FROM unit_runs) AND id NOT IN "
      "(SELECT unit FROM spans WHERE unit IS NOT NULL); COMMIT");
  if (!writer_->good()) return tl::unexpected(taken_back().error());
  return removed;
}

Status SqliteStore::run(std::string_view sql, query::RowSink& sink) {
  const Status done = reader_->run(sql, sink);
  const int code = sqlite3_errcode(reading_.get());
  switch (done ? SQLITE_OK : code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_IOERR:
    case SQLITE_BUSY:
      return tl::unexpected(
          error_of(code, sqlite3_errmsg(reading_.get()), name_, ErrorKind::input));
    default: return done;
  }
}

Status SqliteStore::copy_to(const std::filesystem::path& file) {
  query::SqliteOutput source(file_);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(source.handle(), "VACUUM INTO ?", -1, &statement, nullptr);
  sqlite3_bind_text(statement, 1, file.c_str(), -1, SQLITE_TRANSIENT);
  const int code = sqlite3_step(statement);
  const Error failed =
      error_of(code, sqlite3_errmsg(source.handle()), file.string(), ErrorKind::output);
  sqlite3_finalize(statement);
  return code == SQLITE_DONE ? Status() : tl::unexpected(failed);
}

// SQLite's "Database File Format": the id stands at offset 68, the highest byte first.
std::vector<std::string> SqliteStore::percentiles(std::string_view value,
                                                  const std::vector<double>& percents) const {
  std::vector<std::string> calls;
  for (const double percent : percents) {
    calls.push_back(fmt::format("percentile({}, {})", value, percent));
  }
  return calls;
}

}  // namespace npuscope::fleet
