// npuscope fleet diff and outliers.
#include "fleet/questions/changes.hpp"
#include "cli/choices.hpp"
#include "cli/fleet/fleet.hpp"
#include "fleet/questions/ops.hpp"
#include "fleet/questions/outliers.hpp"

namespace npuscope::cli {
namespace {

struct DiffOptions : FleetOptions {
  std::string a, b, along;
  fleet::ChangeRequest request;
  double percent = 1;
};

Result<report::Document> diff(fleet::Store& store, const DiffOptions& asked) {
  fleet::ChangeRequest request = asked.request;
  request.min_change = asked.percent / 100;
  if (!asked.along.empty()) {
    const auto points = change_points(store, asked.choice, asked.along, request);
    if (!points) return tl::unexpected(points.error());
    return fleet_points_document(asked.head(), *points);
  }
  if (asked.a.empty() || asked.b.empty()) {
    return usage_error(
        "say what is compared: --where-a 'build = 16' --where-b 'build = 17', or --along build for "
        "all in their order");
  }
  const auto changes = compare_ops(store, asked.choice, asked.a, asked.b, request);
  if (!changes) return tl::unexpected(changes.error());
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
