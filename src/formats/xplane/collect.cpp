#include "formats/xplane/collect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "formats/xplane/fields.hpp"

namespace npuscope::xplane {
namespace {

constexpr std::int64_t picoseconds = 1'000;  // of a nanosecond
constexpr std::string_view host_plane = "/host:CPU";
constexpr std::uint32_t host_process = 701;  // as XLA's trace.json numbers it

// Lines that the profiler makes of others, by their numbers (kThreadIdDerivedMin and so on), which
// older files sign-extend. Steps is one of them.
bool is_derived_line(std::int64_t id) {
  constexpr std::uint32_t first = 0xdead'beef, last = first + 63;
  const auto number = std::uint32_t(std::uint64_t(id));
  return number >= first && number <= last;
}

// Lines of a device that name stretches of what its other lines did.
bool is_naming_line(std::string_view name) {
  constexpr std::string_view names[] = {"Steps",
                                        "XLA Modules",
                                        "XLA TraceMe",
                                        "TensorFlow Ops",
                                        "TensorFlow Name Scope",
                                        "Framework Ops",
                                        "Framework Name Scope",
                                        "Source code",
                                        "Sparse Core Steps",
                                        "Sparse Core Modules"};
  return std::ranges::find(names, name) != std::end(names);
}

// Start and length in picoseconds; false where they are beyond what a profile can hold.
bool to_picoseconds(std::int64_t timestamp_ns, std::int64_t offset_ps, std::int64_t& start) {
  std::int64_t base = 0;
  return !__builtin_mul_overflow(timestamp_ns, picoseconds, &base) &&
         !__builtin_add_overflow(base, offset_ps, &start);
}

// "Conv2D:_MklNativeConv2D", shown as its type: a node that TensorFlow's executor runs.
bool is_tensorflow_op(const Plane& plane, const EventMetadata& event) {
  const std::string_view type = event.display_name, name = event.name;
  if (!plane.name.starts_with("/host:") || type.size() < 2) return false;
  const char first = type[type[0] == '_'];
  if (first < 'A' || first > 'Z' || name.size() < type.size() + 2) return false;
  const std::size_t colon = name.size() - type.size() - 1;
  return name.ends_with(type) && name[colon] == ':' && name[colon - 1] != ':';
}

}  // namespace

struct Collector::Line {
  std::int64_t id = 0, display_id = 0, timestamp_ns = 0;
  std::string_view name, display_name;
  std::uint32_t thread = 0;
  bool is_host = false;
  bool repeats = false;  // what other lines say
};

void Collector::add(const Plane& plane, CountedNotes& losses) {
  ++planes_;
  stat_uses_.assign(plane.stat_names.size(), {});
  event_names_.assign(plane.events.size(), {});
  known_stats_.clear();
  // Lines that name programs come first, so that ops know their modules.
  for (const EventMetadata& event : plane.events) {
    if (plane.name.starts_with("/device:")) facts.name_program(event.name);
  }
  for (const std::string_view line : plane.lines) {
    try {
      add_line(plane, line, losses);
    } catch (const protozero::exception&) {
      losses.add(Severity::error, 0,
                 "a line of a plane is broken; events behind the place are left out");
    }
  }
}

void Collector::add_line(const Plane& plane, std::string_view bytes, CountedNotes& losses) {
  Line line;
  FieldReader head(bytes);
  bool any_event = false, was_cut = false;
  try {
    while (head.next()) {
      switch (head.tag_and_type()) {
        case varint_field(line_field::id): line.id = head.get_int64(); break;
        case varint_field(line_field::display_id): line.display_id = head.get_int64(); break;
        case varint_field(line_field::timestamp_ns): line.timestamp_ns = head.get_int64(); break;
        case bytes_field(line_field::name): line.name = bytes_of(head); break;
        case bytes_field(line_field::display_name): line.display_name = bytes_of(head); break;
        case bytes_field(line_field::event): {
          any_event = true;
          std::string_view run;
          if (!head.get_run(run)) run = bytes_of(head);
          reserve(run.size());
          break;
        }
        default: head.skip();
      }
    }
  } catch (const protozero::exception&) {  // the events before the place stand
    was_cut = true;
  }
  if (!any_event && line.name.empty() && line.display_name.empty()) return;
  line.is_host = !plane.name.starts_with("/device:");
  line.repeats = is_derived_line(line.id) || (!line.is_host && is_naming_line(line.name));
  const bool is_main = plane.name == host_plane || plane.name.empty();
  chrome::Thread thread;
  StringPool& strings = events.strings;
  const std::uint32_t process = is_main ? host_process : planes_;
  thread.process_id = strings.intern(fmt::to_string(process + 1'000 * host_.number));
  thread.thread_id =
      strings.intern(fmt::to_string(line.display_id != 0 ? line.display_id : line.id));
  thread.process_name = strings.intern(
      host_.name.empty() ? std::string(plane.name) : fmt::format("{} {}", plane.name, host_.name));
  thread.thread_name = strings.intern(line.display_name.empty() ? line.name : line.display_name);
  line.thread = std::uint32_t(events.threads.size());
  events.threads.push_back(thread);
  const bool is_far = __builtin_add_overflow(line.timestamp_ns, host_.shift_ns, &line.timestamp_ns);
  if (is_far) line.timestamp_ns = std::numeric_limits<std::int64_t>::max();
  const std::size_t first = events.slices.size();
  FieldReader reader(bytes);
  try {
    while (reader.next()) {
      if (reader.tag_and_type() != bytes_field(line_field::event)) {
        reader.skip();
        continue;
      }
      const std::string_view event = bytes_of(reader);
      try {
        add_event(plane, line, event, losses);
      } catch (const protozero::exception&) {
        losses.add(Severity::error, 0, "events that are broken, left out");
      }
    }
  } catch (const protozero::exception&) {
  }
  if (was_cut) throw protozero::end_of_buffer_exception();
  const bool is_steps = line.name.ends_with("Steps");
  if (line.repeats && !is_steps) derived.push_back({first, events.slices.size()});
}

// Room for as many events as may be in so many bytes: what is not used costs no memory.
void Collector::reserve(std::size_t bytes) {
  constexpr std::size_t many = 1 << 20, bytes_of_event = 16;
  if (bytes < many) return;
  chrome::Slices& slices = events.slices;
  const std::size_t rows = slices.size() + bytes / bytes_of_event;
  slices.thread.reserve(rows);
  slices.name.reserve(rows);
  slices.category.reserve(rows);
  slices.start.reserve(rows);
  slices.duration.reserve(rows);
}

Collector::EventNames& Collector::names_of(const Plane& plane, std::uint32_t place,
                                           CountedNotes& losses) {
  if (place == Places::none) {
    losses.add(Severity::warning, 0, "events whose name is missing from the file");
    unnamed_.label = events.strings.intern("unnamed");
    return unnamed_;
  }
  EventNames& names = event_names_[place];
  if (names.is_known) return names;
  names.is_known = true;
  const EventMetadata& of = plane.events[place];
  names.label = events.strings.intern(of.label());
  if (is_tensorflow_op(plane, of)) {
    names.label =
        events.strings.intern(of.name.substr(0, of.name.size() - of.display_name.size() - 1));
    names.type = events.strings.intern(of.display_name);
  }
  const auto module = plane.find(of.stats, "hlo_module");
  const auto program = plane.find(of.stats, "program_id");
  const bool is_op = plane.find(of.stats, "hlo_category") || plane.find(of.stats, "tf_op");
  if (module) names.module = events.strings.intern(plane.text_of(*module));
  if (!module && program && is_op) {
    names.module = facts.program_named(std::int64_t(program->bits));
  }
  return names;
}

Collector::StatUse Collector::learn_use(const Plane& plane, std::uint32_t place) {
  StatUse& use = stat_uses_[place];
  const std::string_view name = plane.stat_names[place];
  use.name = events.strings.intern(name);
  use.use = name.starts_with('_')      ? Use::dropped  // the profiler's own links
            : name == "hlo_module"     ? Use::module
            : name == "program_id"     ? Use::program
            : name == "correlation_id" ? Use::correlation
                                       : Use::kept;
  return use;
}

// Whether all that it says is in event_.
bool Collector::take_stat(const Plane& plane, std::string_view bytes) {
  FieldReader reader(bytes);
  Stat stat;
  StatUse use;
  if (!reader.next()) return true;
  if (reader.tag_and_type() == varint_field(stat_field::metadata_id)) {  // first, as mostly
    stat.name = reader.get_int64();
    use = use_of(plane, stat.name);
    if (use.use == Use::dropped) return true;
    decode_stat(reader, stat);
  } else {
    stat = decode_stat(bytes);
    use = use_of(plane, stat.name);
    if (use.use == Use::dropped) return true;
  }
  ArgumentType type = ArgumentType::integer;
  std::uint64_t bits = stat.bits;
  switch (stat.type) {
    case Stat::Type::none: return true;
    case Stat::Type::bytes: ++bytes_left_out_; return false;
    case Stat::Type::number: type = ArgumentType::number; break;
    case Stat::Type::integer: break;
    case Stat::Type::unsigned_integer:
      if (bits > std::uint64_t(std::numeric_limits<std::int64_t>::max())) {
        type = ArgumentType::unsigned_integer;
      }
      break;
    case Stat::Type::text:
      type = ArgumentType::text;
      bits = std::uint64_t(events.strings.intern(stat.text));
      break;
    case Stat::Type::reference: {
      type = ArgumentType::text;
      bits = std::uint64_t(use_of(plane, std::int64_t(stat.bits)).name);
      break;
    }
  }
  if (use.use == Use::module && type == ArgumentType::text) event_.module = StringId(bits);
  if (use.use == Use::program && stat.type != Stat::Type::text) event_.program = bits;
  if (use.use == Use::correlation && stat.type != Stat::Type::text) {
    correlation_ = bits;
    has_correlation_ = true;
  }
  const bool is_again = std::any_of(event_.keys.begin(), event_.keys.end(),
                                    [&](const ArgumentKey& key) { return key.name == use.name; });
  if (!is_again) {
    event_.keys.push_back({use.name, type});
    event_.values.push_back(bits);
  }
  return use.use != Use::correlation;
}

// None of a name whose first event this is.
KnownStats* Collector::known_stats_of(std::uint32_t place) {
  if (place == Places::none || !event_names_[place].is_known) return nullptr;
  std::uint32_t& known = event_names_[place].known_stats;
  if (known == EventNames::no_stats) {
    known = std::uint32_t(known_stats_.size());
    known_stats_.emplace_back();
  }
  return &known_stats_[known];
}

// The module of an op with the number of its program: a module that is compiled again, for another
// shape, keeps its name.
StringId Collector::module_of_event(const EventNames& names) {
  if (event_.module == StringId::empty && names.module == StringId::empty) return StringId::empty;
  const std::pair key(event_.module, event_.program.value_or(0));
  if (key == last_module_ && event_.module != StringId::empty) return last_module_name_;
  StringId name = event_.module != StringId::empty ? event_.module : names.module;
  if (event_.module != StringId::empty && event_.program) {
    const auto [place, is_new] = module_names_.try_emplace(key, StringId::empty);
    if (is_new) {
      place->second = events.strings.intern(
          fmt::format("{}({})", events.strings[event_.module], *event_.program));
    }
    name = place->second;
  }
  last_module_ = key;
  last_module_name_ = name;
  if (std::ranges::find(modules, name) == modules.end()) modules.push_back(name);
  return name;
}

// Once for a name and module.
void Collector::add_facts(const Plane& plane, std::uint32_t place, StringId module,
                          EventNames& names) {
  names.has_facts = true;
  names.last_module = module;
  if (place == Places::none || plane.events[place].stats.empty()) return;
  facts.add(module, names.label, plane, plane.events[place]);
}

bool Collector::add_event(const Plane& plane, const Line& line, std::string_view bytes,
                          CountedNotes& losses) {
  std::uint32_t place = plane.event_places.of(0);  // of what is known of its name
  std::int64_t offset_ps = 0, duration_ps = 0;
  std::uint64_t occurrences = 0;
  bool is_aggregate = false;
  event_.clear();
  has_correlation_ = false;
  KnownStats* known = nullptr;  // while stats follow one another
  std::string_view stats;
  bool any_stat = false;
  FieldReader reader(bytes);
  while (reader.next()) {
    if (reader.tag_and_type() != bytes_field(event_field::stat)) known = nullptr;
    switch (reader.tag_and_type()) {
      case varint_field(event_field::metadata_id):
        place = plane.event_places.of(reader.get_int64());
        break;
      case varint_field(event_field::offset_ps):
        offset_ps = reader.get_int64();
        is_aggregate = false;
        break;
      case varint_field(event_field::duration_ps): duration_ps = reader.get_int64(); break;
      case bytes_field(event_field::stat): {
        if (!std::exchange(any_stat, true)) {
          known = known_stats_of(place);
          stats = reader.rest();
          const std::size_t same = known != nullptr ? known->take(stats, event_) : 0;
          reader.skip_bytes(same);
          if (same > 0) break;
        }
        if (!take_stat(plane, bytes_of(reader))) known = nullptr;
        if (known != nullptr) known->add(stats.size() - reader.bytes_left(), event_);
        break;
      }
      case varint_field(event_field::occurrences):
        occurrences = reader.get_uint64();
        is_aggregate = true;
        break;
      default: reader.skip();
    }
  }
  EventNames& names = names_of(plane, place, losses);
  const StringId module = module_of_event(names);
  if (!names.has_facts || names.last_module != module) add_facts(plane, place, module, names);
  std::int64_t start = 0, end = 0;
  const bool is_good = duration_ps >= 0 && to_picoseconds(line.timestamp_ns, offset_ps, start) &&
                       !__builtin_add_overflow(start, duration_ps, &end);
  if (is_aggregate && duration_ps >= 0) {
    if (line.repeats) return true;
    aggregates.push_back({module, names.label, occurrences, duration_ps});
    return true;
  }
  if (!is_good) {
    losses.add(Severity::error, 0,
               "events with a negative duration or a time beyond 106 days, left out");
    return false;
  }
  const auto row = std::uint32_t(events.slices.size());
  chrome::Slices& slices = events.slices;
  slices.thread.push_back(line.thread);
  slices.name.push_back(names.label);
  slices.category.push_back(module == StringId::empty ? names.type : module);
  slices.start.push_back(start);
  slices.duration.push_back(duration_ps);
  if (has_correlation_)
    (line.is_host ? launches : launched).push_back({host_.number, correlation_, row});
  if (!std::ranges::equal(shapes_[names.last_shape], event_.keys)) {
    names.last_shape = shapes_.intern(event_.keys);
  }
  places_.push_back({names.last_shape, std::uint32_t(values_.size())});
  values_.insert(values_.end(), event_.values.begin(), event_.values.end());
  if (places_.size() == ArgumentBlock::rows) close_rows();
  return true;
}

void Collector::close_rows() {
  const std::size_t first = events.slices.size() - places_.size();
  events.slices.arguments.add_rows(first, places_.size(), values_,
                                   [&](std::size_t i) { return places_[i]; });
  places_.clear();
  values_.clear();
}

void Collector::finish() {
  if (!places_.empty()) close_rows();
  events.slices.arguments.shapes = shapes_.take_shapes();
  if (bytes_left_out_ > 0) {
    events.notes.push_back({Severity::info, events.file, 0,
                            "stats of bytes without a meaning here, left out", bytes_left_out_});
  }
}

}  // namespace npuscope::xplane
