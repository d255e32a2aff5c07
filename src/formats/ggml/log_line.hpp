// A line of a log that people collected: through a terminal with colours, adb, CI or --log-jsonl.
//
//   LogLine line;
//   line.take("2026-06-01T… 0.01.200.983 D ggml-hex: HTP0 profile-op ADD|…");
//   line.session      "HTP0"
//   line.rest         "profile-op ADD|…"
//   line.time_us()    1200983, since the start of the process
//   line.cut          0: so many messages of the backend begin before this one on the same line
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace npuscope::ggml {

inline constexpr std::string_view backend_mark = "ggml-hex: ";

class LogLine {
 public:
  std::string_view text;  // without colours
  bool is_of_backend = false;
  std::string_view session;  // first word behind the mark
  std::string_view rest;     // what follows it
  std::uint32_t cut = 0;

  // The views are valid as long as `line` and this.
  void take(std::string_view line);
  std::optional<std::int64_t> time_us() const { return time_us(prefix()); }
  std::string_view prefix() const { return prefix_; }  // before the mark
  std::string_view message() const {                   // all that follows the mark
    return text.substr(prefix_.size() + backend_mark.size());
  }
  static std::optional<std::int64_t> time_us(std::string_view prefix);

 private:
  std::string plain_;
  std::size_t mark_ = 0;  // of the last line: mostly the same in the next
  std::string_view prefix_;
};

// The messages in a line of --log-jsonl, each a line of its own; false where it is none.
bool for_messages(std::string_view line, std::string& kept,
                  const std::function<void(std::string_view, std::optional<std::int64_t>)>& take);

// Whole numbers behind words, from the front: " usec 29 cycles 62837".
//   Fields fields{"usec 29 cycles 62837"};
//   fields.number("usec ")     29
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}

  bool word(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  // Of digits alone; false where there are none or too many.
  bool digits(std::uint64_t& into);
  bool number(std::string_view before, std::uint64_t& into) { return word(before) && digits(into); }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

}  // namespace npuscope::ggml
