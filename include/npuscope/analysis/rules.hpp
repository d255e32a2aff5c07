// What people call the parts of their model, as rules on the names of its ops:
//
//   [[rule]]                         # a file of rules, TOML; the first that an op obeys counts
//   name = "q projection"
//   node = 'q_proj'                  # a regular expression, found anywhere in the node's path
//   [[rule]]
//   name = "softmax"
//   any = '(?i)softmax'              # in the node's path, the op's name or its kind
//   operator = '(?i)conv'            # in the node's operator, the kernel (unless that is a unit's
//                                    # name) or the name's last part
//   part = "attention"               # what several rules are together; by default the name
//
//   const auto rules = Rules::parse(text, "mine.toml");
//   rules->of(profile)[op]           // 0: "q projection"; rules->size(): none
//
// A rule may have several of `node`, `op`, `kind`, `operator` and `any`; an op must obey all that
// it has.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {
class PatternSet;
class TomlReader;
}  // namespace npuscope

namespace npuscope::analysis {

// What rules are about: the texts of an op.
struct RuledOp {
  std::string_view node, name, kind, node_kind;
  bool kind_is_unit = false;  // it says where the op ran: "Slice 0" slices nothing
};

// The texts of a profile's ops. The profile must live as long.
class RuledOps {
 public:
  explicit RuledOps(const Profile& profile);
  RuledOp of(const Op& op) const;

 private:
  const Profile& profile_;
  std::unordered_set<StringId> unit_names_;
};

class Rules {
 public:
  // A usage error with file and line for what is no rule; `name` is the file's.
  static Result<Rules> parse(std::string_view text, const std::string& name);

  // Those that come with the program: "transformer", "operators". A usage error lists them.
  static Result<Rules> builtin(std::string_view name);
  static bool is_builtin(std::string_view name);
  static std::vector<std::string> builtin_names();

  std::size_t size() const { return rules_.size(); }
  const std::string& name(std::size_t rule) const { return rules_[rule].name; }
  const std::string& part(std::size_t rule) const { return rules_[rule].part; }

  // By op, the first rule that it obeys; size() where there is none. On all cores.
  std::vector<std::uint32_t> of(const Profile& profile) const;
  std::vector<std::uint32_t> of(std::span<const RuledOp> ops) const;

 private:
  enum class Place : std::uint8_t { any, node, op, kind, does };
  struct Condition {
    Place place;
    std::uint32_t rule;
  };
  struct Rule {
    std::string name, part;
    std::uint32_t first_condition = 0, conditions = 0;  // those of a rule follow one another
  };
  class Search;
  static Result<Rules> parse(std::string_view text, const std::string& name, bool is_builtin);
  void read_rule(TomlReader& in, PatternSet& patterns);

  std::vector<Rule> rules_;
  std::vector<Condition> conditions_;  // by number of the pattern
  std::shared_ptr<const PatternSet> patterns_;
};

}  // namespace npuscope::analysis
