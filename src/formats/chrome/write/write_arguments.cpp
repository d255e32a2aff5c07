#include "formats/chrome/write/write_arguments.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include "profile/names.hpp"

namespace npuscope::chrome {

SpanArguments::SpanArguments(const Profile& profile, EventOutput& out)
    : profile_(profile), out_(out), scope_key_(profile.strings.find("s")) {
  const Spans& spans = profile.spans;
  if (spans.size() == 0) return;
  any_extra_ = spans.instance.size() == spans.size() ||
               spans.processor_cycles.size() == spans.size() || !spans.measures.empty();
  for (const Op& op : profile.ops) {
    any_extra_ = any_extra_ || op.node != StringId::empty || op.memory != StringId::empty ||
                 op.shape != StringId::empty || op.types != StringId::empty || op.id != 0;
  }
}

void SpanArguments::add_argument(const Argument& argument) {
  switch (argument.key.type) {
    case ArgumentType::null: out_.add("null"); break;
    case ArgumentType::boolean: out_.add(argument.boolean() ? "true" : "false"); break;
    case ArgumentType::integer: out_.add_number(argument.integer()); break;
    case ArgumentType::unsigned_integer: out_.add_number(argument.unsigned_integer()); break;
    case ArgumentType::number: {
      const double value = argument.number();
      if (!std::isfinite(value)) {
        not_finite_ += 1;
        out_.add("null");
        break;
      }
      char digits[40];
      const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
      const std::string_view text(digits, std::size_t(end - digits));
      out_.add(text);
      // 2.0 stays a number of its type, not an integer
      if (text.find_first_of(".e") == text.npos) out_.add(".0");
      break;
    }
    case ArgumentType::text: out_.add_string(argument.text()); break;
    case ArgumentType::json: out_.add(profile_.text(argument.text())); break;
  }
}

bool SpanArguments::has_extras(std::size_t row) const {
  const Spans& spans = profile_.spans;
  return any_extra_ || !is_plain(spans.kind[row]);
}

void SpanArguments::separate_extra() {
  if (any_extra_here_) out_.add(',');
  any_extra_here_ = true;
}

void SpanArguments::begin_extra(std::string_view name) {
  separate_extra();
  out_.add('"');
  out_.add(name);
  out_.add("\":");
}

void SpanArguments::write_op_extras(const Op& op) {
  const std::pair<const char*, StringId> texts[] = {
      {"node", op.node},        {"node kind", op.node_kind}, {"memory", op.memory},
      {"types", op.types},      {"shape", op.shape},         {"attributes", op.attributes},
      {"operands", op.operands}};
  for (const auto& [name, id] : texts) {
    if (id == StringId::empty) continue;
    begin_extra(name);
    out_.add_string(id);
  }
  if (op.output.value != 0) {
    begin_extra("output bytes");
    out_.add_number(op.output.value);
  }
  if (op.id != 0) {
    begin_extra("op id");
    out_.add_number(op.id);
  }
}

// What the event itself has no place for.
void SpanArguments::write_extras(std::size_t row) {
  const Spans& spans = profile_.spans;
  any_extra_here_ = false;
  if (!is_plain(spans.kind[row])) {
    begin_extra("span");
    out_.add('"');
    out_.add(stable_name(spans.kind[row]));
    out_.add('"');
  }
  if (spans.instance.size() == spans.size() && spans.instance[row] != every_instance) {
    begin_extra("inference");
    out_.add_number(spans.instance[row]);
  }
  if (spans.processor_cycles.size() == spans.size() && spans.processor_cycles[row] >= 0) {
    begin_extra("processor cycles");
    out_.add_number(spans.processor_cycles[row]);
  }
  for (const MeasureColumn& measure : spans.measures) {
    if (measure.values.size() != spans.size()) continue;
    if (measure.values[row] == MeasureColumn::missing) continue;
    separate_extra();
    out_.add_string(measure.what);
    out_.add(':');
    out_.add_number(measure.values[row]);
  }
  if (index_of(spans.op[row]) < profile_.ops.size()) {
    write_op_extras(profile_.ops[index_of(spans.op[row])]);
  }
}

std::optional<Argument> SpanArguments::scope_of(std::size_t row) const {
  const Spans& spans = profile_.spans;
  if (!scope_key_ || spans.kind[row] != SpanKind::instant) return std::nullopt;
  if (spans.arguments.shape.size() != spans.size()) return std::nullopt;
  const auto scope = spans.arguments.find(row, *scope_key_);
  if (!scope || scope->key.type != ArgumentType::text) return std::nullopt;
  return scope;
}

void SpanArguments::write(std::size_t row) {
  const Arguments& arguments = profile_.spans.arguments;
  const std::size_t count =
      arguments.shape.size() == profile_.spans.size() ? arguments.count(row) : 0;
  const bool extras = has_extras(row);
  const bool has_scope = scope_of(row).has_value();
  if (count == std::size_t(has_scope) && !extras) return;
  out_.add(",\"args\":{");
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Argument argument = arguments.at(row, i);
    if (has_scope && argument.key.name == *scope_key_) continue;
    if (any) out_.add(',');
    any = true;
    out_.add_string(argument.key.name);
    out_.add(':');
    add_argument(argument);
  }
  if (extras) {
    out_.add(any ? ",\"npuscope\":{" : "\"npuscope\":{");
    write_extras(row);
    out_.add('}');
  }
  out_.add('}');
}

}  // namespace npuscope::chrome
