#include "formats/chrome/write/write_arguments.hpp"

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

void SpanArguments::write_argument(const Argument& argument) {
  switch (argument.key.type) {
    case ArgumentType::null: out_.json.null(); break;
    case ArgumentType::boolean: out_.json.value(argument.boolean()); break;
    case ArgumentType::integer: out_.json.value(argument.integer()); break;
    case ArgumentType::unsigned_integer: out_.json.value(argument.unsigned_integer()); break;
    case ArgumentType::number:  // 2.0 stays a number of its type, not an integer
      not_finite_ += !std::isfinite(argument.number());
      out_.json.value_with_point(argument.number());
      break;
    case ArgumentType::text: out_.json.value(out_.text(argument.text())); break;
    case ArgumentType::json: out_.json.raw(out_.text(argument.text())); break;
  }
}

bool SpanArguments::has_extras(std::size_t row) const {
  return any_extra_ || !is_plain(profile_.spans.kind[row]);
}

void SpanArguments::write_op_extras(const Op& op) {
  const std::pair<const char*, StringId> texts[] = {
      {"node", op.node},        {"node kind", op.node_kind}, {"memory", op.memory},
      {"types", op.types},      {"shape", op.shape},         {"attributes", op.attributes},
      {"operands", op.operands}};
  for (const auto& [name, id] : texts) {
    if (id != StringId::empty) out_.json.member(name, out_.text(id));
  }
  if (op.output.value != 0) out_.json.member("output bytes", op.output.value);
  if (op.id != 0) out_.json.member("op id", op.id);
}

// What the event itself has no place for.
void SpanArguments::write_extras(std::size_t row) {
  const Spans& spans = profile_.spans;
  if (!is_plain(spans.kind[row])) out_.json.member("span", stable_name(spans.kind[row]));
  if (spans.instance.size() == spans.size() && spans.instance[row] != every_instance) {
    out_.json.member("inference", spans.instance[row]);
  }
  if (spans.processor_cycles.size() == spans.size() && spans.processor_cycles[row] >= 0) {
    out_.json.member("processor cycles", spans.processor_cycles[row]);
  }
  for (const MeasureColumn& measure : spans.measures) {
    if (measure.values.size() != spans.size()) continue;
    if (measure.values[row] == MeasureColumn::missing) continue;
    out_.json.member(out_.text(measure.what), measure.values[row]);
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

void SpanArguments::add(const TraceEvent& event, std::size_t row) {
  const Arguments& arguments = profile_.spans.arguments;
  const std::size_t count =
      arguments.shape.size() == profile_.spans.size() ? arguments.count(row) : 0;
  const bool extras = has_extras(row);
  const bool has_scope = scope_of(row).has_value();
  const auto write = [&] {
    for (std::size_t i = 0; i < count; ++i) {
      const Argument argument = arguments.at(row, i);
      if (has_scope && argument.key.name == *scope_key_) continue;
      out_.json.key(out_.text(argument.key.name));
      write_argument(argument);
    }
    if (!extras) return;
    out_.json.key("npuscope");
    out_.json.object([&] { write_extras(row); });
  };
  out_.events.add(event, write, extras || count != std::size_t(has_scope));
}

}  // namespace npuscope::chrome
