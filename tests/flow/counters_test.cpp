// Counters against what the program is known to have done, per core and thread, for every recipe.
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "analysis/units/pmu.hpp"
#include "flow/flow.hpp"
#include "formats/qaic/opstats/opstats_trace.hpp"

namespace npuscope::counters_test {
namespace {

using qaic::Task;
using qaic::ThreadGroup;
using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // core, thread, event
using Counts = std::map<Key, std::uint64_t>;

// Of each thread's share: the first of a group takes what does not divide.
Counts counts_by_hand(const qaic::Program& program, std::uint32_t event,
                      std::uint64_t (*amount)(const Task&, ThreadGroup), std::uint64_t divisor) {
  Counts counts;
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    const std::uint32_t core = queue / qaic::thread_groups;
    const auto group = ThreadGroup(queue % qaic::thread_groups);
    const std::uint32_t threads = program.thread_count(group);
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
      std::uint64_t total = 0;
      for (auto i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
        const std::uint64_t all = amount(program.tasks[i], group);
        total += all / threads + (thread == 0 ? all % threads : 0);
      }
      counts[{core, program.first_thread(group) + thread, event}] = total / divisor;
    }
  }
  return counts;
}

Counts counted(const Profile& profile) {
  Counts counts;
  for (const Measure& measure : profile.measures) {
    const auto event = qaic::measure::event_of_pmu(profile.text(measure.what));
    if (!event || measure.subject != Measure::Subject::unit) continue;
    const Unit& unit = profile.units[measure.subject_id];
    counts[{unit.core, unit.lane, *event}] = std::uint64_t(measure.value);
  }
  return counts;
}

// Cycles of a thread's ops, from their own records; 0 for threads of other groups.
Counts cycles_of_ops(const Profile& profile, Engine engine, std::uint32_t event) {
  Counts cycles;
  for (const Unit& unit : profile.units) {
    const bool thread = unit.engine == Engine::hvx || unit.engine == Engine::hmx ||
                        unit.engine == Engine::dma_issue;
    if (thread) cycles[{unit.core, unit.lane, event}] = 0;
  }
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const Unit& unit = profile.units[index_of(profile.spans.unit[i])];
    if (unit.engine != engine || profile.spans.kind[i] != SpanKind::op) continue;
    cycles[{unit.core, unit.lane, event}] += std::uint64_t(profile.spans.processor_cycles[i]);
  }
  return cycles;
}

ModelFlow flow(const std::string& recipe, std::uint32_t level) {
  auto request = request_for(3, level);
  request.pmu_recipe = recipe;
  request.options.ddr_stats = true;
  return run_flow(std::string(NPUSCOPE_SOURCE_DIR) + "/models/light_squeezenet.onnx", request);
}

std::uint64_t read_bytes(const Task& task, ThreadGroup) { return task.ddr_read; }
std::uint64_t written_bytes(const Task& task, ThreadGroup) { return task.ddr_write; }
std::uint64_t hmx_macs(const Task& task, ThreadGroup group) {
  return group == ThreadGroup::hmx ? task.macs : 0;
}

TEST(Counters, OfTheAxiRecipesAreTheBytesOfTheProgram) {
  for (const std::uint32_t level : {40u, 100u}) {
    const ModelFlow reads = flow("AxiRd", level);
    EXPECT_EQ(counted(reads.profiles[0]), counts_by_hand(reads.program, 0x200, read_bytes, 64));
    const ModelFlow writes = flow("AxiWr", level);
    EXPECT_EQ(counted(writes.profiles[0]),
              counts_by_hand(writes.program, 0x201, written_bytes, 64));
    const ModelFlow both = flow("AxiRdWr", level);
    Counts expected = counts_by_hand(both.program, 0x200, read_bytes, 64);
    expected.merge(counts_by_hand(both.program, 0x201, written_bytes, 64));
    EXPECT_EQ(counted(both.profiles[0]), expected);
  }
}

TEST(Counters, OfHmxMacsAreTheProductsOfTheProgram) {
  const ModelFlow run = flow("HmxMacs", 70);
  Counts expected = counts_by_hand(run.program, 0x80, hmx_macs, 4096);
  expected.merge(cycles_of_ops(run.profiles[0], Engine::hmx, 0x70));
  EXPECT_EQ(counted(run.profiles[0]), expected);
}

