// Walks through a trace from its first byte to its last and cuts its list of events into chunks
// that can be parsed apart from one another; keeps the members beside the list. Everything it does
// is in order and looks at each byte a bounded number of times, whatever the file holds.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/chrome/problems.hpp"
#include "formats/chrome/text/bracket_scanner.hpp"
#include "formats/chrome/text/chunk.hpp"
#include "formats/chrome/text/damaged_text.hpp"
#include "formats/chrome/text/json_checker.hpp"

namespace npuscope::chrome {

class EventCutter {
 public:
  EventCutter(ByteSource& source, BufferPool& buffers) : window_(source, buffers) {}

  // The next chunk; false at the end of the file.
  bool next(Chunk& chunk);

  // Complete once next() said false.
  const Problems& problems() const { return problems_; }
  std::vector<std::pair<std::string, std::string>>& fields() { return fields_; }
  const std::optional<Error>& read_error() const { return window_.error(); }
  bool found_list() const { return found_list_; }

 private:
  enum class Place : std::uint8_t {
    before,  // the trace
    between_members,
    in_list,
    in_long_event,  // that is left out
    lost,           // behind something broken
    behind,         // the trace
    at_end,
  };

  void begin_trace();
  void enter_list();
  void leave_list();
  void read_member();
  bool read_key(std::string& key);
  void read_value(std::string key);
  std::optional<char> peek_behind_space(bool commas_too = false);
  void drop_separators();
  bool cut_list(Chunk& chunk);
  bool cut_found(const BracketScanner::Found& found, Chunk& chunk);
  bool resolve_unfinished(Chunk& chunk);
  bool skip_unclosed_event();
  bool cut_carefully(Chunk& chunk);
  void continue_long_event();
  void look_for_event();
  void look_behind();
  void restart_event();

  TextWindow window_;
  Place place_ = Place::before;
  bool is_object_ = false;  // the trace is an object with a list in it
  bool found_list_ = false;
  BracketScanner scanner_;
  std::size_t scanned_ = 0;  // bytes of the window that the scanner has seen
  bool distrusted_ = false;  // the scanner said that the list ends where no event has ended
  JsonChecker checker_;      // of the event at the window's begin
  std::size_t checked_ = 0;  // bytes of the window that the checker has seen
  std::size_t unclosed_events_ = 0;
  Resync resync_;
  Problems problems_;
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace npuscope::chrome
