#include "npuscope/npu/nsp/simulate/run.hpp"

#include "npu/targets/nsp/simulate/run/run_files.hpp"
#include "npu/targets/nsp/simulate/run/run_plan.hpp"

namespace npuscope::npu::nsp {

namespace {

Result<ProgramRun> run_program(const RunRequest& request, const PlannedRun& planned,
                               RunOutcome& outcome) {
  const LoadedProgram& loaded = planned.first();
  RunFiles files(request, planned, outcome);
  SimulationOptions options = request.simulation;
  options.program_number = planned.number;
  options.device = planned.devices.front();
  if (!request.types.any()) options.samples = 0;
  options.outputs = request.write_output_folder.empty() ? 0 : request.outputs;
  options.op_trace = !request.qnn_folder.empty();
  if (options.op_trace) {
    options.on_op_trace = [&](const SimulatedInference& inference) {
      files.add_op_trace(inference);
    };
  }
  options.on_sample = [&](const SimulatedInference& inference) { return files.add(inference); };
  auto result = simulate(planned.programs(), planned.devices, loaded.target, options);
  if (!result) return tl::unexpected(result.error());
  if (auto done = files.finish(); !done) return tl::unexpected(done.error());
  if (options.op_trace) {
    if (auto done = files.add_optrace(*result); !done) return tl::unexpected(done.error());
  }

  ProgramRun run;
  run.number = planned.number;
  run.device = planned.devices.front();
  run.devices = planned.devices;
  run.network = planned.label();
  run.batch_size = loaded.program.batch_size;
  run.stats_level = loaded.program.stats_level;
  run.activations = options.activations;
  run.samples = files.samples();
  run.timer = Hertz{loaded.target.timer_hz};
  run.result = std::make_shared<const SimulationResult>(std::move(*result));
  return run;
}

// Says when fewer inferences were sampled than asked for.
void judge_samples(const RunRequest& request, const ProgramRun& run, RunOutcome& outcome) {
  const std::uint64_t wanted = request.simulation.samples * request.simulation.activations;
  if (!request.types.any() || run.samples >= wanted) return;
  if (run.samples > 0) {
    outcome.warnings.push_back(
        fmt::format("program {}: collected {} of {} profiling samples before the run ended; raise "
                    "--num-iter or --time",
                    run.number, run.samples, wanted));
    return;
  }
  outcome.nothing_sampled = Error{
      ErrorKind::usage,
      fmt::format("program {}: the run ended after {:.0f} ms, before profiling began "
                  "(--aic-profiling-start-iter, --aic-profiling-start-delay); nothing was saved: "
                  "lower them or raise --num-iter or --time",
                  run.number, double(run.result->total.value) * 1e-9)};
}

void note_what_is_not_measured(const PlannedRun& planned, RunOutcome& outcome) {
  const std::uint32_t level = planned.first().program.stats_level;
  if (level >= 50) return;
  outcome.warnings.push_back(fmt::format(
      "program {}: {} measured, shown as N/A: it was compiled with -stats-level={}, it needs {}",
      planned.number, level < 40 ? "nothing is" : "waiting for inputs and outputs is not", level,
      level < 40 ? "40 for times and 50 for waits" : "50 or more"));
}

}  // namespace

Result<RunOutcome> run(const RunRequest& request) {
  auto plan = plan_run(request);
  if (!plan) return tl::unexpected(plan.error());
  RunOutcome outcome;
  for (const PlannedRun& planned : *plan) {
    note_what_is_not_measured(planned, outcome);
    auto run = run_program(request, planned, outcome);
    if (!run) return tl::unexpected(run.error());
    judge_samples(request, *run, outcome);
    outcome.programs.push_back(std::move(*run));
  }
  return outcome;
}

}  // namespace npuscope::npu::nsp
