#include "formats/ggml/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace npuscope::ggml {

namespace {

constexpr double ticks_per_ms = 1e3 * double(ticks_per_us);

constexpr NamedNumber tokens{"tokens", NumberQuantity::count, NumberRole::tokens};
constexpr NamedNumber eval_time{"eval time of llama.cpp", MeasureKind::wall,
                                NumberRole::tokens_time};
constexpr NamedNumber batch_time{"NPU batches", MeasureKind::work, NumberRole::batch_time};
constexpr NamedNumber op_time{"NPU ops", MeasureKind::work};
constexpr NamedNumber call_time{"calls of ops on the host, sum", MeasureKind::work};
constexpr NamedNumber token_rate{"tokens per second", NumberQuantity::rate};
constexpr NamedNumber best_rate{"fastest read of weights, bytes per second", NumberQuantity::rate,
                                NumberRole::best_ddr_rate};
constexpr NamedNumber core_clock{"core clock", NumberQuantity::hertz};
constexpr NamedNumber vtcm_of_kernels{"VTCM of kernels, most", NumberQuantity::bytes,
                                      NumberRole::vtcm_peak};
constexpr NamedNumber vtcm_size{"VTCM size", NumberQuantity::bytes, NumberRole::vtcm_size};
constexpr NamedNumber hvx_threads{"HVX threads", NumberQuantity::count, NumberRole::hvx_threads};
constexpr NamedNumber batch_share{"NPU, share of eval time", NumberQuantity::share};

struct PmuName {
  std::uint32_t event;
  const char* name;
  NumberRole role = NumberRole::none;
};
// Of the counters that the backend sets by default, on v79; ids of other versions may count
// something else.
constexpr std::array<PmuName, 8> pmu_names{{{0x003, "COMMITTED_PKT_ANY", NumberRole::packets},
                                            {0x111, "HVX packets"},
                                            {0x100, "HVX_ACTIVE"},
                                            {0x105, "VTCM stalls of HVX"},
                                            {0x240, "UDMA_ACTIVE_CYCLES", NumberRole::dma_cycles},
                                            {0x256, "L2_UDMA_BYPASS_RD"},
                                            {0x07D, "L2_DU_READ_MISS"},
                                            {0x08C, "L2_DU_STORE_MISS"}}};

// What llama.cpp counts in the phase.
const EvalTime* eval_time_of(const Results& results, StepPhase phase) {
  if (phase == StepPhase::prefill && results.prompt.tokens > 0) return &results.prompt;
  if (phase == StepPhase::decode && results.decode.tokens > 0) return &results.decode;
  return nullptr;
}

}  // namespace

MeasureColumn make_pmu_column(const Log& log, std::size_t place, Profile& profile) {
  std::string name = fmt::format("pmu counter {}", place + 1);
  NumberRole role = NumberRole::none;
  if (place < log.pmu_events.size()) {
    const std::uint32_t event = log.pmu_events[place];
    name = fmt::format("pmu 0x{:03x}", event);
    const auto known = std::ranges::find(pmu_names, event, &PmuName::event);
    if (known != pmu_names.end() && log.arch == "v79") {
      name = fmt::format("{} (pmu 0x{:03x})", known->name, event);
      role = known->role;
    }
  }
  return profile.column_of(NamedNumber(name, NumberQuantity::count, role), Origin::counter);
}

