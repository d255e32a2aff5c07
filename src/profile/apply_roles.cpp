#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/numbers.hpp"
#include "base/parallel.hpp"
#include "npuscope/profile/event_roles.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/communication_waits.hpp"
#include "profile/in_order.hpp"
#include "profile/number_steps.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope {
namespace {

using RuleList = std::vector<const RoleRule*>;

bool fits(const std::optional<Pattern>& pattern, std::string_view text) {
  return !pattern || pattern->found_in(text);
}

// A rule that asks for place or arguments, with the units and sorts of argument lists that fit it;
// none: all do.
struct AskingRule {
  const RoleRule* rule = nullptr;
  const std::vector<bool>* units = nullptr;
  const std::vector<bool>* shapes = nullptr;
};

// What is known of an op before it is known where it ran.
struct OpRules {
  // The first rule that decides by category and name, after those that ask for place or arguments.
  const RoleRule* rule = nullptr;
  std::vector<AskingRule> asking;  // before it
};

class RoleFinder {
 public:
  RoleFinder(const Profile& profile, RuleList rules) : profile_(profile), rules_(std::move(rules)) {
    find_places();
    of_op_.resize(profile.ops.size());
    for (std::size_t op = 0; op < of_op_.size(); ++op) {
      of_op_[op] = rules_of(profile.ops[op]);
      any_ = any_ || of_op_[op].rule != nullptr || !of_op_[op].asking.empty();
    }
  }

  bool any() const { return any_; }

  // Of tracks of which the trace says no more than a name.
  void name_engines(Profile& profile) const {
    for (const RoleRule* rule : rules_) {
      if (rule->engine == Engine::none) continue;
      const std::vector<bool>& at = places_.at(rule);
      for (std::size_t unit = 0; unit < at.size(); ++unit) {
        Engine& engine = profile.units[unit].engine;
        const bool is_open = engine == Engine::none || engine == Engine::other ||
                             engine == Engine::thread || engine == Engine::process;
        if (at[unit] && is_open) engine = rule->engine;
      }
    }
  }

  // The rules that may decide of an op.
  template <class Take>
  void for_rules_of(std::size_t op, const Take& take) const {
    for (const AskingRule& asking : of_op_[op].asking) take(*asking.rule);
    if (of_op_[op].rule != nullptr) take(*of_op_[op].rule);
  }

  const RoleRule* of(std::size_t row) const {
    const std::size_t op = index_of(profile_.spans.op[row]);
    if (op >= of_op_.size()) return nullptr;
    const OpRules& rules = of_op_[op];
    if (rules.asking.empty()) return rules.rule;
    const UnitId unit = profile_.spans.unit[row];
    const Arguments& arguments = profile_.spans.arguments;
    constexpr std::uint32_t none = ~std::uint32_t{0};  // it has not been asked for, or has none
    std::uint32_t shape = none;
    for (const AskingRule& asking : rules.asking) {
      if (!is_at(asking, unit)) continue;
      if (asking.shapes == nullptr) return asking.rule;
      if (shape == none && row < arguments.size()) shape = arguments.shape(row);
      if (shape != none && (*asking.shapes)[shape]) return asking.rule;
    }
    return rules.rule;
  }

 private:
  // Which units and arguments fit the rules that ask for them; a rule that none fits is another
  // tool's.
  void find_places() {
    std::erase_if(rules_, [&](const RoleRule* rule) {
      if (rule->unless_thread && has_slices_on(*rule->unless_thread)) return true;
      if (!rule->arguments.empty() || !rule->number.empty()) {
        std::vector<bool> having = shapes_of(*rule);
        if (std::find(having.begin(), having.end(), true) == having.end()) return true;
        shapes_.emplace(rule, std::move(having));
      }
      if (!rule->asks_where()) return false;
      std::vector<bool> at = units_of(*rule);
      if (std::find(at.begin(), at.end(), true) == at.end()) return true;
      places_.emplace(rule, std::move(at));
      return false;
    });
  }

