// docs/guide.md, SKILL.md, the READMEs of the examples, record-help and the beginning of the
// project's README do what they say: their commands run one after the other in an empty folder, and
// each prints the lines that stand below it, in their order.
// "..." stands for lines left out. A command in a row of a table (`npuscope …`) runs too.
#include <gtest/gtest.h>

#include <sstream>

#include "cli/program.hpp"
#include "cli/trace_folder.hpp"

namespace npuscope::cli::guide_test {
namespace {

struct Command {
  std::string text;
  std::vector<std::string> prints;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    line.erase(line.find_last_not_of(" \r") + 1);
    lines.push_back(line);
  }
  return lines;
}

// What stands between ` and ` in a row of a table, where it is a command.
void add_commands_of_row(const std::string& line, std::vector<Command>& commands) {
  constexpr std::string_view start = "`npuscope ";
  for (std::size_t at = line.find(start); at != line.npos; at = line.find(start, at + 1)) {
    const std::size_t end = line.find('`', at + 1);
    commands.push_back({line.substr(at + 1, end - at - 1) + "\n", {}});
  }
}

// The blocks between ```: of commands behind "$ " with what they print, or of commands alone.
std::vector<Command> commands_of(const std::string& page) {
  std::vector<Command> commands;
  bool is_inside = false, has_prompt = false, goes_on = false, is_document = false;
  for (const std::string& line : lines_of(page)) {
    if (is_document) {  // up to its END
      commands.back().text += line + "\n";
      is_document = line != "END";
      continue;
    }
    if (line.starts_with("```")) {
      is_inside = !is_inside;
      has_prompt = goes_on = false;
      if (is_inside) commands.emplace_back();
      continue;
    }
    if (!is_inside) {
      if (line.starts_with("| ")) add_commands_of_row(line, commands);
      continue;
    }
    const bool is_prompt = line.starts_with("$ ");
    if (is_prompt && has_prompt) commands.emplace_back();
    if (is_prompt || goes_on || (!has_prompt && commands.back().prints.empty())) {
      commands.back().text += line.substr(is_prompt ? 2 : 0) + "\n";
      has_prompt = has_prompt || is_prompt;
      goes_on = has_prompt && line.ends_with("\\");
      is_document = line.ends_with("<<'END'");
    } else if (line != "..." && !line.empty() && line != "  ...") {
      commands.back().prints.push_back(line);
    }
  }
  return commands;
}

class Guide : public TraceFolder {
 protected:
  // What each of them prints, in one shell, so that folders and variables stay.
  std::vector<std::string> run(const std::vector<Command>& commands) const {
    std::string script = "exec 2>&1\nfailed=0\ntrap 'failed=$?' ERR\n";  // of any of its lines
    script +=
        "PATH='" + std::filesystem::path(npuscope_program()).parent_path().string() + "':$PATH\n";
    script += "cd '" + folder_.string() + "'\n";
    for (const Command& command : commands) script += command.text + "echo @@ $failed\nfailed=0\n";
    write("guide.sh", script);
    std::vector<std::string> printed;
    std::string text;
    for (const std::string& line : lines_of(run_program_at("bash", {path("guide.sh")}).output)) {
      if (!line.starts_with("@@ ")) {
        text += line + "\n";
        continue;
      }
      EXPECT_EQ(line, "@@ 0") << commands[printed.size()].text << text;
      printed.push_back(std::move(text));
      text.clear();
    }
    return printed;
  }

  // Runs the commands of a page of the sources, those between two texts where these are given; it
  // must have more than `min`.
  void expect_as_printed(const std::string& page, std::size_t min,
                         const std::string& from_text = "", const std::string& to_text = "") const {
    const std::filesystem::path source = NPUSCOPE_SOURCE_DIR;
    const std::string text = read((source / page).string());
    const std::size_t begin = text.find(from_text);
    ASSERT_NE(begin, text.npos) << page;
    const std::size_t end = to_text.empty() ? text.size() : text.find(to_text, begin);
    const std::vector<Command> commands = commands_of(text.substr(begin, end - begin));
    ASSERT_GT(commands.size(), min) << page;
    expect_printed(page, commands);
  }

