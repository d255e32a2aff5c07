// npuscope fleet ls, latency, ops, findings, diff, outliers and sql.
#include "base/try.hpp"
#include "cli/choices.hpp"
#include "cli/fleet/fleet.hpp"
#include "cli/query_rows.hpp"
#include "fleet/questions/changes.hpp"
#include "fleet/questions/findings.hpp"
#include "fleet/questions/latency.hpp"
#include "fleet/questions/listing.hpp"
#include "fleet/questions/ops.hpp"
#include "fleet/questions/outliers.hpp"
#include "fleet/schema.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::cli {
namespace {

// A command that asks one question: `ask(store, options)` gives the page.
template <class Options, class Ask>
void add_question(Command& command, const std::shared_ptr<Options>& options, Ask ask) {
  command.action = [options, ask] {
    return answer_fleet(*options, [&](fleet::Store& store) { return ask(store, *options); });
  };
}

void add_ls(Command& fleet) {
  Command& command = fleet.command("ls", "What a store holds: runs, or groups of them");
  const auto options = std::make_shared<FleetOptions>();
  options->top.set(20);
  add_fleet_options(command, *options);
  add_question(command, options,
               [](fleet::Store& store, const FleetOptions& asked) -> Result<report::Document> {
                 TRY_AS(listing, list_of(store, asked.choice, asked.rows()));
                 return fleet_listing_document(asked.head(), *listing);
               });
}

struct LatencyOptions : FleetOptions {
  fleet::LatencyRequest request;
};

void add_latency(Command& fleet) {
  Command& command =
      fleet.command("latency", "How latency is spread, warm and cold, and which run is the median");
  const auto options = std::make_shared<LatencyOptions>();
  options->top.cut_when_printed();
  add_fleet_options(command, *options);
  add_choice(command, "--measure", options->request.measure, words_of(fleet::latency_measures()),
             "column of inferences; default: that of most runs");
  add_question(command, options,
               [](fleet::Store& store, const LatencyOptions& asked) -> Result<report::Document> {
                 TRY_AS(latency, latency_of(store, asked.choice, asked.request));
                 return fleet_latency_document(asked.head(), *latency);
               });
}

struct OpsOptions : FleetOptions {
  fleet::OpsRequest request;
};

void add_ops(Command& fleet) {
  Command& command = fleet.command("ops", "What each op costs over all runs");
  const auto options = std::make_shared<OpsOptions>();
  options->top.set(20);
  add_fleet_options(command, *options);
  add_choice(command, "--measure", options->request.measure, words_of(fleet::op_measures()),
             "column of op_runs");
  add_question(command, options,
               [](fleet::Store& store, const OpsOptions& asked) -> Result<report::Document> {
                 fleet::OpsRequest request = asked.request;
                 request.top = asked.rows();
                 TRY_AS(ops, ops_of(store, asked.choice, request));
                 return fleet_ops_document(asked.head(), *ops);
               });
}

void add_findings(Command& fleet) {
  Command& command = fleet.command(
      "findings", "In what share of the runs each rule speaks, and how many lost data");
  const auto options = std::make_shared<FleetOptions>();
  options->top.cut_when_printed();
  add_fleet_options(command, *options);
  add_question(command, options,
               [](fleet::Store& store, const FleetOptions& asked) -> Result<report::Document> {
                 TRY_AS(findings, findings_of(store, asked.choice));
                 return fleet_findings_document(asked.head(), *findings);
               });
}

}  // namespace

void add_fleet_questions(Command& fleet) {
  add_ls(fleet);
  add_latency(fleet);
  add_ops(fleet);
  add_findings(fleet);
}

namespace {

// npuscope fleet sql: SQL over a store.
struct SqlOptions : RowOptions {
  std::string store;
  std::string sql;
};

Status print_sql(const SqlOptions& options) {
  TRY_AS(limits, limits_of(options));
  if (options.store.empty() || options.sql.empty()) {
    return usage_error(
        "name the store, then the query: 'SELECT ...'; --schema lists what can be asked");
  }
  TRY_AS(store, fleet::open_store(options.store, fleet::StoreMode::read, *limits));
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

namespace {

// npuscope fleet diff and outliers.
struct DiffOptions : FleetOptions {
  std::string a, b, along;
  fleet::ChangeRequest request;
  double percent = 1;
};

Result<report::Document> diff(fleet::Store& store, const DiffOptions& asked) {
  fleet::ChangeRequest request = asked.request;
  request.min_change = asked.percent / 100;
  if (!asked.along.empty()) {
    TRY_AS(points, change_points(store, asked.choice, asked.along, request));
    return fleet_points_document(asked.head(), *points);
  }
  if (asked.a.empty() || asked.b.empty()) {
    return usage_error(
        "say what is compared: --where-a 'build = 16' --where-b 'build = 17', or --along build for "
        "all in their order");
  }
  TRY_AS(changes, compare_ops(store, asked.choice, asked.a, asked.b, request));
  return fleet_changes_document(asked.head(), *changes);
}

void add_diff(Command& fleet) {
  Command& command = fleet.command(
      "diff", "Which ops became slower between two choices of runs, or along all builds");
  const auto options = std::make_shared<DiffOptions>();
  options->top.cut_when_printed();
  add_store_option(command, options->store);
  command.flag("--where", options->choice.where, "only these runs, as SQL");
  command.flag("--where-a", options->a, "runs before, as SQL: 'build = 16'");
  command.flag("--where-b", options->b, "runs after: 'build = 17'");
  command
      .flag("--along", options->along,
            "a column of runs or a tag: change points of each op along its values")
      .excludes("--where-a")
      .excludes("--where-b");
  add_choice(command, "--measure", options->request.measure, words_of(fleet::op_measures()),
             "column of op_runs");
  command
      .flag("--max-q", options->request.max_q,
            "rate of false discoveries among the changes that are named")
      .check(real_number(0, 1))
      .shows_usual();
  command.flag("--min-change", options->percent, "changes of less per cent are the same")
      .check(real_number(0, 1e6))
      .shows_usual();
  add_page_options(command, *options);
  command.action = [options] {
    return answer_fleet(*options, [&](fleet::Store& store) { return diff(store, *options); });
  };
}

struct OutlierOptions : FleetOptions {
  fleet::OutlierRequest request;
};

void add_outliers(Command& fleet) {
  Command& command = fleet.command(
      "outliers", "Which devices are slow and why, and which runs are unlike the others");
  const auto options = std::make_shared<OutlierOptions>();
  options->top.cut_when_printed();
  add_fleet_options(command, *options);
  add_choice(command, "--measure", options->request.measure, words_of(fleet::latency_measures()),
             "column of inferences; default: that of most runs");
  command
      .flag("--within", options->request.within,
            "compare runs only with those of the same value of these columns or tags: build")
      .separated_by(',')
      .one_each();
  command.action = [options] {
    return answer_fleet(*options, [&](fleet::Store& store) -> Result<report::Document> {
      const auto outliers = outliers_of(store, options->choice, options->request);
      if (!outliers) return tl::unexpected(outliers.error());
      return fleet_outliers_document(options->head(), *outliers);
    });
  };
}

}  // namespace

void add_fleet_changes(Command& fleet) {
  add_diff(fleet);
  add_outliers(fleet);
}

}  // namespace npuscope::cli
