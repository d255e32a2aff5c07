// Many patterns that are looked for in a text at once, in one pass over it:
//
//   PatternSet patterns;
//   patterns.add("mine.toml:3", "q_proj");       // 0; a usage error as Pattern::compile has it
//   patterns.add("mine.toml:6", "(?i)softmax");  // 1
//   patterns.compile("mine.toml");               // after the last, before the first text
//   patterns.find("/layers.0/self_attn/Softmax", found);  // {1}
//
// The time is linear in the text and hardly depends on how many patterns there are. Once compiled,
// several threads may use it at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope {

class PatternSet {
 public:
  PatternSet();
  ~PatternSet();
  PatternSet(PatternSet&&) noexcept;
  PatternSet& operator=(PatternSet&&) noexcept;

  // The number of the pattern, from 0. `where` begins the error.
  Result<std::size_t> add(std::string_view where, std::string_view text);

  // One of the program's own, that compiles, as tests have found; of a set without others. Only
  // those are compiled that a text may have, unless many texts are expected.
  std::size_t add_builtin(std::string_view text);

  // A usage error for the pattern that is too large, or where all of them together are; `where`
  // begins the latter.
  Status compile(std::string_view where);

  // That so many texts will be looked at.
  void expect(std::size_t texts) const;

  std::size_t size() const { return texts_.size(); }

  // Numbers of those that are anywhere in the text, in no order. They replace what was in `found`.
  void find(std::string_view text, std::vector<int>& found) const;

 private:
  struct Compiled;

  struct Text {
    std::string where, text;
  };
  std::vector<Text> texts_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace npuscope
