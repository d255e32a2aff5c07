// What the QNN reader finds in the files of a run against what the simulated HTP did: every span on
// every lane, who owned each cycle, bytes, phases. The reader sees only the files.
#include <unistd.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/path/path_groups.hpp"
#include "flow/flow.hpp"
#include "formats/qnn/assemble/sets.hpp"
#include "npu/targets/nsp/simulate/run/run_files.hpp"

namespace npuscope::qnn_test {
namespace {

constexpr std::uint64_t inferences = 3;

class QnnFlow {
 public:
  explicit QnnFlow(const std::filesystem::path& model, bool convert_to_fp16 = true) {
    folder_ =
        std::filesystem::path(testing::TempDir()) / fmt::format("npuscope-qnn-{}", ::getpid());
    std::filesystem::create_directories(folder_);
    npu::nsp::BuildRequest request = request_for(1, 70);
    request.target = "htp-v75";
    request.options.convert_to_fp16 = convert_to_fp16;
    npu::nsp::SimulationOptions options;
    options.op_trace = true;
    options.keep_truth = true;
    options.inferences = inferences;
    options.on_op_trace = [&](const npu::nsp::SimulatedInference& it) { traced_.push_back(it); };
    flow_ = run_flow(model, request, options);
    const auto programs = qaic::find_programs(flow_.qpc, "programqpc.bin");
    const auto schematic =
        qaic::read_schematic(programs->at(0).qpc.find(qaic::segment_schematic)->bytes, "schematic");
    must(schematic);
    schematic_ = *schematic;
    const auto target = npu::nsp::builtin_target("htp-v75");
    EXPECT_TRUE(npu::nsp::check_optrace(flow_.program, &schematic_, *target));
    npu::nsp::NodeCycles node_cycles;
    for (const npu::nsp::SimulatedInference& inference : traced_) {
      node_cycles.push_back(npu::nsp::node_cycles_of(flow_.program, schematic_, inference));
    }
    auto set =
        npu::nsp::make_optrace(flow_.program, schematic_, *target, flow_.simulated, node_cycles);
    must(set);
    const auto stem = folder_ / "chrometrace";
    EXPECT_TRUE(qnn::optrace::write_optrace_set(*set, stem));
    std::vector<qnn::File> files;
    for (const auto& path : qnn::optrace::optrace_files(*set, stem)) {
      std::ifstream in(path);
      std::string head(4096, '\0');
      in.read(head.data(), std::streamsize(head.size()));
      head.resize(std::size_t(in.gcount()));
      files.push_back({path, qnn::recognise(head)});
    }
    auto sets = qnn::read_sets(files);
    must(sets);
    EXPECT_EQ(sets->profiles.size(), 1u);
    EXPECT_TRUE(sets->unreadable.empty());
    profile_ = std::move(sets->profiles.at(0));
  }
  ~QnnFlow() { std::filesystem::remove_all(folder_); }

  const qaic::Program& program() const { return flow_.program; }
  const qaic::Schematic& schematic() const { return schematic_; }
  const qaic::NetworkDescriptor& descriptor() const { return flow_.descriptor; }
  const std::vector<npu::nsp::SimulatedInference>& simulated() const {
    return flow_.simulated.inferences;
  }
  const std::vector<npu::nsp::OpTraceRecord>& records() const { return simulated().at(0).op_trace; }
  const Profile& profile() const { return profile_; }
  qnn::optrace::OptraceSet set_with(const qaic::Schematic& schematic) const {
    const auto target = npu::nsp::builtin_target("htp-v75");
    const auto set = npu::nsp::make_optrace(flow_.program, schematic, *target, flow_.simulated);
    must(set);
    return *set;
  }
  const std::vector<npu::nsp::SimulatedInference>& traced() const { return traced_; }
  nlohmann::json qhas() const {
    std::ifstream in(folder_ / "chrometrace_qnn_htp_analysis_summary.json");
    return nlohmann::json::parse(in);
  }

