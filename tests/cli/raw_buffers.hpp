// A run on the reference NPU that leaves one raw buffer of statistics for each inference.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli/program.hpp"

namespace npuscope::cli {

// The program in the folder `binaries`, the buffers in `buffers`; makes both.
inline void make_raw_buffers(const std::string& binaries, const std::string& buffers,
                             int inferences) {
  const std::string model = NPUSCOPE_SOURCE_DIR "/models/light_squeezenet.onnx";
  const std::string count = std::to_string(inferences);
  for (const std::string& folder : {binaries, buffers}) std::filesystem::create_directory(folder);
  ASSERT_EQ(run_npuscope({"compile", "-m", model, "-aic-num-cores=2", "-stats-level=70",
                          "-convert-to-fp16", "-aic-binary-dir=" + binaries})
                .status,
            0);
  ASSERT_EQ(run_npuscope({"run", "-t", binaries, "--aic-profiling-type=raw_device_stats",
                          "--aic-profiling-out-dir=" + buffers,
                          "--aic-profiling-num-samples=" + count, "--num-iter=" + count})
                .status,
            0);
}

}  // namespace npuscope::cli
