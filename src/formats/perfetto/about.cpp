#include "formats/perfetto/about.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/json_writer.hpp"
#include "base/numbers.hpp"
#include "profile/number_names.hpp"
#include "profile/schema.hpp"
#include "profile/schema_cells.hpp"

namespace npuscope::perfetto {
namespace {

constexpr std::string_view unit_place = "npuscope unit ", no_unit_place = "npuscope unit none",
                           phases_place = "npuscope phases";

using ClockTable = schema::TableOf<schema::clocks>;
using UnitTable = schema::TableOf<schema::units>;

template <class Table>
using RecordOf = typename std::remove_cvref_t<decltype(Table::table.rows(
    std::declval<const schema::Source&>()))>::value_type;

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
  void copy(std::string_view value) { text(value); }
};

// What can be read back of a row.
template <class Table>
void write_row(AboutJson& json, const schema::Source& source, std::size_t row) {
  schema::each_field<Table>([&]<class Field>(Field) {
    if constexpr (schema::is_settable<typename Field::Get>) {
      const auto cell = Field::cell(source, schema::Row(row));
      if constexpr (std::is_same_v<decltype(cell), const schema::Id>) {  // of the same table
        if (cell.row >= Table::rows(source)) return;
      }
      Member member{json, Field::name};
      add_cell(source, member, cell);
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

// False where the object is not one of the writer's: enumerations are always there.
template <class Table>
bool read_row(const Json& object, StringPool& strings, RecordOf<Table>& record) {
  bool is_ours = true;
  schema::each_field<Table>([&]<class Field>(Field) {
    if constexpr (schema::is_settable<typename Field::Get>) {
      using Cell = typename schema::CellOf<Field>::Cell;
      const auto set = [&](const auto& cell) {
        schema::set_cell(Field::declared.get, record, cell);
      };
      if constexpr (std::is_same_v<Cell, StringId>) {
        set(strings.intern(text_in(object, Field::name)));
      } else if constexpr (schema::NamedEnum<Cell>) {
        const auto value = value_named<Cell>(text_in(object, Field::name));
        is_ours = is_ours && value;
        if (value) set(*value);
      } else if constexpr (std::is_same_v<Cell, schema::Id>) {
        set(schema::Id{index_in(object, Field::name, schema::no_row)});
      } else if constexpr (std::is_same_v<Cell, std::uint32_t>) {
        set(index_in(object, Field::name, schema::no_row));
      } else {
        set(number_in<Cell>(object, Field::name));
      }
    }
  });
  return is_ours;
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

template <class Row>
bool read_list(const Json& json, const char* name, StringPool& strings, std::vector<Row>& rows,
               bool (*read)(const Json&, StringPool&, Row&)) {
  simdjson::dom::array list;
  if (json[name].get(list) != simdjson::SUCCESS) return false;
  for (const Json object : list) {
    rows.emplace_back();
    if (!read(object, strings, rows.back())) return false;
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
  write_list(json, "clocks", profile.clocks.size(),
             [&](std::size_t i) { write_row<ClockTable>(json, source, i); });
  json.member("base_clock", index_of(profile.base_clock));
  json.member("moved_ns", moved_ns);
  write_list(json, "units", profile.units.size(),
             [&](std::size_t i) { write_row<UnitTable>(json, source, i); });
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
  about.base_clock = ClockId(index_in(json, "base_clock", every_instance));
  about.moved_ns = std::max<std::int64_t>(0, number_in<std::int64_t>(json, "moved_ns").value_or(0));
  const bool is_complete = read_list(json, "clocks", strings, about.clocks, read_row<ClockTable>) &&
                           read_list(json, "units", strings, about.units, read_row<UnitTable>) &&
                           read_list(json, "numbers", strings, about.numbers, read_number);
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
