// The host's side of a run: what the runtime does around and between programs, as it logs it.
#include "npuscope/npu/torq/run.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "base/try.hpp"
#include "npu/targets/torq/execute.hpp"
#include "npu/targets/torq/program.hpp"
#include "npu/targets/torq/target.hpp"

namespace npuscope::npu::torq {

Result<RunOutcome> run(const RunRequest& request) {
  const std::string name = request.program.string();
  TRY_AS(file, MappedFile::open(request.program));
  TRY_AS(program, read_program(file->bytes(), name));
  auto target = parse_target(program->target_toml, name + ", its target");
  if (!target) return tl::unexpected(Error{ErrorKind::input, target.error().message});
  RunOptions options;
  options.inferences = request.inferences;
  options.log = !request.log.empty() || !request.job_log.empty();
  TRY_AS(run, torq::run(*program, *target, options));
  if (!request.log.empty()) TRY(npuscope::torq::write_log(run->log, request.log));
  if (!request.job_log.empty()) TRY(npuscope::torq::write_job_log(run->log, request.job_log));
  return RunOutcome{std::make_shared<const Program>(std::move(*program)),
                    std::make_shared<const Target>(std::move(*target)),
                    std::make_shared<const Run>(std::move(*run))};
}

namespace {

constexpr std::int64_t log_begins_ns = 1'000'000'000;  // a second after the machine's start
constexpr double longest_ns = 1e18;
constexpr std::uint64_t max_rows = 20'000'000;
constexpr std::uint64_t rows_around_dispatch = 34;  // most, INIT included

class Runtime {
 public:
  Runtime(const Program& program, const Target& target, const RunOptions& options)
      : program_(program), target_(target), options_(options) {}

  Run run() {
    run_.log.kind = npuscope::torq::LogKind::dispatches;
    take_device_runs();
    std::size_t index = 0;
    for (const Dispatch& dispatch : program_.dispatches) initialise(dispatch, index++);
    for (std::uint64_t i = 0; i < options_.inferences; ++i) infer();
    return std::move(run_);
  }

 private:
  // A scope of the log: everything between its begin and its end.
  class Scope {
   public:
    Scope(Runtime& runtime, std::string_view type) : runtime_(runtime), type_(type) {
      runtime_.log(type_, npuscope::torq::LogEdge::begin);
    }
    ~Scope() { runtime_.log(type_, npuscope::torq::LogEdge::end); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Runtime& runtime_;
    std::string_view type_;
  };
  // Who logs: a dispatch or the HAL, in an invocation of its own.
  struct Speaker {
    std::string_view name;
    std::int64_t invocation = 0;
    std::int32_t action = npuscope::torq::no_action;
  };

  void take_device_runs() {
    std::size_t action = 0;
    std::uint32_t dispatch = 0;
    for (const Dispatch& each : program_.dispatches) {
      for (std::uint32_t id = 0; id < each.actions; ++id, ++action) {
        if (program_.actions[action].kind != ActionKind::start_nss) continue;
        run_.truth.programs.push_back({dispatch, id, {}, 0});
      }
      ++dispatch;
    }
    const auto devices = run_device(program_, target_);
    for (std::size_t i = 0; i < devices.size(); ++i) run_.truth.programs[i].device = devices[i];
  }

  // When a dispatch is loaded; the device itself is opened for the first.
  void initialise(const Dispatch& dispatch, std::size_t index) {
    const Target::Runtime& takes = target_.runtime;
    speak_as(dispatch.name);
    const Scope scope(*this, "INIT");
    step("INIT_COMPUTE_XRAM_FOOTPRINT", 1e-6);
    step("INIT_HW_OPEN", index == 0 ? takes.open_s : takes.open_s / 20);
    step("INIT_CLEAR_MEMORY", takes.load_s / 4);
    step("INIT_LOAD_CODE_SEGMENTS", takes.load_s);
    step("INIT_LOAD_HOST_CODE", takes.load_s / 10);
  }

  void infer() {
    const Target::Runtime& takes = target_.runtime;
    action_ = nss_program_ = host_program_ = 0;
    pass(takes.queue_s);
    const std::int64_t begin = now_ns_;
    {
      speak_as("__HAL_QUEUE_EXECUTE__");
      const Scope call(*this, "HAL_CALL");
      step("HAL_QUEUE_WAIT", takes.queue_s / 2);
      {
        const Scope apply(*this, "HAL_QUEUE_APPLY_DEFERRED");
        for (const Dispatch& each : program_.dispatches) {
          const Speaker queue = speak_as("__HAL_COMMAND_BUFFER_DISPATCH__");
          {
            const Scope command(*this, "HAL_CALL");
            pass(takes.dispatch_s);
            const Speaker buffer = speak_as(each.name);
            dispatch(each);
            speaker_ = buffer;
            pass(takes.dispatch_s);
          }
          speaker_ = queue;
        }
      }
      step("HAL_QUEUE_SIGNAL", takes.queue_s / 2);
    }
    run_.truth.inferences.push_back({begin, now_ns_});
    first_ = false;
  }

