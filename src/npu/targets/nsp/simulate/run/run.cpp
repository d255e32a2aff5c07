#include "base/try.hpp"
#include "npu/targets/nsp/simulate/run/run_files.hpp"

#include <algorithm>
#include <optional>

#include "base/mapped_pages.hpp"
#include "base/memory_use.hpp"
#include "base/numbers.hpp"
#include "formats/qaic/opstats/opstats_files.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "npuscope/npu/nsp/simulate/run.hpp"

namespace npuscope::npu::nsp {
namespace {

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// NN of QAicGraph_sliceNN: which device of a multi-device program this is.
std::optional<std::uint32_t> slice_of(const std::string& path) {
  return qaic::slice_number(last_name(path));
}

std::uint32_t device_of_slice(const std::vector<std::uint32_t>& devices, std::uint32_t slice) {
  return slice < devices.size() ? devices[slice] : devices.front() + slice;
}

std::filesystem::path qpc_file(const std::filesystem::path& given) {
  std::error_code unknown;
  return std::filesystem::is_directory(given, unknown) ? given / "programqpc.bin" : given;
}

// Whether something is made of the statistics, rather than only the buffers kept.
bool decodes(const RunRequest& request) {
  return request.types.stats || request.types.trace || !request.qnn_folder.empty();
}

// What only decoding asks for, the names of hundreds of thousands of operators and what depends on
// what, is a half of a large program.
Result<LoadedProgram> load(const qaic::QpcProgram& found, const RunRequest& request,
                           const std::string& file) {
  const std::string place = found.path.empty() ? file : fmt::format("{}: {}", file, found.path);
  const qaic::QpcSegment* code = found.qpc.find(qaic::segment_program);
  const qaic::QpcSegment* hardware = found.qpc.find(qaic::segment_target);
  if (code == nullptr || hardware == nullptr) {
    return input_error(
        "{}: no segment {}; the reference NPU runs only programs that npuscope compiled", place,
        code == nullptr ? qaic::segment_program : qaic::segment_target);
  }
  const auto named = [&](std::string_view segment) {
    return fmt::format("{}: {}", place, segment);
  };
  TRY_AS(program, qaic::read_program(code->bytes, named(qaic::segment_program), drop_pages));
  TRY_AS(target, parse_target(as_text(hardware->bytes), named(qaic::segment_target)));
  LoadedProgram loaded;
  loaded.program_fingerprint = qaic::fingerprint(*program);
  if (!decodes(request)) {
    if (program->slices == 1) free_memory_of(program->dependencies);
  } else {
    const ByteSpan described = found.qpc.find(qaic::segment_network_descriptor)->bytes;
    TRY_AS(descriptor,
           qaic::read_network_descriptor(described, named(qaic::segment_network_descriptor)));
    drop_pages(described);
    loaded.descriptor = std::move(*descriptor);
  }
  if (const auto* drawn = found.qpc.find(qaic::segment_schematic)) {
    TRY_AS(schematic, qaic::read_schematic(drawn->bytes, named(qaic::segment_schematic)));
    loaded.schematic = std::move(*schematic);
  }
  loaded.path = found.path;
  loaded.label = slice_of(found.path) ? last_name(found.path) : program->network_name;
  loaded.program = std::move(*program);
  loaded.target = std::move(*target);
  return loaded;
}

// Samples that no inference of the run can give.
Status check_range(const RunRequest& request, std::uint64_t first, std::uint64_t count,
                   std::string_view first_flag, std::string_view count_flag) {
  const std::uint64_t inferences = request.simulation.inferences;
  if (count == 0) return usage_error("{}=0 saves nothing; set it to at least 1", count_flag);
  if (inferences > 0 && first >= inferences) {
    return usage_error(
        "{}={} lies beyond the run's {} inferences (0 to {}); lower it or raise "
        "--num-iter",
        first_flag, first, inferences, inferences - 1);
  }
  return {};
}

Status check_samples(const RunRequest& request) {
  const SimulationOptions& options = request.simulation;
  if (request.types.any()) {
    TRY(check_range(request, options.first_sample, options.samples, "--aic-profiling-start-iter",
                    "--aic-profiling-num-samples"));
    TRY(check_writable_folder(request.output_folder));
  }
  if (!request.qnn_folder.empty()) TRY(check_writable_folder(request.qnn_folder));
  if (request.write_output_folder.empty()) return {};
  TRY(check_range(request, options.first_output, request.outputs, "--write-output-start-iter",
                  "--write-output-num-samples"));
  return check_writable_folder(request.write_output_folder);
}

// Whether the program records what the files are made from.
Status check_level(const RunRequest& request, const LoadedProgram& loaded,
                   const std::string& file) {
  const std::uint32_t level = loaded.program.stats_level;
  const ProfilingTypes& types = request.types;
  const auto refuse = [&](std::string_view what, std::string_view why, int needed) {
    return input_error(
        "{}: network {} was compiled with -stats-level={}, which records no {}; for {} compile "
        "with -stats-level={} or more",
        file, loaded.program.network_name, level, what, why, needed);
  };
  const bool buffers =
      types.stats || types.raw_device_stats || !request.write_output_folder.empty();
  if (types.trace && level < 50) return refuse("operators", "a trace", 70);
  if (buffers && level < 40) return refuse("statistics", "statistics", 40);
  return {};
}

struct Selection {
  std::size_t place;
  std::shared_ptr<const LoadedProgram> loaded;
};

Result<std::vector<Selection>> select(const std::vector<qaic::QpcProgram>& found,
                                      const RunRequest& request, const std::string& file) {
  std::vector<Selection> selected;
  std::string names;
  const auto wanted_place = parse_number<std::uint32_t>(request.program);
  for (std::size_t place = 0; place < found.size(); ++place) {
    const bool by_place = wanted_place && *wanted_place == place;
    if (wanted_place && !by_place) continue;
    TRY_AS(loaded, load(found[place], request, file));
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", place, loaded->label);
    // All parts of a multi-device program go by its name.
    const bool whole =
        loaded->program.slices > 1 && request.program == qaic::without_slice(loaded->label);
    if (!request.program.empty() && !by_place && !whole &&
        request.program != loaded->program.network_name && request.program != loaded->path &&
        request.program != loaded->label) {
      continue;
    }
    selected.push_back({place, std::make_shared<const LoadedProgram>(std::move(*loaded))});
  }
  if (!selected.empty()) return selected;
  if (found.empty())
    return input_error("{}: holds no program (networkdesc.bin); compile it again", file);
  if (wanted_place) {
    return usage_error("{}: no program {}; there are 0 to {}", file, *wanted_place,
                       found.size() - 1);
  }
  return usage_error("{}: no program '{}'; there are: {}", file, request.program, names);
}

Status check_run(const RunRequest& request, const PlannedRun& run, const std::string& file) {
  TRY(check_level(request, run.first(), file));
  if (!request.qnn_folder.empty()) {
    const auto& schematic = run.first().schematic;
    auto usable =
        check_optrace(run.first().program, schematic ? &*schematic : nullptr, run.first().target);
    if (!usable) return input_error("{}: {}", file, usable.error().message);
  }
  return check_simulation(run.programs(), run.first().target, request.simulation);
}

// The parts of one multi-device program, which the selection from `first` on begins with.
Result<PlannedRun> gather_parts(const std::vector<Selection>& selected, std::size_t first,
                                const RunRequest& request, const std::string& file) {
  const qaic::Program& program = selected[first].loaded->program;
  PlannedRun run;
  run.number = std::uint32_t(selected[first].place);
  for (std::uint32_t slice = 0; slice < program.slices; ++slice) {
    const std::size_t at = first + slice;
    if (at >= selected.size() || selected[at].loaded->program.slice != slice ||
        selected[at].loaded->program.slices != program.slices) {
      return input_error(
          "{}: {} is a part of a program for {} devices, but the part of device {} is not there "
          "beside it; all parts run together",
          file, program.network_name, program.slices, slice);
    }
    run.parts.push_back(selected[at].loaded);
    run.devices.push_back(device_of_slice(request.devices, slice));
  }
  return run;
}

Status check_devices(const PlannedRun& run) {
  std::vector<std::uint32_t> devices = run.devices;
  std::ranges::sort(devices);
  const auto twice = std::ranges::adjacent_find(devices);
  if (twice == devices.end()) return {};
  return usage_error("device {} is given twice for the {} parts of {}; name a device for each (-D)",
                     *twice, devices.size(), run.label());
}

}  // namespace

std::string PlannedRun::label() const {
  return is_multi_device() ? std::string(qaic::without_slice(first().label)) : first().label;
}

Result<std::vector<PlannedRun>> plan_run(const RunRequest& request) {
  if (request.devices.empty()) return usage_error("no device is named; name at least one (-d 0)");
  TRY(check_samples(request));
  const std::filesystem::path path = qpc_file(request.qpc);
  TRY_AS(mapped, MappedFile::open(path));
  const std::string file = path.string();
  TRY_AS(found, qaic::find_programs(mapped->bytes(), file));
  TRY_AS(selected, select(*found, request, file));

  std::vector<PlannedRun> runs;
  const std::size_t devices = request.devices.size();
  for (std::size_t place = 0; place < selected->size(); ++place) {
    const Selection& it = (*selected)[place];
    if (it.loaded->program.slices > 1) {
      TRY_AS(run, gather_parts(*selected, place, request, file));
      TRY(check_devices(*run));
      place += run->parts.size() - 1;
      runs.push_back(std::move(*run));
      continue;
    }
    if (const auto slice = slice_of(it.loaded->path)) {
      runs.push_back(
          {std::uint32_t(it.place), {device_of_slice(request.devices, *slice)}, {it.loaded}});
      continue;
    }
    for (std::size_t i = 0; i < devices; ++i) {
      runs.push_back({std::uint32_t(it.place * devices + i), {request.devices[i]}, {it.loaded}});
    }
  }
  for (const PlannedRun& run : runs) TRY(check_run(request, run, file));
  return runs;
}

namespace {

Result<ProgramRun> run_program(const RunRequest& request, const PlannedRun& planned,
                               RunOutcome& outcome) {
  const LoadedProgram& loaded = planned.first();
  RunFiles files(request, planned, outcome);
  SimulationOptions options = request.simulation;
  options.program_number = planned.number;
  if (!planned.is_multi_device()) options.program_fingerprint = loaded.program_fingerprint;
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
  TRY_AS(result, simulate(planned.programs(), planned.devices, loaded.target, options));
  TRY(files.finish());
  if (options.op_trace) TRY(files.add_optrace(*result));

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
  TRY_AS(plan, plan_run(request));
  RunOutcome outcome;
  for (const PlannedRun& planned : *plan) {
    note_what_is_not_measured(planned, outcome);
    TRY_AS(run, run_program(request, planned, outcome));
    judge_samples(request, *run, outcome);
    outcome.programs.push_back(std::move(*run));
  }
  return outcome;
}

}  // namespace npuscope::npu::nsp
