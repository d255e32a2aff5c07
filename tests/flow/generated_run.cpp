#include "flow/generated_run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "formats/qaic/stats/stats_decoder.hpp"
#include "formats/qnn/assemble/sets.hpp"
#include "npu/targets/nsp/simulate/random_program.hpp"
#include "npu/targets/nsp/simulate/run/run_files.hpp"

namespace npuscope {
namespace {

using qaic::Program;
using qaic::Task;
using qaic::ThreadGroup;

enum Kernel : std::uint32_t { compute, copy_in, copy_out, multicast, gather, end_of_statistics };
const std::vector<std::string> kernel_names{"elementadd",      "aiccopytovtcm",
                                            "aiccopyfromvtcm", "aicmulticastvtcm",
                                            "aicgather",       "aicendcyclestats"};

class Generator {
 public:
  explicit Generator(const GeneratedOptions& options)
      : options_(options), random_(options.seed), builder_(options.cores, 70) {}

  Program make() {
    for (std::uint32_t i = 0; i < options_.tasks; ++i) add(i);
    for (std::uint32_t queue = 0; queue < builder_.program().queues(); ++queue) {
      Task& last = builder_.add(queue, 500);
      last.kernel = end_of_statistics;
      last.flags = qaic::task_end_stats;
      last.ddr_write = 4096;
    }
    Program& program = builder_.program();
    program.kernels = kernel_names;
    program.ddr_stats = true;
    program.input_bytes = 100'000;
    program.output_bytes = 4'000;
    Program made = builder_.finish();
    add_dependencies(made);
    return made;
  }

 private:
  struct Added {
    std::uint32_t queue = 0, count = 0;
  };
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  std::vector<Added> waited_for(std::uint32_t i) {
    constexpr std::uint32_t group = 8;
    std::vector<Added> found;
    if (added_.empty()) return found;
    switch (options_.shape) {
      case Shape::free: break;
      case Shape::random:
        for (std::uint64_t wait = below(3); wait > 0; --wait) {
          found.push_back(added_[below(added_.size())]);
        }
        break;
      case Shape::chain: found.push_back(added_.back()); break;
      case Shape::fork_join:
        if (i % group != 0) found.push_back(added_[i / group * group]);
        if (i % group == 0) found.assign(added_.end() - group, added_.end());
        break;
    }
    return found;
  }

  void add(std::uint32_t i) {
    const auto queue = std::uint32_t(below(builder_.program().cores * qaic::thread_groups));
    std::vector<qaic::Wait> waits;
    for (const Added& each : waited_for(i)) {
      const bool seen = std::any_of(waits.begin(), waits.end(),
                                    [&](const auto& it) { return it.queue == each.queue; });
      if (each.queue != queue && !seen) waits.push_back({each.queue, each.count});
    }
    builder_.add(queue, 0, waits) = task_of(ThreadGroup(queue % qaic::thread_groups));
    added_.push_back({queue, builder_.count(queue)});
  }

