// A plane of an XSpace: a host's threads or a device's lines, with the tables that name what their
// events refer to by number. The tables stand behind the lines that need them, so a plane is taken
// apart before its lines are read. Views lie in the file's bytes.
//
//   Plane plane = Plane::decode(bytes, losses);
//   for (const std::string_view line : plane.lines) …
//   plane.stat_name(7)->name      // "hlo_op"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/field_reader.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::xplane {

// The value of a stat and the number of its name.
struct Stat {
  enum class Type : std::uint8_t {
    none,
    number,
    unsigned_integer,
    integer,
    text,
    bytes,
    reference
  };
  std::int64_t name = 0;
  Type type = Type::none;
  std::uint64_t bits = 0;
  std::string_view text;
};
// Throw protozero's exceptions where the message is broken.
Stat decode_stat(std::string_view bytes);
// The rest of it, where its name has been read.
void decode_stat(FieldReader& reader, Stat& stat);

// Numbers of 64 bits as places in a table: dense, as mostly, or not.
class Places {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void build(const std::vector<std::int64_t>& ids);
  std::uint32_t of(std::int64_t id) const {
    if (std::uint64_t(id) < dense_.size()) return dense_[std::size_t(id)];
    if (sparse_.empty()) return none;
    const auto found = sparse_.find(id);
    return found == sparse_.end() ? none : found->second;
  }

 private:
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::int64_t, std::uint32_t> sparse_;
};

struct EventMetadata {
  std::string_view name, display_name;
  std::vector<std::string_view> stats;  // of every event that has this metadata

  std::string_view label() const { return display_name.empty() ? name : display_name; }
};

class Plane {
 public:
  static Plane decode(std::string_view bytes, CountedNotes& losses);

  std::string_view name;
  std::vector<std::string_view> lines;
  std::vector<std::string_view> stats;
  std::vector<EventMetadata> events;
  std::vector<std::string_view> stat_names;
  Places event_places, stat_places;

  std::string_view stat_name(std::int64_t id) const {
    const std::uint32_t place = stat_places.of(id);
    return place == Places::none ? std::string_view() : stat_names[place];
  }
  // A text, or what a reference names; empty of all else.
  std::string_view text_of(const Stat& stat) const;
  // The stat of that name among some.
  std::optional<Stat> find(const std::vector<std::string_view>& among, std::string_view name) const;
};

// What can be read of a field with bytes: of the last of a file that was cut off, what is there.
std::string_view view_or_rest(FieldReader& reader, bool& was_cut);

// A number of any type.
std::optional<double> number_of(const Stat& stat);

}  // namespace npuscope::xplane
