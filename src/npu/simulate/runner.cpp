#include "npuscope/npu/simulate/runner.hpp"

#include "npu/simulate/run_files.hpp"
#include "npu/simulate/run_plan.hpp"

namespace npuscope::npu {

namespace {

bool takes_samples(const RunRequest& request) {
  return request.types.any() || !request.write_output_folder.empty();
}

Result<ProgramRun> run_program(const RunRequest& request, const PlannedRun& planned,
                               RunOutcome& outcome) {
  const qaic::Program& program = planned.loaded->program;
  RunFiles files(request, planned, outcome);
  SimulationOptions options = request.simulation;
  options.program_number = planned.number;
  options.device = planned.device;
  if (!takes_samples(request)) options.samples = 0;
  options.on_sample = [&](const SimulatedInference& inference) { return files.add(inference); };
  auto result = simulate(program, planned.loaded->target, options);
  if (!result) return tl::unexpected(result.error());
  if (auto done = files.finish(); !done) return tl::unexpected(done.error());

  ProgramRun run;
  run.number = planned.number;
  run.device = planned.device;
  run.network = planned.loaded->label;
  run.batch_size = program.batch_size;
  run.stats_level = program.stats_level;
  run.activations = options.activations;
  run.samples = files.samples();
  run.timer = Hertz{planned.loaded->target.timer_hz};
  run.result = std::move(*result);
  return run;
}

// Says when fewer inferences were sampled than asked for.
void judge_samples(const RunRequest& request, const ProgramRun& run, RunOutcome& outcome) {
  const std::uint64_t wanted = request.simulation.samples * request.simulation.activations;
  if (!takes_samples(request) || run.samples >= wanted) return;
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
                  run.number, double(run.result.total.value) * 1e-9)};
}

}  // namespace

Result<RunOutcome> run_qpc(const RunRequest& request) {
  auto plan = plan_run(request);
  if (!plan) return tl::unexpected(plan.error());
  RunOutcome outcome;
  for (const PlannedRun& planned : *plan) {
    auto run = run_program(request, planned, outcome);
    if (!run) return tl::unexpected(run.error());
    judge_samples(request, *run, outcome);
    outcome.programs.push_back(std::move(*run));
  }
  return outcome;
}

}  // namespace npuscope::npu
