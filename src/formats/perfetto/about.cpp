#include "formats/perfetto/about.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/json_writer.hpp"
#include "base/numbers.hpp"
#include "profile/names.hpp"
#include "profile/number_names.hpp"
#include "profile/schema.hpp"

namespace npuscope::perfetto {
namespace {

constexpr std::string_view unit_place = "npuscope unit ", no_unit_place = "npuscope unit none",
                           phases_place = "npuscope phases";

using schema::Type;

using AboutJson = JsonWriter<std::string>;

void write_text(AboutJson& json, const char* name, std::string_view value) {
  if (!value.empty()) json.member(name, value);  // what holds nothing is left out
}

// write(row) writes the members of one object.
template <class Write>
void write_list(AboutJson& json, const char* name, std::size_t rows, Write write) {
  json.key(name);
  static constexpr JsonLayout lines = JsonLayout::lines();
  json.begin_array(lines);
  for (std::size_t row = 0; row < rows; ++row) json.object([&] { write(row); });
  json.end_array();
}

// The meanings of numbers that have one: a name that stands for two, or that spans have as an
// argument of their own, says nothing.
class Meanings {
 public:
  explicit Meanings(const Profile& profile) {
    for (const MeasureColumn& column : profile.spans.measures) {
      add({column.what, true, column.kind, column.origin, column.meaning, column.clock});
    }
    for (const Measure& measure : profile.measures) {
      const bool held =
          measure.subject == Measure::Subject::span || measure.subject == Measure::Subject::phase;
      if (!held) continue;
      add({measure.what, false, measure.kind, measure.origin, measure.meaning, measure.clock,
           measure.event});
    }
    for (const ArgumentShape& shape : profile.spans.arguments.shapes) {
      for (const ArgumentKey& key : shape) {
        if (key.type == ArgumentType::integer) forget({key.name, true});
        if (key.type == ArgumentType::number) forget({key.name, false});
      }
    }
  }

  std::vector<NumberMeaning> clear() const {
    std::vector<NumberMeaning> out;
    for (const Entry& entry : entries_) {
      if (entry.is_clear) out.push_back(entry.meaning);
    }
    return out;
  }

 private:
  struct Entry {
    NumberMeaning meaning;
    bool is_clear = true;
  };
  using Key = std::pair<StringId, bool>;  // name, is_column

  void add(const NumberMeaning& meaning) {
    const auto [place, is_new] =
        places_.try_emplace({meaning.name, meaning.is_column}, entries_.size());
    if (is_new) {
      entries_.push_back({meaning});
    } else if (meaning.is_column || !(entries_[place->second].meaning == meaning)) {
      entries_[place->second].is_clear = false;
    }
  }
  void forget(const Key& key) {
    if (const auto known = places_.find(key); known != places_.end()) {
      entries_[known->second].is_clear = false;
    }
  }

  std::vector<Entry> entries_;
  std::map<Key, std::size_t> places_;
};

// A cell of the schema as a member of the same name; NULL is left out.
struct Member {
  AboutJson& json;
  const char* name;