  void expect_printed(const std::string& page, const std::vector<Command>& commands) const {
    const std::filesystem::path source = NPUSCOPE_SOURCE_DIR;
    for (const char* folder : {"models", "examples"}) {
      std::filesystem::copy(source / folder, folder_ / folder,
                            std::filesystem::copy_options::recursive);
    }
    const std::vector<std::string> printed = run(commands);
    ASSERT_EQ(printed.size(), commands.size());
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const std::vector<std::string> lines = lines_of(printed[i]);
      auto from = lines.begin();
      for (const std::string& line : commands[i].prints) {
        const auto found = std::find(from, lines.end(), line);
        if (found == lines.end()) {
          ADD_FAILURE() << page << " shows\n"
                        << line << "\nfor\n"
                        << commands[i].text << "which prints\n"
                        << printed[i].substr(0, 3000);
          continue;
        }
        from = found + 1;
      }
    }
  }
};

TEST_F(Guide, PrintsWhatItSays) { expect_as_printed("docs/guide.md", 30); }

TEST_F(Guide, EveryCommandOfTheSkillRuns) { expect_as_printed("SKILL.md", 15); }

TEST_F(Guide, TheThirtySecondsOfTheReadmeRunAsWritten) {
  expect_as_printed("README.md", 0, "## Thirty seconds", "## Your own profile");
}

TEST_F(Guide, TheReferenceNpuOfTheReadmeRunsAsWritten) {
  const std::string text = read(NPUSCOPE_SOURCE_DIR "/README.md");
  const std::size_t begin = text.find("## Without hardware"), end = text.find("## More");
  ASSERT_LT(begin, end);
  std::vector<Command> commands = commands_of(text.substr(begin, end - begin));
  ASSERT_EQ(commands.size(), 3u);
  // The second block is of the summary that the commands of the first write.
  std::vector<std::string> shown = lines_of(commands[1].text);
  std::erase(shown, "...");
  ASSERT_GT(shown.size(), 5u);
  commands[1] = {"cat opstats/*.summary.txt\n", shown};
  commands.push_back(
      {"npuscope-model amber-7b --seq 1 -o decode.onnx && npuscope-model --list\n", {}});
  expect_printed("README.md", commands);
}

// With the sample for FILES, A and B; a gate may fail there, a command may not.
TEST_F(Guide, TheQuestionsOfTheReadmeAreAnswered) {
  const std::filesystem::path source = NPUSCOPE_SOURCE_DIR;
  std::filesystem::copy(source / "examples", folder_ / "examples",
                        std::filesystem::copy_options::recursive);
  const std::string text = read((source / "README.md").string());
  const std::size_t begin = text.find("## Ask it"), end = text.find("## In CI");
  ASSERT_LT(begin, end);
  std::vector<Command> commands = commands_of(text.substr(begin, end - begin));
  std::erase_if(commands, [](const Command& command) {
    return command.text.find("model.onnx") != command.text.npos;  // the reader's own
  });
  ASSERT_GT(commands.size(), 7u);
  for (Command& command : commands) {
    for (const std::string word : {" FILES", " A ", " B "}) {
      const std::size_t at = command.text.find(word);
      if (at != command.text.npos)
        command.text.replace(at + 1, word.size() - 1, "examples/qnn_htp ");
    }
    command.text.pop_back();
    command.text += " || test $? = 1\n";
  }
  run(commands);
}

class Examples : public Guide, public testing::WithParamInterface<const char*> {};

TEST_P(Examples, GiveThePageOfTheirReadme) {
  expect_as_printed("examples/" + std::string(GetParam()) + "/README.md", 0);
}

INSTANTIATE_TEST_SUITE_P(All, Examples,
                         testing::Values("kineto", "llamacpp", "qnn_host", "qnn_htp", "sigmastar",
                                         "torq"));

// What a runtime leaves under the names of its topic, from our own samples; none: the page of the
// reference NPU makes its own.
struct Topic {
  const char* name;
  const char* files;
};

void PrintTo(const Topic& topic, std::ostream* out) { *out << topic.name; }

