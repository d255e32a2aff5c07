#include "formats/perfetto/read/sequence.hpp"

#include "base/field_reader.hpp"
#include "formats/perfetto/fields.hpp"

namespace npuscope::perfetto {
namespace {

struct InternedText {
  std::uint64_t iid = 0;
  std::string_view text;
};

InternedText decode_text(std::string_view message) {
  InternedText entry;
  FieldReader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(interned_text_field::iid): entry.iid = reader.get_uint64(); break;
      case bytes_field(interned_text_field::text): entry.text = bytes_of(reader); break;
      default: reader.skip();
    }
  }
  return entry;
}

}  // namespace

SourceLocation decode_location(std::string_view message, StringPool& strings, std::uint64_t& iid) {
  SourceLocation location;
  FieldReader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(location_field::iid): iid = reader.get_uint64(); break;
      case bytes_field(location_field::file):
        location.file = strings.intern(bytes_of(reader));
        break;
      case bytes_field(location_field::function):
        location.function = strings.intern(bytes_of(reader));
        break;
      case varint_field(location_field::line): location.line = reader.get_uint32(); break;
      default: reader.skip();
    }
  }
  return location;
}

void InternedState::add(std::string_view interned_data, StringPool& strings) {
  const auto add_text = [&](InternTable<StringId>& table, std::string_view message) {
    const InternedText entry = decode_text(message);
    table.set(entry.iid, strings.intern(entry.text));
  };
  FieldReader reader(interned_data);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case bytes_field(interned_field::categories): add_text(categories, bytes_of(reader)); break;
      case bytes_field(interned_field::names): add_text(names, bytes_of(reader)); break;
      case bytes_field(interned_field::annotation_names):
        add_text(annotation_names, bytes_of(reader));
        annotation_forms = 0;
        break;
      case bytes_field(interned_field::annotation_strings):
        add_text(annotation_strings, bytes_of(reader));
        break;
      case bytes_field(interned_field::source_locations): {
        std::uint64_t iid = 0;
        const SourceLocation location = decode_location(bytes_of(reader), strings, iid);
        locations.set(iid, location);
        break;
      }
      default: reader.skip();
    }
  }
}

SequenceDefaults SequenceDefaults::decode(std::string_view trace_packet_defaults) {
  SequenceDefaults defaults;
  FieldReader reader(trace_packet_defaults);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(defaults_field::timestamp_clock_id):
        defaults.clock = reader.get_uint32();
        break;
      case bytes_field(defaults_field::track_event): {
        FieldReader event(reader.get_view());
        while (event.next()) {
          switch (event.tag()) {
            case event_field::track_uuid:
              if (event.wire_type() == protozero::pbf_wire_type::varint) {
                defaults.track_uuid = event.get_uint64();
              } else {
                event.skip();
              }
              break;
            case event_field::extra_counter_tracks:
              append_varints(event, defaults.extra_counter_tracks);
              break;
            case event_field::extra_double_counter_tracks:
              append_varints(event, defaults.extra_double_counter_tracks);
              break;
            default: event.skip();
          }
        }
        break;
      }
      default: reader.skip();
    }
  }
  return defaults;
}

// Which thread writes is no state: it goes on to.
void Sequence::clear_state() {
  state_valid = true;
  reference_time_us.reset();
  defaults = {};
  interned.reset();
}

}  // namespace npuscope::perfetto