TEST(Counters, OfKernelUtilAreTheCyclesOfTheOps) {
  const ModelFlow run = flow("KernelUtil", 100);
  Counts expected = cycles_of_ops(run.profiles[0], Engine::hmx, 0x70);
  expected.merge(cycles_of_ops(run.profiles[0], Engine::hvx, 0x71));
  Counts actual = counted(run.profiles[0]);
  std::uint64_t dma = 0;
  std::erase_if(actual, [&](const auto& entry) {
    const bool of_dma = std::get<2>(entry.first) == 0x72;
    dma += of_dma ? entry.second : 0;
    return of_dma;
  });
  EXPECT_EQ(actual, expected);
  EXPECT_GT(dma, 0u);
}

// One core with the memory to itself at a fixed clock: what its DMA engine is busy with is bytes by
// rate, of DDR or of the multicast network, whichever takes longer.
TEST(Counters, OfTheDmaEngineAreItsBytesByItsRates) {
  auto request = request_for(1, 100);
  request.pmu_recipe = "KernelUtil";
  npu::nsp::SimulationOptions options;
  options.core_hz = 1e9;
  options.inferences = 1;
  options.samples = 1;
  const ModelFlow run = run_flow(std::string(NPUSCOPE_SOURCE_DIR) + "/models/light_squeezenet.onnx",
                                 request, options);
  const npu::nsp::Target target = *npu::nsp::builtin_target("aic100");
  const double ddr =
      std::min(target.ddr_bytes_per_s_per_core, target.ddr_bytes_per_s * target.ddr_efficiency);
  const std::uint32_t queue = std::uint32_t(ThreadGroup::dma_issue);
  double cycles = 0, transfers = 0;
  std::map<std::uint32_t, double> of_op;  // by position
  for (auto i = run.program.queue_begin[queue]; i < run.program.queue_begin[queue + 1]; ++i) {
    const Task& task = run.program.tasks[i];
    if ((task.flags & qaic::task_end_stats) != 0) continue;  // the thread's own work
    const double seconds = std::max(double(task.ddr_read + task.ddr_write) / ddr,
                                    double(task.multicast) / target.multicast_bytes_per_s_per_core);
    of_op[i - run.program.queue_begin[queue]] = seconds * options.core_hz;
    cycles += seconds * options.core_hz;
    transfers += 1;
  }
  ASSERT_GT(transfers, 20);
  const Counts counts = counted(run.profiles[0]);
  const std::uint32_t thread = run.program.first_thread(ThreadGroup::dma_issue);
  EXPECT_NEAR(double(counts.at({0, thread, 0x72})), cycles, transfers);  // whole cycles of each
  std::size_t ops = 0;
  for (const Measure& measure : run.profiles[0].measures) {
    if (measure.subject != Measure::Subject::span) continue;
    if (qaic::measure::event_of_pmu(run.profiles[0].text(measure.what)) != 0x72u) continue;
    const Spans& spans = run.profiles[0].spans;
    const Unit& unit = run.profiles[0].units[index_of(spans.unit[measure.subject_id])];
    const Op& op = run.profiles[0].ops[index_of(spans.op[measure.subject_id])];
    const auto expected = of_op.find(op.position);
    const bool moves = unit.engine == Engine::dma_issue && expected != of_op.end();
    EXPECT_NEAR(measure.value, moves ? expected->second : 0, 1.001) << op.position;
    ops += moves;
  }
  EXPECT_EQ(double(ops), transfers);
}

