// npuscope.compile and npuscope.run: the reference NPU with HMX and HVX cores (Cloud AI 100,
// Hexagon).
#include <pybind11/stl.h>

#include "base/text.hpp"
#include "bindings.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"
#include "npuscope/npu/nsp/compile/build.hpp"
#include "npuscope/npu/nsp/simulate/run.hpp"
#include "report/programs/compile_report.hpp"
#include "report/programs/run_report.hpp"

namespace npuscope::python {
namespace {

using Words = std::vector<std::string>;

// A program as it was written: its file, what the compiler warns of and what it measured (JSON).
py::tuple compile(const std::string& model, const std::string& folder,
                  npu::nsp::BuildRequest& request) {
  std::string program;
  Words warnings;
  std::string networks;
  unlocked([&] {
    auto built = taken(npu::nsp::build(model, request));
    const auto path = std::filesystem::path(folder) / "programqpc.bin";
    taken(write_file_atomically(path, built.qpc));
    program = path.string();
    warnings = std::move(built.warnings);
    report::Json json(networks, report::indented_layout());
    json.array(*built.networks, [&](const npu::nsp::CompiledNetwork& network) {
      json.object([&] { report::write_compile_metrics(json, network); });
    });
    return 0;
  });
  return py::make_tuple(program, warnings, networks);
}

// Files that were written, warnings, and what a runner says at its end (JSON).
py::tuple run(const npu::nsp::RunRequest& request) {
  npu::nsp::RunOutcome outcome;
  std::string json;
  unlocked([&] {
    outcome = taken(npu::nsp::run(request));
    if (outcome.nothing_sampled) throw Failure(*outcome.nothing_sampled);
    json = report::run_outcome_json(outcome);
    return 0;
  });
  Words files;
  for (const auto& file : outcome.files) files.push_back(file.string());
  return py::make_tuple(files, outcome.warnings, json);
}

// How many nodes the ONNX file has that was written.
std::size_t generate(const std::string& base, const std::string& file,
                     const npu::ArchitectureChanges& changes, std::int64_t batch,
                     std::optional<std::int64_t> sequence, std::optional<std::int64_t> context,
                     bool symbolic, bool float16) {
  return unlocked([&] {
    const npu::Architecture architecture = taken(npu::make_architecture(base, changes));
    npu::InputSizes sizes = npu::default_sizes(architecture);
    sizes.batch = batch;
    sizes.sequence = sequence.value_or(sizes.sequence);
    sizes.context = context.value_or(sizes.context);
    taken(npu::validate(architecture, sizes));
    const auto precision = float16 ? npu::FloatType::float16 : npu::FloatType::float32;
    const auto model = taken(npu::generate_onnx(architecture, sizes, {symbolic, precision}));
    taken(write_file_atomically(file, as_byte_span(model.bytes)));
    return model.nodes;
  });
}

void bind_generator(py::module_& module) {
  using npu::ArchitectureChanges;
  py::class_<ArchitectureChanges>(module, "ArchitectureChanges")
      .def(py::init<>())
      .def_readwrite("layers", &ArchitectureChanges::layers)
      .def_readwrite("hidden_size", &ArchitectureChanges::hidden_size)
      .def_readwrite("heads", &ArchitectureChanges::heads)
      .def_readwrite("key_value_heads", &ArchitectureChanges::key_value_heads)
      .def_readwrite("head_size", &ArchitectureChanges::head_size)
      .def_readwrite("feed_forward_size", &ArchitectureChanges::feed_forward_size)
      .def_readwrite("vocabulary_size", &ArchitectureChanges::vocabulary_size);
  module.def("generate", generate);
  module.def("model_presets", [] {
    Words names;
    for (const npu::Preset& preset : npu::presets()) names.push_back(preset.architecture.name);
    return names;
  });
}

}  // namespace

void bind_reference(py::module_& module) {
  using npu::nsp::BuildRequest, npu::nsp::RunRequest;
  py::class_<BuildRequest>(module, "BuildRequest")
      .def(py::init<>())
      .def_readwrite("target", &BuildRequest::target)
      .def_readwrite("specializations", &BuildRequest::specializations)
      .def("set_symbols",
           [](BuildRequest& request, const std::map<std::string, std::int64_t>& symbols) {
             for (const auto& [name, value] : symbols) request.import.symbols[name] = value;
           })
      .def("set_batch",
           [](BuildRequest& request, std::int64_t batch) { request.import.batch = batch; })
      .def("set_options", [](BuildRequest& request, std::uint32_t cores, std::uint32_t stats_level,
                             bool fp16, bool retained_state, bool ddr_stats, bool allow_unknown) {
        request.options.cores = cores;
        request.options.stats_level = stats_level;
        request.options.convert_to_fp16 = fp16;
        request.options.retained_state = retained_state;
        request.options.ddr_stats = ddr_stats;
        request.import.allow_unknown = allow_unknown;
      });
  py::class_<RunRequest>(module, "RunRequest")
      .def(py::init([](const std::string& qpc, const std::string& folder, std::uint64_t inferences,
                       std::uint64_t first_sample, std::uint64_t samples, std::uint64_t seed,
                       const Words& types) {
        RunRequest request;
        request.qpc = qpc;
        request.output_folder = folder;
        request.simulation.inferences = inferences;
        request.simulation.first_sample = first_sample;
        request.simulation.samples = samples;
        request.simulation.seed = seed;
        const std::vector<std::pair<std::string, bool npu::nsp::ProfilingTypes::*>> known{
            {"stats", &npu::nsp::ProfilingTypes::stats},
            {"trace", &npu::nsp::ProfilingTypes::trace},
            {"raw_device_stats", &npu::nsp::ProfilingTypes::raw_device_stats},
            {"latency", &npu::nsp::ProfilingTypes::latency}};
        for (const std::string& type : types) request.types.*chosen("types", type, known) = true;
        return request;
      }));
  bind_generator(module);
  module.def("compile", compile);
  module.def("run", run);
}

}  // namespace npuscope::python