  Task task_of(ThreadGroup group) {
    Task task;
    task.flags = below(2) != 0 ? qaic::task_signals : 0;
    task.cycles = std::uint32_t(2 + below(4) * below(8'000) / 2 * 2);
    if (group != ThreadGroup::dma_issue) {
      if (below(8) == 0) task.ddr_read = 4 * (1 + below(10'000)), task.kernel = gather;
      return task;
    }
    task.cycles = std::uint32_t(2 + below(300) / 2 * 2);
    const std::uint64_t bytes = 4 * (1 + below(25'000));
    task.kernel = std::uint32_t(copy_in + below(3));
    (task.kernel == copy_in    ? task.ddr_read
     : task.kernel == copy_out ? task.ddr_write
                               : task.multicast) = bytes;
    return task;
  }

  void add_dependencies(Program& program) {
    for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
      std::vector<std::uint32_t> moved_out;
      for (auto i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
        Task& task = program.tasks[i];
        task.dependency_begin = std::uint32_t(program.dependencies.size());
        for (auto w = task.wait_begin; w < task.wait_begin + task.wait_count; ++w) {
          const qaic::Wait& wait = program.waits[w];
          program.dependencies.push_back({program.queue_begin[wait.queue] + wait.count - 1, 0});
        }
        if (task.kernel == copy_in && !moved_out.empty() && below(2) == 0) {
          program.dependencies.push_back({moved_out[below(moved_out.size())], 0});
        }
        if (task.kernel == copy_out) moved_out.push_back(i);
        task.dependency_count = std::uint32_t(program.dependencies.size()) - task.dependency_begin;
      }
    }
  }

  const GeneratedOptions options_;
  std::mt19937_64 random_;
  npu::nsp::ProgramBuilder builder_;
  std::vector<Added> added_;
};

std::uint64_t bytes_of(const Task& task) { return task.ddr_read + task.ddr_write + task.multicast; }

qaic::NetworkDescriptor descriptor_of(const Program& program, const npu::nsp::Target& target) {
  qaic::NetworkDescriptor descriptor;
  descriptor.network_name = program.network_name;
  descriptor.num_cores = program.cores;
  descriptor.num_threads = program.threads_per_core();
  descriptor.num_hvx_threads = program.hvx_threads;
  for (std::uint32_t group = 0; group < qaic::thread_groups; ++group) {
    descriptor.thread_groups.insert(descriptor.thread_groups.end(),
                                    program.thread_count(ThreadGroup(group)), group);
    descriptor.thread_group_names.emplace_back(name_of(ThreadGroup(group)));
  }
  descriptor.has_stats = true;
  qaic::StatsDescriptor& stats = descriptor.stats;
  stats.stats_level = program.stats_level;
  stats.print_op_stats = stats.count_ddr_bandwidth = true;
  stats.utimer_ticks_per_ms = std::int32_t(target.timer_hz / 1000);
  stats.ops.resize(program.cores, std::vector<std::vector<qaic::OpNameKind>>(qaic::thread_groups));
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    for (auto i = program.queue_begin[queue]; i < program.queue_begin[queue + 1]; ++i) {
      const Task& task = program.tasks[i];
      qaic::OpNameKind op;
      op.name = stats.texts.intern(fmt::format("t{}", i));
      op.kind = stats.texts.intern(program.kernels[task.kernel]);
      op.memory = stats.texts.intern(task.kernel == gather ? "DDR" : "TCM");
      op.output_size = bytes_of(task);
      stats.ops[queue / qaic::thread_groups][queue % qaic::thread_groups].push_back(op);
    }
  }
  for (const auto& core : stats.ops) {
    std::size_t ops = 0;
    for (const auto& group : core) ops += group.size();
    stats.ops_per_core.push_back(std::int32_t(ops));
  }
  return descriptor;
}

// Of each task what a compiler knows of it.
qaic::Schematic schematic_of(const Program& program) {
  qaic::Schematic schematic;
  schematic.program_fingerprint = qaic::fingerprint(program);
  schematic.texts = {"node", "@Spill", "@Fill", "q::*InputSlice", "q::Add", "SyncOp"};
  enum : std::uint32_t { node, spill, fill, slice, add, sync };
  schematic.nodes = {{0x12, node, node}};
  for (const Task& task : program.tasks) {
    qaic::SchematicOp op;
    using Role = qaic::SchematicRole;
    const auto be = [&](std::uint32_t type, Role role) {
      op.type = type;
      op.role = std::uint32_t(role);
    };
    be(add, Role::compute);
    if (task.kernel == copy_in) be(fill, Role::spill);
    if (task.kernel == copy_out) be(spill, Role::spill);
    if (task.kernel == multicast) be(slice, Role::dma);
    if (task.kernel == end_of_statistics) be(sync, Role::sync);
    op.data_type = task.kernel == end_of_statistics ? 0 : 0x0216;  // Float16
    op.dims_begin = std::uint32_t(schematic.dims.size());
    schematic.dims.insert(schematic.dims.end(), {1, 1, 1, 64});
    op.dims_count = 4;
    op.input_begin = std::uint32_t(schematic.inputs.size());
    for (std::uint32_t i = 0; i < task.dependency_count; ++i) {
      schematic.inputs.push_back(program.dependencies[task.dependency_begin + i].task);
    }
    op.input_count = task.dependency_count;
    op.vtcm_read = task.cycles % 1'000;
    op.vtcm_write = task.cycles % 777;
    schematic.ops.push_back(op);
  }
  return schematic;
}

npu::nsp::SimulationOptions options_of(std::uint32_t inferences, bool op_trace) {
  npu::nsp::SimulationOptions options;
  options.inferences = options.samples = inferences;
  options.set_size = 1;
  options.keep_truth = true;
  options.op_trace = op_trace;
  return options;
}

npu::nsp::SimulationResult simulated(const Program& program, const npu::nsp::Target& target,
                                     const npu::nsp::SimulationOptions& options) {
  auto result = npu::nsp::simulate(program, target, options);
  EXPECT_TRUE(result) << result.error().message;
  return std::move(*result);
}

// Of the files that end so; of none: of all.
Profile read_back(const qnn::optrace::OptraceSet& set,
                  const std::vector<std::string>& endings = {}) {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("npuscope-generated-{}", ::getpid());
  std::filesystem::create_directories(folder);
  const auto stem = folder / "chrometrace";
  EXPECT_TRUE(qnn::optrace::write_optrace_set(set, stem));
  std::vector<qnn::File> files;
  for (const auto& path : qnn::optrace::optrace_files(set, stem)) {
    const bool is_asked = std::any_of(endings.begin(), endings.end(), [&](const auto& ending) {
      return path.filename() == "chrometrace" + ending;
    });
    if (!endings.empty() && !is_asked) continue;
    std::ifstream in(path);
    std::string head(4096, '\0');
    in.read(head.data(), std::streamsize(head.size()));
    head.resize(std::size_t(in.gcount()));
    files.push_back({path, qnn::recognise(head)});
  }
  auto sets = qnn::read_sets(files);
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(sets) << sets.error().message;
  EXPECT_EQ(sets->profiles.size(), 1u);
  return std::move(sets->profiles.at(0));
}

}  // namespace

std::uint32_t GeneratedRun::queue_of(std::uint32_t task) const {
  const auto& begin = program.queue_begin;
  return std::uint32_t(std::upper_bound(begin.begin(), begin.end(), task) - begin.begin() - 1);
}

std::uint32_t GeneratedRun::op_of(std::uint32_t task) const {
  return std::uint32_t(std::find(task_of.begin(), task_of.end(), task) - task_of.begin());
}

std::int64_t GeneratedRun::ticks(Picoseconds time) const {
  const auto kilohertz = std::int64_t(target.timer_hz / 1000);
  constexpr std::int64_t per_millisecond = 1'000'000'000;
  return time.value / per_millisecond * kilohertz +
         time.value % per_millisecond * kilohertz / per_millisecond;
}

Program generated_program(const GeneratedOptions& options) { return Generator(options).make(); }

npu::nsp::Target exact_target() {
  npu::nsp::Target target = npu::nsp::round_target();
  target.timer_hz = 1e9;
  target.sync_cycles = 60;
  target.cross_core_sync_cycles = 600;
  target.barrier_cycles = 15;
  target.record_cycles_op = 40;
  target.dma_depth = 1;
  return target;
}

GeneratedRun device_run(const GeneratedOptions& options, const npu::nsp::Target& target) {
  return device_run(generated_program(options), options.inferences, target);
}

GeneratedRun device_run(Program program, std::uint32_t inferences, const npu::nsp::Target& target) {
  return device_run(std::move(program), options_of(inferences, false), target);
}

GeneratedRun device_run(Program program, const npu::nsp::SimulationOptions& options,
                        const npu::nsp::Target& target) {
  GeneratedRun run{std::move(program), target, {}, {}, {}};
  run.simulated = simulated(run.program, target, options);
  const auto network = qaic::StatsNetwork::create(descriptor_of(run.program, target), &run.program,
                                                  {.dependencies = true});
  EXPECT_TRUE(network) << network.error().message;
  for (const npu::nsp::SimulatedInference& inference : run.simulated.inferences) {
    auto profile = qaic::decode_stats_buffer(inference.stats_buffer, "buffer", *network);
    EXPECT_TRUE(profile) << profile.error().message;
    EXPECT_TRUE(profile->notes.empty());
    run.profiles.push_back(std::move(*profile));
  }
  for (const Op& op : run.profiles.at(0).ops) {
    run.task_of.push_back(run.program.queue_begin[op.core * qaic::thread_groups + op.group] +
                          op.position);
  }
  return run;
}

GeneratedRun optrace_run(const GeneratedOptions& options, const npu::nsp::Target& target) {
  return optrace_run(generated_program(options), target);
}

GeneratedRun optrace_run(Program program, const npu::nsp::Target& target) {
  qaic::Schematic schematic = schematic_of(program);
  return optrace_run(std::move(program), std::move(schematic), target);
}

GeneratedRun optrace_run(Program program, qaic::Schematic schematic,
                         const npu::nsp::Target& target) {
  GeneratedRun run{std::move(program), target, {}, {}, {}};
  run.simulated = simulated(run.program, target, options_of(1, true));
  schematic.program_fingerprint = qaic::fingerprint(run.program);
  EXPECT_TRUE(npu::nsp::check_optrace(run.program, &schematic, target));
  const auto set = npu::nsp::make_optrace(run.program, schematic, target, run.simulated);
  EXPECT_TRUE(set) << set.error().message;
  run.profiles.push_back(read_back(*set));
  constexpr std::uint64_t first_op_number = 0x1000;
  for (const Op& op : run.profiles[0].ops) {
    const std::uint64_t number = (op.id >> 32) - first_op_number;
    run.task_of.push_back(number < run.program.tasks.size() ? std::uint32_t(number)
                                                            : GeneratedRun::no_task);
  }
  return run;
}

std::vector<Profile> read_subsets(const GeneratedRun& run,
                                  const std::vector<std::vector<std::string>>& endings) {
  qaic::Schematic schematic = schematic_of(run.program);
  schematic.program_fingerprint = qaic::fingerprint(run.program);
  npu::nsp::NodeCycles cycles;
  for (const npu::nsp::SimulatedInference& inference : run.simulated.inferences) {
    cycles.push_back(npu::nsp::node_cycles_of(run.program, schematic, inference));
  }
  const auto set =
      npu::nsp::make_optrace(run.program, schematic, run.target, run.simulated, cycles);
  EXPECT_TRUE(set) << set.error().message;
  std::vector<Profile> profiles;
  for (const auto& files : endings) profiles.push_back(read_back(*set, files));
  return profiles;
}

}  // namespace npuscope
