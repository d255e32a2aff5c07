#include "formats/chrome/parse/chunk_parser.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "formats/chrome/parse/decimal.hpp"
#include "formats/chrome/problems.hpp"

namespace npuscope::chrome {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(TextBuffer::slack > simdjson::SIMDJSON_PADDING + 1);

// Keys under which values of an event are kept with its arguments.
constexpr std::string_view id_key = "id";
constexpr std::string_view scope_key = "scope";
constexpr std::string_view binding_key = "bp";
constexpr std::string_view duration_key = "dur";
// What slices have no column for.
constexpr std::uint32_t without_columns = bit_of(EventKey::id) | bit_of(EventKey::scope) |
                                          bit_of(EventKey::binding) | bit_of(EventKey::other);
// Of an event whose phase is no single letter.
constexpr char unknown_phase = '?';
// Forms are looked for in so many events that are read together: where none fits it costs little.
constexpr std::size_t max_learnt = 4;

// Around a list while simdjson reads it.
class Brackets {
 public:
  Brackets(char* before, char* behind)
      : before_(before), behind_(behind), byte_before_(*before), byte_behind_(*behind) {
    *before_ = '[';
    *behind_ = ']';
  }
  ~Brackets() {
    *before_ = byte_before_;
    *behind_ = byte_behind_;
  }
  Brackets(const Brackets&) = delete;
  Brackets& operator=(const Brackets&) = delete;

 private:
  char* before_;
  char* behind_;
  char byte_before_;
  char byte_behind_;
};

std::uint64_t low_bytes(std::size_t count) { return ~std::uint64_t{0} >> (64 - 8 * count); }

// Up to 8 bytes; as many as that can be read in any case. JSON has no zero bytes.
std::uint64_t short_word(std::string_view raw) {
  std::uint64_t word = 0;
  std::memcpy(&word, raw.data(), sizeof word);
  return raw.empty() ? 0 : word & low_bytes(raw.size());
}

std::optional<std::int64_t> unusual_time(const RawValue& value) {
  if (value.kind != RawValue::Kind::scalar && value.kind != RawValue::Kind::text) return {};
  const auto usual = thousandths_of(value.as_decimal());
  return usual ? usual : parse_thousandths(value.raw);
}

// False where there is none. Not an optional, which would go through memory.
inline bool read_time(const RawValue& value, std::int64_t& time) {
  if (value.kind == RawValue::Kind::scalar) {
    if (const auto usual = thousandths_of(value.decimal)) [[likely]] {
      time = *usual;
      return true;
    }
  }
  const auto unusual = unusual_time(value);
  time = unusual.value_or(0);
  return unusual.has_value();
}

}  // namespace

ChunkTable ChunkParser::parse(Chunk chunk) {
  ChunkTable table;
  table.chunk = std::move(chunk);
  clear(table);
  List list;
  list.begin = table.chunk.buffer.data() + table.chunk.begin;
  list.size = table.chunk.end - table.chunk.begin;
  list.offset = table.chunk.offset;
  if (table.chunk.damaged || parse_list(std::move(list), table)) {
    clear(table);
    parse_damaged(table);
  }
  table.slices = slices_.take();
  table.marks = marks_.take();
  table.ends = ends_.take();
  table.shapes = arguments_.take_shapes();
  table.strings = strings_.take_texts();
  if (table.strings.badly_escaped > 0) {
    table.problems.add(Problem::bad_escape, list_.offset_of(table.strings.first_badly_escaped),
                       table.strings.badly_escaped);
  }
  table.composed = std::move(composed_);
  if (parser_.capacity() > 4 * chunk_bytes) parser_ = simdjson::ondemand::parser();
  return table;
}

void ChunkParser::clear(ChunkTable& table) {
  strings_.clear();
  arguments_.clear();
  arguments_.take_quoted_numbers(table.chunk.quoted_numbers);
  composed_.clear();
  slices_.clear();
  marks_.clear();
  ends_.clear();
  last_threads_.fill({});
  forms_.clear();
  last_form_ = 0;
  event_form_ = no_form;
  table.threads.clear();
  table.metadata.clear();
  table.problems = {};
  table.has_begins = false;
}

