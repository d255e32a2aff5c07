#include "npuscope/base/pattern.hpp"

#include <re2/re2.h>

#include "base/without_unwinding.hpp"

namespace npuscope {
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
