// npuscope run for Cloud AI 100 and Hexagon: programs in a QPC.
#include <fmt/ranges.h>

#include <cstdio>

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/architectures.hpp"
#include "cli/command.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "npuscope/npu/nsp/simulate/run.hpp"
#include "report/programs/run_report.hpp"

namespace npuscope::cli {
namespace run_command {

constexpr double max_seconds = 1e6;  // of the device's time, as the simulation's own limit

struct NspArguments {
  npu::nsp::RunRequest request;
  std::string test_data;
  std::string output_folder = ".";
  std::string write_output_folder;
  std::vector<std::string> types;
  std::vector<std::string> emitted;
  std::string emit_folder = ".";
  double start_delay_ms = 0;
  double core_clock_mhz = 0;
  double seconds = 0;
  std::vector<std::string> inputs;
};

Status take_types(const std::vector<std::string>& names, npu::nsp::ProfilingTypes& types) {
  for (const std::string& name : names) {
    if (name == "stats") {
      types.stats = true;
    } else if (name == "trace") {
      types.trace = true;
    } else if (name == "raw_device_stats") {
      types.raw_device_stats = true;
    } else if (name == "latency") {
      types.latency = true;
    } else {
      return usage_error("--aic-profiling-type={}: use stats, trace, raw_device_stats or latency",
                         name);
    }
  }
  return {};
}

Status take_emitted(const NspArguments& arguments, npu::nsp::RunRequest& request) {
  for (const std::string& name : arguments.emitted) {
    if (name != "qnn") return usage_error("--emit={}: use qnn", name);
    request.qnn_folder = arguments.emit_folder;
  }
  return {};
}

Status take_arguments(const RunArguments& common, NspArguments& arguments) {
  npu::nsp::RunRequest& request = arguments.request;
  if (arguments.test_data.empty() && common.file.empty()) {
    return usage_error("nothing to run; give the folder of programqpc.bin (-t) or a QPC file");
  }
  if (!arguments.test_data.empty() && !common.file.empty()) {
    return usage_error("both -t and a QPC file are given; give one of them");
  }
  request.qpc = common.file.empty() ? arguments.test_data : common.file;
  request.output_folder = arguments.output_folder;
  request.write_output_folder = arguments.write_output_folder;
  request.simulation.first_sample_seconds = arguments.start_delay_ms / 1000;
  request.simulation.core_hz = arguments.core_clock_mhz * 1e6;
  if (common.inferences) request.simulation.inferences = *common.inferences;
  if (arguments.seconds > 0) {
    request.simulation.inferences = 0;
    request.simulation.seconds = arguments.seconds;
  } else if (request.simulation.inferences == 0) {
    return usage_error("--num-iter=0 runs nothing; set it to at least 1, or give --time");
  }
  TRY(take_emitted(arguments, request));
  return take_types(arguments.types, request.types);
}

void print_text(const npu::nsp::RunOutcome& outcome, bool verbose) {
  for (const npu::nsp::ProgramRun& run : outcome.programs) {
    if (verbose || outcome.programs.size() > 1) {
      const std::string devices = fmt::format("{}", fmt::join(run.devices, ", "));
      print(stdout, "Program {}: {} on device{} {}\n", run.number, printable(run.network),
            run.devices.size() > 1 ? "s" : "", devices);
    }
    print(stdout, "{}", report::print_run_report(report::report_run(run)));
  }
}

Status run_programs(const RunArguments& common, NspArguments& arguments) {
  TRY(take_arguments(common, arguments));
  if (!common.json) {
    arguments.request.tell = [](std::string_view line) { print(stdout, "{}\n", printable(line)); };
  }
  Result<npu::nsp::RunOutcome> outcome;
  {
    ProgressBar bar("simulating");
    arguments.request.simulation.progress = [&](std::uint64_t done, std::uint64_t total) {
      bar.update(done, total);
    };
    outcome = npu::nsp::run(arguments.request);
  }
  if (!outcome) return tl::unexpected(outcome.error());
  if (common.json) {
    print_json(stdout, report::run_outcome_json(*outcome));
  } else {
    print_text(*outcome, common.verbose);
  }
  std::fflush(stdout);
  print_warnings(outcome->warnings);
  if (!arguments.inputs.empty()) print_idle_input("--input-file");
  if (outcome->nothing_sampled) return tl::unexpected(*outcome->nothing_sampled);
  return {};
}

void add_device_flags(Command& command, NspArguments& arguments) {
  npu::nsp::SimulationOptions& options = arguments.request.simulation;
  command
      .flag("-d,--aic-device-id", arguments.request.devices,
            "device, or devices that each run the program, e.g. 0,1")
      .separated_by(',')
      .one_each()
      .check(whole_number())
      .shows_usual("0");
  command
      .flag("-D,--aic-device-map,--dev-list", arguments.request.devices,
            "devices of a multi-device program, e.g. 0:1")
      .separated_by(':')
      .one_each()
      .check(whole_number())
      .excludes("--aic-device-id");
  command
      .flag("-a,--aic-num-of-activations", options.activations,
            "instances of each program, on cores of their own")
      .check(whole_number())
      .shows_usual();
  command.flag("-S,--set-size", options.set_size, "inferences the host keeps queued per activation")
      .check(whole_number())
      .shows_usual();
  command
      .flag("-T,--aic-threads-per-queue", options.host_threads,
            "host threads that submit inferences")
      .check(whole_number(1, 1024))
      .shows_usual();
  command
      .flag("--core-clock-mhz", arguments.core_clock_mhz,
            "fixed core clock; default: the target's governor")
      .check(real_number(1, 1e5));
  command.flag("--seed", options.seed, "of the run's small random differences")
      .check(whole_number())
      .shows_usual();
}

void add_profiling_flags(Command& command, NspArguments& arguments) {
  npu::nsp::SimulationOptions& options = arguments.request.simulation;
  command
      .flag("--aic-profiling-type", arguments.types,
            "stats, trace, raw_device_stats or latency; may be repeated")
      .takes_all()
      .values(1, 1)
      .called("stats|trace|raw_device_stats|latency");
  command
      .flag("--aic-profiling-out-dir", arguments.output_folder,
            "existing folder for the profiling files")
      .shows_usual();
  command
      .flag("--aic-profiling-num-samples", options.samples,
            "inferences to save, of each activation")
      .check(whole_number())
      .shows_usual();
  command
      .flag("--aic-profiling-start-iter", options.first_sample,
            "number of the first inference to save")
      .check(whole_number())
      .shows_usual();
  command
      .flag("--aic-profiling-start-delay", arguments.start_delay_ms,
            "save none that begins earlier than this many milliseconds")
      .check(real_number(0, max_seconds * 1000));
}

void add_emit_flags(Command& command, NspArguments& arguments) {
  command
      .flag("--emit", arguments.emitted,
            "qnn: the optrace set of an HTP (a program for -target=htp-v75)")
      .takes_all()
      .values(1, 1)
      .called("qnn");
  command
      .flag("--emit-dir", arguments.emit_folder,
            "existing folder for chrometrace.json and its companions")
      .shows_usual()
      .needs("--emit");
}

void add_output_flags(Command& command, NspArguments& arguments) {
  npu::nsp::SimulationOptions& options = arguments.request.simulation;
  command.flag("--write-output-dir", arguments.write_output_folder,
               "existing folder for outputs: of those, statistics buffers are simulated");
  command
      .flag("--write-output-start-iter", options.first_output,
            "number of the first inference whose output to write")
      .check(whole_number())
      .shows_usual();
  command
      .flag("--write-output-num-samples", arguments.request.outputs,
            "outputs to write, of each activation")
      .check(whole_number())
      .shows_usual();
}

// What to run, beside the file itself.
void add_program_flags(Command& command, NspArguments& arguments) {
  command.flag("-t,--test-data", arguments.test_data, "folder with programqpc.bin");
  command.flag("--program", arguments.request.program,
               "only this program of the QPC: its name, or its place from 0");
  command
      .flag("--time", arguments.seconds, "run for this many seconds of the device's time instead")
      .check(real_number(1e-9, max_seconds));
  command
      .flag("-i,--input-file", arguments.inputs,
            "not read: what an inference costs does not depend on its data")
      .one_each();
}

class NspRun : public RunArchitecture {
 public:
  explicit NspRun(Command& command) {
    add_program_flags(command, arguments_);
    add_device_flags(command, arguments_);
    add_profiling_flags(command, arguments_);
    add_emit_flags(command, arguments_);
    add_output_flags(command, arguments_);
  }

  bool recognises(ByteSpan program) const override { return qaic::looks_like_qpc(program); }
  Status run(const RunArguments& arguments) override { return run_programs(arguments, arguments_); }

 private:
  NspArguments arguments_;
};

}  // namespace run_command

std::unique_ptr<RunArchitecture> add_nsp_run(Command& command) {
  return std::make_unique<run_command::NspRun>(command);
}

}  // namespace npuscope::cli
