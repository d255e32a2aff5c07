// npuscope fleet sql: SQL over a store.
#include "cli/fleet/fleet.hpp"
#include "cli/query_rows.hpp"
#include "fleet/schema.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::cli {
namespace {

struct SqlOptions : RowOptions {
  std::string store;
  std::string sql;
};

Status print_sql(const SqlOptions& options) {
  const auto limits = limits_of(options);
  if (!limits) return tl::unexpected(limits.error());
  if (options.store.empty() || options.sql.empty()) {
    return usage_error(
        "name the store, then the query: 'SELECT ...'; --schema lists what can be asked");
  }
  auto store = fleet::open_store(options.store, fleet::StoreMode::read, *limits);
  if (!store) return tl::unexpected(store.error());
  HardStop stop(last_moment(limits->time), query::out_of_time(*limits));
  return print_query_rows(
      options,
      {[&](query::RowSink& sink) { return (*store)->run(options.sql, sink); },
       [] { return report::query_json_head(running_command(), {}, {}); }, [] {}},
      stop);
}

ExitStatus run_sql(const SqlOptions& options) {
  if (options.schema) return print_query_schema(options, fleet::catalogue().tables);
  const Status printed = print_sql(options);
  return printed ? ExitStatus::done : report(printed.error());
}

}  // namespace

void add_fleet_sql(Command& fleet) {
  Command& command = fleet.command("sql", "SQL over a store; docs/fleet.md has its tables");
  const auto options = std::make_shared<SqlOptions>();
  add_store_option(command, options->store);
  command.flag("store").required(false);
  command.flag("sql", options->sql, "the query: 'SELECT ...'");
  add_row_options(command, *options);
  command.action = [options] { return run_sql(*options); };
}

}  // namespace npuscope::cli
