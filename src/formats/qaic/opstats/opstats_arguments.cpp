#include "formats/qaic/opstats/opstats_arguments.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"

namespace npuscope::qaic {
namespace {

struct KnownKey {
  std::string_view key;
  ArgumentRole role;
};
constexpr KnownKey known_keys[] = {
    {"oc", ArgumentRole::number},
    {"inference", ArgumentRole::inference},
    {"core", ArgumentRole::core},
    {"opName", ArgumentRole::op_name},
    {"opKind", ArgumentRole::op_kind},
    {"opMemory", ArgumentRole::memory},
    {"opOutputSize", ArgumentRole::output_size},
    {"opAttributes", ArgumentRole::attributes},
    {"opShape", ArgumentRole::op_shape},
    {"opPCycle", ArgumentRole::pcycles},
    {"opUCycle", ArgumentRole::ucycles},
    {"opSyncDurUs", ArgumentRole::wait_microseconds},
    {"PortDescription", ArgumentRole::port_description},
    {"TransactionId", ArgumentRole::transaction},
    {"effectiveFreq", ArgumentRole::frequency},
    {"PCyclesPerKB", ArgumentRole::pcycles_per_kilobyte},
    {"UCyclesPerKB", ArgumentRole::ucycles_per_kilobyte},
};
constexpr std::string_view operand_key = "opOperand";

// Digits with a point among them, as printf("%f") writes them; false for any other form. Traces
// have millions of these: 10 ns each, parse_number() takes 19.
bool parse_plain_decimal(std::string_view text, double& value) {
  constexpr std::size_t max_digits = 15;  // that a double holds exactly
  static constexpr double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  if (text.empty() || text.size() > max_digits + 1) return false;
  std::uint64_t digits = 0;
  std::size_t point = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      digits = digits * 10 + std::uint64_t(c - '0');
    } else if (c == '.' && point == text.size() && i > 0) {
      point = i;
    } else {
      return false;
    }
  }
  const std::size_t behind = point == text.size() ? 0 : text.size() - point - 1;
  if (text.size() > max_digits && point == text.size()) return false;
  value = double(digits) / powers[behind];
  return true;
}

bool is_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

ArgumentPlan plan_shape(const ArgumentShape& shape, const StringPool& strings) {
  ArgumentPlan plan;
  plan.place.fill(ArgumentPlan::nowhere);
  for (std::uint32_t place = 0; place < shape.size(); ++place) {
    ArgumentRole role = argument_role(strings[shape[place].name]);
    std::uint32_t& first = plan.place[std::size_t(role)];
    const bool repeats = first != ArgumentPlan::nowhere;
    if (!repeats) first = place;
    // A key that comes twice, or an object where a value is meant, is nothing known.
    if (repeats && role != ArgumentRole::operand) role = ArgumentRole::other;
    plan.roles.push_back(role);
    plan.has_op_details = plan.has_op_details || is_of_op(role);
    plan.has_others = plan.has_others || role == ArgumentRole::other;
  }
  return plan;
}

}  // namespace

ArgumentRole argument_role(std::string_view key) {
  if (key.starts_with(operand_key) && is_digits(key.substr(operand_key.size()))) {
    return ArgumentRole::operand;
  }
  for (const KnownKey& known : known_keys) {
    if (known.key == key) return known.role;
  }
  return ArgumentRole::other;
}

std::vector<ArgumentPlan> plan_arguments(const Arguments& arguments, const StringPool& strings) {
  std::vector<ArgumentPlan> plans;
  plans.reserve(arguments.shapes.size());
  for (const ArgumentShape& shape : arguments.shapes) plans.push_back(plan_shape(shape, strings));
  return plans;
}

std::optional<std::int64_t> ArgumentValues::integer(std::uint32_t place) const {
  if (place == ArgumentPlan::nowhere) return std::nullopt;
  const Argument value = at(place);
  if (value.key.type == ArgumentType::integer) return value.integer();
  if (value.key.type == ArgumentType::number) {
    const double number = value.number();
    if (!(std::abs(number) < 9e15) || number != std::floor(number)) return std::nullopt;
    return std::int64_t(number);
  }
  if (value.key.type != ArgumentType::text) return std::nullopt;
  const std::string_view text = (*strings_)[value.text()];
  return parse_number<std::int64_t>(text);
}

std::optional<double> ArgumentValues::number(std::uint32_t place) const {
  if (place == ArgumentPlan::nowhere) return std::nullopt;
  const Argument value = at(place);
  if (value.key.type != ArgumentType::text) return value.as_number();
  const std::string_view text = (*strings_)[value.text()];
  double plain = 0;
  if (parse_plain_decimal(text, plain)) return plain;
  const auto parsed = parse_number<double>(text);
  return parsed && std::isfinite(*parsed) ? parsed : std::nullopt;
}

}  // namespace npuscope::qaic