  OpRules rules_of(const Op& op) {
    OpRules found;
    for (const RoleRule* rule : rules_of_category(op.kind)) {
      if (!fits(rule->name, profile_.text(op.name))) continue;
      if (!rule->asks_for_row()) {
        found.rule = rule;
        break;
      }
      const auto place = places_.find(rule), shape = shapes_.find(rule);
      found.asking.push_back({rule, place != places_.end() ? &place->second : nullptr,
                              shape != shapes_.end() ? &shape->second : nullptr});
    }
    return found;
  }

  // Of few distinct categories.
  const RuleList& rules_of_category(StringId category) {
    const auto [known, is_new] = of_category_.try_emplace(category);
    for (const RoleRule* rule : rules_) {
      if (is_new && fits(rule->category, profile_.text(category))) known->second.push_back(rule);
    }
    return known->second;
  }

  bool has_slices_on(const Pattern& name) const {
    std::vector<bool> matches;
    for (const Unit& unit : profile_.units) {
      matches.push_back(name.found_in(profile_.text(unit.name)));
    }
    const auto& unit_of = profile_.spans.unit;
    return std::any_of(unit_of.begin(), unit_of.end(), [&](UnitId unit) {
      return index_of(unit) < matches.size() && matches[index_of(unit)];
    });
  }

  std::vector<bool> units_of(const RoleRule& rule) const {
    std::vector<bool> at(profile_.units.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Unit* thread = &profile_.units[i];
      if (thread->lane > 0 && index_of(thread->parent) < at.size()) {
        thread = &profile_.units[index_of(thread->parent)];  // its first lane has the name
      }
      const Unit* process = thread;
      for (int depth = 0; depth < 16 && index_of(process->parent) < at.size(); ++depth) {
        process = &profile_.units[index_of(process->parent)];
      }
      at[i] = fits(rule.process, profile_.text(process->name)) &&
              fits(rule.thread, profile_.text(thread->name));
    }
    return at;
  }

  static bool is_at(const AskingRule& asking, UnitId unit) {
    if (asking.units == nullptr) return true;
    return index_of(unit) < asking.units->size() && (*asking.units)[index_of(unit)];
  }

  // Which sorts of argument lists have all that the rule asks for.
  std::vector<bool> shapes_of(const RoleRule& rule) const {
    const std::vector<ArgumentShape>& shapes = profile_.spans.arguments.shapes;
    std::vector<bool> having(shapes.size(), true);
    std::vector<std::string> names = rule.arguments;
    if (!rule.number.empty()) names.push_back(rule.number);
    for (const std::string& name : names) {
      const auto id = profile_.strings.find(name);
      for (std::size_t i = 0; i < shapes.size(); ++i) {
        having[i] = having[i] && id &&
                    std::any_of(shapes[i].begin(), shapes[i].end(),
                                [&](auto& key) { return key.name == *id; });
      }
    }
    return having;
  }

  const Profile& profile_;
  RuleList rules_;
  std::vector<OpRules> of_op_;
  std::unordered_map<StringId, RuleList> of_category_;
  std::unordered_map<const RoleRule*, std::vector<bool>> places_, shapes_;
  bool any_ = false;
};

// Slices of rules that say more than a role.
struct Detailed {
  std::uint32_t row = 0;
  const RoleRule* rule = nullptr;
  bool was_known = false;  // as where npuscope wrote the trace: the arrows are in it
};

bool says_more(const RoleRule& rule) {
  return !rule.bytes.empty() || !rule.signals.empty() || !rule.waits_for.empty() || rule.within ||
         !rule.counter.empty() || rule.part != RoleRule::Part::none ||
         rule.role == SpanKind::inference;
}

std::vector<Detailed> give_kinds(const RoleFinder& finder, Profile& profile) {
  Spans& spans = profile.spans;
  const std::vector<RowRange> parts = ranges_of(spans.size());
  std::vector<std::vector<Detailed>> detailed(parts.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    const RoleRule* last = nullptr;  // mostly that of the next row
    bool last_says_more = false;
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      const RoleRule* rule = finder.of(row);
      if (rule != last && rule != nullptr) last_says_more = says_more(*rule);
      last = rule;
      const bool was_known = spans.kind[row] != SpanKind::slice;
      if (rule == nullptr || (was_known && spans.kind[row] != rule->role)) continue;
      spans.kind[row] = rule->role;
      if (last_says_more) detailed[part].push_back({std::uint32_t(row), rule, was_known});
    }
  });
  std::vector<Detailed> all;
  for (const auto& of_part : detailed) all.insert(all.end(), of_part.begin(), of_part.end());
  return all;
}

