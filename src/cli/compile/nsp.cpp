// npuscope compile for Cloud AI 100 and Hexagon: programqpc.bin.
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/architectures.hpp"
#include "cli/command.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/progress.hpp"
#include "profile/pmu_events.hpp"
#include "report/programs/compile_report.hpp"

namespace npuscope::cli {
namespace compile_command {

// The vendor's flags that scripts give and that change nothing here, with what is said then; empty:
// npuscope does what they ask for in any case.
struct IdleVendorFlag {
  const char* names;
  bool takes_value;
  const char* about;
  const char* remark;
};

constexpr IdleVendorFlag idle_vendor_flags[] = {
    {"--aic-hw", false, "programs are for the target's hardware in any case", ""},
    {"--compile-only", false, "compile runs nothing in any case", ""},
    {"-v,--verbose", false, "no effect", "nothing more is printed"},
    {"--aic-hw-version", true, "no effect: --target says the hardware",
     "the hardware is that of --target"},
    {"--mdts-mos", true, "no effect: -mos is for all devices",
     "-mos splits the weights of all devices alike"},
    {"--multicast-weights", false, "weights that several cores need are multicast in any case", ""},
    {"--aic-enable-depth-first", false, "convolutions go depth first in any case where that pays",
     ""},
    {"--aic-depth-first-mem", true, "no effect", "depth first takes what VTCM is free"},
    {"--allocator-dealloc-delay", true, "no effect", "buffers are free when they were read last"},
    {"--size-split-granularity", true, "no effect: -ols makes tiles finer",
     "the size of tiles follows from the VTCM; -ols makes them finer"},
    {"--vtcm-working-set-limit-ratio", true, "no effect", "tiles may take all of the VTCM"},
    {"--mxint8-mdp-io", false, "no effect", "devices exchange values as they are computed"},
    {"--sdp-cluster-sizes,--aic-cluster-sizes", true, "no effect",
     "all cores work on each layer, not in stages"},
    {"--io-encrypt", true, "no effect", "inputs and outputs go to the device as they are"},
    {"--io-crc", false, "no effect", "inputs and outputs go to the device as they are"},
    {"--combine-inputs", true, "no effect", "each input is a transfer of its own"},
    {"--combine-outputs", true, "no effect", "each output is a transfer of its own"},
    {"--time-passes", false, "no effect", "nothing more is printed"},
    {"--max-compilation-threads", true, "no effect", "the program is the same with any number"},
};

// Those that would make another program of the model.
struct RefusedVendorFlag {
  const char* name;
  const char* reason;
};

constexpr const char* quantises_nothing =
    "npuscope quantises no model; export it with QuantizeLinear and DequantizeLinear";
constexpr const char* one_precision =
    "all nodes have the model's precision, or -convert-to-fp16; cast in the model";

constexpr RefusedVendorFlag refused_vendor_flags[] = {
    {"--convert-to-quantize", quantises_nothing},
    {"--enable-channelwise", quantises_nothing},
    {"--enable-rowwise", quantises_nothing},
    {"--external-quantization", quantises_nothing},
    {"--load-profile", quantises_nothing},
    {"--quantization-calibration", quantises_nothing},
    {"--quantization-precision", quantises_nothing},
    {"--quantization-precision-bias", quantises_nothing},
    {"--quantization-schema-activations", quantises_nothing},
    {"--quantization-schema-constants", quantises_nothing},
    {"--execute-nodes-in-fp16", one_precision},
    {"--keep-original-precision-for-nodes", one_precision},
    {"--node-precision-info", one_precision},
};

struct NspArguments {
  std::string binary_dir;
  npu::nsp::BuildRequest request;
  std::vector<std::string> profiling_types;
  std::string pmu_events;
  std::string load_partition;
  std::string dump_partition;
  std::vector<std::string> remarks;  // on flags that have no effect
  bool perf_metrics = false;
  bool perf_warnings = false;
  bool idle_flags[std::size(idle_vendor_flags)] = {};
  std::string ignored_value;
};

Status take_pmu_events(NspArguments& arguments) {
  if (arguments.pmu_events.empty()) return {};
  if (!arguments.request.pmu_recipe.empty()) {
    return usage_error("-aic-pmu-recipe and -aic-pmu-events exclude each other; give one of them");
  }
  TRY_AS(events, npu::nsp::parse_pmu_events(arguments.pmu_events));
  arguments.request.options.pmu_events = *events;
  return {};
}

// The seed notebooks compile with -aic-profiling-type=stats and =trace: that means operator
// statistics.
Status take_profiling_types(NspArguments& arguments, bool level_given) {
  for (const std::string& type : arguments.profiling_types) {
    if (type != "stats" && type != "trace" && type != "latency" && type != "raw_device_stats") {
      return usage_error("-aic-profiling-type={}: use stats, trace, latency or raw_device_stats",
                         type);
    }
    if ((type == "stats" || type == "trace") && !level_given) {
      arguments.request.options.stats_level = 70;
    }
  }
  return {};
}

Status take_partition(NspArguments& arguments) {
  if (arguments.load_partition.empty()) return {};
  TRY_AS(file, MappedFile::open(arguments.load_partition));
  TRY_AS(config, npu::nsp::read_partition_config(file->bytes(), arguments.load_partition));
  const std::uint32_t cores = arguments.request.options.cores;
  if (cores != 0 && cores != config->cores) {
    return usage_error("-aic-num-cores={} but {} gives each device {} cores; give one of them",
                       cores, arguments.load_partition, config->cores);
  }
  arguments.request.partition = std::move(*config);
  return {};
}

void print_outcome_json(const std::filesystem::path& program, const npu::nsp::BuildResult& result) {
  print_json(stdout, report::json_text([&](report::Json& json) {
               json.member("program", program.string());
               json.member("warnings", result.warnings);
               json.objects("networks", *result.networks,
                            [&](const npu::nsp::CompiledNetwork& network) {
                              report::write_compile_metrics(json, network);
                            });
               if (result.partition.is_multi_device()) report::write_devices(json, result);
             }));
}

void print_text(const NspArguments& arguments, const npu::nsp::BuildResult& result) {
  print_warnings(result.warnings);
  for (const npu::nsp::CompiledNetwork& network : *result.networks) {
    print(stdout, "{}", report::blocks_text(network));
    if (arguments.perf_metrics) print(stdout, "{}", report::compile_metrics_text(network));
    if (!arguments.perf_warnings) continue;
    for (const std::string& warning : network.metrics.performance_warnings) {
      print(stdout, "AIC WARNING: {}\n", printable(warning));
    }
  }
}

Status make_folder(const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  std::error_code unknown;
  if (failure && !std::filesystem::exists(folder, unknown)) {
    return output_error("{}: cannot create the folder: {}; choose another", folder,
                        failure.message());
  }
  return check_writable_folder(folder);
}

Status build(const NspArguments& arguments, const std::string& model, bool json) {
  if (!json) {
    print(stdout,
          "Reading ONNX Model from {}\nCompile started ............... \nCompiling model with {} "
          "precision.\n",
          printable(model), arguments.request.options.convert_to_fp16 ? "FP16" : "the given");
  }
  std::optional<BusySign> busy("compiling");
  auto result = npu::nsp::build(model, arguments.request);
  busy.reset();
  if (!result) return tl::unexpected(result.error());
  result->warnings.insert(result->warnings.begin(), arguments.remarks.begin(),
                          arguments.remarks.end());
  const auto path = std::filesystem::path(arguments.binary_dir) / "programqpc.bin";
  TRY(write_file_atomically(path, result->qpc));
  if (!arguments.dump_partition.empty()) {
    const std::string config = npu::nsp::write_partition_config(result->partition);
    TRY(write_file_atomically(arguments.dump_partition, as_byte_span(config)));
  }
  if (json) {
    print_outcome_json(path, *result);
    return {};
  }
  print_text(arguments, *result);
  print(stdout, "{}", report::devices_text(*result));
  print(stdout, "Generated binary is present at {}\n", printable(arguments.binary_dir));
  return {};
}

void add_vendor_flags(Command& command, NspArguments& arguments) {
  for (std::size_t i = 0; i < std::size(idle_vendor_flags); ++i) {
    const IdleVendorFlag& each = idle_vendor_flags[i];
    Flag& flag = each.takes_value ? command.flag(each.names, arguments.ignored_value, each.about)
                                  : command.flag(each.names, arguments.idle_flags[i], each.about);
    flag.under("Accepted without effect");
  }
  for (const RefusedVendorFlag& each : refused_vendor_flags) {
    command.add(each.name, Refusal{fmt::format("{}: {}", each.name, each.reason)}, each.reason)
        .under("");
  }
}

std::vector<std::string> idle_flag_remarks(const Command& command, const NspArguments& arguments) {
  std::vector<std::string> remarks;
  for (std::size_t i = 0; i < std::size(idle_vendor_flags); ++i) {
    const IdleVendorFlag& each = idle_vendor_flags[i];
    const std::string_view names =
        std::string_view(each.names).substr(std::string_view(each.names).find("--"));
    const std::string name(names.substr(0, names.find(',')));
    if (!command.has(name)) continue;
    if (*each.remark != '\0') {
      remarks.push_back(fmt::format("{} has no effect: {}", name, each.remark));
    } else if (!arguments.idle_flags[i]) {
      remarks.push_back(fmt::format("{}=false has no effect: {}", name, each.about));
    }
  }
  return remarks;
}

void add_instrumentation_flags(Command& command, NspArguments& arguments) {
  npu::nsp::CompileOptions& options = arguments.request.options;
  command
      .flag("--stats-level,--aic-stats-level", options.stats_level,
            "what the statistics buffer records: 40 threads, DDR and PMU; 50 I/O ports; "
            "70 every operator; 100 PMU per operator")
      .check(whole_number())
      .shows_usual();
  command
      .flag("--stats-batchsize,--aic-stats-batchsize", options.stats_batch_size,
            "inferences that one run counts as; default: the batch of the model")
      .check(whole_number(1));
  command.flag("--ddr-stats,--aic-ddr-stats", options.ddr_stats, "DDR traffic per core");
  command.flag("--aic-pmu-recipe", arguments.request.pmu_recipe,
               "events of a recipe: " + pmu_recipes_help());
  command.flag("--aic-pmu-events", arguments.pmu_events,
               "up to 8 events, by name or hexadecimal code (3F,70,200): " + pmu_events_help());
  command
      .flag("--aic-op-stats-verbosity", options.op_stats_verbosity,
            "2: operands and attributes of every operator in the program")
      .shows_usual();
  command
      .flag("--aic-profiling-type", arguments.profiling_types,
            "stats or trace: the same as -stats-level=70")
      .called("stats|trace|raw_device_stats|latency");
}

void add_program_flags(Command& command, NspArguments& arguments) {
  npu::nsp::BuildRequest& request = arguments.request;
  command.flag("--aic-binary-dir", arguments.binary_dir, "folder for programqpc.bin");
  command.flag("--aic-num-cores", request.options.cores, "cores to use; default all")
      .check(whole_number(1));
  command
      .flag("--mos", request.options.channel_split,
            "weights come by output channels, in so many parts at least: less VTCM at once")
      .check(whole_number(1))
      .shows_usual();
  command
      .flag("--ols", request.options.overlap_split,
            "split operations finer: what comes out of DDR does so in tiles so many times smaller")
      .check(whole_number(1))
      .shows_usual();
  command
      .flag("--layer-by-layer", request.options.layer_by_layer,
            "no convolutions depth first, as the vendor's compiler without -aic-enable-depth-first")
      .excludes("--aic-enable-depth-first");
  command.flag("--mdp-load-partition-config", arguments.load_partition,
               "JSON file that names the devices that share the model");
  command.flag("--mdp-dump-partition-config", arguments.dump_partition,
               "write the devices of this compilation as such a file");
  command.flag("--convert-to-fp16", request.options.convert_to_fp16,
               "float32 tensors become float16");
  command.flag("--retained-state", request.options.retained_state,
               "X and X_RetainedState stay on the device");
  command.flag("--mxfp6-matmul", request.options.mxfp6_matmul,
               "constant weights of MatMul and Gemm lie in DDR as MXFP6, 6.25 bits a value");
  command.flag("--mxint8-kv-cache", request.options.mxint8_state,
               "retained state lies in DDR as MXINT8, 8.25 bits a value");
  command.flag("--custom-IO-list-file", request.io_list,
               "YAML file with the precision of inputs and outputs; retained state can be mxint8");
  command.flag("--network-specialization-config", request.specializations,
               "JSON file with a list of specialisations; each becomes a network");
  command.flag("--aic-perf-metrics", arguments.perf_metrics, "print what the compiler estimates");
  command.flag("--aic-perf-warnings", arguments.perf_warnings, "print performance warnings");
}

class NspCompilation : public CompileArchitecture {
 public:
  explicit NspCompilation(Command& command) : command_(command) {
    add_program_flags(command, arguments_);
    add_instrumentation_flags(command, arguments_);
    add_vendor_flags(command, arguments_);
  }

  Status compile(const CompileArguments& common, const npu::TargetFile&) override {
    if (!common.output.empty()) {
      return usage_error(
          "--output is for targets whose program is one file; give {} the folder "
          "for programqpc.bin with --aic-binary-dir",
          common.target);
    }
    if (arguments_.binary_dir.empty()) {
      return usage_error("--aic-binary-dir is required; give the folder for programqpc.bin");
    }
    npu::nsp::BuildRequest& request = arguments_.request;
    request.target = common.target;
    request.import = common.import;
    arguments_.remarks = idle_flag_remarks(command_, arguments_);
    TRY(take_pmu_events(arguments_));
    TRY(take_profiling_types(arguments_, command_.has("--stats-level")));
    TRY(take_partition(arguments_));
    TRY(make_folder(arguments_.binary_dir));
    return build(arguments_, common.model, common.json);
  }

 private:
  const Command& command_;
  NspArguments arguments_;
};

}  // namespace compile_command

std::unique_ptr<CompileArchitecture> add_nsp_compilation(Command& command) {
  return std::make_unique<compile_command::NspCompilation>(command);
}

}  // namespace npuscope::cli