bool ChunkParser::parse_events(char* begin, char* end, ChunkTable& table) {
  event_begin_ = begin;
  char* const json = begin - 1;
  const std::size_t size = std::size_t(end - begin) + 2;
  if (parser_.capacity() < size && parser_.allocate(std::max(size, chunk_bytes + 2))) return false;
  const Brackets brackets(json, end);
  ondemand::document document;
  ondemand::array events;
  if (parser_.iterate(json, size, size + simdjson::SIMDJSON_PADDING).get(document) ||
      document.get_array().get(events)) {
    return false;
  }
  std::size_t learnt = 0;
  for (auto each : events) {
    ondemand::value value;
    if (std::move(each).get(value)) return false;
    event_begin_ = value.raw_json_token().data();
    ondemand::object event;
    if (value.get_object().get(event) || !parse_event(event, table)) return false;
    if (learnt++ < max_learnt) learn_form(event_begin_, end);
  }
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

std::uint64_t ChunkParser::List::offset_of(const char* at) const {
  const auto place = std::size_t(at - begin);
  const auto next = std::upper_bound(places.begin(), places.end(), place,
                                     [](std::size_t a, const auto& b) { return a < b.first; });
  return next == places.begin() ? offset + place : std::prev(next)->second;
}

void ChunkParser::add(Problem problem, ChunkTable& table) const {
  table.problems.add(problem, list_.offset_of(event_begin_));
}

void ChunkParser::Event::clear() {
  seen = 0;
  duplicate = false;
  phase = 0;
  name = category = StringId::empty;
  for (RawValue* const value : {&time, &duration, &process, &thread, &id, &scope, &binding}) {
    value->kind = RawValue::Kind::missing;
  }
  id_is_local = false;
  others.clear();
}

bool ChunkParser::parse_event(ondemand::object object, ChunkTable& table) {
  event_.clear();
  event_form_ = no_form;
  arguments_.restart_event();
  std::size_t place = 0;
  for (auto each : object) {
    ondemand::field field;
    if (std::move(each).get(field)) return false;
    const char* const key = reinterpret_cast<const char*>(field.key().raw());
    if (!read_member(key_meaning(key, place++), key, field.value())) return false;
  }
  if (event_.seen == 0) return true;  // {}: some writers end their list with it
  arguments_.remember_for(event_.name);
  return store_event(table);
}

EventKey ChunkParser::key_meaning(const char* key, std::size_t place) {
  LastKey& last = last_keys_[place % last_keys_.size()];
  std::uint64_t word = 0;
  std::memcpy(&word, key, sizeof word);
  if (last.mask != 0 && (word & last.mask) == last.word) return last.meaning;
  const std::string_view text = key_text(key);
  const EventKey meaning = event_key(text);
  if (text.size() < sizeof word) {
    last.mask = low_bytes(text.size() + 1);
    last.word = word & last.mask;
    last.meaning = meaning;
  }
  return meaning;
}

bool ChunkParser::read_member(EventKey meaning, const char* key, ondemand::value& value) {
  const std::uint32_t bit = bit_of(meaning);
  event_.duplicate = event_.duplicate || ((event_.seen & bit) != 0 && meaning != EventKey::other);
  event_.seen |= bit;
  if (meaning == EventKey::arguments) return arguments_.read(value, event_.name);
  if (meaning == EventKey::id2) return read_id2(value);
  RawValue raw;
  if (!EventValues::read_raw(value, raw)) return false;
  if (meaning == EventKey::phase) {
    if (raw.kind == RawValue::Kind::container && !values_.text(raw)) return false;
    if (raw.kind != RawValue::Kind::text || raw.raw.empty()) {
      event_.phase = '\0';
    } else if (raw.raw.size() == 1) {
      event_.phase = raw.raw[0];
    } else {
      event_.phase = unknown_phase;
      return append_other(key, raw);
    }
    return true;
  }
  return meaning == EventKey::other ? append_other(key, raw) : take_member(meaning, raw);
}

bool ChunkParser::take_member(EventKey meaning, const RawValue& raw) {
  // Only its brackets have been counted.
  if (raw.kind == RawValue::Kind::container && !values_.text(raw)) return false;
  const auto set = [](StringId& to, const std::optional<StringId>& from) {
    if (from) to = *from;
    return from.has_value();
  };
  switch (meaning) {
    case EventKey::name: return set(event_.name, values_.text(raw));
    case EventKey::category: return set(event_.category, values_.text(raw));
    case EventKey::time: event_.time = raw; return true;
    case EventKey::duration: event_.duration = raw; return true;
    case EventKey::process: event_.process = raw; return true;
    case EventKey::thread: event_.thread = raw; return true;
    case EventKey::id: event_.id = raw; return true;
    case EventKey::scope: event_.scope = raw; return true;
    case EventKey::binding: event_.binding = raw; return true;
    default: return false;
  }
}

// What the format has no place for, kept with the arguments.
bool ChunkParser::append_other(const char* key, const RawValue& raw) {
  TypedValue typed;
  if (!values_.type(raw, typed)) return false;
  event_.others.emplace_back(strings_.intern(key_text(key), RawStrings::Kind::text).id, typed);
  return true;
}

// {"local": id} or {"global": id}
bool ChunkParser::read_id2(ondemand::value& value) {
  ondemand::object object;
  if (value.get_object().get(object)) return EventValues::read_raw(value, event_.id);
  for (auto each : object) {
    ondemand::field field;
    if (std::move(each).get(field)) return false;
    const std::string_view key = key_text(reinterpret_cast<const char*>(field.key().raw()));
    if (!EventValues::read_raw(field.value(), event_.id) || !values_.text(event_.id)) return false;
    event_.id_is_local = key == "local";
  }
  event_.seen |= bit_of(EventKey::id);
  return true;
}

bool ChunkParser::store_event(ChunkTable& table) {
  if (event_.duplicate || arguments_.had_duplicates()) add(Problem::duplicate_key, table);
  if (event_.phase == 0) {
    add(Problem::no_phase, table);
    return true;
  }
  if (event_.phase == 'M') return store_metadata(table);
  std::int64_t time = 0;
  if (!read_time(event_.time, time)) {
    add(Problem::no_time, table);
    return true;
  }
  const auto thread = thread_index(table);
  if (!thread) return false;
  const bool is_slice = event_.phase == 'X' || event_.phase == 'B' || event_.phase == 'E';
  if (!is_slice) return store_mark(table, *thread, time);
  const bool is_plain = (event_.seen & without_columns) == 0;
  if (!is_plain && (!append_raw(id_key, event_.id) || !append_raw(scope_key, event_.scope) ||
                    !append_raw(binding_key, event_.binding) || !append_others())) {
    return false;
  }
  if (event_.phase == 'E') {
    ends_.add({*thread, event_.name, std::uint32_t(slices_.rows.size()), {}, time},
              arguments_.shape(), arguments_.bits());
  } else {
    store_slice(table, *thread, time);
  }
  return true;
}

inline void ChunkParser::store_slice(ChunkTable& table, std::uint32_t thread, std::int64_t time) {
  std::int64_t duration = unfinished;
  if (event_.phase == 'B') {
    table.has_begins = true;
  } else {
    if (!read_time(event_.duration, duration)) add(Problem::no_duration, table);
    if (duration < 0) add(Problem::negative_duration, table);
    duration = std::max<std::int64_t>(duration, 0);
  }
  slices_.add({thread, event_.name, event_.category, {}, time, duration}, arguments_.shape(),
              arguments_.bits());
}

bool ChunkParser::store_mark(ChunkTable& table, std::uint32_t thread, std::int64_t time) {
  constexpr std::string_view known_phases = "bneSTpFiIRCstfPNODvVc()M";
  if (known_phases.find(event_.phase) == std::string_view::npos) add(Problem::unknown_phase, table);
  const auto id = id_text();
  if (!id || !append_raw(duration_key, event_.duration) || !append_others()) return false;
  const bool encloses = event_.binding.kind == RawValue::Kind::text && event_.binding.raw == "e";
  const auto slices_before = std::uint32_t(slices_.rows.size());
  marks_.add({event_.phase,
              encloses ? 'e' : '\0',
              thread,
              event_.name,
              event_.category,
              *id,
              slices_before,
              {},
              time},
             arguments_.shape(), arguments_.bits());
  return true;
}

bool ChunkParser::store_metadata(ChunkTable& table) {
  struct Known {
    std::string_view name;
    std::string_view key;
    Metadata::What what;
  };
  static constexpr Known known[] = {
      {"process_name", "name", Metadata::What::process_name},
      {"process_labels", "labels", Metadata::What::process_labels},
      {"process_sort_index", "sort_index", Metadata::What::process_sort_index},
      {"thread_name", "name", Metadata::What::thread_name},
      {"thread_sort_index", "sort_index", Metadata::What::thread_sort_index},
  };
  const auto kind = std::ranges::find(known, strings_.raw(event_.name), &Known::name);
  if (kind != std::end(known)) {
    const auto keys = arguments_.keys();
    const auto process = values_.text(event_.process);
    const auto thread = values_.text(event_.thread);
    if (!process || !thread) return false;
    Metadata metadata{kind->what, *process, *thread, {}, 0};
    if (!read_metadata(kind->key, metadata)) {
      add(Problem::bad_metadata, table);
      return true;
    }
    table.metadata.push_back(metadata);
    if (keys.size() == 1) return true;
  }
  const auto index = thread_index(table);
  std::int64_t time = 0;
  read_time(event_.time, time);
  return index && store_mark(table, *index, time);
}

// The value under this key of the arguments, as text and as a number.
bool ChunkParser::read_metadata(std::string_view key, Metadata& metadata) {
  const auto keys = arguments_.keys();
  const auto place = std::ranges::find(
      keys, key, [&](const ArgumentKey& each) { return strings_.raw(each.name); });
  if (place == keys.end()) return false;
  const std::uint64_t bits = arguments_.bits()[std::size_t(place - keys.begin())];
  if (place->type == ArgumentType::text) {
    metadata.text = StringId(std::uint32_t(bits));
    metadata.number = parse_thousandths(strings_.raw(metadata.text)).value_or(0) / 1000;
    return true;
  }
  if (place->type != ArgumentType::integer) return false;
  metadata.number = std::int64_t(bits);
  metadata.text = compose(std::to_string(metadata.number));
  return true;
}

bool ChunkParser::append_others() {
  for (const auto& [key, value] : event_.others) arguments_.append(key, value);
  return true;
}

// A value of the event that its table has no column for.
bool ChunkParser::append_raw(std::string_view key, const RawValue& value) {
  if (value.kind == RawValue::Kind::missing) return true;
  TypedValue typed;
  if (!values_.type(value, typed)) return false;
  arguments_.append(compose(key), typed);
  return true;
}

// A text that does not stand in the chunk.
StringId ChunkParser::compose(std::string_view text) {
  constexpr std::size_t margin = RawStrings::margin;
  std::string& kept = composed_.emplace_back(margin, ' ');
  kept.append(text).append(margin, ' ');
  return strings_.intern(std::string_view(kept).substr(margin, text.size()), RawStrings::Kind::text)
      .id;
}

// Local ids are those of one process; a scope sets apart ids that are alike.
std::optional<StringId> ChunkParser::id_text() {
  const auto plain = values_.text(event_.id);
  if (!plain || (event_.scope.kind == RawValue::Kind::missing && !event_.id_is_local)) return plain;
  const auto scope = values_.text(event_.scope);
  const auto process = values_.text(event_.process);
  if (!scope || !process) return std::nullopt;
  std::string text;
  if (*scope != StringId::empty) text.append(strings_.raw(*scope)) += ':';
  if (event_.id_is_local) text.append(strings_.raw(*process)) += '/';
  return compose(text.append(strings_.raw(*plain)));
}

inline std::optional<std::uint32_t> ChunkParser::thread_index(ChunkTable& table) {
  const bool short_ids = event_.process.raw.size() <= 8 && event_.thread.raw.size() <= 8 &&
                         event_.process.kind != RawValue::Kind::missing &&
                         event_.thread.kind != RawValue::Kind::missing;
  if (!short_ids) return new_thread_index(table);
  const std::uint64_t process = short_word(event_.process.raw);
  const std::uint64_t thread = short_word(event_.thread.raw);
  const std::uint64_t mixed = (process ^ thread * 0x9e3779b97f4a7c15) * 0x9e3779b97f4a7c15;
  LastThread& last = last_threads_[mixed >> 58];
  if (last.index == no_thread || last.process != process || last.thread != thread) {
    const auto index = new_thread_index(table);
    if (!index) return std::nullopt;
    last = {process, thread, *index};
  }
  return last.index;
}

std::optional<std::uint32_t> ChunkParser::new_thread_index(ChunkTable& table) {
  const auto process = values_.text(event_.process);
  const auto thread = values_.text(event_.thread);
  if (!process || !thread) return std::nullopt;
  return table.threads.intern(std::uint32_t(*process), std::uint32_t(*thread));
}

}  // namespace npuscope::chrome
