#include "formats/torq/debug/location.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace npuscope::torq {
namespace {

constexpr std::uint32_t deepest = 256;
constexpr std::size_t max_parts = 4096;

bool is_name(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

}  // namespace

// A location from the left; once a step fails, the rest do not run.
class LocationParser {
 public:
  LocationParser(Locations& locations, std::string_view text)
      : locations_(locations), text_(text), rest_(text) {}

  Result<LocationId> run(std::uint32_t depth) {
    if (!take_word("loc") || !take('(')) return expected("loc(");
    auto location = parse(depth);
    if (location && !take(')')) return expected(")");
    return location;
  }

 private:
  using Kind = Locations::Kind;
  using Node = Locations::Node;

  Result<LocationId> parse(std::uint32_t depth) {
    if (depth > deepest) {
      return input_error("a location is nested more than {} deep; shorten it", deepest);
    }
    skip_blanks();
    if (rest_.starts_with('"')) return parse_place(depth);
    if (rest_.starts_with('#')) return parse_alias(depth);
    if (take('?') || take_word("unknown")) return LocationId::unknown;
    if (take_word("callsite")) return parse_call_site(depth);
    if (take_word("fused")) return parse_fused(depth);
    return expected("a location");
  }

  Result<LocationId> parse_place(std::uint32_t depth) {
    Node node;
    if (!take_string(node.place.file)) return expected("\"");
    if (take(':')) {
      node.kind = Kind::file;
      if (!take_line_or_column(node.place.line) || !take(':') ||
          !take_line_or_column(node.place.column)) {
        return expected("line:column");
      }
      if (take_word("to") && !take_range_end()) return expected("line:column");
      return add(std::move(node));
    }
    node.kind = Kind::name;
    if (take('(')) {
      const auto child = parse(depth + 1);
      if (!child) return child;
      if (!take(')')) return expected(")");
      node.children.push_back(*child);
    }
    return add(std::move(node));
  }

  // "to 3:4", or "to :4" on the same line.
  bool take_range_end() {
    std::uint32_t number = 0;
    take_line_or_column(number);
    return take(':') && take_line_or_column(number);
  }

  Result<LocationId> parse_alias(std::uint32_t depth) {
    std::size_t length = 1;
    while (length < rest_.size() && is_name(rest_[length])) ++length;
    const std::string_view alias = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return locations_.resolve(alias, depth + 1);
  }

  Result<LocationId> parse_call_site(std::uint32_t depth) {
    Node node{.kind = Kind::call_site};
    if (!take('(')) return expected("(");
    for (const bool is_callee : {true, false}) {
      const auto part = parse(depth + 1);
      if (!part) return part;
      node.children.push_back(*part);
      if (is_callee && !take_word("at")) return expected("at");
    }
    if (!take(')')) return expected(")");
    return add(std::move(node));
  }

  Result<LocationId> parse_fused(std::uint32_t depth) {
    Node node{.kind = Kind::fused};
    if (take('<') && !skip_metadata()) return expected(">");
    if (!take('[')) return expected("[");
    if (take(']')) return add(std::move(node));
    do {
      const auto part = parse(depth + 1);
      if (!part) return part;
      node.children.push_back(*part);
    } while (take(','));
    if (!take(']')) return expected("]");
    return add(std::move(node));
  }

  // Up to the > that closes it; arrows and strings within are none.
  bool skip_metadata() {
    std::size_t open = 1;
    while (!rest_.empty()) {
      std::string ignored;
      if (rest_[0] == '"') {
        if (!take_string(ignored)) return false;
        continue;
      }
      const bool is_arrow = rest_.starts_with("->");
      const char c = rest_[0];
      rest_.remove_prefix(is_arrow ? 2 : 1);
      if (c == '<') ++open;
      if (c == '>' && --open == 0) return true;
    }
    return false;
  }

