#include "base/text.hpp"
#include "npu/graph/importer.hpp"

#include "base/numbers.hpp"

namespace npuscope::npu {
namespace {

constexpr int nesting_limit = 32;

bool is_name_character(char c) {
  return is_of_word(c) || c == '.' || c == ':' || c == '[' || c == ']';
}

// expression = term { (+|-) term };  term = factor { (*|/|//|%) factor };
// factor = number | symbol | ( expression )
class Expression {
 public:
  Expression(std::string_view text, const Symbols& symbols) : rest_(text), symbols_(symbols) {}

  SymbolValue evaluate() {
    auto value = sum(0);
    skip_blanks();
    if (!rest_.empty()) value.reset();
    return {value, std::move(missing_)};
  }

 private:
  using Value = std::optional<std::int64_t>;

  Value sum(int depth) {
    Value left = product(depth);
    while (left) {
      if (take('+')) {
        left = combine(left, product(depth),
                       [](auto a, auto b, auto* out) { return __builtin_add_overflow(a, b, out); });
      } else if (take('-')) {
        left = combine(left, product(depth),
                       [](auto a, auto b, auto* out) { return __builtin_sub_overflow(a, b, out); });
      } else {
        break;
      }
    }
    return left;
  }

  Value product(int depth) {
    Value left = factor(depth);
    while (left) {
      if (take('*')) {
        left = combine(left, factor(depth),
                       [](auto a, auto b, auto* out) { return __builtin_mul_overflow(a, b, out); });
      } else if (take('/')) {
        take('/');
        left = combine(left, factor(depth), [](auto a, auto b, auto* out) {
          if (b <= 0 || a < 0) return true;
          *out = a / b;
          return false;
        });
      } else if (take('%')) {
        left = combine(left, factor(depth), [](auto a, auto b, auto* out) {
          if (b <= 0 || a < 0) return true;
          *out = a % b;
          return false;
        });
      } else {
        break;
      }
    }
    return left;
  }

  Value factor(int depth) {
    if (depth > nesting_limit) return std::nullopt;
    if (take('(')) {
      const Value inner = sum(depth + 1);
      return inner && take(')') ? inner : std::nullopt;
    }
    skip_blanks();
    std::size_t length = 0;
    while (length < rest_.size() && is_name_character(rest_[length])) ++length;
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word.empty() ? std::nullopt : value_of(word);
  }

  Value value_of(std::string_view word) {
    if (const auto number = parse_number<std::int64_t>(word)) return number;
    const auto found = symbols_.find(word);
    if (found != symbols_.end()) return found->second;
    if (missing_.empty()) missing_ = word;
    return std::nullopt;
  }

  template <class Operator>
  static Value combine(Value left, Value right, Operator overflows) {
    std::int64_t out = 0;
    if (!left || !right || overflows(*left, *right, &out)) return std::nullopt;
    return out;
  }

  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  bool take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  const Symbols& symbols_;
  std::string missing_;
};

}  // namespace

SymbolValue evaluate_dimension(std::string_view text, const Symbols& symbols) {
  const auto exact = symbols.find(text);
  if (exact != symbols.end()) return {exact->second, {}};
  SymbolValue result = Expression(text, symbols).evaluate();
  if (!result.value && result.missing.empty()) result.missing = text;
  return result;
}

}  // namespace npuscope::npu