void add_run_numbers(const Log& log, const Steps& steps, const std::vector<std::uint32_t>& of,
                     const Placement& placement, Profile& profile) {
  const auto add = [&](const NamedNumber& number, Origin origin, double value) {
    profile.add_measure(Measure::Subject::profile, 0, number, origin, profile.base_clock, value);
  };
  std::vector<bool> is_of_these(steps.steps.size(), false);
  for (const std::uint32_t step : of) is_of_these[step] = true;
  double batches = 0, ops = 0, calls = 0, cycles = 0, seconds = 0;
  std::uint64_t vtcm = 0;
  for (std::size_t i = 0; i < log.batches.size(); ++i) {
    if (!is_of_these[steps.of_batch[i]]) continue;
    const Batch& batch = log.batches[i];
    batches += double(placement.end_of(i) - placement.begin_of(i));
    if (const double cycles_per_us = log.clocks[batch.clock].cycles_per_us; cycles_per_us > 0) {
      cycles += double(placement.cycles_of(i));
      seconds += double(placement.cycles_of(i)) / cycles_per_us * 1e-6;
    }
    for (std::uint32_t run = 0; run < batch.runs; ++run) {
      const OpRun& each = log.runs[batch.first_run + run];
      vtcm = std::max(vtcm, log.operations[each.operation].vtcm_bytes);
      calls += double(each.call_usec) * double(ticks_per_us);
      ops += double(placement.time(i, each.start + std::int64_t(each.cycles)) -
                    placement.time(i, each.start));
    }
  }
  double rows = 0;
  for (const std::uint32_t step : of) rows += double(steps.steps[step].tokens.value_or(0));
  // A few bytes in no time say nothing, and products of many rows wait for arithmetic, not bytes.
  constexpr double min_bytes = 64 * 1024;
  constexpr std::int64_t max_tokens = 4;
  double fastest = 0;
  for (const Batch& batch : log.batches) {
    const double cycles_per_s = log.clocks[batch.clock].cycles_per_us * 1e6;
    for (const OpRun& run : std::span(log.runs).subspan(batch.first_run, batch.runs)) {
      const Operation& operation = log.operations[run.operation];
      const double bytes = operation.weight_bytes;
      if (bytes < min_bytes || run.cycles == 0 || operation.tokens > max_tokens) continue;
      fastest = std::max(fastest, bytes * cycles_per_s / double(run.cycles));
    }
  }
  // Sessions are cores of one kind.
  const auto add_most = [&](const NamedNumber& number, auto member) {
    double most = 0;
    for (const Session& session : log.sessions) most = std::max(most, double(session.*member));
    if (most > 0) add(number.not_additive(), Origin::measured, most);
  };
  if (seconds > 0) add(core_clock, Origin::derived, cycles / seconds);
  add_most(vtcm_size, &Session::vtcm_bytes);
  add_most(hvx_threads, &Session::hvx);
  if (vtcm > 0) add(vtcm_of_kernels.not_additive(), Origin::measured, double(vtcm));
  if (fastest > 0) add(best_rate, Origin::estimated, fastest);
  if (rows > 0) add(tokens, Origin::derived, rows);
  NamedNumber of_ops = op_time;
  if (placement.has_counter()) {
    add(batch_time, Origin::measured, batches);
  } else {  // what is between the ops is not known
    of_ops.meaning.role = NumberRole::batch_time;
  }
  add(of_ops, Origin::measured, ops);
  if (calls > 0) add(call_time, Origin::measured, calls);
  if (of.empty()) return;
  const StepPhase phase = steps.steps[of.front()].phase;
  const EvalTime* time = eval_time_of(log.results, phase);
  // Of one stretch of several the log does not say it.
  double all = 0;
  for (const Step& step : steps.steps) {
    if (step.phase == phase) all += double(step.tokens.value_or(0));
  }
  if (time == nullptr || all != rows) return;
  add(eval_time, Origin::measured, time->milliseconds * ticks_per_ms);
  add(token_rate, Origin::derived, time->tokens / (time->milliseconds * 1e-3));
  add(batch_share, Origin::derived, batches / (time->milliseconds * ticks_per_ms));
}

