#include "base/pattern_set.hpp"

#include <re2/re2.h>
#include <re2/set.h>
#include <exception>
#include <functional>
#include <mutex>
#include <new>

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

}  // namespace

struct PatternSet::Compiled {
  RE2::Set set;
};

PatternSet::PatternSet() {
  constexpr std::int64_t max_bytes = 32 << 20;  // of the patterns and of what is learnt of texts
  RE2::Options options;
  options.set_log_errors(false);  // a library does not print
  options.set_never_capture(true);
  options.set_max_mem(max_bytes);
  compiled_ = std::make_unique<Compiled>(RE2::Set(options, RE2::UNANCHORED));
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

Status PatternSet::compile(std::string_view where) {
  bool is_compiled = false;
  without_unwinding([&] { is_compiled = compiled_->set.Compile(); });
  if (is_compiled) return {};
  for (const Text& each : texts_) {
    TRY(Pattern::compile(each.where, each.text));
  }
  return usage_error("{}: the regular expressions are too large together; repeat less in them",
                     where);
}

void PatternSet::find(std::string_view text, std::vector<int>& found) const {
  RE2::Set::ErrorInfo error{};
  found.clear();
  compiled_->set.Match(re2::StringPiece(text.data(), text.size()), &found, &error);
  if (error.kind == RE2::Set::kOutOfMemory) throw std::bad_alloc();
}

namespace {

bool is_too_large(RE2::ErrorCode code) {
  return code == RE2::ErrorPatternTooLarge || code == RE2::ErrorRepeatSize;
}

std::shared_ptr<const RE2> expression_of(std::string_view text, const RE2::Options& options) {
  std::shared_ptr<const RE2> expression;
  without_unwinding([&] {
    expression = std::make_shared<const RE2>(re2::StringPiece(text.data(), text.size()), options);
  });
  return expression;
}

}  // namespace

Pattern::Pattern(std::shared_ptr<const re2::RE2> expression) : expression_(std::move(expression)) {}

Result<Pattern> Pattern::compile(std::string_view where, std::string_view text, Groups groups) {
  RE2::Options options;
  options.set_log_errors(false);  // a library does not print
  options.set_never_capture(groups == Groups::forgotten);
  auto expression = expression_of(text, options);
  if (is_too_large(expression->error_code())) {
    return usage_error("{} '{}': the regular expression is too large; repeat less in it", where,
                       text);
  }
  if (!expression->ok()) {
    return usage_error(
        "{} '{}': not a regular expression without back references and look-around; check its "
        "brackets and escapes",
        where, text);
  }
  return Pattern(std::move(expression));
}

bool Pattern::has_group() const { return expression_->NumberOfCapturingGroups() > 0; }

std::string_view Pattern::group_in(std::string_view text) const {
  if (!has_group()) return {};
  re2::StringPiece found[2];
  const re2::StringPiece all(text.data(), text.size());
  const bool is_found = expression_->Match(all, 0, all.size(), RE2::UNANCHORED, found, 2);
  return is_found && found[1].data() != nullptr ? std::string_view(found[1].data(), found[1].size())
                                                : std::string_view();
}

bool Pattern::found_in(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression_);
}

}  // namespace npuscope
