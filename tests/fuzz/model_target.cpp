// Any bytes as an ONNX model: imported, and compiled for a target of each architecture.
#include <cstdint>

#include "fuzz/fuzzing.hpp"
#include "npu/core/target_file.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/graph/loop_models.hpp"
#include "npu/graph/one_operator_models.hpp"
#include "npu/targets/ipu/compile.hpp"
#include "npu/targets/ipu/target.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npu/targets/torq/compile.hpp"
#include "npu/targets/torq/target.hpp"

namespace {

using namespace npuscope;

template <class Parse>
auto target_of(const char* name, Parse parse) {
  const auto file = npu::find_target_file(name);
  return *parse(file->toml, file->name);
}

}  // namespace

// Of each operator some models as no framework exports them, for what the seeds do not have.
std::vector<std::string> npuscope::fuzz::good_inputs() {
  std::vector<std::string> models;
  npu::test::OneOperatorModels made(22);
  for (const npu::Operator& op : npu::every_operator()) {
    for (int i = 0; i < 3; ++i) models.push_back(made.next(op.name));
  }
  for (const char* trips : {"five", "some", ""}) {
    for (const char* condition : {"asked", ""}) {
      for (const char* goes_on : {"same", "early"})
        models.push_back(npu::test::loop_of(trips, condition, goes_on));
    }
  }
  models.push_back(npu::test::scan_over(3, {}));
  return models;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const npu::nsp::Target nsp = target_of("aic100", npu::nsp::parse_target);
  static const npu::ipu::Target ipu = target_of("ipu-muffin", npu::ipu::parse_target);
  static const npu::torq::Target torq = target_of("torq-sl2610", npu::torq::parse_target);
  npu::ImportOptions options;
  options.allow_unknown = true;
  options.symbols = {{"N", 1}, {"batch_size", 1}, {"seq_len", 8}};
  const ByteSpan model(reinterpret_cast<const std::byte*>(bytes), size);
  const auto graph = npu::import_onnx(model, "fuzz.onnx", options);
  if (!graph) {
    if (graph.error().message.empty()) __builtin_trap();
    return 0;
  }
  // What a device would take hours for is not of interest.
  for (const npu::Tensor& tensor : graph->tensors) {
    if (tensor.elements() > (std::uint64_t{1} << 24)) return 0;
  }
  (void)npu::nsp::compile_network(*graph, nsp, {});
  (void)npu::ipu::compile(*graph, ipu, {});
  (void)npu::torq::compile(*graph, torq, "fuzz");
  return 0;
}
