// What a statistics buffer is decoded against: units, ops and edges of one network.
#include <fmt/format.h>

#include <algorithm>

#include "formats/qaic/opstats/kernel_names.hpp"
#include "formats/qaic/opstats/opstats_names.hpp"
#include "formats/qaic/qpc/network_descriptor_check.hpp"
#include "formats/qaic/stats/stats_decoder.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::qaic {
namespace {

std::string operands_of(const OpNameKind& op) {
  return op.operands.empty() ? op.operand : fmt::format("{}", fmt::join(op.operands, "\n"));
}

Status check_descriptor(const NetworkDescriptor& descriptor) {
  const std::string& name = descriptor.network_name;
  if (!descriptor.has_stats) {
    return input_error("network {}: was compiled without statistics; compile with -stats-level=70",
                       name);
  }
  const std::string contradiction = contradiction_in(descriptor);
  if (contradiction.empty()) return {};
  return input_error("network {}: {}; its networkdesc.bin is broken", name, contradiction);
}

}  // namespace

Result<StatsNetwork> StatsNetwork::create(const NetworkDescriptor& descriptor,
                                          const Program* program, StatsNetworkOptions options) {
  if (auto sound = check_descriptor(descriptor); !sound) return tl::unexpected(sound.error());
  StatsNetwork network;
  network.name_ = descriptor.network_name;
  network.label_ = options.label.empty() ? descriptor.network_name : options.label;
  network.cores_ = descriptor.num_cores;
  network.groups_ = std::uint32_t(descriptor.thread_group_names.size());
  network.stats_level_ = descriptor.stats.stats_level;
  network.thread_groups_ = descriptor.thread_groups;
  network.group_names_ = descriptor.thread_group_names;
  network.add_units();
  network.add_ops(descriptor);
  if (program != nullptr) {
    if (auto fits = network.add_program(*program, options.dependencies); !fits) {
      return tl::unexpected(fits.error());
    }
  }
  return network;
}

void StatsNetwork::add_units() {
  StringPool& strings = profile_.strings;
  profile_.clocks.push_back({strings.intern("UTIMER"), ClockKind::timer, aic_utimer, true, 0});
  profile_.units.push_back({0, 0, Engine::device, 0, strings.intern(label_), UnitId::none});
  for (std::uint32_t core = 0; core < cores_; ++core) {
    profile_.clocks.push_back({strings.intern(fmt::format("core {} cycles", core)),
                               ClockKind::unit_cycles, Hertz{0}, false, 0});
    profile_.units.push_back({0, core, Engine::core, 0,
                              strings.intern(fmt::format("{}_Core_{}", label_, core)),
                              device_unit()});
    for (std::uint32_t thread = 0; thread < threads_per_core(); ++thread) {
      const std::string& group = group_names_[thread_groups_[thread]];
      profile_.units.push_back(
          {0, core, engine_of_group(group), thread, strings.intern(group), core_unit(core)});
    }
  }
}

void StatsNetwork::add_ops(const NetworkDescriptor& descriptor) {
  StringPool& strings = profile_.strings;
  op_begin_.assign(1, 0);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    for (std::uint32_t group = 0; group < groups_; ++group) {
      const bool listed =
          core < descriptor.stats.ops.size() && group < descriptor.stats.ops[core].size();
      std::uint32_t position = 0;
      if (listed) {
        for (const OpNameKind& source : descriptor.stats.ops[core][group]) {
          Op op;
          op.name = strings.intern(source.name);
          op.kind = strings.intern(without_trailing_blanks(source.kind));
          op.memory = strings.intern(source.memory);
          op.types = strings.intern(source.type);
          op.shape = strings.intern(source.shape);
          op.attributes = strings.intern(source.attributes);
          op.operands = strings.intern(operands_of(source));
          op.output = Bytes{std::int64_t(source.output_size)};
          op.core = core;
          op.group = group;
          op.position = position++;
          profile_.ops.push_back(op);
        }
      }
      op_begin_.push_back(std::uint32_t(profile_.ops.size()));
    }
  }
  read_op_texts(profile_);
}

Status StatsNetwork::add_program(const Program& program, bool dependencies) {
  if (program.cores != cores_ || program.threads_per_core() != threads_per_core() ||
      groups_ != npuscope::qaic::thread_groups) {
    return input_error(
        "network {}: its descriptor has {} cores of {} threads but its program {} "
        "of {}; compile it again",
        name_, cores_, threads_per_core(), program.cores, program.threads_per_core());
  }
  fingerprint_ = npuscope::qaic::fingerprint(program);
  // Ops are the recorded tasks, queue by queue in the same order.
  std::vector<OpId> op_of_task(program.tasks.size(), OpId::none);
  for (std::uint32_t queue = 0; queue < program.queues(); ++queue) {
    std::uint32_t recorded = 0;
    for (auto task = program.queue_begin[queue]; task < program.queue_begin[queue + 1]; ++task) {
      if (!program.records(program.tasks[task])) continue;
      op_of_task[task] = OpId{op_begin_[queue] + recorded++};
    }
    const std::uint32_t listed = op_begin_[queue + 1] - op_begin_[queue];
    if (recorded != listed) {
      return input_error(
          "network {}: core {} {} lists {} operators but the program records {}; "
          "compile it again",
          name_, queue / groups_, group_names_[queue % groups_], listed, recorded);
    }
  }
  if (!dependencies) return {};
  for (std::size_t task = 0; task < program.tasks.size(); ++task) {
    const Task& consumer = program.tasks[task];
    for (std::uint32_t i = 0; i < consumer.dependency_count; ++i) {
      const Dependency& dependency = program.dependencies[consumer.dependency_begin + i];
      const OpId from = op_of_task[dependency.task];
      if (from == OpId::none || op_of_task[task] == OpId::none) continue;
      profile_.edges.push_back(
          {from, op_of_task[task], dependency.kind == 0 ? EdgeKind::data : EdgeKind::reuse});
    }
  }
  return {};
}

}  // namespace npuscope::qaic
