// npuscope run for Synaptics Torq: programs of `compile --target torq-sl2610`.
#include <cstdio>

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/architectures.hpp"
#include "cli/profiles.hpp"
#include "npu/targets/torq/execute.hpp"
#include "npu/targets/torq/program.hpp"
#include "npuscope/npu/torq/run.hpp"
#include "report/torq/torq_documents.hpp"

namespace npuscope::cli {
namespace run_command {

class TorqRunner : public RunArchitecture {
 public:
  explicit TorqRunner(Command& command) {
    command.flag("--torq_profile_host", log_, "write the runtime log (.csv)");
    command.flag("--torq_profile", jobs_, "write the log of NSS jobs, as of 2025 (.csv)");
    command
        .flag("--input", inputs_, "not read: what an inference costs does not depend on its data")
        .one_each();
  }

  bool recognises(ByteSpan program) const override {
    return npu::torq::looks_like_program(program);
  }

  Status run(const RunArguments& arguments) override {
    const std::vector<std::string> inputs{arguments.file};
    for (const std::string& output : {log_, jobs_}) {
      if (output.empty()) continue;
      TRY(check_output_is_no_input(inputs, output));
    }
    TRY_AS(outcome,
           npu::torq::run({arguments.file, arguments.inferences.value_or(1), log_, jobs_}));
    if (!inputs_.empty()) print_idle_input("--input");
    const npu::torq::Run& run = *outcome->run;
    const auto document = report::torq_run_document(*outcome->program, *outcome->target, run);
    if (arguments.json) {
      print_json(stdout, report::document_json(document, {}));
      return {};
    }
    print(stdout, "{}", report::document_text(document, terminal_width()));
    if (!log_.empty()) {
      print(stdout, "\nwrote {} ({} rows)\n", printable(log_), thousands(run.log.events.size()));
    }
    return {};
  }

 private:
  std::string log_, jobs_;
  std::vector<std::string> inputs_;
};

}  // namespace run_command

std::unique_ptr<RunArchitecture> add_torq_run(Command& command) {
  return std::make_unique<run_command::TorqRunner>(command);
}

}  // namespace npuscope::cli