  void nothing() {}
  void boolean(bool value) { number(int(value)); }
  void number(std::integral auto value) { json.member(name, value); }
  void number(double value) {
    if (std::isfinite(value)) json.member(name, value);
  }
  void text(std::string_view value) { write_text(json, name, value); }
};

// What can be read back of a row.
void write_rows(AboutJson& json, const schema::Source& source, const char* name) {
  const schema::Table& table = schema::table_named(name);
  const std::size_t rows = table.rows(source);
  write_list(json, name, rows, [&](std::size_t row) {
    for (const schema::Field& field : table.fields) {
      if (field.set == nullptr) continue;
      const schema::Cell cell = field.get(source, schema::Row(row));
      if (cell.type == Type::id && std::size_t(cell.integer) >= rows) continue;  // of this table
      Member member{json, field.name};
      add_cell(source, field, cell, member);
    }
  });
}

using Json = simdjson::dom::element;

template <class Number>
std::optional<Number> number_in(const Json& object, const char* name) {
  Number value{};
  if (object[name].get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

std::uint32_t index_in(const Json& object, const char* name, std::uint32_t missing) {
  const auto value = number_in<std::uint64_t>(object, name);
  return value && *value < missing ? std::uint32_t(*value) : missing;
}

std::string_view text_in(const Json& object, const char* name) {
  std::string_view text;
  return object[name].get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// None where the object is not one of the writer's: enumerations are always there.
std::optional<schema::Cell> read_cell(const Json& object, StringPool& strings,
                                      const schema::Field& field) {
  using schema::cell_of;
  switch (field.type) {
    case Type::interned: return cell_of(strings.intern(text_in(object, field.name)));
    case Type::id: return cell_of(schema::Id{index_in(object, field.name, schema::no_row)});
    case Type::real: return cell_of(number_in<double>(object, field.name));
    case Type::name: {
      const auto place = field.place_of(text_in(object, field.name));
      return place ? std::optional(schema::coded(Type::name, *place)) : std::nullopt;
    }
    default: break;
  }
  if (field.is_nullable) return cell_of(number_in<std::int64_t>(object, field.name));
  return cell_of(index_in(object, field.name, schema::no_row));
}

// The rows of a table of this name into the profile, whose records they are.
template <class Record>
bool read_rows(const Json& json, const char* name, StringPool& strings, Profile& into,
               std::vector<Record>& records) {
  simdjson::dom::array list;
  if (json[name].get(list) != simdjson::SUCCESS) return false;
  for (const Json object : list) {
    records.emplace_back();
    for (const schema::Field& field : schema::table_named(name).fields) {
      if (field.set == nullptr) continue;
      const auto cell = read_cell(object, strings, field);
      if (!cell) return false;
      field.set(into, schema::Row(records.size() - 1), *cell);
    }
  }
  return true;
}

// Traces from before numbers said what they are have only names.
void read_meaning(const Json& object, const StringPool& strings, NumberMeaning& number) {
  const auto quantity = value_named<NumberQuantity>(text_in(object, "quantity"));
  if (!quantity) {
    const NamedNumber named = number_named(number.kind, strings[number.name]);
    number.meaning = named.meaning;
    number.event = named.event;
    return;
  }
  number.meaning = {*quantity,
                    value_named<NumberRole>(text_in(object, "role")).value_or(NumberRole::none),
                    value_named<Statistic>(text_in(object, "statistic")).value_or(Statistic::none),
                    index_in(object, "additive", 2) == 1};
  number.event = index_in(object, "event", every_instance) % every_instance;
}

bool read_number(const Json& object, StringPool& strings, NumberMeaning& number) {
  const auto kind = value_named<MeasureKind>(text_in(object, "kind"));
  const auto origin = value_named<Origin>(text_in(object, "origin"));
  number.name = strings.intern(text_in(object, "name"));
  number.is_column = text_in(object, "of") == "spans";
  number.kind = kind.value_or(MeasureKind::count);
  number.origin = origin.value_or(Origin::measured);
  number.clock = ClockId(index_in(object, "clock", every_instance));
  read_meaning(object, strings, number);
  return kind && origin;
}

bool read_numbers(const Json& json, StringPool& strings, std::vector<NumberMeaning>& numbers) {
  simdjson::dom::array list;
  if (json["numbers"].get(list) != simdjson::SUCCESS) return false;
  for (const Json object : list) {
    if (!read_number(object, strings, numbers.emplace_back())) return false;
  }
  return true;
}

bool has_good_parents(const std::vector<Unit>& units) {
  for (const Unit& unit : units) {
    if (unit.parent != UnitId::none && index_of(unit.parent) >= units.size()) return false;
  }
  enum : std::uint8_t { fresh, on_path, done };
  std::vector<std::uint8_t> state(units.size(), fresh);
  std::vector<std::uint32_t> path;
  for (std::uint32_t unit = 0; unit < units.size(); ++unit) {
    path.clear();
    std::uint32_t at = unit;
    for (; at < units.size() && state[at] == fresh; at = index_of(units[at].parent)) {
      state[at] = on_path;
      path.push_back(at);
    }
    if (at < units.size() && state[at] == on_path) return false;
    for (const std::uint32_t seen : path) state[seen] = done;
  }
  return true;
}

}  // namespace

std::string about_text(const Profile& profile, std::int64_t moved_ns) {
  std::string text;
  AboutJson json(text);
  const schema::Source source(profile);
  const Provenance& from = profile.provenance;
  json.begin_object();
  write_text(json, "format", from.format);
  write_text(json, "version", from.version);
  write_text(json, "device", from.device);
  write_text(json, "graph", from.graph);
  write_text(json, "instrumentation", from.instrumentation);
  json.member("inferences", from.inferences);
  write_text(json, "temperature", stable_name(from.temperature));
  if (!from.ran()) write_text(json, "times", stable_name(from.times));
  if (from.simulator_slowdown > 0) json.member("simulator_slowdown", from.simulator_slowdown);
  if (from.split_ops > 0) json.member("split_ops", from.split_ops);
  if (from.platform != Provenance::Platform::unknown) {
    write_text(json, "platform", stable_name(from.platform));
  }
  write_text(json, "target", from.target);
  write_rows(json, source, "clocks");
  json.member("base_clock", index_of(profile.base_clock));
  json.member("moved_ns", moved_ns);
  write_rows(json, source, "units");
  const std::vector<NumberMeaning> numbers = Meanings(profile).clear();
  write_list(json, "numbers", numbers.size(), [&](std::size_t i) {
    write_text(json, "name", profile.text(numbers[i].name));
    write_text(json, "of", numbers[i].is_column ? "spans" : "some");
    write_text(json, "kind", stable_name(numbers[i].kind));
    write_text(json, "origin", stable_name(numbers[i].origin));
    json.member("clock", index_of(numbers[i].clock));
    const Meaning& is = numbers[i].meaning;
    write_text(json, "quantity", stable_name(is.quantity));
    if (is.role != NumberRole::none) write_text(json, "role", stable_name(is.role));
    if (is.statistic != Statistic::none) {
      write_text(json, "statistic", stable_name(is.statistic));
    }
    if (is.additive) json.member("additive", 1);
    if (numbers[i].event != 0) json.member("event", numbers[i].event);
  });
  json.end_object();
  return text;
}

std::optional<About> parse_about(std::string_view text, StringPool& strings) {
  simdjson::dom::parser parser;
  Json json;
  if (parser.parse(text.data(), text.size()).get(json) != simdjson::SUCCESS) return std::nullopt;
  About about;
  about.provenance.version = text_in(json, "version");
  about.provenance.device = text_in(json, "device");
  about.provenance.graph = text_in(json, "graph");
  about.provenance.instrumentation = text_in(json, "instrumentation");
  about.provenance.inferences = index_in(json, "inferences", every_instance) % every_instance;
  about.provenance.temperature = value_named<Provenance::Temperature>(text_in(json, "temperature"))
                                     .value_or(Provenance::Temperature::unknown);
  about.provenance.times = value_named<Origin>(text_in(json, "times")).value_or(Origin::measured);
  about.provenance.simulator_slowdown =
      number_in<std::uint64_t>(json, "simulator_slowdown").value_or(0);
  about.provenance.split_ops = number_in<std::uint64_t>(json, "split_ops").value_or(0);
  if (const auto platform = value_named<Provenance::Platform>(text_in(json, "platform"))) {
    about.provenance.platform = *platform;
    about.provenance.target = text_in(json, "target");
  } else {
    tell_platform_by_device(about.provenance);
  }
  about.base_clock = ClockId(index_in(json, "base_clock", every_instance));
  about.moved_ns = std::max<std::int64_t>(0, number_in<std::int64_t>(json, "moved_ns").value_or(0));
  Profile rows;
  const bool is_complete = read_rows(json, "clocks", strings, rows, rows.clocks) &&
                           read_rows(json, "units", strings, rows, rows.units) &&
                           read_numbers(json, strings, about.numbers);
  about.clocks = std::move(rows.clocks);
  about.units = std::move(rows.units);
  if (!is_complete || !has_good_parents(about.units)) {
    return std::nullopt;
  }
  const auto exists = [&](ClockId clock) { return index_of(clock) < about.clocks.size(); };
  if (!about.clocks.empty() && !exists(about.base_clock)) return std::nullopt;
  for (NumberMeaning& number : about.numbers) {
    if (!exists(number.clock)) number.clock = ClockId{};  // of a count: it has none
  }
  return about;
}

std::string text_of(const TrackPlace& place) {
  switch (place.kind) {
    case TrackPlace::Kind::unit: return fmt::format("{}{}", unit_place, place.unit);
    case TrackPlace::Kind::no_unit: return std::string(no_unit_place);
    case TrackPlace::Kind::phases: return std::string(phases_place);
  }
  return "";
}

std::optional<TrackPlace> place_in(std::string_view description) {
  if (description == no_unit_place) return TrackPlace{TrackPlace::Kind::no_unit};
  if (description == phases_place) return TrackPlace{TrackPlace::Kind::phases};
  if (!description.starts_with(unit_place)) return std::nullopt;
  description.remove_prefix(unit_place.size());
  const auto unit = parse_number<std::uint32_t>(description);
  return unit ? std::optional(TrackPlace{TrackPlace::Kind::unit, *unit}) : std::nullopt;
}

}  // namespace npuscope::perfetto
