// The whole profiling flow in one program, with nothing but the public interface: compile an ONNX
// model with statistics of every operator, run it on the embedded reference NPU, open the raw
// buffer that the device wrote, and print what cost most.
//
//   profile_model models/light_resnet50.onnx FOLDER      files go to the folder, which exists
#include <cstdio>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/formats/open.hpp"
#include "npuscope/npu/nsp/compile/build.hpp"
#include "npuscope/npu/nsp/simulate/run.hpp"

using namespace npuscope;

Result<Opened> profile_model(const char* model, const std::filesystem::path& folder) {
  npu::nsp::BuildRequest request;
  request.import.batch = 1;
  request.options.cores = 4;
  request.options.convert_to_fp16 = true;
  request.options.stats_level = 70;
  const auto built = npu::nsp::build(model, request);
  if (!built) return tl::unexpected(built.error());
  if (auto written = write_file_atomically(folder / "programqpc.bin", built->qpc); !written) {
    return tl::unexpected(written.error());
  }

  npu::nsp::RunRequest run;
  run.qpc = folder / "programqpc.bin";
  run.types.raw_device_stats = true;
  run.output_folder = folder;
  run.simulation.inferences = 3;
  run.simulation.first_sample = 2;
  const auto outcome = npu::nsp::run(run);
  if (!outcome) return tl::unexpected(outcome.error());
  return open_profiles({{folder}});
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: profile_model MODEL.onnx FOLDER\n", stderr), 2;
  const Result<Opened> opened = profile_model(argv[1], argv[2]);
  if (!opened)
    return std::fprintf(stderr, "profile_model: %s\n", opened.error().message.c_str()), 3;
  for (const Profile& profile : opened->profiles) {
    const analysis::Analysis analysis(profile);
    const auto kinds = analysis.ops({.grouping = analysis::Grouping::kind, .top = 5});
    for (const analysis::OpRow& row : kinds.rows) {
      std::printf("%-32s %14.0f %s\n", row.name.c_str(), row.values[kinds.ranked_by].value_or(0),
                  kinds.ranked_by_name.c_str());
    }
  }
}