// By the cycles of the threads, counted here from the spans of their inferences.
TEST(Counters, OfKernelUtilHadNoPercentage) {
  for (const std::uint32_t level : {40u, 100u}) {
    const ModelFlow run = flow("KernelUtil", level);
    const Profile& profile = run.profiles[0];
    const analysis::Pmu pmu = analysis::analyse_pmu(profile);
    ASSERT_TRUE(pmu.recipe);
    EXPECT_EQ(pmu.recipe->name, "KernelUtil");
    ASSERT_EQ(pmu.rows.size(), 3u);
    const Engine engines[] = {Engine::hmx, Engine::hvx, Engine::dma_issue};
    for (std::size_t i = 0; i < 3; ++i) {
      const analysis::PmuRow& row = pmu.rows[i];
      ASSERT_EQ(row.code, 0x70 + i);
      double count = 0, cycles = 0;
      for (const auto& [key, value] : counted(profile)) {
        if (std::get<2>(key) == row.code) count += double(value);
      }
      for (std::size_t span = 0; span < profile.spans.size(); ++span) {
        const Unit& unit = profile.units[index_of(profile.spans.unit[span])];
        if (unit.engine != engines[i] || profile.spans.kind[span] != SpanKind::inference) continue;
        cycles += double(profile.spans.processor_cycles[span]);
      }
      EXPECT_EQ(row.value.count, count);
      EXPECT_DOUBLE_EQ(row.value.share().value(), count / cycles);
      EXPECT_EQ(row.cores.size(), 3u);
    }
    const qaic::OpstatsSummary summary = qaic::summarise(profile);
    EXPECT_EQ(summary.cores[0].pmu_use().size(), 3u);
    const std::string text = qaic::print_summary(summary);
    EXPECT_NE(text.find("HMX_ACTIVE_CYCLES (cycles)\n"), text.npos);
    EXPECT_NE(text.find("c00 KernelUtil HVX_ACTIVE_CYCLES:"), text.npos);
  }
}

TEST(Counters, OfDdrAreTheBytesOfEachCore) {
  const ModelFlow run = flow("", 70);
  const qaic::OpstatsSummary summary = qaic::summarise(run.profiles[0]);
  for (std::uint32_t core = 0; core < run.program.cores; ++core) {
    const auto bound = [&](std::uint32_t of) {
      return run.program.queue_begin[std::size_t{of} * qaic::thread_groups];
    };
    std::uint64_t reads = 0, writes = 0;
    for (auto i = bound(core); i < bound(core + 1); ++i) {
      reads += run.program.tasks[i].ddr_read;
      writes += run.program.tasks[i].ddr_write;
    }
    ASSERT_TRUE(summary.cores[core].ddr);
    EXPECT_EQ(summary.cores[core].ddr->read_bytes, reads);
    EXPECT_EQ(summary.cores[core].ddr->write_bytes, writes);
  }
}

// Running totals: they begin at 0, never fall, and end at what the threads of the core counted;
// from level 100 with a step per op.
TEST(Counters, AreTracksOfTheTrace) {
  for (const std::uint32_t level : {70u, 100u}) {
    const ModelFlow run = flow("AxiRd", level);
    const auto path = std::filesystem::path(testing::TempDir()) /
                      fmt::format("npuscope-counters-{}.json", ::getpid());
    const Profile* profiles[] = {&run.profiles[0]};
    must(qaic::write_opstats_trace(profiles, {}, path));
    const auto mapped = MappedFile::open(path);
    must(mapped);
    const auto trace = nlohmann::json::parse(as_text(mapped->bytes()));
    std::map<std::pair<int, std::string>, std::vector<double>> series;
    for (const auto& event : trace["traceEvents"]) {
      if (event["ph"] != "C" || event["name"] == "Freq") continue;
      series[{event["pid"].get<int>(), event["name"].get<std::string>()}].push_back(
          event["args"].begin()->get<double>());
    }
    EXPECT_EQ(series.size(), 3u * 3u);
    std::map<std::uint32_t, double> per_core;
    for (const auto& [key, count] : counted(run.profiles[0])) {
      per_core[std::get<0>(key)] += double(count);
    }
    for (std::uint32_t core = 0; core < 3; ++core) {
      const auto& values = series.at({int(2000 + core), "pmu AXI_READ_64B"});
      EXPECT_EQ(values.front(), 0);
      EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
      EXPECT_EQ(values.back(), per_core[core]);
      EXPECT_EQ(values.size() > 10, level == 100);
      EXPECT_EQ(series.at({int(2000 + core), "ddr read bytes"}).size(), 2u);
    }
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace npuscope::counters_test