class RecordHelp : public Guide, public testing::WithParamInterface<Topic> {};

// The program's own commands; those of vendors' tools need their devices.
TEST_P(RecordHelp, ItsCommandsRunAsWritten) {
  const auto& [topic, files] = GetParam();
  const std::filesystem::path source = NPUSCOPE_SOURCE_DIR;
  std::filesystem::copy(source / "examples", folder_ / "examples",
                        std::filesystem::copy_options::recursive);
  std::filesystem::copy(source / "models/light_squeezenet.onnx", folder_ / "MODEL.onnx");
  std::vector<Command> commands = {{std::string(files) + "\n", {}}};
  bool any_shown = false;
  for (const std::string& line :
       lines_of(run_program_at(npuscope_program(), {"record-help", topic}).output)) {
    const bool is_ours = line.starts_with("    npuscope ") || line.starts_with("    mkdir ");
    if (is_ours) commands.push_back({line.substr(4) + "\n", {}});
    any_shown = any_shown || line.starts_with("    npuscope show ");
  }
  EXPECT_TRUE(any_shown);
  run(commands);
}

constexpr const char* ort_csv =
    "cp -r examples/qnn_htp optrace\n"
    "cat >run.csv <<'END'\n"
    "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier\n"
    "1,EXECUTE,1000,US,BACKEND,ROOT,QNN (execute) time\n"
    "1,EXECUTE,20000,CYCLES,BACKEND,SUB-EVENT,Accelerator (execute) time (cycles)\n"
    "1,EXECUTE,20000,CYCLES,BACKEND,SUB-EVENT,Conv_0:OpId_1 (cycles)\n"
    "END";

constexpr const char* ort_profile =
    "cat >ort_profile_1.json <<'END'\n"
    "[\n"
    R"({"cat" : "Node","pid" :1,"tid" :1,"dur" :5,"ts" :12,"ph" : "X","name" :"a_kernel_time","args" : {"op_name" : "Conv","provider" : "CPUExecutionProvider"}},)"
    "\n"
    R"({"cat" : "Session","pid" :1,"tid" :1,"dur" :9,"ts" :10,"ph" : "X","name" :"model_run","args" : {}})"
    "\n]\nEND";
constexpr const char* openvino_counters =
    "mkdir report && cat >report/benchmark_average_counters_report.csv <<'END'\n"
    "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
    "conv;Status.EXECUTED;Convolution;DPU;0.116;0.464\nTotal;;;;0.116;0.464\nEND";
constexpr const char* vela_layers =
    "mkdir out && cat >out/MODEL_per-layer.csv <<'END'\n"
    "Original Operator,NNG Operator,Target,Staging Usage,Peak% (Staging),Op Cycles,Network% "
    "(cycles),"
    "NPU,SRAM AC,DRAM AC,OnFlash AC,OffFlash AC,MAC Count,Network% (MAC),Util% (MAC),Name\n"
    "Conv2D,Conv2D,NPU,29440,73.9,14283,21.3,14283,10684,0,0,3168,442368,11.0,24.1,conv1\nEND";

constexpr const char* tpu_mlir_profile =
    "cat >compiler_profile_0.txt <<'END'\n"
    "s: start time, b: bd_id, g: gdma_id, e: end time\n"
    "ENGINE_BD                      ENGINE_GDMA\n"
    "                               Load_1|GDMA_TENSOR|s:0|b:0|g:1|e:9|t:10|dr:0|sz:64\n"
    "Conv2D_2|CONV|s:10|b:1|g:1|e:29|t:20\n"
    "API_END total_cycle:30|b:1|g:1\nflops: 10, runtime: 0.000030ms\nEND";

constexpr const char* ascend_kernels =
    "mkdir prof && cat >prof/kernel_details.csv <<'END'\n"
    "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim\n"
    "7,Conv2D1,Conv2D,AI_CORE,1736408883704903.218,313.886,96.222,16\nEND";

constexpr const char* furiosa_plot =
    "cat >plot.json <<'END'\n"
    R"({"title": "k", "total_memory": 1024, "page_size": 64, "instructions": [{"index": "0", )"
    R"("contexts": ["MainContext"], "lifetime": {"begin": 0, "end": 9}}], "tensors": []})"
    "\nEND";