  Result<LocationId> add(Node node) {
    for (const LocationId child : node.children) {
      node.depth = std::max(node.depth, locations_.at(child).depth + 1);
    }
    if (node.depth > deepest) {
      return input_error("a location is nested more than {} deep; shorten it", deepest);
    }
    locations_.nodes_.push_back(std::move(node));
    return LocationId(locations_.nodes_.size() - 1);
  }

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  bool take(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    if (rest_.size() > word.size() && is_name(rest_[word.size()])) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool take_line_or_column(std::uint32_t& number) {
    skip_blanks();
    const auto taken = take_number<std::uint32_t>(rest_);
    number = taken.value_or(number);
    return taken.has_value();
  }
  // \" and \\ stand for their second character; \0A is a byte in hexadecimal.
  bool take_string(std::string& into) {
    rest_.remove_prefix(1);
    while (!rest_.empty() && rest_[0] != '"') {
      std::size_t length = 1;
      if (rest_[0] == '\\' && rest_.size() > 1) {
        const auto byte =
            rest_.size() > 2 ? parse_number<std::uint8_t>(rest_.substr(1, 2), 16) : std::nullopt;
        into += byte ? char(*byte) : rest_[1];
        length = byte ? 3 : 2;
      } else {
        into += rest_[0];
      }
      rest_.remove_prefix(length);
    }
    if (rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  tl::unexpected<Error> expected(std::string_view what) const {
    return input_error("'{}' is not a location: {} expected at character {}",
                       printable(text_.substr(0, 80)), what, text_.size() - rest_.size() + 1);
  }

  Locations& locations_;
  std::string_view text_, rest_;
};

Locations::Locations() { nodes_.emplace_back(); }

void Locations::define(std::string_view alias, std::string_view text) {
  aliases_.insert_or_assign(std::string(alias), Alias{.text = std::string(text)});
}

Result<LocationId> Locations::parse(std::string_view text) { return parse_within(text, 0); }

Result<LocationId> Locations::parse_within(std::string_view text, std::uint32_t depth) {
  return LocationParser(*this, text).run(depth);
}

Result<LocationId> Locations::resolve(std::string_view name, std::uint32_t depth) {
  const auto found = aliases_.find(std::string(name));
  if (found == aliases_.end()) {
    return input_error("location {} is not defined; is the file complete?", printable(name));
  }
  Alias& alias = found->second;
  if (alias.state == Alias::State::read) return alias.id;
  if (alias.state == Alias::State::reading) {
    return input_error("location {} is made of itself; check the file", printable(name));
  }
  alias.state = Alias::State::reading;
  const auto id = parse_within(alias.text, depth);
  alias.state = id ? Alias::State::read : Alias::State::unread;
  if (id) alias.id = *id;
  return id;
}

void Locations::append_brief(LocationId id, std::size_t& parts, std::string& text) const {
  if (parts >= max_parts) return;
  const Node& node = at(id);
  switch (node.kind) {
    case Kind::unknown: text += "loc(unknown)"; break;
    case Kind::file: text += fmt::format("@L{}C{}", node.place.line, node.place.column); break;
    case Kind::name:
      if (!node.children.empty()) return append_brief(node.children[0], parts, text);
      text += node.place.file;
      break;
    case Kind::call_site: return append_brief(node.children[0], parts, text);
    case Kind::fused:
      for (std::size_t i = 0; i < node.children.size() && parts < max_parts; ++i) {
        if (i > 0) text += '+';
        append_brief(node.children[i], parts, text);
      }
  }
  ++parts;
}

void Locations::append_files(LocationId id, bool through_names, std::size_t& parts,
                             std::vector<FileLocation>& files) const {
  if (parts++ >= max_parts) return;
  const Node& node = at(id);
  if (node.kind == Kind::file) files.push_back(node.place);
  if (node.kind == Kind::name && !through_names) return;
  for (const LocationId child : node.children) append_files(child, through_names, parts, files);
}

std::string Locations::brief(LocationId id) const {
  std::string text;
  std::size_t parts = 0;
  append_brief(id, parts, text);
  return text;
}

std::vector<FileLocation> Locations::files(LocationId id, bool through_names) const {
  std::vector<FileLocation> files;
  std::size_t parts = 0;
  append_files(id, through_names, parts, files);
  return files;
}

}  // namespace npuscope::torq
