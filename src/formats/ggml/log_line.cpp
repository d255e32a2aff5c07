#include "formats/ggml/log_line.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::ggml {
namespace {

// What terminals take for colours: ESC [ … a letter.
void append_without_colours(std::string& plain, std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      plain += line[i];
      continue;
    }
    if (i + 1 >= line.size() || line[i + 1] != '[') continue;
    for (i += 2; i < line.size() && !is_letter(line[i]);) ++i;
  }
}

// "1.02.345.678": minutes that go on beyond 60, seconds, milliseconds, microseconds.
std::optional<std::int64_t> time_in(std::string_view word) {
  constexpr std::int64_t factors[] = {60'000'000, 1'000'000, 1'000, 1};
  constexpr std::size_t widths[] = {0, 2, 3, 3};
  std::int64_t time = 0;
  for (std::size_t i = 0; i < std::size(factors); ++i) {
    const std::size_t size = word.size();
    if (size == 0 || !is_digit(word.front())) return std::nullopt;
    const auto number = take_number<std::uint32_t>(word);
    const bool fits = number && (widths[i] == 0 || size - word.size() == widths[i]);
    if (!fits) return std::nullopt;
    time += std::int64_t(*number) * factors[i];
    if (i + 1 == std::size(factors)) break;
    if (!word.starts_with('.')) return std::nullopt;
    word.remove_prefix(1);
  }
  return word.empty() ? std::optional(time) : std::nullopt;
}

}  // namespace

void LogLine::take(std::string_view line) {
  is_of_backend = false;
  cut = 0;
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find('\x1b') != line.npos) {
    plain_.clear();
    append_without_colours(plain_, line);
    line = plain_;
  }
  text = line;
  if (line.size() < mark_ || !line.substr(mark_).starts_with(backend_mark)) {
    const std::size_t found = line.find(backend_mark);
    if (found == line.npos) return;
    mark_ = found;
  }
  std::size_t begin = mark_;
  for (std::size_t next = line.find(backend_mark, begin + 1); next != line.npos;
       next = line.find(backend_mark, next + 1)) {
    begin = next;
    cut += 1;
  }
  is_of_backend = true;
  prefix_ = line.substr(0, begin);
  rest = line.substr(begin + backend_mark.size());
  const std::size_t end = std::min(rest.find(' '), rest.size());
  session = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
}

std::optional<std::int64_t> LogLine::time_us(std::string_view prefix) {
  std::string_view before = trimmed(prefix);
  if (before.size() > 2 && is_letter(before.back()) && before[before.size() - 2] == ' ') {
    before = trimmed(before.substr(0, before.size() - 1));
  }
  const std::size_t cut_at = before.rfind(' ');
  return time_in(cut_at == before.npos ? before : before.substr(cut_at + 1));
}

bool for_messages(std::string_view line, std::string& kept,
                  const std::function<void(std::string_view, std::optional<std::int64_t>)>& take) {
  constexpr std::string_view key = "\"msg\":";
  if (!line.starts_with('{')) return false;
  std::size_t at = line.find(key);
  if (at == line.npos) return false;
  std::optional<std::int64_t> time;
  if (const std::size_t begin = line.find("\"time\":"); begin < at) {
    std::string_view number = trimmed(line.substr(begin + 7));
    time = take_number<std::int64_t>(number);
    constexpr std::int64_t max_time = std::int64_t{1} << 53;
    if (time && (*time < 0 || *time > max_time)) time.reset();
  }
  at = line.find('"', at + key.size());
  if (at == line.npos) return false;
  kept.clear();
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] != '\\' || at + 1 == line.size()) {
      kept += line[at];
      continue;
    }
    const char escaped = line[++at];
    std::string_view code = line.substr(at + 1, 4);
    if (escaped == 'u' && code.size() == 4) {
      const auto value = parse_number<unsigned>(code, 16);
      kept += value && *value < 128 ? char(*value) : '?';
      at += 4;
    } else {
      kept += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
    }
  }
  std::string_view left = kept;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    if (end > 0) take(left.substr(0, end), time);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return true;
}

bool Fields::digits(std::uint64_t& into) {
  std::uint64_t number = 0;
  std::size_t count = 0;
  while (count < text_.size() && is_digit(text_[count])) {
    if (count == 19) return false;
    number = number * 10 + std::uint64_t(text_[count++] - '0');
  }
  if (count == 0) return false;
  text_.remove_prefix(count);
  into = number;
  return true;
}

}  // namespace npuscope::ggml
