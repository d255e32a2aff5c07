#include "formats/qaic/stats/stats_decoder.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/qaic/opstats/opstats_names.hpp"
#include "formats/qaic/stats/stats_decoding.hpp"
#include "profile/pmu_events.hpp"
#include "profile/shape_texts.hpp"

namespace npuscope::qaic {

namespace measure {
std::string port_wait(std::uint32_t port) { return fmt::format("port {} wait", port); }
std::string port_doorbell(std::uint32_t port) {
  return fmt::format("port {} doorbell after begin", port);
}
std::string pmu(std::uint32_t event) { return pmu_measure(event); }

namespace {
std::optional<std::uint32_t> number_between(std::string_view text, std::string_view before,
                                            std::string_view after, int base) {
  if (!text.starts_with(before) || !text.ends_with(after)) return std::nullopt;
  if (text.size() < before.size() + after.size()) return std::nullopt;
  text.remove_prefix(before.size());
  text.remove_suffix(after.size());
  return parse_number<std::uint32_t>(text, base);
}
}  // namespace

std::optional<std::uint32_t> port_of_wait(std::string_view what) {
  return number_between(what, "port ", " wait", 10);
}
std::optional<std::uint32_t> event_of_pmu(std::string_view what) {
  return event_of_pmu_measure(what);
}
}  // namespace measure

Status check_stats_buffer(ByteSpan bytes, const std::string& file) {
  if (as_text(bytes).starts_with(stats_magic)) return {};
  if (bytes.empty()) {
    return input_error("{}: empty; the run or the copy that made it failed, collect it again",
                       file);
  }
  if (std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; })) {
    return input_error(
        "{}: all zero: the device never wrote it; let the inference finish before "
        "the buffer is saved, and collect it again",
        file);
  }
  return input_error(
      "{}: not a statistics buffer that npuscope knows (it begins with neither of "
      "its layouts); the vendor's raw layout is not public, collect buffers with "
      "npuscope run --aic-profiling-type=raw_device_stats",
      file);
}

std::optional<std::string> network_name_in_stats_buffer(ByteSpan bytes) {
  const auto reader = SectionReader::open(bytes, stats_magic, stats_version.major, "buffer");
  if (!reader) return std::nullopt;
  const SectionEntry* entry = reader->find(stats_network);
  if (entry == nullptr || !reader->intact(*entry)) return std::nullopt;
  return std::string(reader->text(*entry));
}

Status decode_stats_records(ByteSpan bytes, const std::string& file, const StatsNetwork& network,
                            Profile& profile) {
  if (auto is_buffer = check_stats_buffer(bytes, file); !is_buffer) return is_buffer;
  TRY_AS(reader, SectionReader::open(bytes, stats_magic, stats_version.major, file));
  return StatsDecoding(*reader, file, network, profile).run();
}

Result<Profile> decode_stats_buffer(ByteSpan bytes, const std::string& file,
                                    const StatsNetwork& network) {
  Profile profile = network.profile();
  TRY(decode_stats_records(bytes, file, network, profile));
  return profile;
}

std::optional<double> profile_measure(const Profile& profile, const NamedNumber& number) {
  for (const Measure& row : profile.measures) {
    if (row.subject == Measure::Subject::profile && profile.text(row.what) == number.name) {
      return row.value;
    }
  }
  return std::nullopt;
}

bool is_partial(const Profile& profile) {
  return std::any_of(profile.notes.begin(), profile.notes.end(),
                     [](const Note& note) { return note.severity == Severity::error; });
}

Status check_trace_level(const Profile& profile, const std::string& file) {
  const double level = profile_measure(profile, measure::stats_level).value_or(0);
  if (level >= 50) return {};
  return input_error(
      "{}: compiled with -stats-level={:.0f}, which records no operators; compile "
      "with -stats-level=70 or more for a trace",
      file, level);
}

namespace {

// What a statistics buffer is decoded against: units, ops and edges of one network.

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
  TRY(check_descriptor(descriptor));
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
    TRY(network.add_program(*program, options.dependencies));
  }
  return network;
}

void StatsNetwork::add_units() {
  StringPool& strings = profile_.strings;
  profile_.add_clock("UTIMER", ClockKind::timer, aic_utimer, true);
  profile_.units.push_back({0, 0, Engine::device, 0, strings.intern(label_), UnitId::none});
  for (std::uint32_t core = 0; core < cores_; ++core) {
    profile_.add_clock(fmt::format("core {} cycles", core), ClockKind::unit_cycles, Hertz{0});
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
  const StringPool& texts = descriptor.stats.texts;
  std::vector<StringId> interned(texts.size());  // by its id among `texts`; empty: not yet
  const auto intern = [&](StringId text) {
    StringId& id = interned[std::uint32_t(text)];
    if (id == StringId::empty) id = strings.intern(texts[text]);
    return id;
  };
  std::string joined;
  const auto operands_of = [&](const OpNameKind& op) {
    if (op.operands.size() < 2) return intern(op.operands.empty() ? op.operand : op.operands[0]);
    joined.clear();
    for (const StringId& operand : op.operands) {
      if (&operand != &op.operands.front()) joined += '\n';
      joined += texts[operand];
    }
    return strings.intern(joined);
  };
  op_begin_.assign(1, 0);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    for (std::uint32_t group = 0; group < groups_; ++group) {
      const bool listed =
          core < descriptor.stats.ops.size() && group < descriptor.stats.ops[core].size();
      std::uint32_t position = 0;
      if (listed) {
        for (const OpNameKind& source : descriptor.stats.ops[core][group]) {
          Op op;
          op.name = intern(source.name);
          op.kind = strings.intern(without_trailing_blanks(texts[source.kind]));
          op.memory = intern(source.memory);
          op.types = intern(source.type);
          op.shape = intern(source.shape);
          op.attributes = intern(source.attributes);
          op.operands = operands_of(source);
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
