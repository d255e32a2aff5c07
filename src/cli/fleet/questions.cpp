// npuscope fleet ls, latency, ops, findings.
#include "cli/choices.hpp"
#include "cli/fleet/fleet.hpp"
#include "fleet/questions/findings.hpp"
#include "fleet/questions/latency.hpp"
#include "fleet/questions/listing.hpp"
#include "fleet/questions/ops.hpp"

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
                 const auto listing = list_of(store, asked.choice, asked.rows());
                 if (!listing) return tl::unexpected(listing.error());
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
                 const auto latency = latency_of(store, asked.choice, asked.request);
                 if (!latency) return tl::unexpected(latency.error());
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
                 const auto ops = ops_of(store, asked.choice, request);
                 if (!ops) return tl::unexpected(ops.error());
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
                 const auto findings = findings_of(store, asked.choice);
                 if (!findings) return tl::unexpected(findings.error());
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

}  // namespace npuscope::cli
