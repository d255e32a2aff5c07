// Field numbers of Perfetto's messages (protos/perfetto/trace of the Perfetto repository, v58), as
// far as npuscope reads or writes them.
#pragma once

#include <cstdint>

namespace npuscope::perfetto {

namespace trace_field {
enum : std::uint32_t { packet = 1 };
}

namespace packet_field {
enum : std::uint32_t {
  trusted_uid = 3,
  chrome_events = 5,
  clock_snapshot = 6,
  timestamp = 8,
  sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  synchronization_marker = 36,
  incremental_state_cleared = 41,
  previous_packet_dropped = 42,
  process_descriptor = 43,
  thread_descriptor = 44,
  compressed_packets = 50,
  timestamp_clock_id = 58,
  trace_packet_defaults = 59,
  track_descriptor = 60,
  trusted_process = 79,
  first_packet_on_sequence = 87,
  trace_uuid = 89,
  machine = 98,
  zstd_compressed_packets = 133,
};
}

namespace sequence_flag {
enum : std::uint32_t { cleared = 1, needs_state = 2 };
}

namespace event_field {
enum : std::uint32_t {
  timestamp_delta_us = 1,
  thread_time_delta_us = 2,
  category_iids = 3,
  debug_annotations = 4,
  legacy_event = 6,
  thread_instructions_delta = 8,
  type = 9,
  name_iid = 10,
  track_uuid = 11,
  extra_counter_values = 12,
  timestamp_absolute_us = 16,
  thread_time_absolute_us = 17,
  thread_instructions_absolute = 20,
  categories = 22,
  name = 23,
  counter_value = 30,
  extra_counter_tracks = 31,
  source_location = 33,
  source_location_iid = 34,
  flow_ids_varint = 36,
  terminating_flow_ids_varint = 42,
  double_counter_value = 44,
  extra_double_counter_tracks = 45,
  extra_double_counter_values = 46,
  flow_ids = 47,
  terminating_flow_ids = 48,
  correlation_id = 52,
};
}

enum class EventType : std::uint32_t {
  unspecified = 0,
  slice_begin = 1,
  slice_end = 2,
  instant = 3,
  counter = 4,
  state = 5,
};

namespace legacy_field {
enum : std::uint32_t {
  name_iid = 1,
  phase = 2,
  duration_us = 3,
  unscoped_id = 6,
  id_scope = 7,
  bind_id = 8,
  local_id = 10,
  global_id = 11,
  bind_to_enclosing = 12,
  flow_direction = 13,
  instant_event_scope = 14,
  process_override = 18,
  thread_override = 19,
};
}

namespace defaults_field {
enum : std::uint32_t { track_event = 11, timestamp_clock_id = 58 };
}

namespace track_field {
enum : std::uint32_t {
  uuid = 1,
  name = 2,
  process = 3,
  thread = 4,
  parent_uuid = 5,
  chrome_process = 6,
  chrome_thread = 7,
  counter = 8,
  static_name = 10,
  child_ordering = 11,
  sibling_order_rank = 12,
  atrace_name = 13,
  description = 14,
  sibling_merge_behavior = 15,
};
}

enum class ChildOrdering : std::uint32_t {
  unspecified = 0,
  lexicographic = 1,
  chronological = 2,
  explicit_rank = 3,
};

namespace merge_behavior {
enum : std::uint32_t { never = 2 };
}

namespace process_field {
enum : std::uint32_t { pid = 1, command_line = 2, chrome_type = 4, name = 6 };
}

namespace thread_field {
enum : std::uint32_t {
  pid = 1,
  tid = 2,
  chrome_type = 4,
  name = 5,
  reference_timestamp_us = 6,
  reference_thread_time_us = 7,
  reference_thread_instructions = 8,
};
}

namespace chrome_field {  // ChromeProcessDescriptor, ChromeThreadDescriptor
enum : std::uint32_t { type = 1 };
}

namespace counter_field {
enum : std::uint32_t { unit = 3, unit_multiplier = 4, is_incremental = 5, unit_name = 6 };
}

namespace counter_unit {
enum : std::uint32_t { nanoseconds = 1, count = 2, bytes = 3 };
}

namespace interned_field {
enum : std::uint32_t {
  categories = 1,
  names = 2,
  annotation_names = 3,
  source_locations = 4,
  annotation_strings = 29,
};
}

namespace interned_text_field {
enum : std::uint32_t { iid = 1, text = 2 };
}

namespace location_field {
enum : std::uint32_t { iid = 1, file = 2, function = 3, line = 4 };
}

namespace annotation_field {
enum : std::uint32_t {
  name_iid = 1,
  boolean = 2,
  unsigned_integer = 3,
  integer = 4,
  number = 5,
  text = 6,
  pointer = 7,
  nested = 8,
  legacy_json = 9,
  name = 10,
  dictionary = 11,
  array = 12,
  text_iid = 17,
};
}

namespace nested_field {  // DebugAnnotation.NestedValue, before dict_entries and array_values
enum : std::uint32_t {
  type = 1,
  keys = 2,
  values = 3,
  array = 4,
  integer = 5,
  number = 6,
  boolean = 7,
  text = 8,
};
}

namespace snapshot_field {
enum : std::uint32_t { clocks = 1, primary_trace_clock = 2 };
}

namespace clock_field {
enum : std::uint32_t { id = 1, timestamp = 2, is_incremental = 3, unit_multiplier_ns = 4 };
}

namespace bundle_field {  // ChromeEventBundle: facts about the trace, each with a name
enum : std::uint32_t { metadata = 2 };
}

namespace metadata_field {
enum : std::uint32_t { name = 1, text = 2 };
}

// Built-in clocks; 64 to 127 belong to a sequence.
namespace clock_id {
enum : std::uint32_t {
  realtime = 1,
  realtime_coarse = 2,
  monotonic = 3,
  monotonic_coarse = 4,
  monotonic_raw = 5,
  boottime = 6,
  first_of_sequence = 64,
  last_of_sequence = 127,
};
}

// Fields of TracePacket that are numbers; all others are messages, strings or bytes.
constexpr bool is_number_in_packet(std::uint32_t field) {
  switch (field) {
    case packet_field::trusted_uid:
    case packet_field::timestamp:
    case packet_field::sequence_id:
    case packet_field::sequence_flags:
    case packet_field::incremental_state_cleared:
    case packet_field::previous_packet_dropped:
    case packet_field::timestamp_clock_id:
    case packet_field::trusted_process:
    case packet_field::first_packet_on_sequence:
    case packet_field::machine: return true;
    default: return false;
  }
}

}  // namespace npuscope::perfetto