// What the model calls an op, where its name says so.
void name_operators(const RoleFinder& finder, Profile& profile) {
  for (std::size_t op = 0; op < profile.ops.size(); ++op) {
    if (profile.ops[op].node_kind != StringId::empty) continue;
    std::string operation;  // a copy: interning may move texts
    finder.for_rules_of(op, [&](const RoleRule& rule) {
      if (!rule.operation || !operation.empty()) return;
      operation = rule.operation->group_in(profile.text(profile.ops[op].name));
    });
    if (!operation.empty()) profile.ops[op].node_kind = profile.strings.intern(operation);
  }
}

std::optional<Argument> argument_of(const Profile& profile, std::size_t row,
                                    std::string_view name) {
  const Arguments& arguments = profile.spans.arguments;
  const auto id = profile.strings.find(name);
  if (!id || arguments.size() != profile.spans.size()) return std::nullopt;
  return arguments.find(row, *id);
}

// A number, or a text that begins with one, "14139908 bytes", or names one: "size:112 dest:4".
std::optional<std::int64_t> bytes_in(const Argument& argument, const Profile& profile) {
  std::int64_t bytes = 0;
  if (argument.key.type == ArgumentType::text) {
    std::string_view text = profile.text(argument.text());
    constexpr std::string_view size = "size:";
    if (const auto at = text.find(size); at != text.npos) text.remove_prefix(at + size.size());
    bytes = take_number<std::int64_t>(text).value_or(-1);
  } else {
    constexpr double max = 9e18;
    const auto number = argument.as_number();
    if (!number || !(*number < max)) return std::nullopt;
    bytes = std::llround(std::max(*number, 0.0));
  }
  return bytes >= 0 ? std::optional(bytes) : std::nullopt;
}

void add_bytes(const std::vector<Detailed>& detailed, Profile& profile) {
  std::optional<MeasureColumn> columns[2];  // read, written
  constexpr NamedNumber numbers[] = {ddr_read_bytes, ddr_write_bytes};
  for (const auto& [row, rule, was_known] : detailed) {
    if (rule->bytes.empty()) continue;
    const auto argument = argument_of(profile, row, rule->bytes);
    const auto bytes = argument ? bytes_in(*argument, profile) : std::nullopt;
    if (!bytes) continue;
    std::string_view way;
    if (rule->direction.empty()) {
      way = profile.text(profile.ops[index_of(profile.spans.op[row])].name);
    } else if (const auto said = argument_of(profile, row, rule->direction)) {
      if (said->key.type == ArgumentType::text) way = profile.text(said->text());
    }
    const bool gives[] = {rule->from_device && rule->from_device->found_in(way),
                          rule->to_device && rule->to_device->found_in(way)};
    for (std::size_t i = 0; i < std::size(gives); ++i) {
      if (!gives[i]) continue;
      if (!columns[i]) {
        columns[i] = profile.column_of(numbers[i], Origin::measured);
        columns[i]->values.assign(profile.spans.size(), MeasureColumn::missing);
      }
      columns[i]->values[row] = *bytes;
    }
  }
  for (auto& column : columns) {
    const bool is_new = column && profile.spans.measure(column->what) == nullptr;
    if (is_new) profile.spans.measures.push_back(std::move(*column));
  }
}

// A number is the same in quotes.
std::string text_of(const Argument& argument, const Profile& profile) {
  switch (argument.key.type) {
    case ArgumentType::integer: return fmt::to_string(argument.integer());
    case ArgumentType::unsigned_integer: return fmt::to_string(argument.unsigned_integer());
    case ArgumentType::text: return std::string(profile.text(argument.text()));
    default: return {};
  }
}

// The arguments that name an event, as one text; empty where one lacks.
std::string event_of(const Profile& profile, std::size_t row,
                     const std::vector<std::string>& names) {
  std::string event;
  for (const std::string& name : names) {
    const auto argument = argument_of(profile, row, name);
    if (!argument) return {};
    event += text_of(*argument, profile);
    event += '\0';
  }
  return event;
}