  void dispatch(const Dispatch& dispatch) {
    const Target::Runtime& takes = target_.runtime;
    const Scope scope(*this, "DISPATCH");
    step("INIT_PREPARE_OUTPUT_DIRS", 0.5e-6);
    step("DISPATCH_ACQUIRE_HW_RESOURCES", takes.resources_s);
    step("DISPATCH_SYNC_BINDINGS_IN", takes.bindings_s);
    {
      const Scope execute(*this, "DISPATCH_EXECUTE_ACTIONS");
      for (std::uint32_t id = 0; id < dispatch.actions; ++id) {
        speaker_.action = std::int32_t(id);
        act(program_.actions[action_++]);
      }
      speaker_.action = npuscope::torq::no_action;
    }
    step("DISPATCH_SYNC_BINDINGS_OUT", takes.bindings_s);
    step("DISPATCH_RELEASE_HW_RESOURCES", takes.resources_s / 2);
  }

  void actions(const Dispatch& dispatch);

  void act(const Action& action) {
    const Target::Host& host = target_.host;
    switch (action.kind) {
      case ActionKind::host_copy: {
        const std::int64_t begin = now_ns_;
        step("HOST_COPY", host.copy_call_s + double(action.bytes) / host.copy_bytes_per_s +
                              double(action.runs) * host.copy_run_s);
        if (first_) run_.truth.host_copy_nanoseconds += now_ns_ - begin;
        return;
      }
      case ActionKind::start_nss: {
        started_ns_ = now_ns_;
        step("NSS_START", host.start_s);
        const auto& device = run_.truth.programs[nss_program_].device;
        const double takes = std::ceil(double(device.cycles) * 1e9 / target_.clock_hz);
        device_ends_ns_ = saturating_add(now_ns_, std::int64_t(std::min(takes, longest_ns)));
        return;
      }
      case ActionKind::wait_nss: {
        const Scope scope(*this, "NSS_WAIT");
        now_ns_ = std::max(now_ns_, device_ends_ns_);
        pass(host.wait_s);
        run_.truth.programs[nss_program_++].host_nanoseconds = now_ns_ - started_ns_;
        return;
      }
      case ActionKind::start_host:
        started_ns_ = now_ns_;
        return step("HOST_START", host.program_call_s);
      case ActionKind::wait_host: return host_program();
    }
  }

  void host_program() {
    const Target::Host& host = target_.host;
    const HostProgram& work = program_.host_programs[host_program_++];
    step("HOST_WAIT", double(work.elements) / host.program_elements_per_s +
                          double(work.multiply_accumulates) / host.program_macs_per_s);
    if (first_) run_.truth.host_program_nanoseconds += now_ns_ - started_ns_;
  }

  void log(std::string_view type, npuscope::torq::LogEdge edge) {
    if (!options_.log) return;
    npuscope::torq::LogEvent event;
    event.time_us = now_ns_ / 1000;  // cut, as the runtime does
    event.invocation = speaker_.invocation;
    event.action = speaker_.action;
    event.dispatch = run_.log.strings.intern(speaker_.name);
    event.type = run_.log.strings.intern(type);
    event.edge = edge;
    run_.log.events.push_back(event);
  }

  void step(std::string_view type, double seconds) {
    const Scope scope(*this, type);
    pass(seconds);
  }
  void pass(double seconds) {
    now_ns_ = saturating_add(now_ns_, std::llround(std::min(seconds * 1e9, longest_ns)));
  }
  Speaker speak_as(std::string_view name) {
    return std::exchange(speaker_, {name, next_invocation_++, npuscope::torq::no_action});
  }

  const Program& program_;
  const Target& target_;
  const RunOptions& options_;
  Run run_;
  Speaker speaker_;
  std::int64_t now_ns_ = log_begins_ns;
  std::int64_t next_invocation_ = 0;
  bool first_ = true;  // inference
  // Places in the program's tables.
  std::size_t action_ = 0, nss_program_ = 0, host_program_ = 0;
  std::int64_t started_ns_ = 0, device_ends_ns_ = 0;
};

}  // namespace

Result<Run> run(const Program& program, const Target& target, const RunOptions& options) {
  TRY(check_program(program, target.slices.count, program.name));
  if (options.inferences == 0) {
    return usage_error("--num-iter=0 runs nothing; set it to at least 1");
  }
  const std::uint64_t rows =
      program.actions.size() * 2 + program.dispatches.size() * rows_around_dispatch;
  if (options.inferences > max_rows / rows) {
    return usage_error("{} inferences would write more than {} rows; lower --num-iter to {}",
                       thousands(options.inferences), thousands(max_rows),
                       std::max<std::uint64_t>(1, max_rows / rows));
  }
  return Runtime(program, target, options).run();
}

}  // namespace npuscope::npu::torq
