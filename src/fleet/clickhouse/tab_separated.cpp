#include "fleet/clickhouse/tab_separated.hpp"

#include <cmath>
#include <cstring>

#include "base/numbers.hpp"

namespace npuscope::fleet {
namespace {

constexpr std::size_t max_line_bytes = 64 << 20;
constexpr std::size_t max_columns = 10'000;

void unescape(std::string_view text, std::string& plain) {
  plain.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    switch (const char c = text[++i]) {
      case 'b': plain += '\b'; break;
      case 'f': plain += '\f'; break;
      case 'n': plain += '\n'; break;
      case 'r': plain += '\r'; break;
      case 't': plain += '\t'; break;
      case '0': plain += '\0'; break;
      default: plain += c;
    }
  }
}

// "Nullable(Int64)": what is in the parentheses.
std::string_view inner_type(std::string_view type) {
  for (const std::string_view wrapper : {"Nullable(", "LowCardinality("}) {
    if (type.starts_with(wrapper) && type.ends_with(')')) {
      return inner_type(type.substr(wrapper.size(), type.size() - wrapper.size() - 1));
    }
  }
  return type;
}

std::string_view take_field(std::string_view& line, bool& is_last) {
  const std::size_t end = line.find('\t');
  const std::string_view field = line.substr(0, end);
  is_last = end == line.npos;
  if (!is_last) line.remove_prefix(end + 1);
  return field;
}

}  // namespace

bool TabSeparated::refuse(const char* problem) {
  problem_ = problem;
  return false;
}

bool TabSeparated::take(std::string_view bytes) {
  if (!problem_.empty() || is_enough_) return false;
  while (!bytes.empty()) {
    const auto* end = static_cast<const char*>(std::memchr(bytes.data(), '\n', bytes.size()));
    if (end == nullptr) {
      if (rest_.size() + bytes.size() > max_line_bytes) return refuse("a row is too long");
      rest_ += bytes;
      return true;
    }
    const auto size = std::size_t(end - bytes.data());
    bool goes_on = false;
    if (rest_.empty()) {
      goes_on = take_line(bytes.substr(0, size));
    } else {
      rest_ += bytes.substr(0, size);
      goes_on = take_line(rest_);
      rest_.clear();
    }
    if (!goes_on) return false;
    bytes.remove_prefix(size + 1);
  }
  return true;
}

bool TabSeparated::take_line(std::string_view line) {
  lines_ += 1;
  if (lines_ > 2) return take_cells(line);
  bool is_last = false;
  while (!is_last) {
    const std::string_view field = take_field(line, is_last);
    if (lines_ == 1) {
      unescape(field, names_.emplace_back());
    } else {
      const std::string_view type = inner_type(field);
      kinds_.push_back(type.starts_with("Int") || type.starts_with("UInt") ? Kind::integer
                       : type.starts_with("Float")                         ? Kind::real
                                                                           : Kind::text);
    }
    if (std::max(names_.size(), kinds_.size()) > max_columns) return refuse("too many columns");
  }
  if (lines_ == 1) return true;
  if (kinds_.size() != names_.size()) return refuse("names and types differ in number");
  texts_.resize(names_.size());
  cells_.resize(names_.size());
  sink_.columns(names_);
  return true;
}

bool TabSeparated::take_cells(std::string_view line) {
  bool is_last = false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (is_last) return refuse("a row has too few values");
    const std::string_view field = take_field(line, is_last);
    query::Cell& cell = cells_[i];
    cell = std::monostate();
    if (field == "\\N") continue;
    if (kinds_[i] == Kind::integer) {
      if (const auto number = parse_number<std::int64_t>(field)) cell = *number;
    } else if (kinds_[i] == Kind::real) {
      const auto number = parse_number<double>(field);
      if (number && !std::isnan(*number)) cell = *number;
      if (number) continue;
    }
    if (cell.index() != 0) continue;
    unescape(field, texts_[i]);
    cell = std::string_view(texts_[i]);
  }
  if (!is_last) return refuse("a row has too many values");
  is_enough_ = !sink_.row(cells_);
  return !is_enough_;
}

Status TabSeparated::finish() const {
  const char* const problem = !problem_.empty() ? problem_.c_str()
                              : is_enough_      ? nullptr
                              : lines_ < 2      ? "it has no columns"
                              : !rest_.empty()  ? "it ends within a row"
                                                : nullptr;
  if (problem == nullptr) return {};
  return input_error("the answer is not one that npuscope reads ({}); write no FORMAT", problem);
}

}  // namespace npuscope::fleet
