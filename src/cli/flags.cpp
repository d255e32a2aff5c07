#include "cli/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "base/numbers.hpp"

namespace npuscope::cli {
namespace {

template <class T>
struct ElementOf {
  using Type = T;
  static constexpr bool is_list = false;
};
template <class T>
struct ElementOf<std::optional<T>> : ElementOf<T> {};
template <class T>
struct ElementOf<std::vector<T>> {
  using Type = T;
  static constexpr bool is_list = true;
};

// What a value is called that nobody has given another word.
template <class T>
const char* word_of(T*) {
  using Element = typename ElementOf<T>::Type;
  if constexpr (std::is_same_v<Element, bool>) return "";
  if constexpr (std::is_convertible_v<Element, std::string>) return "TEXT";
  return std::is_floating_point_v<Element> ? "NUMBER" : "N";
}

const char* word_of(const Take&) { return ""; }
const char* word_of(const Answer&) { return ""; }
const char* word_of(const Refusal&) { return ""; }

std::vector<std::string> split_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view name = text.substr(0, comma);
    if (name.starts_with('!')) name.remove_prefix(1);
    names.emplace_back(name);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

std::string usual_text(const std::string& value) { return value; }

template <class T>
  requires std::is_arithmetic_v<T>
std::string usual_text(T value) {
  if constexpr (std::is_floating_point_v<T>) return fmt::format("{:g}", value);
  return fmt::format("{}", value);
}

}  // namespace

Check whole_number(std::uint64_t min, std::uint64_t max) {
  return [=](const std::string& text) -> std::string {
    const auto value = parse_number<std::uint64_t>(text);
    if (value && *value >= min && *value <= max) return {};
    if (max == std::numeric_limits<std::uint64_t>::max()) {
      return fmt::format("{} is not a whole number from {} on", text, min);
    }
    return fmt::format("{} is not a whole number from {} to {}", text, min, max);
  };
}

Check real_number(double min, double max) {
  return [=](const std::string& text) -> std::string {
    const auto value = parse_number<double>(text);
    if (value && *value >= min && *value <= max) return {};  // false for nan
    return fmt::format("{} is not a number from {:g} to {:g}", text, min, max);
  };
}

Flag::Flag(const std::string& comma_names, Variable sets, std::string says, std::string title)
    : declared(comma_names),
      names(split_names(comma_names)),
      variable(std::move(sets)),
      about(std::move(says)),
      group(std::move(title)),
      value_word(std::visit([](const auto& each) { return word_of(each); }, variable)) {}

Flag& Flag::required(bool is) {
  is_required = is;
  return *this;
}

Flag& Flag::describe(std::string says) {
  about = std::move(says);
  return *this;
}

Flag& Flag::check(Check test) {
  checks.push_back(std::move(test));
  return *this;
}

Flag& Flag::called(std::string word) {
  value_word = std::move(word);
  return *this;
}

Flag& Flag::shows_usual() {
  std::visit(
      [this](const auto& each) {
        if constexpr (requires { usual_text(*each); }) usual = usual_text(*each);
      },
      variable);
  return *this;
}

Flag& Flag::shows_usual(std::string value) {
  usual = std::move(value);
  return *this;
}

Flag& Flag::under(std::string title) {
  group = std::move(title);
  return *this;
}

Flag& Flag::offers(std::vector<std::string> words) {
  offered = std::move(words);
  return *this;
}

Flag& Flag::excludes(std::string other) {
  excluded.push_back(std::move(other));
  return *this;
}

Flag& Flag::needs(std::string other) {
  needed.push_back(std::move(other));
  return *this;
}

Flag& Flag::separated_by(char mark) {
  separator = mark;
  return *this;
}

Flag& Flag::one_each() {
  takes_one_each = true;
  return *this;
}

Flag& Flag::values(int least, int most) {
  value_count = {least, most};
  return *this;
}

Flag& Flag::takes_all() {
  takes_every = true;
  return *this;
}

std::string Flag::name() const {
  for (const char* start : {"--", "-"}) {
    for (const std::string& each : names) {
      if (each.starts_with(start)) return each;
    }
  }
  return place();
}

std::string Flag::place() const {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [](const std::string& each) { return !each.starts_with('-'); });
  return found == names.end() ? "" : *found;
}

bool Flag::is_named(std::string_view wanted) const {
  return std::find(names.begin(), names.end(), wanted) != names.end();
}

bool Flag::takes_value() const {
  return !std::holds_alternative<bool*>(variable) &&
         !std::holds_alternative<std::optional<bool>*>(variable) &&
         !std::holds_alternative<Answer>(variable) && !std::holds_alternative<Refusal>(variable);
}

bool Flag::is_list() const {
  if (value_count) return value_count->second > 1;
  return std::visit(
      [](const auto& each) {
        using Each = std::remove_cvref_t<decltype(each)>;
        return ElementOf<std::remove_pointer_t<Each>>::is_list;
      },
      variable);
}

Command& Command::command(std::string called, std::string says) {
  Command& added = commands.emplace_back(std::move(called), std::move(says));
  added.above = this;
  added.group = next_group.empty() ? "Subcommands" : next_group;
  return added;
}

Flag& Command::add(const std::string& flag_names, Variable variable, std::string says) {
  return flags.emplace_back(flag_names, std::move(variable), std::move(says),
                            next_group.empty() ? "Options" : next_group);
}

void Command::matters_with(std::string idle, std::vector<std::string> others) {
  idle_flags.push_back({std::move(idle), std::move(others)});
}

void Command::idle_beside(std::string idle, std::vector<std::string> others) {
  idle_flags.push_back({std::move(idle), std::move(others), true});
}

const Flag* Command::find_flag(std::string_view wanted) const {
  const auto found = std::find_if(flags.begin(), flags.end(),
                                  [&](const Flag& each) { return each.is_named(wanted); });
  return found == flags.end() ? nullptr : &*found;
}

Flag& Command::flag(std::string_view wanted) {
  for (Flag& each : flags) {
    if (each.is_named(wanted)) return each;
  }
  throw std::logic_error(fmt::format("{} has no flag {}", path(), wanted));
}

bool Command::has(std::string_view wanted) const {
  const Flag* found = find_flag(wanted);
  return found != nullptr && found->is_given;
}

const Command* Command::find_command(std::string_view wanted) const {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const Command& each) { return each.name == wanted; });
  return found == commands.end() ? nullptr : &*found;
}

std::string Command::path() const { return above ? above->path() + " " + name : name; }

}  // namespace npuscope::cli
