#include "npuscope/analysis/rules.hpp"
#include "base/try.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include "analysis/builtin_rules.hpp"
#include "base/near_names.hpp"
#include "base/parallel.hpp"
#include "base/pattern_set.hpp"
#include "base/toml_reader.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t max_rules = 1'000;

}  // namespace

Result<Rules> Rules::parse(std::string_view text, const std::string& name) {
  return parse(text, name, false);
}

// `text`: of those that come with the program the lines that are embedded.
Result<Rules> Rules::parse(std::string_view text, const std::string& name, bool is_builtin) {
  auto root =
      is_builtin ? EmbeddedToml{{}, text}.table() : parse_toml(text, name, ErrorKind::usage);
  if (!root) return tl::unexpected(std::move(root).error());
  const TomlFile file{name, ErrorKind::usage, is_builtin};
  TomlReader in(*root, file);
  Rules rules;
  auto patterns = std::make_shared<PatternSet>();
  in.tables(
      "rule", [&](TomlReader& each) { rules.read_rule(each, *patterns); }, Needed::yes, max_rules);
  TRY(in.finish());
  TRY(patterns->compile(name));
  rules.patterns_ = std::move(patterns);
  return rules;
}

void Rules::read_rule(TomlReader& in, PatternSet& patterns) {
  Rule rule;
  const auto rule_number = std::uint32_t(rules_.size());
  rule.first_condition = std::uint32_t(conditions_.size());
  in.text("name", rule.name, Needed::yes);
  in.text("part", rule.part);
  constexpr std::string_view places[] = {"any", "node", "op", "kind", "operator"};
  for (std::size_t place = 0; place < std::size(places); ++place) {
    std::string pattern;
    in.text(places[place], pattern);
    if (pattern.empty()) continue;
    if (in.is_builtin()) {
      patterns.add_builtin(pattern);
    } else if (const auto added = patterns.add(in.place_of(places[place]), pattern); !added) {
      in.keep(added.error());
    }
    conditions_.push_back({Place(place), rule_number});
  }
  rule.conditions = std::uint32_t(conditions_.size()) - rule.first_condition;
  if (rule.conditions == 0) {
    in.fail({}, "rule '{}' has no pattern; give it node, op, kind, operator or any", rule.name);
  }
  if (rule.part.empty()) rule.part = rule.name;
  rules_.push_back(std::move(rule));
}

bool Rules::is_builtin(std::string_view name) {
  return std::any_of(std::begin(builtin_rule_files), std::end(builtin_rule_files),
                     [&](const EmbeddedToml& file) { return file.name == name; });
}

std::vector<std::string> Rules::builtin_names() {
  std::vector<std::string> names;
  for (const EmbeddedToml& file : builtin_rule_files) names.emplace_back(file.name);
  return names;
}

Result<Rules> Rules::builtin(std::string_view name) {
  static std::mutex one_at_a_time;
  static std::map<std::string_view, Result<Rules>> parsed;  // copies share the patterns
  const std::lock_guard lock(one_at_a_time);
  std::string names;
  for (const auto& [known, lines] : builtin_rule_files) {
    if (known == name) {
      const auto found = parsed.find(known);
      if (found != parsed.end()) return found->second;
      return parsed.emplace(known, parse(lines, fmt::format("rules/{}.toml", known), true))
          .first->second;
    }
    names += names.empty() ? known : fmt::format(", {}", known);
  }
  return usage_error("rules '{}' are not built in{}; use one of: {}, or the path of a .toml file",
                     name, did_you_mean(names, name), names);
}

// Which rule each op obeys: all patterns are looked for in each of its texts at once.

RuledOps::RuledOps(const Profile& profile) : profile_(profile) {
  for (const Unit& unit : profile.units) {
    if (unit.name != StringId::empty) unit_names_.insert(unit.name);
  }
}

RuledOp RuledOps::of(const Op& op) const {
  if (op.is_unnamed) return {{}, {}, profile_.text(op.kind), {}, unit_names_.contains(op.kind)};
  return {profile_.text(op.node), profile_.text(op.name), profile_.text(op.kind),
          profile_.text(op.node_kind), unit_names_.contains(op.kind)};
}

// Of one op after another, on one thread.
class Rules::Search {
 public:
  explicit Search(const Rules& rules) : rules_(rules) {
    for (const Condition& condition : rules.conditions_) {
      looked_at_by_.push_back(texts_of(condition.place));
      looked_at_ |= looked_at_by_.back();
    }
  }

