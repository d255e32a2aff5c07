#include "formats/perfetto/read/tracks.hpp"

#include "base/field_reader.hpp"

namespace npuscope::perfetto {
namespace {

// What Chrome calls its processes and threads by their type, where a descriptor gives no name.

// ChromeProcessDescriptor.ProcessType; empty for one that is not known.
constexpr std::string_view chrome_process_name(std::uint64_t type) {
  switch (type) {
    case 1: return "Browser";
    case 2: return "Renderer";
    case 3: return "Utility";
    case 4: return "SandboxHelper";
    case 6: return "Gpu";
    case 7: return "PpapiPlugin";
    case 8: return "PpapiBroker";
    default: return {};
  }
}

// ChromeThreadDescriptor.ThreadType; "&" stands for any number of them.
constexpr std::string_view chrome_thread_name(std::uint64_t type) {
  switch (type) {
    case 1: return "CrProcessMain";
    case 2: return "ChromeIOThread";
    case 3: return "ThreadPoolBackgroundWorker&";
    case 4: return "ThreadPoolForegroundWorker&";
    case 5: return "ThreadPoolSingleThreadForegroundBlocking&";
    case 6: return "ThreadPoolSingleThreadBackgroundBlocking&";
    case 7: return "ThreadPoolService";
    case 8: return "Compositor";
    case 9: return "VizCompositorThread";
    case 10: return "CompositorTileWorker&";
    case 11: return "ServiceWorkerThread&";
    case 50: return "MemoryInfra";
    case 51: return "StackSamplingProfiler";
    default: return {};
  }
}

void keep_name(StringPool& strings, std::string_view text, StringId& name) {
  if (!text.empty()) name = strings.intern(text);
}

const char* counter_unit_name(std::uint64_t unit) {
  switch (unit) {
    case counter_unit::nanoseconds: return "ns";
    case counter_unit::count: return "count";
    case counter_unit::bytes: return "bytes";
    default: return "";
  }
}

std::uint64_t chrome_type(std::string_view descriptor) {
  std::uint64_t type = 0;
  FieldReader reader(descriptor);
  while (reader.next()) {
    if (reader.tag_and_type() == varint_field(chrome_field::type)) {
      type = reader.get_uint64();
    } else {
      reader.skip();
    }
  }
  return type;
}

}  // namespace

std::uint32_t Tracks::add() {
  tracks_.emplace_back();
  return std::uint32_t(tracks_.size() - 1);
}

std::uint32_t Tracks::find_or_add(std::uint64_t uuid) {
  const auto [entry, is_new] = by_uuid_.try_emplace(uuid, none);
  if (is_new) {
    entry->second = add();
    tracks_.back().uuid = uuid;
    tracks_.back().has_uuid = true;
  }
  recent_[place_of(uuid)] = {uuid, entry->second};
  return entry->second;
}

std::uint32_t Tracks::find_uuid(std::uint64_t uuid) const {
  const auto found = by_uuid_.find(uuid);
  return found == by_uuid_.end() ? none : found->second;
}

std::uint32_t Tracks::add_process(std::int32_t pid) {
  const std::uint32_t track = add();
  tracks_[track].kind = Track::Kind::process;
  tracks_[track].pid = pid;
  return track;
}

std::uint32_t Tracks::add_thread(std::int32_t pid, std::int64_t tid) {
  const std::uint32_t track = add();
  tracks_[track].kind = Track::Kind::thread;
  tracks_[track].pid = pid;
  tracks_[track].tid = tid;
  return track;
}

std::uint32_t Tracks::of_process(std::int32_t pid) {
  const auto [entry, is_new] = processes_.try_emplace(pid, none);
  if (is_new) entry->second = add_process(pid);
  return entry->second;
}

std::uint32_t Tracks::of_thread(std::int32_t pid, std::int64_t tid) {
  const auto [entry, is_new] = threads_.try_emplace({pid, tid}, none);
  if (is_new) entry->second = add_thread(pid, tid);
  return entry->second;
}

Tracks::DescribedThread Tracks::describe(std::string_view track_descriptor) {
  std::uint64_t uuid = 0;
  std::uint64_t merges = 0;
  FieldReader ids(track_descriptor);
  while (ids.next()) {
    switch (ids.tag_and_type()) {
      case varint_field(track_field::uuid): uuid = ids.get_uint64(); break;
      case varint_field(track_field::sibling_merge_behavior): merges = ids.get_uint64(); break;
      default: ids.skip();
    }
  }
  const std::uint32_t index = by_uuid(uuid);
  Track& track = tracks_[index];
  track.described = true;
  // Of a track that may be joined with others of its name the first name counts.
  const bool keeps_name = track.name != StringId{} && merges != merge_behavior::never;
  DescribedThread thread;
  FieldReader reader(track_descriptor);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case bytes_field(track_field::name):
      case bytes_field(track_field::static_name):
      case bytes_field(track_field::atrace_name):
        if (keeps_name) {
          reader.skip();
        } else {
          keep_name(*strings_, bytes_of(reader), track.name);
        }
        break;
      case bytes_field(track_field::description):
        keep_name(*strings_, bytes_of(reader), track.description);
        break;
      case varint_field(track_field::parent_uuid):
        track.parent_uuid = reader.get_uint64();
        track.has_parent = true;
        break;
      case bytes_field(track_field::process): describe_process(bytes_of(reader), track); break;
      case bytes_field(track_field::thread):
        thread = describe_thread(bytes_of(reader), track);
        thread.track = index;
        break;
      case bytes_field(track_field::chrome_process):
        keep_name(*strings_, chrome_process_name(chrome_type(bytes_of(reader))), track.chrome_name);
        break;
      case bytes_field(track_field::chrome_thread):
        keep_name(*strings_, chrome_thread_name(chrome_type(bytes_of(reader))), track.chrome_name);
        break;
      case bytes_field(track_field::counter): describe_counter(bytes_of(reader), track); break;
      case varint_field(track_field::child_ordering):
        track.ordering = ChildOrdering(reader.get_uint32());
        break;
      case varint_field(track_field::sibling_order_rank): track.rank = reader.get_int32(); break;
      default: reader.skip();
    }
  }
  // A counter of a process or thread is not its track.
  if (track.is_counter) return {};
  if (track.kind == Track::Kind::process) processes_.try_emplace(track.pid, index);
  if (track.kind == Track::Kind::thread) threads_.try_emplace({track.pid, track.tid}, index);
  return thread;
}

