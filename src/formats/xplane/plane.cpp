#include "formats/xplane/plane.hpp"

#include <algorithm>
#include <bit>

#include "formats/xplane/fields.hpp"

namespace npuscope::xplane {
namespace {

struct Entry {
  std::int64_t id = 0;
  std::string_view value;
};

Entry decode_entry(std::string_view bytes) {
  Entry entry;
  FieldReader reader(bytes);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(entry_field::key): entry.id = reader.get_int64(); break;
      case bytes_field(entry_field::value): entry.value = bytes_of(reader); break;
      default: reader.skip();
    }
  }
  return entry;
}

EventMetadata decode_event_metadata(std::string_view bytes) {
  EventMetadata metadata;
  FieldReader reader(bytes);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case bytes_field(event_metadata_field::name): metadata.name = bytes_of(reader); break;
      case bytes_field(event_metadata_field::display_name):
        metadata.display_name = bytes_of(reader);
        break;
      case bytes_field(event_metadata_field::stat):
        metadata.stats.push_back(bytes_of(reader));
        break;
      default: reader.skip();
    }
  }
  return metadata;
}

std::string_view decode_stat_name(std::string_view bytes) {
  std::string_view name;
  FieldReader reader(bytes);
  while (reader.next()) {
    if (reader.tag_and_type() == bytes_field(stat_metadata_field::name)) {
      name = bytes_of(reader);
    } else {
      reader.skip();
    }
  }
  return name;
}

}  // namespace

Stat decode_stat(std::string_view bytes) {
  Stat stat;
  FieldReader reader(bytes);
  decode_stat(reader, stat);
  return stat;
}

void decode_stat(FieldReader& reader, Stat& stat) {
  const auto take = [&](Stat::Type type, std::uint64_t bits) {
    stat.type = type;
    stat.bits = bits;
  };
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(stat_field::metadata_id): stat.name = reader.get_int64(); break;
      case fixed64_field(stat_field::number): take(Stat::Type::number, reader.get_fixed64()); break;
      case varint_field(stat_field::unsigned_integer):
        take(Stat::Type::unsigned_integer, reader.get_uint64());
        break;
      case varint_field(stat_field::integer): take(Stat::Type::integer, reader.get_uint64()); break;
      case varint_field(stat_field::reference):
        take(Stat::Type::reference, reader.get_uint64());
        break;
      case bytes_field(stat_field::text):
        take(Stat::Type::text, 0);
        stat.text = bytes_of(reader);
        break;
      case bytes_field(stat_field::bytes):
        take(Stat::Type::bytes, 0);
        stat.text = bytes_of(reader);
        break;
      default: reader.skip();
    }
  }
}

void Places::build(const std::vector<std::int64_t>& ids) {
  const std::uint64_t max_dense = 4 * std::uint64_t(ids.size()) + 1024;
  for (std::uint32_t place = 0; place < ids.size(); ++place) {
    const auto id = std::uint64_t(ids[place]);
    if (id >= max_dense) {
      sparse_.try_emplace(ids[place], place);
      continue;
    }
    if (id >= dense_.size()) dense_.resize(std::size_t(id) + 1, none);
    if (dense_[std::size_t(id)] == none) dense_[std::size_t(id)] = place;
  }
}

std::string_view view_or_rest(FieldReader& reader, bool& was_cut) {
  try {
    return bytes_of(reader);
  } catch (const protozero::end_of_buffer_exception&) {
    was_cut = true;
    return reader.take_rest();
  }
}

Plane Plane::decode(std::string_view bytes, CountedNotes& losses) {
  Plane plane;
  std::vector<std::int64_t> event_ids, stat_ids;
  bool was_cut = false;
  try {
    FieldReader reader(bytes);
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case bytes_field(plane_field::name): plane.name = bytes_of(reader); break;
        case bytes_field(plane_field::line):
          plane.lines.push_back(view_or_rest(reader, was_cut));
          break;
        case bytes_field(plane_field::stat): plane.stats.push_back(bytes_of(reader)); break;
        case bytes_field(plane_field::event_metadata): {
          const Entry entry = decode_entry(bytes_of(reader));
          plane.events.push_back(decode_event_metadata(entry.value));
          event_ids.push_back(entry.id);
          break;
        }
        case bytes_field(plane_field::stat_metadata): {
          const Entry entry = decode_entry(bytes_of(reader));
          plane.stat_names.push_back(decode_stat_name(entry.value));
          stat_ids.push_back(entry.id);
          break;
        }
        default: reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    event_ids.resize(plane.events.size());
    stat_ids.resize(plane.stat_names.size());
    losses.add(Severity::error, 0,
               "a plane is broken; what stands behind the place is left out, as its names");
  }
  plane.event_places.build(event_ids);
  plane.stat_places.build(stat_ids);
  return plane;
}

std::string_view Plane::text_of(const Stat& stat) const {
  if (stat.type == Stat::Type::text) return stat.text;
  return stat.type == Stat::Type::reference ? stat_name(std::int64_t(stat.bits))
                                            : std::string_view();
}

std::optional<Stat> Plane::find(const std::vector<std::string_view>& among,
                                std::string_view wanted) const {
  try {
    for (const std::string_view bytes : among) {
      const Stat stat = decode_stat(bytes);
      if (stat_name(stat.name) == wanted) return stat;
    }
  } catch (const protozero::exception&) {
  }
  return std::nullopt;
}

std::optional<double> number_of(const Stat& stat) {
  switch (stat.type) {
    case Stat::Type::number: return std::bit_cast<double>(stat.bits);
    case Stat::Type::integer: return double(std::int64_t(stat.bits));
    case Stat::Type::unsigned_integer: return double(stat.bits);
    default: return std::nullopt;
  }
}

}  // namespace npuscope::xplane