// From what raises an event to what waits for it: the last time that it was raised before the wait
// was over.
void add_waits(const std::vector<Detailed>& detailed, Profile& profile) {
  const Spans& spans = profile.spans;
  std::unordered_map<std::string, std::vector<std::uint32_t>> signals;
  for (const auto& [row, rule, was_known] : detailed) {
    if (was_known || rule->signals.empty()) continue;
    const std::string event = event_of(profile, row, rule->signals);
    if (!event.empty()) signals[event].push_back(row);
  }
  const auto starts_before = [&](std::int64_t time, std::uint32_t row) {
    return time < spans.start[row];
  };
  for (auto& [event, rows] : signals) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return spans.start[a] < spans.start[b];
    });
  }
  const StringId name = profile.strings.intern("event");
  for (const auto& [row, rule, was_known] : detailed) {
    if (was_known || rule->waits_for.empty()) continue;
    const auto found = signals.find(event_of(profile, row, rule->waits_for));
    if (found == signals.end()) continue;
    const std::int64_t over = saturating_add(spans.start[row], spans.duration[row]);
    const auto after =
        std::upper_bound(found->second.begin(), found->second.end(), over, starts_before);
    if (after == found->second.begin()) continue;
    profile.flows.push_back({SpanId(after[-1]), SpanId(row), EdgeKind::order, name, {}});
  }
}

constexpr std::uint32_t no_series = std::numeric_limits<std::uint32_t>::max();

UnitId process_of(const Profile& profile, UnitId unit) {
  for (int depth = 0; depth < 16 && index_of(unit) < profile.units.size(); ++depth) {
    const UnitId parent = profile.units[index_of(unit)].parent;
    if (index_of(parent) >= profile.units.size()) break;
    unit = parent;
  }
  return unit;
}

// "Device Type 1, Device Id 0".
std::string part_of_series(const Profile& profile, std::size_t row, const RoleRule& rule) {
  std::string part;
  for (const std::string& name : rule.series) {
    const auto said = argument_of(profile, row, name);
    if (!said) continue;
    part += fmt::format("{}{} {}", part.empty() ? "" : ", ", name, text_of(*said, profile));
  }
  return part;
}

// A new series; none where the trace has it already, as where npuscope wrote it.
std::uint32_t add_series(Profile& profile, std::size_t known, CounterSeries series) {
  auto& all = profile.counters.series;
  for (std::size_t i = 0; i < known; ++i) {
    const CounterSeries& each = all[i];
    const bool same =
        each.unit == series.unit && each.name == series.name && each.part == series.part;
    if (same) return no_series;
  }
  all.push_back(series);
  return std::uint32_t(all.size() - 1);
}

// Instants that say how much of something there is.
void add_counters(const std::vector<Detailed>& detailed, Profile& profile) {
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> series;  // by process and part
  const std::size_t known = profile.counters.series.size();
  for (const auto& [row, rule, was_known] : detailed) {
    if (rule->counter.empty()) continue;
    const auto argument = argument_of(profile, row, rule->counter);
    const auto value = argument ? argument->as_number() : std::nullopt;
    if (!value || !std::isfinite(*value)) continue;
    const std::string part = part_of_series(profile, row, *rule);
    const UnitId process = process_of(profile, profile.spans.unit[row]);
    const auto [place, is_new] =
        series.try_emplace({index_of(process), rule->counter + '\n' + part}, no_series);
    if (is_new) {
      place->second =
          add_series(profile, known,
                     {process, profile.strings.intern(rule->counter), profile.strings.intern(part),
                      profile.strings.intern(rule->quantity)});
    }
    if (place->second == no_series) continue;
    profile.counters.of.push_back(place->second);
    profile.counters.time.push_back(profile.spans.start[row]);
    profile.counters.value.push_back(*value);
  }
}

