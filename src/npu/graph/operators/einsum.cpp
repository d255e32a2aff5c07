#include "npu/graph/operators/einsum.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "npu/graph/limits.hpp"
#include "npu/graph/operation.hpp"

namespace npuscope::npu {
namespace {

constexpr std::size_t ellipsis_limit = 10;  // its dimensions are named by the digits

// "...ij" with an ellipsis of two dimensions is "01ij" (counted from the end: broadcasting).
std::string write_out(std::string_view term, std::size_t ellipsis_rank, std::size_t widest) {
  std::string letters;
  const std::size_t dots = term.find("...");
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      for (std::size_t d = widest - ellipsis_rank; d < widest; ++d) letters += char('0' + d);
      i += 2;
    } else if (is_letter(term[i])) {
      letters += term[i];
    } else {
      fail("its equation has the character '{}'", term[i]);
    }
  }
  return letters;
}

std::size_t letters_in(std::string_view term) {
  return std::size_t(std::count_if(term.begin(), term.end(), is_letter));
}

std::vector<std::string> split_terms(const std::string& left) {
  std::vector<std::string> terms(1);
  for (const char c : left) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  return terms;
}

// Without "->": the letters that occur once, in alphabetical order, after the ellipsis.
std::string implied_output(const Einsum& einsum) {
  std::map<char, int> uses;
  for (const std::string& operand : einsum.operands) {
    for (const char letter : operand) ++uses[letter];
  }
  std::string output;
  for (const auto& [letter, count] : uses) {
    if (count == 1 || !is_letter(letter)) output += letter;
  }
  return output;
}

}  // namespace

Einsum parse_einsum(std::string_view equation, const std::vector<Shape>& shapes) {
  std::string text(equation);
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const auto terms = split_terms(text.substr(0, arrow));
  if (terms.size() != shapes.size()) {
    fail("its equation '{}' is for {} inputs, not {}", equation, terms.size(), shapes.size());
  }
  std::size_t widest = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool open = terms[i].find("...") != std::string::npos;
    const std::size_t letters = letters_in(terms[i]), rank = shapes[i].size();
    if (open ? rank < letters || rank - letters > ellipsis_limit : rank != letters) {
      fail("its equation '{}' does not fit the input {}", equation, to_text(shapes[i]));
    }
    widest = std::max(widest, rank - letters);
  }
  Einsum einsum;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    einsum.operands.push_back(write_out(terms[i], shapes[i].size() - letters_in(terms[i]), widest));
    for (std::size_t d = 0; d < shapes[i].size(); ++d) {
      const auto [found, fresh] = einsum.sizes.emplace(einsum.operands[i][d], shapes[i][d]);
      if (fresh || found->second == shapes[i][d] || shapes[i][d] == 1) continue;
      if (found->second != 1) {
        fail("its equation '{}' gives '{}' the sizes {} and {}", equation, found->first,
             found->second, shapes[i][d]);
      }
      found->second = shapes[i][d];
    }
  }
  einsum.output = arrow == std::string::npos ? implied_output(einsum)
                                             : write_out(text.substr(arrow + 2), widest, widest);
  for (const char letter : einsum.output) {
    if (!einsum.sizes.contains(letter))
      fail("its equation '{}' makes '{}' from nothing", equation, letter);
  }
  return einsum;
}

}  // namespace npuscope::npu
