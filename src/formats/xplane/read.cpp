#include "formats/xplane/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "formats/xplane/collect.hpp"
#include "formats/xplane/fields.hpp"
#include "profile/far_spans.hpp"

namespace npuscope::xplane {
namespace {

constexpr std::string_view task_plane = "Task Environment", metadata_plane = "/host:metadata";
// Times of lines count from the start of the profile; in files that have the epoch's instead, they
// are far beyond.
constexpr std::int64_t max_relative_ns = 1'000'000'000'000'000;

struct Space {
  std::string file, host;
  std::vector<Plane> planes;
  std::optional<std::int64_t> start_ns;                                   // of the epoch
  std::int64_t first_line_ns = std::numeric_limits<std::int64_t>::max();  // of lines with events
};

std::int64_t timestamp_of(std::string_view line) {
  FieldReader reader(line);
  while (reader.next()) {
    if (reader.tag_and_type() == varint_field(line_field::timestamp_ns)) return reader.get_int64();
    if (reader.tag_and_type() == bytes_field(line_field::event)) break;
    reader.skip();
  }
  return 0;
}

void find_times(Space& space) {
  for (const Plane& plane : space.planes) {
    if (plane.name == task_plane) {
      const auto start = plane.find(plane.stats, "profile_start_time");
      if (start) space.start_ns = std::int64_t(start->bits);
    }
    for (const std::string_view line : plane.lines) {
      try {
        space.first_line_ns = std::min(space.first_line_ns, timestamp_of(line));
      } catch (const protozero::exception&) {
      }
    }
  }
}

Space decode_space(const SpaceFile& file, CountedNotes& losses, std::vector<Note>& notes) {
  Space space;
  space.file = file.name;
  FieldReader reader(file.bytes);
  bool was_cut = false;
  try {
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case bytes_field(space_field::plane):
          space.planes.push_back(Plane::decode(view_or_rest(reader, was_cut), losses));
          break;
        case bytes_field(space_field::host_name): space.host = bytes_of(reader); break;
        case bytes_field(space_field::error):
          notes.push_back({Severity::error, file.name, 0,
                           fmt::format("the profiler says: {}", bytes_of(reader)), 1});
          break;
        case bytes_field(space_field::warning):
          notes.push_back({Severity::warning, file.name, 0,
                           fmt::format("the profiler says: {}", bytes_of(reader)), 1});
          break;
        default: reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    losses.add(Severity::error, file.bytes.size() - reader.bytes_left(),
               "not a plane; what stands behind the place is left out");
  }
  if (was_cut) {
    losses.add(Severity::error, file.bytes.size(),
               "the file ends in the middle of a plane; copy it again, or record it to its end");
  }
  find_times(space);
  return space;
}

std::string stem_of(std::string_view path) {
  path = path.substr(path.rfind('/') + 1);
  const std::size_t end = path.find(".xplane");
  return std::string(path.substr(0, end));
}

// What is added to the times of each host's lines, so that all count from one moment.
std::vector<std::int64_t> shifts_of(const std::vector<Space>& spaces, chrome::Events& events) {
  std::int64_t first_line = std::numeric_limits<std::int64_t>::max();
  std::int64_t first_start = first_line;
  bool all_started = true;
  for (const Space& space : spaces) {
    first_line = std::min(first_line, space.first_line_ns);
    all_started = all_started && space.start_ns.has_value();
    if (space.start_ns) first_start = std::min(first_start, *space.start_ns);
  }
  std::vector<std::int64_t> shifts(spaces.size(), 0);
  const bool is_absolute = first_line > max_relative_ns && first_line < max_relative_ns * 9'000;
  if (is_absolute) std::fill(shifts.begin(), shifts.end(), -first_line);
  if (is_absolute || spaces.size() < 2) return shifts;
  for (std::size_t i = 0; all_started && i < spaces.size(); ++i) {
    const bool fits = !__builtin_sub_overflow(*spaces[i].start_ns, first_start, &shifts[i]) &&
                      shifts[i] < max_relative_ns;
    if (!fits) all_started = false;
  }
  if (!all_started) {
    std::fill(shifts.begin(), shifts.end(), 0);
    events.notes.push_back({Severity::warning, events.file, 0,
                            "not all hosts say when their profile started: each counts from its "
                            "own start, and times of two hosts do not compare",
                            spaces.size()});
  }
  return shifts;
}

// From a call of the device's runtime to what it launched.
void connect(const Collector& collector, Profile& profile) {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> launch_of;
  for (const Correlated& launch : collector.launches) {
    launch_of.try_emplace({launch.host, launch.number}, launch.row);
  }
  const StringId name = profile.strings.intern("launch");
  for (const Correlated& launched : collector.launched) {
    const auto found = launch_of.find({launched.host, launched.number});
    if (found == launch_of.end()) continue;
    const bool is_derived = profile.spans.kind[launched.row] == SpanKind::annotation;
    if (is_derived) continue;
    profile.flows.push_back(
        {SpanId(found->second), SpanId(launched.row), EdgeKind::flow, name, {}});
  }
}

std::string_view without_number(std::string_view program) {
  return program.substr(0, program.rfind('('));
}

// Ops of one name in several programs are several, and called by their programs: with the number
// only where a module became several programs.
void tell_modules_apart(const std::vector<StringId>& modules, Profile& profile) {
  if (modules.size() < 2) return;
  std::map<StringId, StringId> module_of;  // of a name; empty: several
  for (const Op& op : profile.ops) {
    if (op.kind == StringId::empty) continue;
    const auto [place, is_new] = module_of.try_emplace(op.name, op.kind);
    if (!is_new && place->second != op.kind) place->second = StringId::empty;
  }
  std::map<std::string_view, int> programs;
  for (const StringId module : modules) ++programs[without_number(profile.text(module))];
  for (Op& op : profile.ops) {
    if (op.kind == StringId::empty || module_of[op.name] != StringId::empty) continue;
    const std::string_view program = profile.text(op.kind), module = without_number(program);
    op.node = profile.strings.intern(
        fmt::format("{}/{}", programs[module] > 1 ? program : module, profile.text(op.name)));
  }
}

void add_aggregates(const std::vector<Aggregate>& aggregates, Profile& profile) {
  constexpr NamedNumber time{"time of all executions", MeasureKind::work, NumberRole::node_cycles};
  constexpr NamedNumber executions{"executions", NumberQuantity::count};
  if (aggregates.empty()) return;
  std::map<std::pair<StringId, StringId>, Aggregate> sums;
  for (const Aggregate& each : aggregates) {
    Aggregate& sum = sums[{each.module, each.name}];
    sum.occurrences += each.occurrences;
    if (__builtin_add_overflow(sum.duration_ps, each.duration_ps, &sum.duration_ps)) {
      sum.duration_ps = std::numeric_limits<std::int64_t>::max();
    }
  }
  std::map<std::pair<StringId, StringId>, std::uint32_t> ops;
  for (std::uint32_t op = 0; op < profile.ops.size(); ++op) {
    ops.try_emplace({profile.ops[op].kind, profile.ops[op].name}, op);
  }
  for (const auto& [key, sum] : sums) {
    const auto [place, is_new] = ops.try_emplace(key, std::uint32_t(profile.ops.size()));
    if (is_new) {
      Op op;
      op.kind = key.first;
      op.name = key.second;
      profile.ops.push_back(op);
    }
    profile.add_measure(Measure::Subject::op, place->second, time, Origin::measured,
                        profile.base_clock, double(sum.duration_ps));
    profile.add_measure(Measure::Subject::op, place->second, executions, Origin::measured, {},
                        double(sum.occurrences));
  }
  profile.notes.push_back({Severity::info, profile.provenance.files.front(), 0,
                           "events that are sums of many executions without times of their own: "
                           "numbers of their ops, not part of the timeline",
                           aggregates.size()});
}

std::string stat_text(const Plane& plane, std::string_view name) {
  const auto stat = plane.find(plane.stats, name);
  return stat ? std::string(plane.text_of(*stat)) : std::string();
}

void describe(const std::vector<Space>& spaces, const Collector& collector, Profile& profile) {
  Provenance& of = profile.provenance;
  of.format = format_name;
  of.platform = Provenance::Platform::xla;
  of.files.clear();
  std::map<std::string, std::uint64_t> devices;  // by kind
  for (const Space& space : spaces) {
    of.files.push_back(space.file);
    for (const Plane& plane : space.planes) {
      if (plane.name == metadata_plane && of.version.empty()) {
        const std::string version = stat_text(plane, "jaxlib_version");
        if (!version.empty()) of.version = "jaxlib " + version;
      }
      if (!plane.name.starts_with("/device:") || plane.lines.empty()) continue;
      std::string kind = stat_text(plane, "device_type_string");
      if (kind.empty()) kind = plane.name.substr(8, plane.name.find(':', 8) - 8);
      ++devices[kind];
    }
  }
  for (const auto& [kind, count] : devices) {
    of.device += fmt::format("{}{}", of.device.empty() ? "" : ", ", kind);
    if (count > 1) of.device += fmt::format(" x {}", count);
  }
  if (collector.modules.size() == 1) {
    of.graph = without_number(profile.text(collector.modules.front()));
  }
}

}  // namespace

bool looks_like(std::string_view head) {
  FieldReader reader(head);
  try {
    if (!reader.next() || reader.tag_and_type() != bytes_field(space_field::plane)) return false;
    bool was_cut = false;
    FieldReader plane(view_or_rest(reader, was_cut));
    bool has_name = false;
    std::uint32_t last = 0;
    while (plane.next()) {
      const std::uint32_t tag = plane.tag();
      const bool is_number = plane.wire_type() == protozero::pbf_wire_type::varint;
      if (tag < last || tag == 0 || tag > plane_field::stat ||
          is_number != (tag == plane_field::id))
        return false;
      if (has_name) return true;
      last = tag;
      if (tag != plane_field::name) {
        plane.skip();
        continue;
      }
      const std::string_view name = bytes_of(plane);
      const auto is_control = [](char c) { return std::uint8_t(c) < ' '; };
      if (name.empty() || std::ranges::any_of(name, is_control)) return false;
      has_name = true;
    }
    return has_name;
  } catch (const protozero::exception&) {
    return false;
  }
}

Result<Profile> read_profile(std::span<const SpaceFile> files, std::span<const RoleTable> roles) {
  Collector collector;
  std::vector<Space> spaces;
  collector.events.file = files.front().name;
  std::vector<CountedNotes> losses;
  for (const SpaceFile& file : files) {
    losses.emplace_back(file.name);
    spaces.push_back(decode_space(file, losses.back(), collector.events.notes));
  }
  const std::vector<std::int64_t> shifts = shifts_of(spaces, collector.events);
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    Space& space = spaces[i];
    for (const Plane& plane : space.planes) {
      if (plane.name == metadata_plane) collector.facts.add_programs(plane);
    }
    if (space.host.empty()) space.host = stem_of(space.file);
    collector.begin_host({spaces.size() > 1 ? space.host : "", std::uint32_t(i), shifts[i]});
    for (const Plane& plane : space.planes) collector.add(plane, losses[i]);
  }
  collector.finish();
  if (collector.events.slices.size() == 0 && collector.aggregates.empty()) {
    for (const CountedNotes& of_file : losses) {
      const auto last = std::ranges::find(of_file.notes().rbegin(), of_file.notes().rend(),
                                          Severity::error, &Note::severity);
      if (last != of_file.notes().rend()) {
        return input_error("{}: not one event of it can be read: {}", of_file.file(),
                           last->message);
      }
    }
    return input_error("{}: an XSpace without events; record while the model runs",
                       files.front().name);
  }
  chrome::Events& events = collector.events;
  events.rate = Hertz(1e12);
  for (const CountedNotes& of_file : losses) of_file.append_to(events.notes);
  Profile profile = chrome::make_profile(std::move(events));
  for (const RowRange& rows : collector.derived) {
    std::fill(profile.spans.kind.begin() + std::ptrdiff_t(rows.first),
              profile.spans.kind.begin() + std::ptrdiff_t(rows.last), SpanKind::annotation);
  }
  describe(spaces, collector, profile);
  connect(collector, profile);
  apply_roles(profile, roles);
  tell_modules_apart(collector.modules, profile);
  add_aggregates(collector.aggregates, profile);
  collector.facts.apply(collector.modules, profile);
  set_far_spans_apart(profile);
  return profile;
}

}  // namespace npuscope::xplane
