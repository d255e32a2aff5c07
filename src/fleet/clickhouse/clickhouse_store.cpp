#include "fleet/clickhouse/clickhouse_store.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "base/try.hpp"
#include "fleet/clickhouse/batch_insert.hpp"
#include "fleet/clickhouse/tables.hpp"
#include "fleet/questions/answer.hpp"
#include "fleet/sqlite/sqlite_tables.hpp"
#include "fleet/store.hpp"
#include "query/errors.hpp"

namespace npuscope::fleet {
namespace {

constexpr std::size_t ids_of_deletion = 5'000;
constexpr int stale_seconds = 86'400;  // no batch takes a day

// Whether a sink was given anything, so that it must not be given the same again.
class Watched : public query::RowSink {
 public:
  explicit Watched(query::RowSink& sink) : sink_(sink) {}

  void columns(const std::vector<std::string>& names) override {
    has_begun = true;
    sink_.columns(names);
  }
  bool row(std::span<const query::Cell> cells) override { return sink_.row(cells); }
  bool has_begun = false;

 private:
  query::RowSink& sink_;
};

}  // namespace

ClickHouseStore::ClickHouseStore(const ClickHouseAddress& address, const query::Limits& limits)
    : address_(address), limits_(limits), name_(address.name()) {}

Error ClickHouseStore::named(Error error) const {
  error.message = name_ + ": " + error.message;
  return error;
}

Result<std::unique_ptr<Store>> ClickHouseStore::open(const ClickHouseAddress& address,
                                                     StoreMode mode, const query::Limits& limits) {
  std::unique_ptr<ClickHouseStore> store(new ClickHouseStore(address, limits));
  Status done = store->connect();
  if (done && mode != StoreMode::read) done = store->find_shards();
  if (done && mode == StoreMode::make) done = store->make_tables();
  if (done) done = store->check_tables(mode);
  // Who reads wants to know at once that a server does not answer.
  if (mode != StoreMode::read) store->patience_ = address.patience;
  if (!done) return tl::unexpected(done.error());
  return store;
}

bool ClickHouseStore::is_missing(const ClickHouseAddress& address) {
  ClickHouseStore store(address, {});
  if (!store.connect()) return false;
  const auto is_made = store.has_version(*store.server_);
  return is_made && !*is_made;
}

Status ClickHouseStore::connect() {
  TRY_AS(server, Server::open(address_, address_.host));
  server_ = std::move(*server);
  shards_ = servers_ = {server_.get()};
  return {};
}

// Each server is reached under the name that the cluster has for it, by the port of the URL.
Status ClickHouseStore::find_shards() {
  if (address_.cluster.empty()) return {};
  Server::TextRows found;
  const ServerReply reply = server_->select_of_system(
      3,
      fmt::format("SELECT shard_num, host_name, is_local FROM system.clusters WHERE cluster = '{}' "
                  "ORDER BY shard_num, replica_num",
                  address_.cluster),
      found);
  if (!reply.done()) return tl::unexpected(named(server_->error_of(reply, ErrorKind::input)));
  if (found.empty()) {
    Server::TextRows known;
    server_->select_of_system(1, "SELECT DISTINCT cluster FROM system.clusters ORDER BY cluster",
                              known);
    std::string names;
    for (const auto& row : known) names += (names.empty() ? "" : ", ") + row[0];
    return input_error("{}: the server knows no cluster '{}'; there are {}", name_,
                       address_.cluster, names.empty() ? "none" : names);
  }
  shards_.clear(), servers_.clear();
  std::string last_shard;
  for (const auto& row : found) {
    if (!ClickHouseAddress::is_host(row[1])) {
      return input_error("{}: a shard of the cluster has a host that is not a name; check {}",
                         name_, "remote_servers of the server's configuration");
    }
    Server* server = server_.get();
    if (row[2] == "0" && row[1] != address_.host) {
      TRY_AS(opened, Server::open(address_, row[1]));
      server = others_.emplace_back(std::move(*opened)).get();
    }
    servers_.push_back(server);
    if (row[0] != last_shard) shards_.push_back(server);
    is_replicated_ = is_replicated_ || row[0] == last_shard;
    last_shard = row[0];
  }
  return {};
}

Result<bool> ClickHouseStore::has_version(Server& server) {
  Server::TextRows found;
  const ServerReply reply = server.select_of_system(
      1,
      fmt::format("SELECT name FROM system.tables WHERE database = '{}' AND name = '{}'",
                  address_.database, version_view),
      found);
  if (reply.done()) return !found.empty();
  if (reply.is_unknown_database()) return false;
  return tl::unexpected(named(server.error_of(reply, ErrorKind::input)));
}

Status ClickHouseStore::make_tables() {
  for (Server* server : servers_) {
    TRY_AS(is_made, has_version(*server));
    if (*is_made) continue;
    for (const std::string& sql : create_statements(address_, is_replicated_)) {
      const ServerReply reply = server->execute(sql, "system");
      if (!reply.done()) {
        return tl::unexpected(named(server->error_of(reply, ErrorKind::output)));
      }
    }
  }
  return {};
}

Status ClickHouseStore::check_tables(StoreMode mode) {
  for (Server* server : mode == StoreMode::read ? std::vector<Server*>{server_.get()} : servers_) {
    TRY_AS(is_made, has_version(*server));
    if (!*is_made) {
      return input_error("{}: no such store on {}; npuscope fleet add makes one", name_,
                         server->name());
    }
  }
  Server::TextRows version;
  ServerReply reply = server_->select_of_system(
      2, fmt::format("SELECT version, cluster FROM `{}`.{}", address_.database, version_view),
      version);
  Server::TextRows columns;
  if (reply.done()) {
    reply =
        server_->select_of_system(3,
                                  fmt::format("SELECT table, name, type FROM system.columns WHERE "
                                              "database = '{}' AND table LIKE '%_rows'",
                                              address_.database),
                                  columns);
  }
  if (!reply.done()) return tl::unexpected(named(server_->error_of(reply, ErrorKind::input)));
  if (version.size() != 1 || version[0][0] != fmt::format("{}", schema_version)) {
    return input_error(
        "{}: a fleet's store of schema version {}, this npuscope has version {}; use the npuscope "
        "that made it, or add the runs to a new store",
        name_, version.size() == 1 ? version[0][0] : "unknown", schema_version);
  }
  if (version[0][1] != address_.cluster) {
    return usage_error("{}: {}; write the store as {}", name_,
                       version[0][1].empty() ? "the store is on one server, not on a cluster"
                                             : "the store is on a cluster",
                       version[0][1].empty()
                           ? "clickhouse://host/database"
                           : "clickhouse://host/database?cluster=" + version[0][1]);
  }
  std::set<std::string> there;
  for (const auto& row : columns) {
    there.insert(fmt::format("{}.{} {}", row[0], row[1], row[2]));
  }
  for (const std::string& column : stored_columns()) {
    if (there.contains(column)) continue;
    return input_error("{}: the column {} is missing or of another type; restore a copy", name_,
                       column);
  }
  return {};
}

Result<Added> ClickHouseStore::add(const Batch& batch) {
  if (batch.runs.empty()) return Added{};
  TRY_AS(known, known_runs(*this, batch));
  const Status inserted = insert_batch(shards_, batch, known->runs, address_.patience);
  if (!inserted) return tl::unexpected(named(inserted.error()));
  return added_of(batch, std::move(*known));
}

// A mutation runs in the background; what it deletes is gone when it is done.
Status ClickHouseStore::delete_rows(Server& server, const std::string& table,
                                    const std::string& condition) {
  ServerReply reply = server.execute(
      fmt::format("ALTER TABLE `{}`.`{}` DELETE WHERE {}", address_.database, table, condition),
      address_.database);
  const auto end = std::chrono::steady_clock::now() + limits_.time;
  for (std::chrono::milliseconds pause{20}; reply.done(); pause *= 2) {
    Server::TextRows open;
    reply = server.select_of_system(
        1,
        fmt::format("SELECT count() FROM system.mutations WHERE database = '{}' "
                    "AND table = '{}' AND is_done = 0",
                    address_.database, table),
        open);
    if (!reply.done() || (open.size() == 1 && open[0][0] == "0")) break;
    if (std::chrono::steady_clock::now() > end) {
      return output_error("{}: {} still deletes rows of {}; look at system.mutations there", name_,
                          server.name(), table);
    }
    std::this_thread::sleep_for(std::min(pause, std::chrono::milliseconds(1'000)));
  }
  if (reply.done()) return {};
  return tl::unexpected(named(server.error_of(reply, ErrorKind::output)));
}

Result<Removed> ClickHouseStore::remove(std::span<const Id> runs) {
  Removed removed;
  for (std::size_t at = 0; at < runs.size(); at += ids_of_deletion) {
    const auto some = runs.subspan(at, std::min(ids_of_deletion, runs.size() - at));
    const std::string ids = fmt::format("{}", fmt::join(some, ","));
    for (const auto& [table, column, count] : {std::tuple("runs", "id", &removed.runs),
                                               std::tuple("op_runs", "run", &removed.op_runs)}) {
      TRY_AS(row,
             row_of(*this, 1,
                    fmt::format("SELECT count(*) FROM {} WHERE {} IN ({})", table, column, ids)));
      *count += std::uint64_t(integer_at(*row, 0));
    }
    for (Server* shard : shards_) {
      TRY(delete_rows(*shard, "runs_rows", fmt::format("id IN ({})", ids)));
    }
  }
  const std::string in_database = fmt::format("`{}`", address_.database);
  const std::string batches = address_.cluster.empty() ? "batches_rows" : "batches_all";
  for (Server* shard : shards_) {
    Server::TextRows stale;
    const ServerReply reply =
        shard->select_of_system(1,
                                fmt::format("SELECT DISTINCT take FROM {0}.runs_rows WHERE batch "
                                            "NOT IN (SELECT batch FROM {0}.{1}) "
                                            "AND added < now() - {2}",
                                            in_database, batches, stale_seconds),
                                stale);
    if (!reply.done()) return tl::unexpected(named(shard->error_of(reply, ErrorKind::output)));
    std::string takes;
    for (const auto& row : stale) takes += (takes.empty() ? "" : ",") + row[0];
    Status done;
    if (!takes.empty()) done = delete_rows(*shard, "runs_rows", "take IN (" + takes + ")");
    const auto of = [&](const char* table) {
      return fmt::format("`{}`.`{}`", address_.database, table);
    };
    for (const Table& table : schema()) {
      if (!done || !is_fact(table)) continue;
      done = delete_rows(*shard, rows_of(table.name),
                         fmt::format("take NOT IN (SELECT take FROM {})", of("runs_rows")));
    }
    for (const auto& [table, column, facts] :
         {std::tuple("ops_rows", "op", "op_runs_rows"),
          std::tuple("units_rows", "unit", "unit_runs_rows")}) {
      if (!done) break;
      done = delete_rows(*shard, table,
                         fmt::format("id NOT IN (SELECT {0} FROM {1}) AND id NOT IN (SELECT "
                                     "assumeNotNull({0}) FROM {2} WHERE {0} IS NOT NULL)",
                                     column, of(facts), of("spans_rows")));
    }
    if (!done) return tl::unexpected(done.error());
  }
  return removed;
}

Status ClickHouseStore::run(std::string_view sql, query::RowSink& sink) {
  ServerReply reply;
  for (Patience left(patience_);;) {
    Watched watched(sink);
    reply = server_->select(sql, limits_, watched);
    if (!reply.may_pass() || watched.has_begun || !left.wait()) break;
  }
  if (reply.done()) return {};
  if (reply.kind == ServerReply::Kind::late || reply.is_out_of_time()) {
    return tl::unexpected(query::out_of_time(limits_));
  }
  if (reply.is_only_for_reading()) return tl::unexpected(query::only_reads(catalogue()));
  if (reply.is_about_statement()) return usage_error("SQL: {}", reply.text);
  return tl::unexpected(named(server_->error_of(reply, ErrorKind::input)));
}

Status ClickHouseStore::copy_to(const std::filesystem::path& file) {
  return copy_to_sqlite(*this, file);
}

// Linearly between the values, as SQLite's function of query/functions.cpp has it: ClickHouse's own
// name of that came later than 18.16. Of the median alone two neighbours are enough, which are
// found without sorting; several percentiles share the sorted values.
std::vector<std::string> ClickHouseStore::percentiles(std::string_view value,
                                                      const std::vector<double>& percents) const {
  if (percents.size() == 1 && percents[0] == 50) {
    const std::string two = fmt::format("quantilesExact(0.4999999999999, 0.5)({})", value);
    return {fmt::format("if(count({0}) = 0, NULL, {1}[1] + ({1}[2] - {1}[1]) * 0.5)", value, two)};
  }
  const std::string sorted = fmt::format("arraySort(groupArray({}))", value);
  std::vector<std::string> calls;
  for (const double percent : percents) {
    const std::string place = fmt::format("({} * (count({}) - 1))", percent / 100, value);
    const std::string below = fmt::format("{}[toUInt64(floor({})) + 1]", sorted, place);
    const std::string above = fmt::format("{}[toUInt64(floor({})) + 2]", sorted, place);
    calls.push_back(fmt::format("if(count({0}) = 0, NULL, {1} + ({2} - {1}) * ({3} - floor({3})))",
                                value, below, above, place));
  }
  return calls;
}

FactJoin ClickHouseStore::fact_join() const { return clickhouse_join(address_); }

}  // namespace npuscope::fleet
