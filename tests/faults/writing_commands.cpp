#include "faults/writing_commands.hpp"

#include <gtest/gtest.h>

#include "cli/program.hpp"

namespace npuscope::faults {
namespace {

// Words apart by blanks.
WritingCommand command(const std::string& text) {
  WritingCommand made;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    made.words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  made.is_of_models = made.words.front() == "npuscope-model";
  made.words.erase(made.words.begin());
  return made;
}

std::vector<WritingCommand> commands(const std::vector<std::string>& texts) {
  std::vector<WritingCommand> made;
  for (const std::string& text : texts) made.push_back(command(text));
  return made;
}

void must_run(const std::filesystem::path& folder, const WritingCommand& command) {
  std::vector<std::string> words{"-C", folder.string(), command.program()};
  words.insert(words.end(), command.words.begin(), command.words.end());
  const cli::Outcome outcome = cli::run_program_at("/usr/bin/env", words);
  ASSERT_EQ(outcome.status, 0) << command.text() << '\n' << outcome.errors;
}

}  // namespace

std::string WritingCommand::text() const {
  std::string text = is_of_models ? "npuscope-model" : "npuscope";
  for (const std::string& word : words) text += " " + word;
  return text;
}

const std::string& WritingCommand::program() const {
  if (is_of_models) return cli::npuscope_model_program();
  const bool is_of_fleet = words[0] == "fleet" || words[0] == "completion";
  return is_of_fleet ? cli::npuscope_fleet_program() : cli::npuscope_program();
}

const std::vector<WritingCommand>& writing_commands() {
  static const std::vector<WritingCommand> all = commands({
      "npuscope show stats binaries/programqpc.bin",
      "npuscope diagnose htp_traces --json",
      "npuscope timeline htp_traces --svg out/timeline.svg",
      "npuscope report htp_traces -o out/report.html",
      "npuscope report trace.json --report-data -o out/report_data.json",
      "npuscope ops a.bin binaries/programqpc.bin --csv --table ops",
      "npuscope units trace.json",
      "npuscope memory htp_traces --svg out/memory.svg",
      "npuscope path a.bin binaries/programqpc.bin",
      "npuscope graph htp_traces --svg out/graph.svg --dot out/graph.dot",
      "npuscope latency latency.txt",
      "npuscope query trace.json SELECT(count(*))FROM(ops) --json",
      "npuscope diff trace.json trace.json --svg out/diff.svg",
      "npuscope check trace.json --require wall<1s --inconclusive pass",
      "npuscope snapshot trace.json -o out/baseline.npu",
      "npuscope convert trace.json --format chrome -o out/converted.json",
      "npuscope convert trace.json -o out/converted.pftrace",
      "npuscope convert htp_traces -o out/converted.db",
      "npuscope convert a.bin binaries/programqpc.bin --format csv -o out/tables/",
      "npuscope convert trace.json --format json -o out/converted.json",
      "npuscope compile model.onnx -aic-binary-dir=out/binaries -stats-level=70 -aic-num-cores=2",
      "npuscope compile model.onnx -aic-binary-dir=out/binaries "
      "-mdp-dump-partition-config=out/devices.json "
      "-aic-num-cores=2",
      "npuscope compile model.onnx --target torq-sl2610 -o out/model.torq --torq-enable-profiling "
      "--torq-dump-profiling=out/timeline.csv --torq-debug-info=out/debug "
      "--dump-compilation-phases-to=out/phases",
      "npuscope compile model.onnx --target ipu-muffin -o out/model.img",
      "npuscope compile model.onnx -aic-binary-dir=out/split -ols=2 -mos=1 -aic-num-cores=2",
      "npuscope tune model.onnx --throughput --cores 4 --batch 1 --queued 1",
      "npuscope conversation decoder.onnx --prompt 2 --generate 2 --chunk 2 --context 4",
      "npuscope run -t binaries --aic-profiling-type=raw_device_stats --aic-profiling-out-dir=out "
      "--aic-profiling-num-samples=2 -n 3 --write-output-dir=out",
      "npuscope run -t binaries --aic-profiling-type=latency --aic-profiling-type=trace "
      "--aic-profiling-out-dir=out -n 3",
      "npuscope run -t htp --emit qnn --emit-dir out -n 2",
      "npuscope run model.torq --torq_profile_host=out/runtime.csv --torq_profile=out/jobs.csv",
      "npuscope run -m ipu/model.img --ipu_log out",
      "npuscope opstats -q binaries/programqpc.bin -i stats -o out --summary --trace --json",
      "npuscope qpc list binaries/programqpc.bin",
      "npuscope qpc extract binaries/programqpc.bin -o out/segments",
      "npuscope qpc validate binaries/programqpc.bin",
      "npuscope torq annotate debug runtime.csv out/annotated.csv",
      "npuscope torq annotate debug runtime.csv out/annotated.xlsx",
      "npuscope torq annotate debug runtime.csv out/annotated.pb",
      "npuscope torq overview runtime.csv debug",
      "npuscope torq timeline timeline.csv runtime.csv debug --format perfetto -o out/both.pftrace",
      "npuscope torq passes timing.txt",
      "npuscope tables list",
      "npuscope tables check table.toml",
      "npuscope tables draft layers.csv -o out/mine.toml",
      "npuscope ipu op-cost -m examples/sigmastar/squeezenet_fixed.sim --ipu_log_file "
      "examples/sigmastar/log_ctrl0.json.gz",
      "npuscope ipu info -m ipu/model.img",
      "npuscope ipu operators ipu/model.img --csv",
      "npuscope ipu timeline -c0 examples/sigmastar/squeezenet_fixed.sim_sgsimg.img_log_core0.bin "
      "-v ipu-muffin -o out/ipu.json",
      std::string("npuscope fleet add ") + store_output + " trace.json",
      "npuscope fleet ls fleet.db",
      "npuscope fleet latency fleet.db --by build",
      "npuscope fleet ops fleet.db --json",
      "npuscope fleet findings fleet.db",
      "npuscope fleet diff fleet.db --along build",
      "npuscope fleet outliers fleet.db",
      "npuscope fleet sql fleet.db SELECT(count(*))FROM(op_runs)",
      "npuscope fleet retain fleet.db --before 1990-01-01",
      "npuscope fleet export fleet.db -o out/fleet",
      "npuscope fleet export fleet.db -o out/fleet --to parquet",
      "npuscope explain span",
      "npuscope record-help qnn-net-run",
      "npuscope completion --man-pages out",
      "npuscope-model decoder --hidden 64 --layers 1 --heads 2 --ffn 64 --vocab 100 --seq 4 --ctx "
      "8 "
      "-o out/model.onnx",
  });
  return all;
}

void prepare_inputs(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  const fs::path source = NPUSCOPE_SOURCE_DIR;
  for (const char* name : {"out", "stats", "htp_traces", "ipu", "tmp"}) {
    fs::create_directories(folder / name);
  }
  fs::copy(source / "examples", folder / "examples", fs::copy_options::recursive);
  for (const WritingCommand& command : commands({
           "npuscope-model decoder --hidden 64 --layers 1 --heads 2 --ffn 64 --vocab 100 --seq 4 "
           "--ctx 8 -o model.onnx",
           "npuscope compile model.onnx -aic-binary-dir=binaries -stats-level=70 -aic-num-cores=2",
           "npuscope compile model.onnx --target htp-v75 -aic-binary-dir=htp -stats-level=70",
           "npuscope compile model.onnx --target torq-sl2610 -o model.torq --torq-enable-profiling "
           "--torq-dump-profiling=timeline.csv --torq-debug-info=debug",
           "npuscope compile model.onnx --target ipu-muffin -o ipu/model.img",
           "npuscope run -t binaries --aic-profiling-type=raw_device_stats "
           "--aic-profiling-out-dir=stats --aic-profiling-num-samples=2 -n 3",
           "npuscope run -t binaries --aic-profiling-type=latency --aic-profiling-out-dir=. -n 3",
           "npuscope run -t htp --emit qnn --emit-dir htp_traces -n 2",
           "npuscope run model.torq --torq_profile_host=runtime.csv",
       })) {
    ASSERT_NO_FATAL_FAILURE(must_run(folder, command));
  }
  fs::copy(source / "examples/kineto/trace.json", folder / "trace.json");
  fs::copy(source / "tests/data/torq/mlir-timing.txt", folder / "timing.txt");
  fs::copy(source / "tables/scalesim_compute.toml", folder / "table.toml");
  std::ofstream(folder / "layers.csv") << "layer,time (us)\nconv,12.5\npool,3.5\n";
  must_run(folder, command("npuscope-model decoder --hidden 64 --layers 1 --heads 2 --kv-heads 1 "
                           "--ffn 128 --vocab 100 --symbolic -o decoder.onnx"));
  must_run(folder, command("npuscope fleet add fleet.db trace.json --tag build=1"));
  fs::copy(fs::directory_iterator(folder / "stats")->path(), folder / "a.bin");
  fs::rename(folder / "aic-profiling-program-0-latency.txt", folder / "latency.txt");
}

}  // namespace npuscope::faults
