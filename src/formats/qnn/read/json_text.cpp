#include "formats/qnn/read/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace npuscope::qnn {
namespace {

// Such files have some 10 MB for large networks, and are read as a whole.
constexpr std::uint64_t max_bytes = std::uint64_t{256} << 20;
constexpr std::size_t max_rows = std::size_t{1} << 20;  // of some 200 to 600 bytes each

// Bytes beyond ASCII that are not part of UTF-8 become '?', so that one flipped bit in a name does
// not cost the file.
std::uint64_t mend_utf8(std::string& text) {
  std::uint64_t mended = 0;
  constexpr std::size_t block = 4096;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = std::min(text.size(), begin + block);
    // A block ends before a character, not in it.
    for (int back = 0; back < 3 && end < text.size() && (text[end] & '\xC0') == '\x80'; ++back) {
      --end;
    }
    if (!simdjson::validate_utf8(text.data() + begin, end - begin)) {
      for (std::size_t i = begin; i < end; ++i) {
        if (static_cast<unsigned char>(text[i]) >= 0x80) {
          text[i] = '?';
          ++mended;
        }
      }
    }
    begin = end;
  }
  return mended;
}

// The parser keeps four bytes for each mark and each value. Real files have a mark every six bytes
// or more.
Status check_density(std::string_view text, const std::string& name) {
  constexpr std::size_t small = std::size_t{16} << 20;
  constexpr std::size_t min_bytes_per_mark = 4;
  if (text.size() <= small) return {};
  const auto marks = std::count_if(text.begin(), text.end(), [](char c) {
    return c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']';
  });
  if (std::size_t(marks) <= text.size() / min_bytes_per_mark) return {};
  return input_error(
      "{}: has {} brackets, commas and colons in {} bytes, more than any QNN artifact; check that "
      "it "
      "is the right file",
      name, marks, text.size());
}

// The token without quotes and surrounding space.
std::string_view bare(std::string_view token) {
  const std::size_t last = token.find_last_not_of(" \t\r\n");
  token = token.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    token = token.substr(1, token.size() - 2);
  }
  return token;
}

}  // namespace

std::string close_json(std::string_view text) {
  constexpr std::size_t deepest = 1024;  // as deep as simdjson goes
  std::vector<char> open;                // the closers that are due
  std::size_t safe = 0;                  // what lies before is complete but for them
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_text = false;
      }
      continue;
    }
    switch (c) {
      case '"': in_text = true; break;
      case '{':
      case '[':
        if (open.size() == deepest) {
          text = text.substr(0, i);
          break;
        }
        open.push_back(c == '{' ? '}' : ']');
        safe = i + 1;
        break;
      case '}':
      case ']':
        if (!open.empty()) open.pop_back();
        safe = i + 1;
        break;
      case ',': safe = i; break;
      default: break;
    }
  }
  std::string closed(text.substr(0, safe));
  closed.append(open.rbegin(), open.rend());
  return closed;
}

Result<JsonText> JsonText::load(ByteSource& source, CountedNotes& losses) {
  TRY_AS(text, read_all(source, max_bytes));
  JsonText json;
  json.losses_ = &losses;
  json.text_ = std::make_unique<std::string>(std::move(*text));
  if (const std::uint64_t mended = mend_utf8(*json.text_)) {
    losses.add(Severity::warning, 0, "bytes are not UTF-8; '?' stands for them", mended);
  }
  if (json.text_->starts_with("\xEF\xBB\xBF")) json.text_->erase(0, 3);
  TRY(check_density(*json.text_, source.name()));
  TRY(json.parse(source.name()));
  return json;
}

simdjson::error_code JsonText::try_parse() {
  const std::size_t size = text_->size();
  text_->resize(size + simdjson::SIMDJSON_PADDING, ' ');
  text_->resize(size);
  const simdjson::padded_string_view padded(text_->data(), size, size + simdjson::SIMDJSON_PADDING);
  if (const auto error = parser_->iterate(padded).get(*document_)) return error;
  ondemand::object object;
  if (const auto error = document_->get_object().get(object)) return error;
  document_->rewind();
  return simdjson::SUCCESS;
}

void JsonText::mend(simdjson::error_code error) {
  if (error == simdjson::UNESCAPED_CHARS) {
    losses_->add(Severity::warning, 0, "control characters inside texts; taken as spaces");
    std::replace_if(
        text_->begin(), text_->end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; },
        ' ');
    return;
  }
  losses_->add(Severity::error, text_->size(),
               "the file ends in the middle; what came before is kept, copy it again");
  *text_ = close_json(*text_);
}

