// npuscope opstats: raw statistics buffers to summaries and traces.
#include <cstdio>
#include <limits>
#include <memory>

#include "base/text.hpp"
#include "cli/choices.hpp"
#include "cli/command.hpp"
#include "jobs/opstats_job.hpp"
#include "npuscope/base/progress.hpp"

namespace npuscope::cli {
namespace {

using jobs::OpstatsMessage;

struct OpstatsArguments {
  jobs::OpstatsRequest request;
  std::string host_trace;
  bool flow_events = false;
  bool verbose = false;
};

constexpr std::uint32_t max_number = std::numeric_limits<std::uint32_t>::max();

// A flag that is true when it stands alone and takes true or false, as the vendor's tool does:
// --merge-mq-traces, --merge-mq-traces=false, --merge-mq-traces false.
Flag& add_boolean(Command& command, const std::string& names, bool& value,
                  const std::string& description) {
  const auto take = [&value](const std::vector<std::string>& words) {
    const std::string word = words.empty() ? "true" : words.front();
    value = word == "true" || word == "1";
    return value || word == "false" || word == "0";
  };
  return command.add(names, take, fmt::format("{}; default: {}", description, value))
      .values(0, 1)
      .called("[true|false]");
}

void print_message(const OpstatsMessage& message, bool verbose) {
  switch (message.kind) {
    case OpstatsMessage::Kind::wrote:
      print(stdout, "Writing file:{}\n", printable(message.text));
      break;
    case OpstatsMessage::Kind::problem:
      print(stderr, "npuscope: {}\n", printable(message.text));
      break;
    case OpstatsMessage::Kind::note:
      print(stderr, "npuscope: note: {}\n", printable(message.text));
      break;
    case OpstatsMessage::Kind::detail:
      if (verbose) print(stderr, "{}\n", printable(message.text));
      break;
  }
}

ExitStatus run(OpstatsArguments& arguments) {
  if (!arguments.host_trace.empty()) arguments.request.host_trace = arguments.host_trace;
  arguments.request.trace_options.flow_events = arguments.flow_events;
  Result<jobs::OpstatsOutcome> outcome;
  {
    ProgressBar bar("decoding");
    outcome = run_opstats(
        arguments.request,
        [&](const OpstatsMessage& message) { print_message(message, arguments.verbose); },
        [&](std::uint64_t done, std::uint64_t total) { bar.update(done, total); });
  }
  if (!outcome) return report(outcome.error());
  if (!outcome->worst) return ExitStatus::done;
  if (outcome->buffers > 1 && outcome->decoded < outcome->buffers) {
    print(stderr, "npuscope: {} of {} statistics buffers could be decoded, see above\n",
          outcome->decoded, outcome->buffers);
  }
  return exit_status_of(outcome->worst->kind);
}

void add_file_flags(Command& command, OpstatsArguments& arguments) {
  jobs::OpstatsRequest& request = arguments.request;
  command.flag("-q,--qpc", request.qpc, "programqpc.bin that was run").required().called("FILE");
  command
      .flag("-i,--input-dir", request.input_folder,
            "folder of the raw statistics buffers (*-aiccyclecounts.bin)")
      .required()
      .called("DIR");
  command.flag("-o,--output-dir", request.output_folder, "existing folder for what is written")
      .called("DIR")
      .shows_usual();
  command
      .flag("--host-trace", arguments.host_trace,
            "Chrome trace JSON of the host to merge into each trace")
      .called("FILE");
}

void add_output_flags(Command& command, OpstatsArguments& arguments) {
  jobs::OpstatsRequest& request = arguments.request;
  qaic::TraceOptions& trace = request.trace_options;
  add_boolean(command, "--summary", request.summary, "write <buffer>.qaic-opstats.summary.txt");
  add_boolean(command, "--json", request.json,
              "with --summary: also <buffer>.qaic-opstats.summary.json");
  add_boolean(command, "--trace", request.trace,
              "write <buffer>.qaic-opstats.trace.json, for Perfetto and chrome://tracing");
  command.flag("-c,--select-cores", trace.cores, "trace only these cores, e.g. 0,5,1")
      .separated_by(',')
      .check(whole_number(0, max_number))
      .called("LIST");
  command.flag("-d,--select-devices", trace.devices, "trace only these devices, e.g. 0,1")
      .separated_by(',')
      .check(whole_number(0, max_number))
      .called("LIST");
  add_boolean(command, "--merge-mq-traces", request.merge_devices,
              "one trace for all devices of a multi-device network");
  add_boolean(command, "--merge-thread-groups", trace.merge_thread_groups,
              "one track per thread group instead of one per thread");
  add_choice<bool>(command, "--flow-events", arguments.flow_events,
                   {{"none", false}, {"full", true}}, "dependencies as arrows");
  add_boolean(command, "--show-barrier-events", trace.show_barrier_events,
              "barriers, on tracks of their own");
  add_boolean(command, "-v,--verbose", arguments.verbose, "say more about what is done");
}

}  // namespace

void add_opstats_command(Command& program) {
  auto arguments = std::make_shared<OpstatsArguments>();
  Command& command = program.command(
      "opstats", "Decode raw statistics buffers: summaries and traces per operator");
  add_file_flags(command, *arguments);
  add_output_flags(command, *arguments);
  command.matters_with("--json", {"--summary"});
  for (const char* flag : {"--flow-events", "--select-cores", "--merge-mq-traces",
                           "--merge-thread-groups", "--show-barrier-events", "--host-trace"}) {
    command.matters_with(flag, {"--trace"});
  }
  command.action = [arguments] { return run(*arguments); };
}

}  // namespace npuscope::cli
