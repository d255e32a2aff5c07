// From the reference IPU through its logs back to what it did.
#include "npu/targets/ipu/simulate.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "formats/sigmastar/model.hpp"
#include "formats/sigmastar/op_cost.hpp"
#include "formats/sigmastar/write_timeline.hpp"
#include "random_program.hpp"

namespace npuscope::npu::ipu::logs_test {
namespace {

using namespace sigmastar;

const LogLayout& layout() {
  static const LogLayout reference = *layout_of_chip("ipu-muffin");
  return reference;
}

using Row =
    std::tuple<LogEngine, std::uint32_t, std::uint16_t, std::int64_t, std::int64_t, std::uint32_t>;

std::vector<Row> rows_of(const std::vector<LogInterval>& intervals, std::int64_t shift = 0) {
  std::vector<Row> rows;
  for (const LogInterval& each : intervals) {
    rows.emplace_back(each.engine, each.layer, each.tile, each.begin + shift, each.end + shift,
                      each.bytes);
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<LogInterval> truth_of(const CoreRun& run) {
  std::vector<LogInterval> all = run.intervals;
  all.insert(all.end(), run.layers.begin(), run.layers.end());
  return all;
}

CoreLog decoded(const LogWriter& log) {
  auto core = decode_log(as_byte_span(log.bytes()), layout(), "log");
  EXPECT_TRUE(core) << (core ? "" : core.error().message);
  return core ? *core : CoreLog{};
}

IpuTimeline timeline_of(const Logs& logs) {
  std::vector<CoreLog> cores;
  std::vector<std::uint32_t> numbers;
  for (std::size_t core = 0; core < logs.cores.size(); ++core) {
    if (logs.cores[core].bytes().empty()) continue;
    cores.push_back(decoded(logs.cores[core]));
    numbers.push_back(std::uint32_t(core));
  }
  return join_logs(std::move(cores), std::move(numbers), decoded(logs.control), layout(), 900e6);
}

TEST(Logs, HoldWhatEveryEngineDidToTheCycle) {
  std::mt19937 random(21);
  for (int i = 0; i < 200; ++i) {
    const auto inference = simulate(random_ipu_program(random), random_ipu_target(random), true);
    const Logs logs = write_logs(inference, {}, layout(), default_log_bytes);
    const IpuTimeline timeline = timeline_of(logs);
    for (std::size_t place = 0; place < timeline.cores.size(); ++place) {
      const CoreRun& run = inference.cores[timeline.core_numbers[place]];
      EXPECT_EQ(rows_of(timeline.cores[place].intervals), rows_of(truth_of(run)));
      EXPECT_THAT(problems_of(timeline.cores[place], 0, default_log_bytes), testing::IsEmpty());
    }
    ASSERT_EQ(timeline.control->intervals.size(), 1u);
    EXPECT_EQ(timeline.control->intervals[0].end, inference.cycles);
  }
}

TEST(Logs, HoldEveryLayerAndEngineOfARealModel) {
  const Compiled compiled = compiled_ipu(repository_graph("light_squeezenet.onnx"));
  const auto inference = simulate(compiled.image.own->program, muffin(), true);
  const IpuTimeline timeline = timeline_of(write_logs(inference, {}, layout(), default_log_bytes));
  ASSERT_EQ(timeline.cores.size(), 2u);
  for (std::size_t core = 0; core < 2; ++core) {
    for (const LogLayer& layer : timeline.cores[core].layers) {
      for (const LogEngine engine :
           {LogEngine::conv, LogEngine::vector, LogEngine::dma_load, LogEngine::dma_store}) {
        std::int64_t busy = 0;
        for (const LogInterval& each : inference.cores[core].intervals) {
          if (each.engine != engine) continue;
          busy += length_of({std::max(each.begin, layer.begin), std::min(each.end, layer.end)});
        }
        EXPECT_EQ(layer.busy[std::size_t(engine)], busy) << "layer " << layer.layer;
      }
    }
  }
}

TEST(Logs, NoEngineWorksLongerInALayerThanTheLayerLasts) {
  for (const char* model : {"light_squeezenet.onnx", "light_resnet50.onnx"}) {
    const Compiled compiled = compiled_ipu(repository_graph(model));
    const auto inference = simulate(compiled.image.own->program, muffin(), true);
    const IpuTimeline timeline =
        timeline_of(write_logs(inference, {}, layout(), default_log_bytes));
    for (const CoreLog& log : timeline.cores) {
      for (const LogLayer& layer : log.layers) {
        EXPECT_LE(*std::max_element(layer.busy.begin(), layer.busy.end()), layer.end - layer.begin)
            << model << ", layer " << layer.layer;
      }
    }
  }
}

TEST(Logs, SeveralInferencesFollowOneAnother) {
  std::mt19937 random(22);
  const auto program = random_ipu_program(random);
  const auto inference = simulate(program, muffin(), true);
  const Logs logs = write_logs(inference, {3, 1'000'000}, layout(), default_log_bytes);
  const IpuTimeline timeline = timeline_of(logs);
  for (std::size_t place = 0; place < timeline.cores.size(); ++place) {
    std::vector<Row> expected;
    for (const std::int64_t start : {0, 1'000'000, 2'000'000}) {
      const auto rows = rows_of(truth_of(inference.cores[timeline.core_numbers[place]]), start);
      expected.insert(expected.end(), rows.begin(), rows.end());
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(rows_of(timeline.cores[place].intervals), expected);
  }
  EXPECT_EQ(timeline.control->intervals.size(), 3u);
  EXPECT_EQ(timeline.waits.contradictory, 0u);
}

// Of a log that was cut off, what is left is true.
TEST(Logs, LoseWhatDoesNotFitAndSaySo) {
  std::mt19937 random(23);
  for (int i = 0; i < 30; ++i) {
    const auto inference = simulate(random_ipu_program(random), random_ipu_target(random), true);
    const Logs whole = write_logs(inference, {2, 100'000}, layout(), default_log_bytes);
    for (const std::uint64_t size : {16, 100, 320, 1000, 3200}) {
      const Logs cut = write_logs(inference, {2, 100'000}, layout(), size);
      for (std::size_t core = 0; core < cut.cores.size(); ++core) {
        const std::string& bytes = cut.cores[core].bytes();
        const std::string& all = whole.cores[core].bytes();
        EXPECT_LE(bytes.size(), size);
        EXPECT_EQ(bytes, all.substr(0, bytes.size()));
        EXPECT_EQ(cut.cores[core].lost() * layout().record_bytes, all.size() - bytes.size());
        if (!cut.cores[core].overflowed() || bytes.empty()) continue;
        const CoreLog log = decoded(cut.cores[core]);
        EXPECT_THAT(problems_of(log, bytes.size(), size), testing::Not(testing::IsEmpty()));
        const auto left = rows_of(log.intervals),
                   complete = rows_of(decoded(whole.cores[core]).intervals);
        EXPECT_TRUE(std::includes(complete.begin(), complete.end(), left.begin(), left.end()));
        EXPECT_EQ(left.size() * 2 + log.unclosed, log.records);
      }
    }
  }
}

TEST(Logs, CountLossesOfManyInferencesWithoutWritingThem) {
  std::mt19937 random(24);
  const auto inference = simulate(random_ipu_program(random), muffin(), true);
  const std::uint64_t many = std::uint64_t{1} << 40;
  const Logs one = write_logs(inference, {}, layout(), default_log_bytes);
  const Logs logs = write_logs(inference, {many, 1000}, layout(), 4096);
  for (std::size_t core = 0; core < logs.cores.size(); ++core) {
    const std::uint64_t records = one.cores[core].bytes().size() / layout().record_bytes;
    EXPECT_EQ(logs.cores[core].lost() + logs.cores[core].bytes().size() / layout().record_bytes,
              records * many);
  }
}

// What an engine waited for, by the machine's rules: every start that is not the machine's own
// first is explained by the latest end among its arrows and its engine.
TEST(Logs, ArrowsAndTheOrderOnEnginesExplainEveryStart) {
  std::mt19937 random(25);
  for (int i = 0; i < 200; ++i) {
    const Target target = random_ipu_target(random);
    const auto inference = simulate(random_ipu_program(random), target, true);
    const IpuTimeline timeline =
        timeline_of(write_logs(inference, {}, layout(), default_log_bytes));
    EXPECT_EQ(timeline.waits.contradictory, 0u);
    for (std::uint32_t core = 0; core < timeline.cores.size(); ++core) {
      std::map<LogEngine, std::int64_t> free_at;
      const auto& intervals = timeline.cores[core].intervals;
      for (std::uint32_t at = 0; at < intervals.size(); ++at) {
        const LogInterval& each = intervals[at];
        if (each.engine == LogEngine::layer) continue;
        std::int64_t released = target.start_cycles;
        if (free_at.contains(each.engine)) {
          released = std::max(released, free_at[each.engine] + 2 * target.record_cycles);
        }
        for (const LogEdge& edge : timeline.waits.edges) {
          if (edge.to != LogPlace{core, at}) continue;
          released =
              std::max(released, timeline.cores[edge.from.log].intervals[edge.from.interval].end);
        }
        EXPECT_EQ(each.begin, released) << "program " << i << ", core " << core << ", layer "
                                        << each.layer << ", tile " << each.tile;
        free_at[each.engine] = each.end;
      }
    }
  }
}

TEST(Logs, OperatorCostIsTheTimeOfTheLayers) {
  const Compiled compiled = compiled_ipu(repository_graph("light_resnet50.onnx"));
  const auto& program = compiled.image.own->program;
  const auto inference = simulate(program, muffin(), true);
  const IpuTimeline timeline = timeline_of(write_logs(inference, {}, layout(), default_log_bytes));
  std::string text;
  write_timeline(timeline, {"ipu-muffin"}, [&](std::string_view piece) { text += piece; });
  const auto source = open_byte_source(text, "log_ctrl0.json");
  const auto read = read_layer_timeline(**source);
  ASSERT_TRUE(read) << read.error().message;
  const auto model = read_model(as_byte_span(write_model(compiled.model)), "fixed.sim");
  ASSERT_TRUE(model) << model.error().message;
  const auto costs = charge_operators(*model, read->layers, "log_ctrl0.json");
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_FALSE(costs->by_own_indices);
  std::vector<double> truth(compiled.model.operators.size());
  double sum = 0;
  for (const CoreRun& core : inference.cores) {
    for (const LogInterval& layer : core.layers) {
      truth[program.layers[layer.layer].first_operator] += double(layer.end - layer.begin);
      sum += double(layer.end - layer.begin);
    }
  }
  EXPECT_EQ(costs->sum, sum);
  for (std::size_t op = 0; op < truth.size(); ++op) {
    EXPECT_EQ(costs->operators[op].time, truth[op]) << "operator " << op;
  }
}

}  // namespace
}  // namespace npuscope::npu::ipu::logs_test
