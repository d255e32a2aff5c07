// Turns a chunk of text into a table of events. A parser keeps its memory from chunk to chunk; each
// thread has its own.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/chrome/parse/argument_reader.hpp"
#include "formats/chrome/parse/chunk_table.hpp"
#include "formats/chrome/parse/event_form.hpp"

namespace npuscope::chrome {

class ChunkParser {
 public:
  ChunkParser() : values_(strings_), arguments_(strings_) {}

  // Everything that can be kept of it; the rest is counted in the table's problems.
  ChunkTable parse(Chunk chunk);

 private:
  static constexpr std::uint32_t no_thread = 0xffffffff;

  struct Event {
    std::uint32_t seen = 0;  // a bit for each key
    bool duplicate = false;
    char phase = 0;
    StringId name{};
    StringId category{};
    RawValue time;
    RawValue duration;
    RawValue process;
    RawValue thread;
    RawValue id;
    RawValue scope;
    RawValue binding;
    bool id_is_local = false;
    std::vector<std::pair<StringId, TypedValue>> others;

    void clear();
  };
  static constexpr std::size_t no_form = ~std::size_t{0};

  // A list of events as text with room for a byte before it and simdjson's padding behind; where
  // its events lay in the file.
  struct List {
    char* begin = nullptr;
    std::size_t size = 0;
    std::uint64_t offset = 0;
    std::vector<std::pair<std::size_t, std::uint64_t>> places;  // empty: as in the file

    std::uint64_t offset_of(const char* at) const;
  };

  void clear(ChunkTable& table);
  // The place in the file of the first event that is broken; nothing when all were read.
  std::optional<std::uint64_t> parse_list(List to_parse, ChunkTable& table);
  // From one event to behind another, by simdjson; false when something is broken, in or behind the
  // event at event_begin_.
  bool parse_events(char* begin, char* end, ChunkTable& table);
  // Behind the event at `at` when it has a form that came before, else null.
  char* parse_formed(char* at, char* end, ChunkTable& table);
  const char* read_formed(std::size_t form, const char* at, const char* end);
  const char* take_formed(EventForm& form, EventForm::Value& value, const char* at,
                          const char* end);
  const char* read_id(RawValue& id, const char* at, const char* end);
  const char* read_number(EventForm::Value& value, const char* at, const char* end);
  const char* read_text(EventForm::Value& value, const char* at, const char* end);
  const char* read_any(EventForm::Value& value, const char* at, const char* end);
  bool take_raw(EventForm::Value& value, const RawValue& raw);
  void learn_form(const char* event, const char* end);
  void parse_damaged(ChunkTable& table);
  std::optional<List> clean_list(ChunkTable& table, const std::vector<std::uint64_t>& unreadable);

  bool parse_event(simdjson::ondemand::object object, ChunkTable& table);
  EventKey key_meaning(const char* key, std::size_t place);
  bool read_member(EventKey meaning, const char* key, simdjson::ondemand::value& value);
  bool take_member(EventKey meaning, const RawValue& raw);
  bool read_id2(simdjson::ondemand::value& value);
  bool store_event(ChunkTable& table);
  void store_slice(ChunkTable& table, std::uint32_t thread, std::int64_t time);
  bool store_mark(ChunkTable& table, std::uint32_t thread, std::int64_t time);
  bool store_metadata(ChunkTable& table);
  bool read_metadata(std::string_view key, Metadata& metadata);
  bool append_others();
  bool append_other(const char* key, const RawValue& raw);
  bool append_raw(std::string_view key, const RawValue& value);
  StringId compose(std::string_view text);
  void add(Problem problem, ChunkTable& table) const;
  std::optional<StringId> id_text();
  std::optional<std::uint32_t> thread_index(ChunkTable& table);
  std::optional<std::uint32_t> new_thread_index(ChunkTable& table);

  simdjson::ondemand::parser parser_;
  RawStrings strings_;
  EventValues values_;
  ArgumentReader arguments_;
  Event event_;
  List list_;  // that is being parsed
  const char* event_begin_ = nullptr;
  std::vector<EventForm> forms_;
  std::size_t last_form_ = 0;         // of the last event, or of one before it
  std::size_t event_form_ = no_form;  // by which event_ was written
  // The keys of the last event: the next one mostly has the same.
  struct LastKey {
    std::uint64_t word = 0;  // with its closing quote
    std::uint64_t mask = 0;  // of the bytes that count
    EventKey meaning = EventKey::other;
  };
  std::array<LastKey, 16> last_keys_{};
  struct LastThread {
    std::uint64_t process = 0;
    std::uint64_t thread = 0;
    std::uint32_t index = no_thread;
  };
  std::array<LastThread, 64> last_threads_{};
  std::deque<std::string> composed_;  // texts that strings_ refers to
  RowBuffer<SliceRow> slices_;
  RowBuffer<MarkRow> marks_;
  RowBuffer<EndRow> ends_;
};

}  // namespace npuscope::chrome
