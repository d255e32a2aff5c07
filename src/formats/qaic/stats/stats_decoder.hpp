// Raw statistics buffers in, Profile out.
//
//   auto network = StatsNetwork::create(descriptor, &program);    // once per network
//   auto profile = decode_stats_buffer(bytes, "…-aiccyclecounts.bin", *network);
//   for (const Note& note : profile->notes) …                     // what was damaged and skipped
//
// A profile holds one inference: a unit for the device, each core and each thread, the ops of the
// statistics descriptor, and spans in UTIMER ticks:
//
//   inference    of the device, each core and each thread (with processor cycles)
//   activation   of each thread. Only its length was recorded: it is placed so that it ends where
//                the inference begins
//   sync, op, barrier   of each thread, as stats_buffer.hpp draws them
//   transfer     of a unit of engine `dma`, child of the thread that issued it; those may overlap
//
// Buffers are untrusted. What can be used is decoded; a section or record that cannot be is left
// out and counted in Profile::notes with the byte where it lies. Input errors, when nothing can be
// used: not a statistics buffer, all zero, truncated, another layout version, another program.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/qaic/qpc/network_descriptor.hpp"
#include "formats/qaic/qpc/program.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

// The measures that a decoded profile carries, with their names.
namespace measure {
constexpr NamedNumber setting(std::string_view name, NumberRole role = NumberRole::none) {
  return NamedNumber{name, NumberQuantity::count, role}.not_additive();
}
// of the profile
inline constexpr NamedNumber stats_level = setting("stats level");
inline constexpr NamedNumber stats_batch_size =
    setting("stats batch size", NumberRole::stats_batch_size);
inline constexpr NamedNumber program = setting("program", NumberRole::program);  // <P> of the
                                                                                 // file name
inline constexpr NamedNumber activation = setting("activation", NumberRole::activation);  // <A>
inline constexpr NamedNumber inference = setting("inference", NumberRole::inference);     // <I>
// of a core, beside its DDR traffic
inline constexpr NamedNumber physical_core = setting("physical core");
// of a thread; `port` is 100 for the host's input, 101 for its output
std::string port_wait(std::uint32_t port);  // "port 100 wait", ticks
// "port 100 doorbell after begin": ticks from the first thread's begin until it rang; negative
// where it rang before.
std::string port_doorbell(std::uint32_t port);
// of a thread, and from level 100 of a span; `event` as in -aic-pmu-events
std::string pmu(std::uint32_t event);  // "pmu HMX_ACTIVE_CYCLES"; "pmu 0x55", an unknown event
// The other way round; none of another measure's name. "pmu 0x70", as older files have it, too.
std::optional<std::uint32_t> port_of_wait(std::string_view what);
std::optional<std::uint32_t> event_of_pmu(std::string_view what);
}  // namespace measure

struct StatsNetworkOptions {
  std::string label = {};     // names the device and its tracks; empty: the network's name
  bool dependencies = false;  // fill Profile::edges from the program
};

// What a buffer is decoded against. Make it once and decode many buffers with it.
class StatsNetwork {
 public:
  // Without a program (null) neither the fingerprint is checked nor are there dependencies.
  // An input error when the descriptor contradicts itself or the program.
  static Result<StatsNetwork> create(const NetworkDescriptor& descriptor, const Program* program,
                                     StatsNetworkOptions options = {});

  // Units, ops, clocks and edges; no spans yet.
  const Profile& profile() const { return profile_; }

  const std::string& name() const { return name_; }
  const std::string& label() const { return label_; }
  std::uint32_t cores() const { return cores_; }
  std::uint32_t threads_per_core() const { return std::uint32_t(thread_groups_.size()); }
  std::uint32_t stats_level() const { return stats_level_; }
  std::optional<std::uint64_t> fingerprint() const { return fingerprint_; }

  UnitId device_unit() const { return UnitId{0}; }
  UnitId core_unit(std::uint32_t core) const { return UnitId{1 + core * (1 + threads_per_core())}; }
  UnitId thread_unit(std::uint32_t core, std::uint32_t thread) const {
    return UnitId{index_of(core_unit(core)) + 1 + thread};
  }
  ClockId core_clock(std::uint32_t core) const { return ClockId{1 + core}; }

  // The ops of a thread's group have consecutive ids.
  OpId first_op(std::uint32_t core, std::uint32_t thread) const {
    return OpId{op_begin_[queue_of(core, thread)]};
  }
  std::uint32_t op_count(std::uint32_t core, std::uint32_t thread) const {
    return op_begin_[queue_of(core, thread) + 1] - op_begin_[queue_of(core, thread)];
  }

 private:
  StatsNetwork() = default;
  void add_units();
  void add_ops(const NetworkDescriptor& descriptor);
  Status add_program(const Program& program, bool dependencies);
  std::size_t queue_of(std::uint32_t core, std::uint32_t thread) const {
    return std::size_t{core} * groups_ + thread_groups_[thread];
  }

  std::string name_;
  std::string label_;
  std::uint32_t cores_ = 0;
  std::uint32_t groups_ = 0;
  std::uint32_t stats_level_ = 0;
  std::vector<std::uint32_t> thread_groups_;  // group of each thread of a core
  std::vector<std::string> group_names_;
  std::vector<std::uint32_t> op_begin_;  // by core * groups + group, and one past the end
  std::optional<std::uint64_t> fingerprint_;
  Profile profile_;
};

// Ok for a buffer of the layout in stats_buffer.hpp; an input error that tells an empty file, an
// all-zero buffer and an unknown layout apart.
Status check_stats_buffer(ByteSpan bytes, const std::string& file);

// The network that the buffer says it belongs to, as far as it can be read.
std::optional<std::string> network_name_in_stats_buffer(ByteSpan bytes);

// Adds the inference in `bytes` to `profile`, a copy of network.profile().
Status decode_stats_records(ByteSpan bytes, const std::string& file, const StatsNetwork& network,
                            Profile& profile);

// `file` is the buffer's name in errors and notes.
Result<Profile> decode_stats_buffer(ByteSpan bytes, const std::string& file,
                                    const StatsNetwork& network);

// The value of a measure of the whole profile (stats level, inference …).
std::optional<double> profile_measure(const Profile& profile, const NamedNumber& number);

// Whether any note is an error: part of the buffer was unusable.
bool is_partial(const Profile& profile);

// Ok when the profile can make a trace; an input error that names the level to compile with when
// its statistics level records no operators.
Status check_trace_level(const Profile& profile, const std::string& file);

}  // namespace npuscope::qaic
