// A fleet in one SQLite file in WAL mode: several programs read and write it at once, no server.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "fleet/store.hpp"
#include "query/sql_reader.hpp"
#include "query/sqlite_output.hpp"

namespace npuscope::fleet {

class SqliteStore : public Store {
 public:
  static Result<std::unique_ptr<Store>> open(const std::filesystem::path& file, StoreMode mode,
                                             const query::Limits& limits);

  Result<Added> add(const Batch& batch) override;
  Result<Removed> remove(std::span<const Id> runs) override;
  Status run(std::string_view sql, query::RowSink& sink) override;
  Status copy_to(const std::filesystem::path& file) override;
  std::vector<std::string> percentiles(std::string_view value,
                                       const std::vector<double>& percents) const override;
  const std::string& name() const override { return name_; }

 private:
  SqliteStore(const std::filesystem::path& file, const query::Limits& limits);

  Status make_tables();
  Status check_tables();
  Status connect_reader();
  Status failure(ErrorKind kind);
  Status taken_back();

  std::string name_;
  std::filesystem::path file_;
  query::Limits limits_;
  std::unique_ptr<query::SqliteOutput> writer_;
  // A connection of its own, which can do nothing but read.
  struct CloseDatabase {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::unique_ptr<sqlite3, CloseDatabase> reading_;
  std::optional<query::SqlReader> reader_;
};

}  // namespace npuscope::fleet
