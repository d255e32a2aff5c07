// Models that nobody wrote: whatever is in them, what comes out obeys the rules.
#include <gmock/gmock.h>

#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/write_timeline.hpp"
#include "npu/graph/parsed_onnx.hpp"
#include "npu/graph/random_models.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/ipu/ipu_fixture.hpp"
#include "npu/targets/ipu/simulate.hpp"

namespace npuscope::npu::ipu::random_models_test {
namespace {

using namespace sigmastar;

// Bytes and multiply-accumulates are the model's, and the image holds the program.
void check_program(const Graph& graph, const Compiled& compiled, std::uint64_t batch) {
  std::uint64_t expected = 0, macs = 0;
  for (const Node& node : graph.nodes) expected += multiply_accumulates(graph, node) * batch;
  const Program& program = compiled.image.own->program;
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const ProgramLayer& layer = program.layers[i];
    macs += layer.multiply_accumulates;
    std::uint64_t load = 0, store = 0;
    for (const auto& tiles : layer.cores) {
      for (const ProgramTile& tile : tiles) {
        load += tile.load_bytes;
        store += tile.store_bytes;
      }
    }
    EXPECT_EQ(store, layer.output_bytes) << "layer " << i;
    EXPECT_GE(load, layer.weight_bytes + layer.input_bytes) << "layer " << i;
    EXPECT_EQ(load, compiled.layers[i].load_bytes) << "layer " << i;
  }
  EXPECT_EQ(macs, expected);
  const std::string bytes = write_image(compiled.image);
  const auto read = read_image(as_byte_span(bytes), "a.img");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->problems, testing::IsEmpty());
  ASSERT_TRUE(read->own);
  EXPECT_EQ(read->own->program, program);
  EXPECT_EQ(read->model->operators.size(), compiled.model.operators.size());
}

void check_execution(const Program& program, const Target& target) {
  const Inference inference = simulate(program, target, true);
  const LogLayout layout = *layout_of_chip("ipu-muffin");
  const Logs logs = write_logs(inference, {}, layout, std::uint64_t{1} << 30);
  std::vector<CoreLog> cores;
  std::vector<std::uint32_t> numbers;
  for (std::size_t core = 0; core < logs.cores.size(); ++core) {
    if (logs.cores[core].bytes().empty()) continue;
    cores.push_back(*decode_log(as_byte_span(logs.cores[core].bytes()), layout, "log"));
    numbers.push_back(std::uint32_t(core));
    const std::size_t engines = inference.cores[core].intervals.size();
    EXPECT_EQ(cores.back().intervals.size(), engines + inference.cores[core].layers.size());
  }
  const IpuTimeline timeline =
      join_logs(std::move(cores), std::move(numbers),
                *decode_log(as_byte_span(logs.control.bytes()), layout, "log"), layout, 900e6);
  EXPECT_EQ(timeline.waits.contradictory, 0u);
}

TEST(IpuRandomModels, AreCompiledAndExecutedByTheRules) {
  std::mt19937 random(41);
  for (unsigned seed = 0; seed < 120; ++seed) {
    const std::string text = RandomModel(seed).text();
    SCOPED_TRACE(text);
    const Graph graph = parsed(text);
    Target target = muffin();
    target.cores = 1 + random() % 2;
    target.memory_bytes = std::uint64_t{1} << (14 + random() % 8);
    CompileOptions options;
    options.model_name = "random.onnx";
    options.batch = 1 + random() % 3;
    const auto compiled = compile(graph, target, options);
    if (!compiled && target.memory_bytes <= 1 << 16) {  // a few KiB are not enough for all models
      EXPECT_THAT(compiled.error().message, testing::HasSubstr("more than a log can tell"));
      continue;
    }
    ASSERT_TRUE(compiled) << compiled.error().message;
    check_program(graph, *compiled, options.batch);
    check_execution(compiled->image.own->program, target);
  }
}

}  // namespace
}  // namespace npuscope::npu::ipu::random_models_test