 private:
  std::filesystem::path folder_;
  ModelFlow flow_;
  std::vector<npu::nsp::SimulatedInference> traced_;  // each inference with its op records
  qaic::Schematic schematic_;
  Profile profile_;
};

struct Expected {
  std::int64_t duration = 0;
  Engine engine = Engine::none;
  SpanKind kind = SpanKind::op;
  std::uint32_t task = ~0u;  // whose work it is; none for waits and checkpoints
  std::uint32_t node = 0;    // of the schematic
  auto operator<=>(const Expected&) const = default;
};
using Place = std::pair<std::uint32_t, std::int64_t>;  // tid, start

std::uint32_t group_of(const qaic::Program& program, std::uint32_t task) {
  std::uint32_t queue = 0;
  while (program.queue_begin[queue + 1] <= task) ++queue;
  return queue % qaic::thread_groups;
}

// Threads 0 to 3 are HVX; HMX and DMA share the main lane.
std::map<Place, Expected> expected_spans(const QnnFlow& flow,
                                         const std::vector<npu::nsp::OpTraceRecord>& records) {
  std::map<Place, Expected> spans;
  for (const npu::nsp::OpTraceRecord& record : records) {
    const bool hvx = record.thread < 4;
    const std::uint32_t tid = hvx ? 512 + record.thread : 256;
    const auto role = qaic::SchematicRole(flow.schematic().ops[record.task].role);
    const auto start = std::int64_t(record.start_cycle);
    const auto node_of = [&](std::uint32_t op) { return flow.schematic().ops[op].node; };
    const auto add = [&](std::int64_t from, std::int64_t to, Expected span) {
      span.duration = to - from;
      EXPECT_TRUE(spans.emplace(Place{tid, from}, span).second);
    };
    const bool waited = record.waited_for != npu::nsp::OpTraceRecord::nothing &&
                        record.start_cycle > record.wait_cycle;
    if (waited && record.thread != 1 && record.thread != 2 && record.thread != 3) {
      add(std::int64_t(record.wait_cycle), start,
          {.kind = SpanKind::dma_wait, .node = node_of(record.waited_for)});
    }
    const bool whole = role == qaic::SchematicRole::spill;
    const auto end = std::int64_t(whole ? record.leave_cycle : record.end_cycle);
    Expected span{.task = record.task, .node = node_of(record.task)};
    if (role == qaic::SchematicRole::compute) span.engine = hvx ? Engine::hvx : Engine::hmx;
    if (role == qaic::SchematicRole::sync) span.kind = SpanKind::sync;
    add(start, end, span);
    if (role == qaic::SchematicRole::dma && record.leave_cycle > record.end_cycle) {
      add(end, std::int64_t(record.leave_cycle), {.node = node_of(record.task)});
    }
  }
  return spans;
}

std::map<Place, Expected> expected_spans(const QnnFlow& flow) {
  return expected_spans(flow, flow.records());
}

std::map<Place, std::size_t> found_spans(const Profile& profile) {
  std::map<Place, std::size_t> spans;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    const Unit& unit = profile.units[index_of(profile.spans.unit[i])];
    EXPECT_TRUE(spans.emplace(Place{unit.lane, profile.spans.start[i]}, i).second);
  }
  return spans;
}

void expect_spans(const QnnFlow& flow) {
  const Profile& profile = flow.profile();
  const auto expected = expected_spans(flow);
  const auto found = found_spans(profile);
  ASSERT_EQ(found.size(), expected.size());
  std::map<std::uint32_t, std::set<std::uint64_t>> ids;  // by task: slices share one
  for (const auto& [place, span] : expected) {
    const auto at = found.find(place);
    ASSERT_NE(at, found.end()) << place.first << " " << place.second;
    const std::size_t i = at->second;
    ASSERT_EQ(profile.spans.duration[i], span.duration);
    ASSERT_EQ(profile.spans.kind[i], span.kind) << place.second;
    const Op& op = profile.ops[index_of(profile.spans.op[i])];
    const bool computes = span.engine != Engine::none;
    ASSERT_TRUE(!computes || op.engine == span.engine);
    if (span.task != ~0u) ids[span.task].insert(op.id);
  }
  std::set<std::uint64_t> distinct;
  for (const auto& [task, of_task] : ids) {
    ASSERT_EQ(of_task.size(), 1u);
    distinct.insert(*of_task.begin());
  }
  EXPECT_EQ(distinct.size(), flow.program().tasks.size());
}

// When the thread came to its wait: it was free, and, of an HMX task that polls for a transfer, the
// work of others that the task waits for had ended.
Picoseconds came_to_wait(const QnnFlow& flow, const npu::nsp::TaskTruth& truth) {
  const qaic::Program& program = flow.program();
  const npu::nsp::Target target = *npu::nsp::builtin_target("htp-v75");
  const auto is_transfer = [](const qaic::Wait& wait) {
    return qaic::ThreadGroup(wait.queue % qaic::thread_groups) == qaic::ThreadGroup::dma_issue;
  };
  const qaic::Task& task = program.tasks[truth.task];
  const auto waits = std::span(program.waits).subspan(task.wait_begin, task.wait_count);
  Picoseconds came = truth.sync_begin;
  if (truth.thread != program.first_thread(qaic::ThreadGroup::hmx)) return came;
  if (std::none_of(waits.begin(), waits.end(), is_transfer)) return came;
  for (const qaic::Wait& wait : waits) {
    if (is_transfer(wait) || wait.count == 0) continue;
    for (const npu::nsp::TaskTruth& other : flow.simulated().at(0).truth) {
      if (other.task != program.queue_begin[wait.queue] + wait.count - 1) continue;
      const double latency = target.sync_cycles / target.core_hz;
      came = std::max(came, other.barrier_end + Picoseconds{std::llround(latency * 1e12)});
    }
  }
  return came;
}

// Independent of records and of what is written: the simulation's own times, to the cycle that
// rounding may cost.
void expect_simulated_times(const QnnFlow& flow) {
  const npu::nsp::SimulatedInference& first = flow.simulated().at(0);
  const auto& graph = first.phases.back();
  const double hertz = npu::nsp::builtin_target("htp-v75")->session->cold.graph_hz;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const npu::nsp::OpTraceRecord*> records;
  for (const auto& record : first.op_trace) records[{record.task, record.thread}] = &record;
  // Threads of HVX that have no part in a task record nothing of it.
  std::vector<npu::nsp::TaskTruth> parts;
  for (const npu::nsp::TaskTruth& truth : first.truth) {
    const std::uint32_t sharing = flow.program().tasks[truth.task].threads;
    if (sharing == 0 || truth.thread < sharing) parts.push_back(truth);
  }
  ASSERT_EQ(records.size(), parts.size());
  Picoseconds origin{};  // when the cycle counter read what the first record says
  for (const npu::nsp::TaskTruth& truth : parts) {
    const npu::nsp::OpTraceRecord& record = *records.at({truth.task, truth.thread});
    const auto cycles = [&](Picoseconds time) { return double(time.value) * 1e-12 * hertz; };
    if (origin.value == 0) {
      origin =
          truth.start -
          Picoseconds{std::int64_t(double(record.start_cycle - graph.start_cycles) / hertz * 1e12)};
    }
    const auto since = [&](std::uint64_t cycle) { return double(cycle - graph.start_cycles); };
    ASSERT_NEAR(since(record.start_cycle), cycles(truth.start - origin), 2);
    ASSERT_NEAR(since(record.end_cycle), cycles(truth.kernel_end - origin), 2);
    ASSERT_NEAR(since(record.leave_cycle), cycles(truth.barrier_end - origin), 2);
    ASSERT_NEAR(since(record.wait_cycle), cycles(came_to_wait(flow, truth) - origin), 2);
  }
}

std::vector<std::int64_t> measure(const Profile& profile, std::string_view what) {
  for (const MeasureColumn& column : profile.spans.measures) {
    if (profile.text(column.what) == what) return {column.values.begin(), column.values.end()};
  }
  ADD_FAILURE() << "no column " << what;
  return std::vector<std::int64_t>(profile.spans.size());
}

// Bytes of a task are those that the program moves, whichever slices they are shared by.
void expect_traffic(const QnnFlow& flow) {
  const Profile& profile = flow.profile();
  const auto expected = expected_spans(flow);
  const auto found = found_spans(profile);
  for (const auto& [what, of_task] :
       std::map<std::string, std::uint64_t (*)(const QnnFlow&, std::uint32_t)>{
           {"ddr read bytes", [](const QnnFlow& it,
                                 std::uint32_t task) { return it.program().tasks[task].ddr_read; }},
           {"ddr write bytes",
            [](const QnnFlow& it,
               std::uint32_t task) { return it.program().tasks[task].ddr_write; }},
           {"vtcm read bytes",
            [](const QnnFlow& it,
               std::uint32_t task) { return it.schematic().ops[task].vtcm_read; }},
           {"vtcm write bytes", [](const QnnFlow& it, std::uint32_t task) {
              return it.schematic().ops[task].vtcm_write;
            }}}) {
    const auto bytes = measure(profile, what);
    std::map<std::uint32_t, std::int64_t> sums;
    for (const auto& [place, span] : expected) {
      const std::int64_t mine = bytes[found.at(place)];
      if (span.task == ~0u) {
        ASSERT_EQ(mine, 0);
      } else {
        sums[span.task] += mine;
      }
    }
    for (std::uint32_t task = 0; task < flow.program().tasks.size(); ++task) {
      ASSERT_EQ(sums.at(task), std::int64_t(of_task(flow, task))) << what << " " << task;
    }
  }
}

// From boundary to boundary, the best of all that run: quadratic, but plain.
void expect_dominant_path(const QnnFlow& flow) {
  const Profile& profile = flow.profile();
  const auto expected = expected_spans(flow);
  struct Run {
    int rank;
    Place place;
    std::int64_t end;
  };
  std::vector<Run> runs;
  std::set<std::int64_t> boundaries;
  for (const auto& [place, span] : expected) {
    const int rank = span.engine == Engine::hmx ? 0 : span.engine == Engine::hvx ? 1 : 2;
    runs.push_back({rank, place, place.second + span.duration});
    boundaries.insert(place.second);
    boundaries.insert(runs.back().end);
  }
  std::map<Place, std::int64_t> owned;
  for (auto at = boundaries.begin(); std::next(at) != boundaries.end(); ++at) {
    const Run* best = nullptr;
    for (const Run& run : runs) {
      if (run.place.second > *at || run.end <= *at) continue;
      if (best == nullptr || std::tie(run.rank, run.place) < std::tie(best->rank, best->place)) {
        best = &run;
      }
    }
    if (best != nullptr) owned[best->place] += *std::next(at) - *at;
  }
  const auto path = measure(profile, "dominant path");
  for (const auto& [place, i] : found_spans(profile)) {
    ASSERT_EQ(path[i], owned[place]) << place.first << " " << place.second;
  }
}

// The viewer's text has every node of every inference: what its spans add up to.
void expect_node_cycles(const QnnFlow& flow) {
  const Profile& profile = flow.profile();
  std::map<std::pair<std::uint32_t, std::string>, std::int64_t> found;  // by inference and node
  for (const Measure& measure : profile.measures) {
    if (profile.text(measure.what) != "node cycles") continue;
    const Op& op = profile.ops[measure.subject_id];
    const auto key = std::pair(measure.instance, std::string(profile.text(op.name)));
    ASSERT_TRUE(found.emplace(key, std::int64_t(measure.value)).second) << key.second;
  }
  ASSERT_EQ(flow.traced().size(), inferences);
  for (const npu::nsp::SimulatedInference& inference : flow.traced()) {
    std::map<std::uint32_t, std::int64_t> sums;
    for (const auto& [place, span] : expected_spans(flow, inference.op_trace)) {
      sums[span.node] += span.duration;
    }
    const qaic::Schematic& schematic = flow.schematic();
    for (std::uint32_t node = 0; node < schematic.nodes.size(); ++node) {
      const std::string& name = schematic.texts[schematic.nodes[node].name];
      if (schematic.nodes[node].id == 0) continue;
      ASSERT_EQ(found.at({std::uint32_t(inference.number), name}), sums[node]) << name;
    }
  }
}

void expect_phases(const QnnFlow& flow) {
  const Profile& profile = flow.profile();
  ASSERT_EQ(profile.phases.size(), 4 * inferences);
  std::size_t i = 0;
  for (const npu::nsp::SimulatedInference& inference : flow.simulated()) {
    for (const npu::nsp::SessionPhase& phase : inference.phases) {
      const Phase& found = profile.phases[i++];
      EXPECT_EQ(profile.text(found.name), phase.name);
      EXPECT_EQ(found.instance, inference.number);
      EXPECT_EQ(found.start, std::int64_t(phase.start_cycles));
      EXPECT_EQ(found.duration, std::int64_t(phase.end_cycles - phase.start_cycles));
      EXPECT_NEAR(found.microseconds, double(phase.end_ticks - phase.start_ticks) / 19.2, 1e-6);
    }
  }
}

// Nothing was lost on the way, and every identity that the files of a run obey is kept.
void expect_whole(const QnnFlow& flow) {
  for (const Check& check : flow.profile().checks) {
    EXPECT_EQ(check.outcome, Check::Outcome::passed) << check.name << ": " << check.detail;
  }
  EXPECT_EQ(flow.profile().checks.size(), 16u);
  for (const Note& note : flow.profile().notes) {
    EXPECT_EQ(note.severity, Severity::info) << note.message;
  }
}

// Of the compute ops that the compiler named after a node of the model, the owner is that node.
void expect_owners(const QnnFlow& flow) {
  const Profile& profile = flow.profile();
  const auto found = found_spans(profile);
  std::size_t compared = 0;
  for (const auto& [place, span] : expected_spans(flow)) {
    if (span.engine != Engine::hmx) continue;
    const Op& op = profile.ops[index_of(profile.spans.op[found.at(place)])];
    const std::uint32_t group = group_of(flow.program(), span.task);
    const std::uint32_t position = span.task - flow.program().queue_begin[group];
    const qaic::StatsDescriptor& stats = flow.descriptor().stats;
    std::string name(stats.texts[stats.ops[0][group][position].name]);
    if (const auto tile = name.rfind("/__"); tile != std::string::npos) name.resize(tile);
    ASSERT_EQ(profile.text(op.node), name);
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

void expect_truth(const QnnFlow& flow) {
  expect_whole(flow);
  expect_spans(flow);
  expect_simulated_times(flow);
  expect_traffic(flow);
  expect_dominant_path(flow);
  expect_phases(flow);
  expect_node_cycles(flow);
  expect_owners(flow);
}

TEST(QnnFilesAgainstTruth, SqueezeNet) {
  expect_truth(QnnFlow(repository_model("light_squeezenet.onnx")));
}

// The rows of QHAS, which the writer found with an algorithm of its own.
TEST(QnnFilesAgainstTruth, TheDominantPathHadNoListToCompareWithQhas) {
  const QnnFlow flow(repository_model("light_squeezenet.onnx"));
  const Profile& profile = flow.profile();
  const auto paths = analysis::PathAnalysis::create(profile, std::nullopt);
  ASSERT_TRUE(paths);
  const auto steps = paths->observed().steps;
  const auto path = analysis::vendor_path(profile, steps);
  ASSERT_TRUE(path) << path.error().message;
  using Row = std::tuple<std::int64_t, std::int64_t, std::uint64_t, bool>;
  std::vector<Row> found, expected;
  std::int64_t critical = 0;
  for (const analysis::VendorSegment& segment : path->segments) {
    const bool idle = segment.row == analysis::no_row;
    const bool partial = !idle && segment.duration < profile.spans.duration[segment.row];
    const std::uint64_t id = idle ? 0 : profile.ops[index_of(profile.spans.op[segment.row])].id;
    found.emplace_back(segment.start, segment.start + segment.duration, id, partial);
    EXPECT_LE(segment.critical, segment.duration);
    critical += segment.critical;
  }
  const nlohmann::json qhas = flow.qhas();
  for (const auto& row : qhas["data"]["dominant_path_htp_0"]["data"]) {
    expected.emplace_back(row["start_cycle"], row["end_cycle"],
                          std::stoull(row["op_id"].get<std::string>(), nullptr, 16),
                          row["partial"]);
  }
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(found, expected);
  EXPECT_EQ(path->owned + path->idle, path->wall);
  EXPECT_EQ(path->differing, 0u);
  EXPECT_GT(critical, path->wall / 2);
}

// What is not quantised has a step of 1; what the schematic has a scale of has that.
TEST(QnnFilesAgainstTruth, ScalesAreThoseOfTheSchematic) {
  const QnnFlow flow(repository_model("light_squeezenet.onnx"));
  qaic::Schematic schematic = flow.schematic();
  const auto plain = flow.set_with(schematic);
  std::vector<std::uint32_t> tensors;
  for (std::uint32_t i = 0; i < schematic.ops.size(); ++i) {
    if (schematic.ops[i].dims_count > 0 && plain.ops[i].step_size == 1) tensors.push_back(i);
  }
  ASSERT_GT(tensors.size(), 20u);
  for (const std::uint32_t op : tensors) {
    if (op % 3 == 0) schematic.scales.push_back({op, 0.5F + float(op), std::int32_t(op)});
  }
  const auto scaled = flow.set_with(schematic);
  for (const std::uint32_t op : tensors) {
    EXPECT_EQ(scaled.ops[op].step_size, op % 3 == 0 ? 0.5F + float(op) : 1.0F);
    EXPECT_EQ(scaled.ops[op].zero_offset, op % 3 == 0 ? std::int32_t(op) : 0);
  }
}

TEST(QnnFilesAgainstTruth, ResNet50) {
  const QnnFlow flow(repository_model("light_resnet50.onnx"));
  expect_truth(flow);
  // As the model's own flow counts: stem, 16 blocks and classifier are convolutions and a Gemm; the
  // sums of the blocks are on the HMX as well.
  std::set<std::string_view> products;
  for (const Op& op : flow.profile().ops) {
    if (op.engine == Engine::hmx) products.insert(flow.profile().text(op.node));
  }
  EXPECT_EQ(products.size(), 54u + 16);
}

TEST(QnnFilesAgainstTruth, TransformerBlock) {
  npu::ArchitectureChanges changes;
  changes.layers = 1;
  const auto architecture = npu::make_architecture("bert-base", changes);
  must(architecture);
  const auto model = npu::generate_onnx(*architecture, {1, 128, 0}, {});
  must(model);
  const auto path =
      std::filesystem::path(testing::TempDir()) / fmt::format("npuscope-block-{}.onnx", ::getpid());
  ASSERT_TRUE(write_file_atomically(path, as_byte_span(model->bytes)));
  const QnnFlow flow(path);
  std::filesystem::remove(path);
  expect_truth(flow);
}

}  // namespace
}  // namespace npuscope::qnn_test
