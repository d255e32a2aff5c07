// The tables of schema.hpp as ClickHouse has them, on each server of a store.
//
//   op_runs_rows   the rows, MergeTree in the order of the keys, and of which take they are
//   op_runs_here   a view: those of this server that count
//   op_runs        those of all servers: what SQL of users and questions without runs read
//   op_runs_all    all rows of all servers, for questions, which join them with the takes that
//   count
//
// Without a cluster there are op_runs_rows and the view op_runs. A take is one attempt to add one
// run: facts of several attempts may lie in op_runs_rows, those of one count
// (clickhouse_store.hpp).
#pragma once

#include <string>
#include <vector>

#include "fleet/place/clickhouse_address.hpp"
#include "fleet/schema.hpp"
#include "fleet/store.hpp"

namespace npuscope::fleet {

// Statements that make all that is missing, in an order in which the last one says that the tables
// are complete.
std::vector<std::string> create_statements(const ClickHouseAddress& address, bool is_replicated);

// "run,take,inference": of INSERT.
std::string inserted_columns(const Table& table);

std::string rows_of(std::string_view table);  // "op_runs_rows"
bool is_fact(const Table& table);

FactJoin clickhouse_join(const ClickHouseAddress& address);

// Columns of the tables of rows as system.columns has them: "op_runs_rows.run Int64", sorted.
std::vector<std::string> stored_columns();

// What the view `fleet_version` holds: version of the schema, and the cluster.
inline constexpr const char* version_view = "fleet_version";

}  // namespace npuscope::fleet