constexpr const char* tensorrt_layers =
    "cat >profile.json <<'END'\n"
    R"([{"count": 7}, {"name": "conv", "timeMs": 7.7, "averageMs": 1.1, "percentage": 100}])"
    "\nEND";
const std::string own_tables = std::string("cp ") + NPUSCOPE_TEST_DATA + "/tables/";
const std::string tflite_log = own_tables + "tflite_profile.txt profile.txt";
const std::string rknn_table = own_tables + "rknn_build.txt build.txt";
const std::string tenstorrent_ops =
    "mkdir -p generated/profiler/reports/DATE && cp " NPUSCOPE_SOURCE_DIR
    "/tests/fuzz/open/tenstorrent.csv "
    "generated/profiler/reports/DATE/ops_perf_results_DATE.csv";

INSTANTIATE_TEST_SUITE_P(
    Of, RecordHelp,
    testing::Values(
        Topic{"reference", "true"}, Topic{"qnn", "cp -r examples/qnn_htp optrace"},
        Topic{"executorch", "cp -r examples/qnn_htp OUT && cp examples/executorch/etdump.etdp ."},
        Topic{"torq",
              "cp -r examples/torq/debug_info . && "
              "cp examples/torq/conv2d_f4_s4_64x64x16_i16.csv runtime.csv"},
        Topic{"sigmastar",
              "cp examples/sigmastar/squeezenet_fixed.sim MODEL_fixed.sim && "
              "gunzip -c examples/sigmastar/log_ctrl0.json.gz >log_ctrl0.json"},
        Topic{"perfetto",
              "npuscope convert examples/kineto/trace.json --to perfetto -o "
              "trace.pftrace"},
        Topic{"pytorch", "gzip -c examples/kineto/trace.json >trace.json.gz"},
        Topic{"aihub", "mkdir aihub && cp " NPUSCOPE_SOURCE_DIR
                       "/tests/fuzz/open/aihub.json aihub/net_j_results.json"},
        Topic{"genie", "cp " NPUSCOPE_SOURCE_DIR "/tests/fuzz/open/genie.json genie_profile.json"},
        Topic{"qaic",
              "npuscope compile MODEL.onnx -aic-binary-dir=binaries "
              "-stats-level=70 && mkdir -p stats stats-out && npuscope run -t binaries -n 2 "
              "--aic-profiling-type=raw_device_stats "
              "--aic-profiling-out-dir=stats && npuscope opstats --qpc "
              "binaries/programqpc.bin --input-dir stats --output-dir stats-out "
              "--summary --trace"},
        Topic{"snpe", "cp examples/qnn_htp/chrometrace*.json.gz . && gunzip *.gz"},
        Topic{"ort-profile", ort_profile}, Topic{"openvino", openvino_counters},
        Topic{"tpu-mlir", tpu_mlir_profile}, Topic{"ascend", ascend_kernels},
        Topic{"furiosa", furiosa_plot},
        Topic{"llamacpp",
              "gunzip -c examples/llamacpp/run.log.gz >run.log && cp run.log engines.log"},
        Topic{"vela", vela_layers}, Topic{"tensorrt", tensorrt_layers},
        Topic{"tflite", tflite_log.c_str()}, Topic{"rknn", rknn_table.c_str()},
        Topic{"tenstorrent", tenstorrent_ops.c_str()},
        Topic{"iree", "cp examples/iree/mlp.jsonl MODEL.jsonl"},
        Topic{"jax",
              "mkdir -p out/plugins/profile/run && cp examples/jax/vm.xplane.pb.gz "
              "out/plugins/profile/run"},
        Topic{"qnn-host", "cp -r examples/qnn_host qnn_host && cd qnn_host"},
        Topic{"executorch-host",
              "mkdir executorch_host && cp examples/qnn_host/*_schematic.bin executorch_host/ && "
              "cd executorch_host"},
        Topic{"onnxruntime", ort_csv}));

}  // namespace
}  // namespace npuscope::cli::guide_test
