#include "query/functions.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/base/pattern.hpp"
#include "query/schema.hpp"

namespace npuscope::query {
namespace {

constexpr int safe = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

struct Values {
  std::vector<double> numbers;
  std::optional<double> percent;
};

void fail(sqlite3_context* context, const char* text) { sqlite3_result_error(context, text, -1); }

// NULLs do not count, as in SQLite's own aggregates. SQLite keeps a pointer, null at first, from
// step to step of a group.
void step(sqlite3_context* context, int count, sqlite3_value** arguments) {
  auto* place = static_cast<Values**>(sqlite3_aggregate_context(context, int(sizeof(Values*))));
  if (place == nullptr) return sqlite3_result_error_nomem(context);
  try {
    if (*place == nullptr) *place = new Values;
    Values& values = **place;
    if (count > 1) {
      const double percent = sqlite3_value_double(arguments[1]);
      const bool is_number = sqlite3_value_numeric_type(arguments[1]) == SQLITE_INTEGER ||
                             sqlite3_value_numeric_type(arguments[1]) == SQLITE_FLOAT;
      if (!is_number || !(percent >= 0 && percent <= 100)) {
        return fail(context, "percentile(x, p): p is not a number from 0 to 100");
      }
      if (values.percent && *values.percent != percent) {
        return fail(context, "percentile(x, p): p must be the same in all rows of a group");
      }
      values.percent = percent;
    }
    switch (sqlite3_value_numeric_type(arguments[0])) {
      case SQLITE_NULL: return;
      case SQLITE_INTEGER:
      case SQLITE_FLOAT: break;
      default:
        return fail(context, "median, percentile and stddev take numbers, and this is a text");
    }
    values.numbers.push_back(sqlite3_value_double(arguments[0]));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

std::unique_ptr<Values> take(sqlite3_context* context) {
  auto* place = static_cast<Values**>(sqlite3_aggregate_context(context, 0));
  std::unique_ptr<Values> values(place != nullptr ? *place : nullptr);
  if (place != nullptr) *place = nullptr;
  return values;
}

// Between two samples in proportion: of four, 50 is halfway between the second and the third.
double percentile_of(std::vector<double>& numbers, double percent) {
  const double position = percent / 100 * double(numbers.size() - 1);
  const auto below = std::size_t(position);
  const auto middle = numbers.begin() + std::ptrdiff_t(below);
  std::nth_element(numbers.begin(), middle, numbers.end());
  const double part = position - double(below);
  if (part == 0 || below + 1 == numbers.size()) return *middle;
  const double above = *std::min_element(middle + 1, numbers.end());
  return *middle + (above - *middle) * part;
}

void finish_percentile(sqlite3_context* context) {
  const auto values = take(context);
  if (!values || values->numbers.empty()) return sqlite3_result_null(context);
  sqlite3_result_double(context, percentile_of(values->numbers, values->percent.value_or(50)));
}

// Of a sample: n - 1.
void finish_deviation(sqlite3_context* context) {
  const auto values = take(context);
  if (!values || values->numbers.size() < 2) return sqlite3_result_null(context);
  double mean = 0, squares = 0, count = 0;
  for (const double number : values->numbers) {  // Welford
    const double distance = number - mean;
    mean += distance / ++count;
    squares += distance * (number - mean);
  }
  sqlite3_result_double(context, std::sqrt(squares / (count - 1)));
}

std::string_view text_in(sqlite3_value* value) {
  const auto* text = static_cast<const char*>(sqlite3_value_blob(value));
  return text != nullptr ? std::string_view(text, std::size_t(sqlite3_value_bytes(value)))
                         : std::string_view("");
}

// regexp(pattern, text), which is what SQLite makes of: text REGEXP pattern.
void regexp(sqlite3_context* context, int, sqlite3_value** arguments) {
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL ||
      sqlite3_value_type(arguments[1]) == SQLITE_NULL) {
    return sqlite3_result_null(context);
  }
  try {
    auto* pattern = static_cast<Pattern*>(sqlite3_get_auxdata(context, 0));
    std::optional<Pattern> made;
    if (pattern == nullptr) {
      auto compiled = Pattern::compile("regexp", text_in(arguments[0]));
      if (!compiled) return fail(context, compiled.error().message.c_str());
      made = *compiled;
    }
    const bool found = (made ? &*made : pattern)->found_in(text_in(arguments[1]));
    sqlite3_result_int(context, found);
    if (made) {
      sqlite3_set_auxdata(context, 0, new Pattern(*made),
                          [](void* kept) { delete static_cast<Pattern*>(kept); });
    }
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

}  // namespace

const std::vector<FunctionInfo>& functions() {
  static const std::vector<FunctionInfo> all{
      {"median(x)", "of the group's numbers; halfway between the middle two of an even count"},
      {"percentile(x, p)", "p from 0 to 100; between two samples in proportion"},
      {"stddev(x)", "standard deviation of a sample (n - 1); NULL for fewer than two"},
      {"regexp(pattern, text)", "1 where an RE2 pattern is found in the text; text REGEXP pattern"},
  };
  return all;
}

int add_functions(sqlite3* database) {
  const auto add_aggregate = [&](const char* name, int arguments,
                                 void (*finish)(sqlite3_context*)) {
    return sqlite3_create_function_v2(database, name, arguments, safe, nullptr, nullptr, step,
                                      finish, nullptr);
  };
  for (const int added : {add_aggregate("median", 1, finish_percentile),
                          add_aggregate("percentile", 2, finish_percentile),
                          add_aggregate("stddev", 1, finish_deviation),
                          sqlite3_create_function_v2(database, "regexp", 2, safe, nullptr, regexp,
                                                     nullptr, nullptr, nullptr)}) {
    if (added != SQLITE_OK) return added;
  }
  return SQLITE_OK;
}

}  // namespace npuscope::query
