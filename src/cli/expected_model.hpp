// The ONNX model that a profile was compiled from, as several commands take it: --expect,
// --onnx-define-symbol and --batchsize.
//
//   add_expected_model(command, options->model, "compare with the ONNX model ...");
//   if (!options.model.file.empty()) auto expected = load_expected(options.model);
#pragma once

#include <string>
#include <vector>

#include "analysis/graph/graph_expected.hpp"
#include "cli/flags.hpp"
#include "npu/graph/import_onnx.hpp"

namespace npuscope::cli {

struct ExpectedModel {
  std::string file;
  std::vector<std::string> symbols;
  npu::ImportOptions import;
};

// The flag --expect itself.
Flag& add_expected_model(Command& command, ExpectedModel& model, const std::string& says);

Result<analysis::ExpectedGraph> load_expected(ExpectedModel model);

}  // namespace npuscope::cli