  std::uint32_t of(const RuledOp& op) {
    const std::string_view label = op.node.empty() ? op.name : op.node;
    // A name tells what an op does only where nothing else says so.
    const std::string_view last_part =
        op.node_kind.empty() ? label.substr(label.rfind('/') + 1) : std::string_view();
    Searched texts[] = {{op.node, text_node},
                        {label, text_label},
                        {op.name, text_name},
                        {last_part, text_last_part},
                        {op.kind, op.kind_is_unit ? text_unit : text_kind},
                        {op.node_kind, text_node_kind}};
    obeyed_.clear();
    for (auto each = std::begin(texts); each != std::end(texts); ++each) {
      const auto same = std::find_if(each + 1, std::end(texts), [&](const Searched& later) {
        return later.text.data() == each->text.data() && later.text.size() == each->text.size();
      });
      if (same != std::end(texts)) {
        same->roles |= each->roles;
      } else if ((each->roles & looked_at_) != 0) {
        search(*each);
      }
    }
    std::sort(obeyed_.begin(), obeyed_.end());
    obeyed_.erase(std::unique(obeyed_.begin(), obeyed_.end()), obeyed_.end());
    return first_rule();
  }

 private:
  enum : std::uint32_t {
    text_node = 1,
    text_label = 2,
    text_name = 4,
    text_last_part = 8,
    text_kind = 16,
    text_node_kind = 32,
    text_unit = 64  // a kind that is a unit's name
  };
  struct Searched {
    std::string_view text;
    std::uint32_t roles;
  };

  static std::uint32_t texts_of(Place place) {
    switch (place) {
      case Place::node: return text_label;
      case Place::op: return text_name;
      case Place::kind: return text_kind | text_unit;
      case Place::does: return text_node_kind | text_kind | text_last_part;
      case Place::any: return text_node | text_name | text_kind | text_unit | text_node_kind;
    }
    return 0;
  }

  void search(const Searched& each) {
    if ((each.roles & (text_kind | text_unit | text_node_kind)) == 0) {
      rules_.patterns_->find(each.text, found_);
      return obey(found_, each.roles);
    }
    const auto [place, is_new] = found_in_kinds_.try_emplace(each.text);
    if (is_new) rules_.patterns_->find(each.text, place->second);
    obey(place->second, each.roles);
  }

  void obey(const std::vector<int>& found, std::uint32_t roles) {
    for (const int condition : found) {
      if ((looked_at_by_[std::size_t(condition)] & roles) != 0) {
        obeyed_.push_back(std::uint32_t(condition));
      }
    }
  }

  // Whose conditions are all among those that are obeyed.
  std::uint32_t first_rule() const {
    for (std::size_t i = 0; i < obeyed_.size(); ++i) {
      const std::uint32_t at = rules_.conditions_[obeyed_[i]].rule;
      const Rule& rule = rules_.rules_[at];
      const std::size_t last = i + rule.conditions - 1;
      if (obeyed_[i] == rule.first_condition && last < obeyed_.size() &&
          obeyed_[last] == rule.first_condition + rule.conditions - 1) {
        return at;
      }
    }
    return std::uint32_t(rules_.size());
  }

  const Rules& rules_;
  std::vector<std::uint32_t> looked_at_by_;  // by condition, the roles of texts
  std::uint32_t looked_at_ = 0;
  std::unordered_map<std::string_view, std::vector<int>> found_in_kinds_;  // of which there are few
  std::vector<int> found_;
  std::vector<std::uint32_t> obeyed_;  // conditions
};

std::vector<std::uint32_t> Rules::of(std::span<const RuledOp> ops) const {
  std::vector<std::uint32_t> rule_of(ops.size(), std::uint32_t(size()));
  if (rules_.empty()) return rule_of;
  patterns_->expect(2 * ops.size());  // a name and a kind
  constexpr std::size_t chunk = 1'024;
  parallel_for((ops.size() + chunk - 1) / chunk, [&](std::size_t part) {
    Search search(*this);
    const std::size_t end = std::min(ops.size(), (part + 1) * chunk);
    for (std::size_t i = part * chunk; i < end; ++i) rule_of[i] = search.of(ops[i]);
  });
  return rule_of;
}

std::vector<std::uint32_t> Rules::of(const Profile& profile) const {
  std::vector<RuledOp> ops;
  ops.reserve(profile.ops.size());
  const RuledOps texts(profile);
  for (const Op& op : profile.ops) ops.push_back(texts.of(op));
  return of(ops);
}

}  // namespace npuscope::analysis