// The track beside it, of the same parent, that a rule names.
UnitId track_beside(const Profile& profile, UnitId unit, const Pattern& name) {
  if (index_of(unit) >= profile.units.size()) return UnitId::none;
  const UnitId parent = profile.units[index_of(unit)].parent;
  for (std::uint32_t i = 0; i < profile.units.size(); ++i) {
    const Unit& other = profile.units[i];
    if (UnitId(i) == unit || other.parent != parent || parent == UnitId::none) continue;
    if (name.found_in(profile.text(other.name))) return UnitId(i);
  }
  return UnitId::none;
}

// Slices of one track, by start, that lie in those of another go there, one after another: what
// runs at once with one that went stays beside.
void move_slices(std::vector<std::uint32_t>& rows, std::vector<Interval> around, UnitId to,
                 Profile& profile) {
  Spans& spans = profile.spans;
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(spans.start[a], a) < std::pair(spans.start[b], b);
  });
  std::sort(around.begin(), around.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
  std::int64_t busy_until = std::numeric_limits<std::int64_t>::min(), open_until = busy_until;
  std::size_t next = 0;
  for (const std::uint32_t row : rows) {
    const Interval slice = interval_of(spans, row);
    for (; next < around.size() && around[next].begin <= slice.begin; ++next) {
      open_until = std::max(open_until, around[next].end);
    }
    if (slice.end > open_until || slice.begin < busy_until) continue;
    spans.unit[row] = to;
    busy_until = slice.end;
  }
}

void move_within(const std::vector<Detailed>& detailed, Profile& profile) {
  std::map<std::pair<std::uint32_t, const RoleRule*>, UnitId> beside;
  std::map<std::uint32_t, std::vector<std::uint32_t>> rows_to;  // by where they go
  for (const auto& [row, rule, was_known] : detailed) {
    if (was_known || !rule->within) continue;
    const UnitId unit = profile.spans.unit[row];
    const auto [to, is_new] = beside.try_emplace({index_of(unit), rule}, UnitId::none);
    if (is_new) to->second = track_beside(profile, unit, *rule->within);
    if (to->second != UnitId::none) rows_to[index_of(to->second)].push_back(row);
  }
  if (rows_to.empty()) return;
  std::map<std::uint32_t, std::vector<Interval>> around;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const std::uint32_t unit = index_of(profile.spans.unit[row]);
    if (rows_to.contains(unit) && profile.spans.duration[row] > 0) {
      around[unit].push_back(interval_of(profile.spans, row));
    }
  }
  for (auto& [to, rows] : rows_to) {
    move_slices(rows, std::move(around[to]), UnitId(to), profile);
  }
}

void add_parts_of_communication(const std::vector<Detailed>& detailed, Profile& profile) {
  std::vector<CommunicationPart> parts;
  for (const auto& [row, rule, was_known] : detailed) {
    if (rule->part == RoleRule::Part::none || was_known) continue;
    parts.push_back({row, rule->part == RoleRule::Part::wait});
  }
  add_communication_waits(profile, parts);
}

void add_steps(const std::vector<Detailed>& detailed, Profile& profile) {
  std::vector<StepCandidate> candidates;
  for (const auto& [row, rule, was_known] : detailed) {
    if (rule->role == SpanKind::inference && !was_known) candidates.push_back({row, rule});
  }
  number_steps(profile, std::move(candidates));
}

}  // namespace

void apply_roles(Profile& profile, std::span<const RoleTable> tables) {
  RuleList rules;
  const auto take = [&](const RoleTable& table) {
    for (const RoleRule& rule : table.rules()) rules.push_back(&rule);
  };
  for (const RoleTable& table : tables) take(table);
  take(RoleTable::builtin());
  const RoleFinder finder(profile, std::move(rules));
  if (!finder.any()) return;
  finder.name_engines(profile);
  name_operators(finder, profile);
  const std::vector<Detailed> detailed = give_kinds(finder, profile);
  cut_in_order(profile, [&](std::size_t row) {
    const RoleRule* rule = finder.of(row);
    return rule != nullptr && rule->in_order && rule->role == profile.spans.kind[row];
  });
  if (detailed.empty()) return;
  move_within(detailed, profile);
  add_counters(detailed, profile);
  add_bytes(detailed, profile);
  add_waits(detailed, profile);
  add_parts_of_communication(detailed, profile);
  add_steps(detailed, profile);
}

}  // namespace npuscope
