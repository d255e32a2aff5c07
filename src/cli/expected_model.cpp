#include "cli/expected_model.hpp"

#include "base/try.hpp"
#include "report/graph/graph_document.hpp"

namespace npuscope::cli {

Flag& add_expected_model(Command& command, ExpectedModel& model, const std::string& says) {
  Flag& expect = command.flag("--expect", model.file, says);
  command
      .flag("--onnx-define-symbol", model.symbols,
            "value of a symbolic dimension of the model, or of an input that is one number: "
            "name,value (repeatable)")
      .needs("--expect");
  command
      .flag("--batchsize", model.import.batch,
            "batch of the model, symbolic or another than it has")
      .check(whole_number(1, std::uint64_t{1} << 31))
      .needs("--expect");
  return expect;
}

Result<analysis::ExpectedGraph> load_expected(ExpectedModel model) {
  TRY(npu::parse_symbols(model.symbols, model.import));
  model.import.allow_unknown = true;  // the names and links of unknown operators are enough
  TRY_AS(graph, npu::import_onnx_file(model.file, model.import));
  return report::expected_graph(*graph);
}

}  // namespace npuscope::cli
