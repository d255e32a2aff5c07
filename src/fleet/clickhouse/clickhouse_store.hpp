// A fleet on ClickHouse: one server, or the shards of a cluster, asked by HTTP.
//
// ClickHouse has no transactions, so that a batch is there as a whole or not at all comes from the
// order of its parts:
//
//   1. runs_rows     the batch's runs, each with a take: a number of this attempt alone
//   2. …_rows        its facts, by take; then ops and units, which say nothing without facts
//   3. batches_rows  one row: from here on, the batch counts
//
// Views show the takes whose batch is in batches_rows, of several takes of a run the earliest. A
// run lies with its facts on the shard of its id modulo their number; a batch is on several. What a
// crash leaves:
//
//   before 3              rows of takes that do not count; a retry has takes of its own, so nothing
//   is there twice in 3, answer lost     asked again whether the row is there; a second row of a
//   batch says the same after 3               the batch two writers, one run  both add it, the
//   earlier take counts
//
// A question that runs while 3 happens may see the batch on one shard and not yet on another; the
// next one sees all. remove() deletes runs first, then all facts whose take has no run, also those
// of attempts older than a day: rows that are being added have theirs in runs_rows before.
//
// A shard's server that does not answer or is busy (too many parts) is tried again for the
// address's patience; what else it refuses ends the batch with its sentence.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "fleet/clickhouse/server.hpp"
#include "fleet/place/store_place.hpp"
#include "fleet/store.hpp"

namespace npuscope::fleet {

class ClickHouseStore : public Store {
 public:
  static Result<std::unique_ptr<Store>> open(const ClickHouseAddress& address, StoreMode mode,
                                             const query::Limits& limits);

  // That it is missing, not that it cannot be known.
  static bool is_missing(const ClickHouseAddress& address);

  Result<Added> add(const Batch& batch) override;
  Result<Removed> remove(std::span<const Id> runs) override;
  Status run(std::string_view sql, query::RowSink& sink) override;
  Status copy_to(const std::filesystem::path& file) override;
  std::vector<std::string> percentiles(std::string_view value,
                                       const std::vector<double>& percents) const override;
  FactJoin fact_join() const override;
  const std::string& name() const override { return name_; }

 private:
  ClickHouseStore(const ClickHouseAddress& address, const query::Limits& limits);

  Status connect();  // to the server of the address
  Status find_shards();
  Status make_tables();
  Status check_tables(StoreMode mode);
  Result<bool> has_version(Server& server);
  Status delete_rows(Server& server, const std::string& table, const std::string& condition);
  Error named(Error error) const;

  ClickHouseAddress address_;
  query::Limits limits_;
  std::string name_;
  std::unique_ptr<Server> server_;  // that is asked
  // Where rows go, and all servers that hold tables; without a cluster both are the one server.
  std::vector<std::unique_ptr<Server>> others_;
  std::vector<Server*> shards_, servers_;
  bool is_replicated_ = false;
  std::chrono::seconds patience_{0};  // with which questions are asked
};

}  // namespace npuscope::fleet