void add_result_numbers(const Results& results, Profile& profile) {
  const auto add = [&](const NamedNumber& number, double value) {
    profile.add_measure(Measure::Subject::profile, 0, number, Origin::measured, profile.base_clock,
                        value);
  };
  if (results.prompt.tokens > 0) {
    add({"prompt tokens", NumberQuantity::count}, results.prompt.tokens);
    add({"prompt eval time", MeasureKind::wall}, results.prompt.milliseconds * ticks_per_ms);
    add(token_rate.called("prompt tokens per second"),
        results.prompt.tokens / (results.prompt.milliseconds * 1e-3));
  }
  if (results.decode.tokens > 0) {
    add({"tokens", NumberQuantity::count}, results.decode.tokens);
    add({"eval time", MeasureKind::wall}, results.decode.milliseconds * ticks_per_ms);
    add(token_rate, results.decode.tokens / (results.decode.milliseconds * 1e-3));
  }
  std::map<std::string_view, int> seen;  // the same test of other models or settings
  for (const BenchRow& row : results.bench.rows()) {
    const int count = ++seen[row.test];
    const std::string name =
        row.test + (count > 1 ? fmt::format(" (row {})", count) : "") + ", tokens per second";
    add(token_rate.called(name), row.tokens_per_second);
  }
  for (const BackendOp& op : results.backend_ops) {
    add(NamedNumber(op.name, MeasureKind::wall), op.microseconds * double(ticks_per_us));
    if (!(op.rate > 0)) continue;
    const std::string name =
        op.name + (op.is_of_bytes ? ", bytes per second" : ", FLOP per second");
    add(NamedNumber(name, NumberQuantity::rate), op.rate);
  }
}

namespace {

// "SSM_CONV 2, ROPE 1".
std::string listed(const std::map<std::string, std::uint64_t>& counts) {
  constexpr std::size_t max_listed = 12;
  std::string text;
  std::size_t listed = 0;
  for (const auto& [name, count] : counts) {
    if (++listed > max_listed) return text + ", …";
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  }
  return text;
}

}  // namespace

void add_notes(const Log& log, const Placement& placement, const StepGroup& group,
               const LostEvents& lost, Profile& profile) {
  profile.notes = log.notes;
  const auto note = [&](Severity severity, std::uint64_t count, std::string message) {
    profile.notes.push_back({severity, log.name, 0, std::move(message), count});
  };
  if (lost.events > 0) {
    note(Severity::warning, lost.events,
         fmt::format("trace events were lost: shares of HVX, HMX and DMA are lower bounds, of {} "
                     "ops from the first lost event on; set a larger GGML_HEXAGON_OPTRACE",
                     thousands(lost.ops)));
  }
  if (lost.batches > 0) {
    note(Severity::warning, lost.batches,
         "batches whose trace buffer was full, whose last events have no end or whose count of "
         "them is not in the log: events may be lost, and shares of HVX, HMX and DMA are lower "
         "bounds; set a larger GGML_HEXAGON_OPTRACE");
  }
  if (log.calls_below_ops > 0) {
    note(Severity::warning, log.calls_below_ops,
         "ops that took longer than the call that waited for them: the log was recorded without "
         "GGML_HEXAGON_OPSYNC=1, and its times belong to other ops");
  }
  if (!placement.has_counter()) {
    note(Severity::warning, 1,
         "the log has no start times: ops follow each other without the gaps between them, so "
         "that the wall is the sum of the ops");
  } else if (!placement.has_print_times()) {
    note(Severity::info, 1,
         "lines have no times: gaps between batches are lower bounds, because the NPU's counter "
         "nearly stops while it waits; record with --log-prefix and --log-timestamps");
  }
  if (placement.printing_us() > 0) {
    note(Severity::info, 1,
         fmt::format("the host printed the profile for {:.3f} ms between batches, which is left "
                     "out of the timeline",
                     double(placement.printing_us()) / 1e3));
  }
  if (!log.coverage.refused().empty()) {
    note(Severity::info, 1,
         "ops that the NPU refused, by their lines: " + listed(log.coverage.refused()));
  } else if (log.coverage.graphs().empty()) {
    note(Severity::info, 1, "ops on CPU and GPU are not in this log");
  }
  if (group.is_interrupted) {
    note(Severity::info, 1,
         "steps of other phases ran in between: idle time of this phase includes them");
  }
}

}  // namespace npuscope::ggml
