#include "base/pattern_set.hpp"

#include <re2/re2.h>
#include <re2/set.h>
#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>

#include "base/required_texts.hpp"
#include "base/try.hpp"
#include "npuscope/base/pattern.hpp"

namespace npuscope {
namespace {

// RE2's objects, made so that an allocation which fails meanwhile ends the program with that
// exception: one that unwinds RE2's constructors corrupts the heap.
//
//   without_unwinding([&] { expression.emplace(text, options); });
//
// One thread at a time: what allocations do when they fail is a setting of the whole program.

[[noreturn]] void end_without_unwinding() {
  try {
    throw std::bad_alloc();
  } catch (...) {
    std::terminate();  // with the exception, for a handler that says why
  }
}

void without_unwinding(const std::function<void()>& make) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::new_handler before = std::set_new_handler(end_without_unwinding);
  make();
  std::set_new_handler(before);
}

RE2::Options options_of(Pattern::Groups groups) {
  RE2::Options options;
  options.set_log_errors(false);  // a library does not print
  options.set_never_capture(groups == Pattern::Groups::forgotten);
  return options;
}

}  // namespace

// Compiled when it is first needed.
class LateExpression {
 public:
  LateExpression(std::string_view text, Pattern::Groups groups) : text_(text), groups_(groups) {}

  const std::string& text() const { return text_; }
  bool is_compiled() const { return has_compiled_.load(std::memory_order_acquire); }
  const RE2& compiled() const {
    std::call_once(once_, [&] {
      without_unwinding([&] { compiled_.emplace(text_, options_of(groups_)); });
      has_compiled_.store(true, std::memory_order_release);
    });
    return *compiled_;
  }
  bool found_in(std::string_view text) const {
    return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), compiled());
  }

 private:
  std::string text_;
  Pattern::Groups groups_;
  mutable std::once_flag once_;
  mutable std::optional<RE2> compiled_;
  mutable std::atomic<bool> has_compiled_ = false;
};

struct PatternSet::Compiled {
  explicit Compiled(const RE2::Options& options) : set(options, RE2::UNANCHORED) {}

  void compile_all(const std::vector<Text>& texts) {
    std::call_once(once, [&] {
      without_unwinding([&] {
        for (const Text& each : texts) set.Add(each.text, nullptr);
        set.Compile();
      });
      has_all.store(true, std::memory_order_release);
    });
  }

  RE2::Set set;
  // Of the program's own: compiling all at once is a third of the start of a small file's page.
  struct Single {
    explicit Single(std::string_view text)
        : required(text), expression(text, Pattern::Groups::forgotten) {}

    RequiredTexts required;
    LateExpression expression;
  };
  std::deque<Single> singles;
  std::once_flag once;
  std::atomic<bool> has_all = false;
};

PatternSet::PatternSet() {
  constexpr std::int64_t max_bytes = 32 << 20;  // of the patterns and of what is learnt of texts
  RE2::Options options;
  options.set_log_errors(false);  // a library does not print
  options.set_never_capture(true);
  options.set_max_mem(max_bytes);
  compiled_ = std::make_unique<Compiled>(options);
}

PatternSet::~PatternSet() = default;
PatternSet::PatternSet(PatternSet&&) noexcept = default;
PatternSet& PatternSet::operator=(PatternSet&&) noexcept = default;

Result<std::size_t> PatternSet::add(std::string_view where, std::string_view text) {
  int number = -1;
  without_unwinding(
      [&] { number = compiled_->set.Add(re2::StringPiece(text.data(), text.size()), nullptr); });
  if (number < 0) {
    TRY(Pattern::compile(where, text));
    return usage_error("{} '{}': the regular expression is too large; repeat less in it", where,
                       text);
  }
  texts_.push_back({std::string(where), std::string(text)});
  return std::size_t(number);
}

