// A regular expression that a user wrote, looked for in names that strangers wrote:
//
//   const auto pattern = Pattern::compile("--op", "MatMul|Soft.*");
//   if (!pattern) return tl::unexpected(pattern.error());
//   pattern->found_in("/layer.0/Softmax");  // true
//
// The syntax is RE2's: no back references and no look-around, so that the time is linear in the
// text whatever the pattern. A pattern is compiled once, cheap to copy, and may be used by several
// threads at once.
//
// Those of the program's own tables are compiled when a text is met that may have them:
//
//   Pattern::builtin("(?i)softmax").found_in("/layer.0/MatMul");  // false, and never compiled
#pragma once

#include <memory>
#include <string_view>

#include "npuscope/base/result.hpp"

namespace npuscope {

class Pattern {
 public:
  // `where` begins the usage error for a text that is no pattern: a flag, or a file and line.
  enum class Groups : bool { forgotten, kept };  // kept: for group_in()
  static Result<Pattern> compile(std::string_view where, std::string_view text,
                                 Groups groups = Groups::forgotten);
  // One that compiles, as tests have found.
  static Pattern builtin(std::string_view text, Groups groups = Groups::forgotten);

  // Anywhere in the text; ^ and $ are its ends. A text that is not UTF-8 is no obstacle, but no
  // dot or class stands for its broken bytes.
  bool found_in(std::string_view text) const;

  // What its first group stands for where it is found; empty where it is not, or has no group.
  std::string_view group_in(std::string_view text) const;
  bool has_group() const;

 private:
  class Expression;
  explicit Pattern(std::shared_ptr<const Expression> expression);

  std::shared_ptr<const Expression> expression_;
};

}  // namespace npuscope