Status JsonText::parse(const std::string& name) {
  parser_ = std::make_unique<ondemand::parser>();
  document_ = std::make_unique<ondemand::document>();
  const std::size_t first = text_->find_first_not_of(" \t\r\n");
  const bool object = first != std::string::npos && (*text_)[first] == '{';
  auto error = try_parse();
  for (int mends = 0; error && object && mends < 2; ++mends) {
    mend(error);
    error = try_parse();
  }
  if (!error) return {};
  return input_error("{}: does not hold a JSON object ({}); write it again", name,
                     simdjson::error_message(error));
}

// Where it stands, when nothing is escaped: the parser would copy it.
simdjson::error_code JsonText::key_of(ondemand::field& field, std::string_view& key) const {
  const char* begin = field.key().raw();
  const std::size_t size = std::size_t(text_->data() + text_->size() - begin);
  const auto* end = static_cast<const char*>(std::memchr(begin, '"', size));
  if (end == nullptr || std::memchr(begin, '\\', std::size_t(end - begin)) != nullptr) {
    return field.unescaped_key().get(key);
  }
  key = {begin, std::size_t(end - begin)};
  return simdjson::SUCCESS;
}

bool JsonText::has_room(std::string_view table) {
  if (rows_ < max_rows) {
    ++rows_;
    return true;
  }
  if (!broken_) {
    losses_->add(Severity::error, offset(),
                 fmt::format("more than {} rows; the others of {} and what follows are left out",
                             thousands(max_rows), table));
  }
  broken_ = true;
  return false;
}

bool JsonText::broken(simdjson::error_code error) {
  if (!error) return broken_;
  if (!broken_) {
    losses_->add(Severity::error, offset(),
                 fmt::format("not JSON from here on ({}); what came before is kept",
                             simdjson::error_message(error)));
  }
  broken_ = true;
  return true;
}

void JsonText::refuse(simdjson::error_code error, std::string_view key, std::string_view wanted) {
  const bool of_type = error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_ERROR ||
                       error == simdjson::STRING_ERROR || error == simdjson::F_ATOM_ERROR ||
                       error == simdjson::T_ATOM_ERROR || error == simdjson::N_ATOM_ERROR;
  if (!of_type) {
    broken(error);
    return;
  }
  // The key may be hostile; messages are kept for each.
  losses_->add(
      Severity::warning, offset(),
      fmt::format("\"{}\" is not {}; taken as absent", printable(key.substr(0, 60)), wanted));
}

std::optional<std::int64_t> JsonText::integer(ondemand::value& value, std::string_view key) {
  std::int64_t whole = 0;
  const auto error = value.get_int64().get(whole);
  if (!error) return whole;
  const std::string_view token = bare(value.raw_json_token());
  if (const auto quoted = parse_number<std::int64_t>(token)) return quoted;
  const auto real = parse_number<double>(token);
  // Whole doubles are exact up to 2^53.
  if (real && std::abs(*real) <= 9007199254740992.0 && *real == std::floor(*real)) {
    return std::int64_t(*real);
  }
  refuse(simdjson::INCORRECT_TYPE, key, "a whole number of 64 bits");
  return std::nullopt;
}

std::optional<double> JsonText::number(ondemand::value& value, std::string_view key) {
  double real = 0;
  if (!value.get_double().get(real)) return real;
  const auto quoted = parse_number<double>(bare(value.raw_json_token()));
  if (quoted && std::isfinite(*quoted)) return quoted;
  refuse(simdjson::INCORRECT_TYPE, key, "a number");
  return std::nullopt;
}

std::optional<bool> JsonText::boolean(ondemand::value& value, std::string_view key) {
  bool truth = false;
  if (!value.get_bool().get(truth)) return truth;
  refuse(simdjson::INCORRECT_TYPE, key, "true or false");
  return std::nullopt;
}

std::optional<std::string_view> JsonText::text(ondemand::value& value, std::string_view key) {
  std::string_view text;
  const std::string_view token = value.raw_json_token();
  if (token.starts_with('"') && token.find('\\') == std::string_view::npos) {
    ondemand::raw_json_string raw;  // stands in the file as it is: the parser would copy it
    const auto error = value.get_raw_json_string().get(raw);
    if (!error) return token.substr(1, token.find('"', 1) - 1);
    refuse(error, key, "a text");
    return std::nullopt;
  }
  const auto error = value.get_string().get(text);
  if (!error) return text;
  refuse(error, key, "a text");
  return std::nullopt;
}

std::uint64_t JsonText::offset() {
  const char* at = nullptr;
  if (document_->current_location().get(at)) return text_->size();
  const auto distance = at - text_->data();
  return distance < 0 ? 0 : std::min<std::uint64_t>(std::uint64_t(distance), text_->size());
}

}  // namespace npuscope::qnn