void Tracks::describe_process(std::string_view message, Track& track) {
  if (track.kind == Track::Kind::plain) track.kind = Track::Kind::process;
  std::string_view command;
  std::string_view name;
  FieldReader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(process_field::pid): track.pid = reader.get_int32(); break;
      case bytes_field(process_field::name): name = bytes_of(reader); break;
      case varint_field(process_field::chrome_type):
        keep_name(*strings_, chrome_process_name(reader.get_uint64()), track.chrome_name);
        break;
      case bytes_field(process_field::command_line): {
        const std::string_view word = bytes_of(reader);
        if (command.empty()) command = word;
        break;
      }
      default: reader.skip();
    }
  }
  keep_name(*strings_, name.empty() ? command : name, track.process_name);
}

Tracks::DescribedThread Tracks::describe_thread(std::string_view message, Track& track) {
  DescribedThread thread;
  track.kind = Track::Kind::thread;
  FieldReader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(thread_field::pid): track.pid = reader.get_int32(); break;
      case varint_field(thread_field::tid): track.tid = reader.get_int64(); break;
      case bytes_field(thread_field::name):
        keep_name(*strings_, bytes_of(reader), track.thread_name);
        break;
      case varint_field(thread_field::chrome_type):
        keep_name(*strings_, chrome_thread_name(reader.get_uint64()), track.chrome_name);
        break;
      case varint_field(thread_field::reference_timestamp_us):
        thread.reference_time_us = reader.get_int64();
        thread.has_reference_time = true;
        break;
      case varint_field(thread_field::reference_thread_time_us):
        thread.thread_time_us = reader.get_int64();
        break;
      case varint_field(thread_field::reference_thread_instructions):
        thread.instructions = reader.get_int64();
        break;
      default: reader.skip();
    }
  }
  return thread;
}

void Tracks::describe_counter(std::string_view message, Track& track) {
  track.is_counter = true;
  FieldReader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(counter_field::unit):
        keep_name(*strings_, counter_unit_name(reader.get_uint64()), track.quantity);
        break;
      case bytes_field(counter_field::unit_name):
        keep_name(*strings_, bytes_of(reader), track.quantity);
        break;
      case varint_field(counter_field::unit_multiplier):
        track.multiplier = reader.get_int64();
        break;
      case varint_field(counter_field::is_incremental):
        track.incremental = reader.get_uint64() != 0;
        break;
      default: reader.skip();
    }
  }
  if (track.multiplier == 0) track.multiplier = 1;
}

void Tracks::describe_process(std::string_view process_descriptor) {
  Track described;
  describe_process(process_descriptor, described);
  Track& track = tracks_[of_process(described.pid)];
  if (described.process_name != StringId{}) track.process_name = described.process_name;
  if (described.chrome_name != StringId{}) track.chrome_name = described.chrome_name;
}

Tracks::DescribedThread Tracks::describe_thread(std::string_view thread_descriptor) {
  Track described;
  DescribedThread thread = describe_thread(thread_descriptor, described);
  thread.track = of_thread(described.pid, described.tid);
  Track& track = tracks_[thread.track];
  if (described.thread_name != StringId{}) track.thread_name = described.thread_name;
  if (described.chrome_name != StringId{}) track.chrome_name = described.chrome_name;
  return thread;
}

}  // namespace npuscope::perfetto