std::size_t PatternSet::add_builtin(std::string_view text) {
  compiled_->singles.emplace_back(text);
  texts_.push_back({{}, std::string(text)});
  return texts_.size() - 1;
}

Status PatternSet::compile(std::string_view where) {
  if (!compiled_->singles.empty()) return {};
  bool is_compiled = false;
  without_unwinding([&] { is_compiled = compiled_->set.Compile(); });
  if (is_compiled) return {};
  for (const Text& each : texts_) {
    TRY(Pattern::compile(each.where, each.text));
  }
  return usage_error("{}: the regular expressions are too large together; repeat less in them",
                     where);
}

void PatternSet::expect(std::size_t texts) const {
  constexpr std::size_t max_texts_of_singles = 500;
  if (!compiled_->singles.empty() && texts > max_texts_of_singles) compiled_->compile_all(texts_);
}

void PatternSet::find(std::string_view text, std::vector<int>& found) const {
  found.clear();
  if (!compiled_->singles.empty() && !compiled_->has_all.load(std::memory_order_acquire)) {
    const LettersOf letters(text);
    for (std::size_t i = 0; i < compiled_->singles.size(); ++i) {
      const auto& [required, expression] = compiled_->singles[i];
      if (required.may_be_in(letters) && expression.found_in(text)) found.push_back(int(i));
    }
    return;
  }
  RE2::Set::ErrorInfo error{};
  compiled_->set.Match(re2::StringPiece(text.data(), text.size()), &found, &error);
  if (error.kind == RE2::Set::kOutOfMemory) throw std::bad_alloc();
}

namespace {

bool is_too_large(RE2::ErrorCode code) {
  return code == RE2::ErrorPatternTooLarge || code == RE2::ErrorRepeatSize;
}

}  // namespace

class Pattern::Expression : public LateExpression {
 public:
  using LateExpression::LateExpression;

  // Without compiling it, which costs more than looking at some texts.
  bool is_surely_not_in(std::string_view text) const {
    constexpr unsigned max_texts = 200;
    if (is_compiled()) return false;
    if (looked_at_.fetch_add(1, std::memory_order_relaxed) >= max_texts) return false;
    std::call_once(has_required_, [&] { required_.emplace(this->text()); });
    return !required_->may_be_in(LettersOf(text));
  }

 private:
  mutable std::once_flag has_required_;
  mutable std::optional<RequiredTexts> required_;
  mutable std::atomic<unsigned> looked_at_ = 0;
};

Pattern::Pattern(std::shared_ptr<const Expression> expression)
    : expression_(std::move(expression)) {}

Result<Pattern> Pattern::compile(std::string_view where, std::string_view text, Groups groups) {
  Pattern made = builtin(text, groups);
  const RE2& expression = made.expression_->compiled();
  if (is_too_large(expression.error_code())) {
    return usage_error("{} '{}': the regular expression is too large; repeat less in it", where,
                       text);
  }
  if (!expression.ok()) {
    return usage_error(
        "{} '{}': not a regular expression without back references and look-around; check its "
        "brackets and escapes",
        where, text);
  }
  return made;
}

Pattern Pattern::builtin(std::string_view text, Groups groups) {
  return Pattern(std::make_shared<const Expression>(text, groups));
}

bool Pattern::has_group() const { return expression_->compiled().NumberOfCapturingGroups() > 0; }

std::string_view Pattern::group_in(std::string_view text) const {
  if (!has_group()) return {};
  re2::StringPiece found[2];
  const re2::StringPiece all(text.data(), text.size());
  const bool is_found =
      expression_->compiled().Match(all, 0, all.size(), RE2::UNANCHORED, found, 2);
  return is_found && found[1].data() != nullptr ? std::string_view(found[1].data(), found[1].size())
                                                : std::string_view();
}

bool Pattern::found_in(std::string_view text) const {
  return !expression_->is_surely_not_in(text) && expression_->found_in(text);
}

}  // namespace npuscope
