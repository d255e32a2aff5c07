// Where a fleet's rows are kept, and asked. A store on another engine is another class of this
// interface: the tables are schema.hpp's, and questions are SQL that runs where the rows are.
//
//   auto store = open_store("fleet.db", StoreMode::write);
//   (*store)->add(batch);                                  // {.runs = 20, .known = 3}
//   (*store)->run("SELECT count(*) FROM runs", sink);
//
// SQL of questions is what SQLite and ClickHouse both take: sub-queries in FROM, one JOIN … USING a
// SELECT, no window functions, no correlated sub-queries, no WITH, no alias that is the name of a
// column. Where NULLs are sorted to differs, so whoever has them sorts rows himself. What the
// engines write differently asks the store.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "fleet/rows.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/query/database.hpp"

namespace npuscope::fleet {

struct Added {
  std::uint64_t runs = 0;     // new ones
  std::uint64_t known = 0;    // that were there, and stay as they were
  std::uint64_t op_runs = 0;  // of the new ones
  // Of those that were there, runs whose tags are not those of the batch.
  std::vector<Id> other_tags;
};

struct Removed {
  std::uint64_t runs = 0;
  std::uint64_t op_runs = 0;
};

// How facts are joined with their runs: SELECT … FROM op_runs JOIN (SELECT id AS run … FROM runs)
// AS chosen USING (run) WHERE ….
struct FactJoin {
  std::string facts_suffix = "";           // of the names of tables of facts
  std::string runs = "runs";               // the table
  std::string key = "run";                 // a column of the facts
  std::string selected_key = "id AS run";  // the same of that table
  std::string condition = "WHERE";         // before conditions on columns of the facts alone
  // Whether such a condition that names runs saves the engine reading the rows of others.
  bool narrows = false;
};

class Store {
 public:
  virtual ~Store() = default;

  // All of the batch or, with an error, none of it. Adding runs again changes nothing.
  virtual Result<Added> add(const Batch& batch) = 0;

  // Those runs and all rows of theirs.
  virtual Result<Removed> remove(std::span<const Id> runs) = 0;

  // One SELECT. As query::Database::run().
  virtual Status run(std::string_view sql, query::RowSink& sink) = 0;

  // All of it as one SQLite file, which must be missing or empty.
  virtual Status copy_to(const std::filesystem::path& file) = 0;

  // "percentile(work, 95)": linearly between the values, NULL left out. Several of one value may
  // share work.
  virtual std::vector<std::string> percentiles(std::string_view value,
                                               const std::vector<double>& percents) const = 0;
  std::string percentile(std::string_view value, double percent) const {
    return percentiles(value, {percent})[0];
  }

  virtual FactJoin fact_join() const { return {}; }

  // What it is called in pages and errors; never with a password.
  virtual const std::string& name() const = 0;
};

enum class StoreMode : std::uint8_t {
  read,   // must exist
  write,  // must exist
  make,   // is made where there is none
};

// A file, or a folder that holds fleet.db, or clickhouse://host:8123/database?cluster=name. An
// input error where it is missing, damaged, of another kind or of another version.
Result<std::unique_ptr<Store>> open_store(const std::filesystem::path& path, StoreMode mode,
                                          const query::Limits& limits = {});

// Of pages: a large store takes minutes, and whoever waits can stop it.
inline query::Limits page_limits() { return {.time = std::chrono::minutes(30)}; }

// Whether there is such a store, of whatever content, or one that cannot be looked at.
bool store_exists(const std::filesystem::path& path);

// Which runs of a batch a store has already, and what adding the others comes to.
struct KnownRuns {
  std::unordered_set<Id> runs;
  std::vector<Id> other_tags;  // of these, whose tags are not those of the batch
};

// An input error where a run of the batch has the id of one with other content.
Result<KnownRuns> known_runs(Store& store, const Batch& batch);

Added added_of(const Batch& batch, KnownRuns&& known);

}  // namespace npuscope::fleet
