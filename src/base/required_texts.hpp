// Texts one of which stands in whatever a regular expression of RE2 is found in, by its literals:
//
//   const RequiredTexts required("(?i)(all_?reduce|mat[mM]ul)");  // reduce, matmul
//   required.may_be_in(LettersOf("/layer.0/Softmax"));             // false: it is not found there
//   required.may_be_in(LettersOf("/reduced"));                     // true: only RE2 knows
//
// That costs a hundredth of compiling the expression. Upper and lower case count as the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope {

// A text, and a bit for each character that it has.
struct LettersOf {
  explicit LettersOf(std::string_view text);

  std::string_view text;
  std::uint64_t bits = 0;
  bool is_ascii = true;
};

class RequiredTexts {
 public:
  explicit RequiredTexts(std::string_view pattern);

  // Of a text that is not ASCII always true: other characters may be the upper case of a letter.
  bool may_be_in(const LettersOf& letters) const;

 private:
  std::vector<std::string> texts_;  // none: nothing is known
  std::vector<std::uint64_t> bits_;
};

}  // namespace npuscope
