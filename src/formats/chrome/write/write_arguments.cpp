#include "formats/chrome/write/write_arguments.hpp"

#include <cmath>
#include <utility>

#include "profile/names.hpp"

namespace npuscope::chrome {
namespace {

// Of a byte as JSON, \\u0001 or U+FFFD.
constexpr std::size_t longest_escape = 6;
constexpr std::string_view extras_begin = R"("npuscope":{)";

// A key with the comma before it and the colon.
std::string made_key(std::string_view name) {
  return std::string(JsonKey(name, own_style.values).as_next());
}

}  // namespace

SpanArguments::SpanArguments(const Profile& profile, EventOutput& out)
    : profile_(profile), out_(out), scope_key_(profile.strings.find("s")) {
  const Spans& spans = profile.spans;
  if (spans.size() == 0) return;
  has_arguments_ = spans.arguments.size() == spans.size();
  any_extra_ = spans.instance.size() == spans.size() ||
               spans.processor_cycles.size() == spans.size() || !spans.measures.empty();
  for (const Op& op : profile.ops) {
    any_extra_ = any_extra_ || op.node != StringId::empty || op.memory != StringId::empty ||
                 op.shape != StringId::empty || op.types != StringId::empty || op.id != 0;
  }
  forms_.resize(spans.arguments.shapes.size());
  place_of_key_.resize(profile.strings.size());
  escapes_.resize(profile.strings.size());
  most_extra_ = 200;  // the brackets, the kind of span, inference and cycles
  for (const MeasureColumn& measure : spans.measures) {
    most_extra_ += key_of(measure.what).size() + max_number_size;
  }
}

std::string_view SpanArguments::key_of(StringId name) {
  std::uint32_t& place = place_of_key_[std::uint32_t(name)];
  if (place == 0) {
    keys_.push_back(made_key(out_.text(name)));
    place = std::uint32_t(keys_.size());
  }
  return keys_[place - 1];
}

const SpanArguments::Form& SpanArguments::make_form(std::uint32_t shape) {
  Form& form = forms_[shape];
  const ArgumentShape& keys = profile_.spans.arguments.shapes[shape];
  form.shape = keys.data();
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    form.keys.push_back(key_of(keys[i].name));
    form.most += form.keys.back().size() + max_number_size;
    const bool is_text = keys[i].type == ArgumentType::text || keys[i].type == ArgumentType::json;
    if (is_text) form.texts.push_back(i);
  }
  return form;
}

bool SpanArguments::look_for_escapes(StringId text) {
  const bool needs = !needs_no_json_escape(out_.text(text));
  escapes_[std::uint32_t(text)] = needs ? Escapes::some : Escapes::none;
  return needs;
}

char* SpanArguments::print_text_argument(char* at, StringId id) {
  const std::string_view text = out_.text(id);
  if (!needs_escapes(id)) return print_in_quotes(at, text);
  scratch_.clear();
  JsonWriter(scratch_).value(text);
  return print_text(at, scratch_);
}

char* SpanArguments::print_number(char* at, double number) {
  // 2.0 stays a number of its type, not an integer.
  if (std::isfinite(number)) return print_shortest_with_point(at, number);
  not_finite_ += 1;
  return print_text(at, "null");
}

inline char* SpanArguments::print_argument(char* at, ArgumentType type, std::uint64_t bits) {
  const Argument argument{{{}, type}, bits};
  switch (type) {
    case ArgumentType::null: return print_text(at, "null");
    case ArgumentType::boolean: return print_text(at, argument.boolean() ? "true" : "false");
    case ArgumentType::integer: return print_integer(at, argument.integer());
    case ArgumentType::unsigned_integer: return print_integer(at, argument.unsigned_integer());
    case ArgumentType::number: return print_number(at, argument.number());
    case ArgumentType::text: return print_text_argument(at, argument.text());
    case ArgumentType::json: return print_text(at, out_.text(argument.text()));
  }
  return at;
}

std::string SpanArguments::members_of_op(std::size_t row) const {
  const std::size_t of_row = index_of(profile_.spans.op[row]);
  if (!has_extras(row) || of_row >= profile_.ops.size()) return {};
  const Op& op = profile_.ops[of_row];
  const std::pair<const char*, StringId> texts[] = {
      {"node", op.node},        {"node kind", op.node_kind}, {"memory", op.memory},
      {"types", op.types},      {"shape", op.shape},         {"attributes", op.attributes},
      {"operands", op.operands}};
  std::string object;
  JsonWriter json(object, own_style.values);
  json.object([&] {
    for (const auto& [name, text] : texts) {
      if (text != StringId::empty) json.member(name, out_.text(text));
    }
    if (op.output.value != 0) json.member("output bytes", op.output.value);
    if (op.id != 0) json.member("op id", op.id);
  });
  return object.substr(1, object.size() - 2);
}

// What the event itself has no place for.
char* SpanArguments::print_extras(char* at, const OfRow& arguments) {
  const Spans& spans = profile_.spans;
  const std::size_t row = arguments.row;
  char* const begin = at;
  const auto key = [&](std::string_view made) {
    at = print_text(at, at == begin ? made.substr(1) : made);
  };
  if (!is_plain(spans.kind[row])) {
    key(R"(,"span":)");
    at = print_in_quotes(at, stable_name(spans.kind[row]));
  }
  if (spans.instance.size() == spans.size() && spans.instance[row] != every_instance) {
    key(R"(,"inference":)");
    at = print_integer(at, spans.instance[row]);
  }
  if (spans.processor_cycles.size() == spans.size() && spans.processor_cycles[row] >= 0) {
    key(R"(,"processor cycles":)");
    at = print_integer(at, spans.processor_cycles[row]);
  }
  for (const MeasureColumn& measure : spans.measures) {
    if (measure.values.size() != spans.size()) continue;
    if (measure.values[row] == MeasureColumn::missing) continue;
    key(key_of(measure.what));
    at = print_integer(at, measure.values[row]);
  }
  if (arguments.of_op.empty()) return at;
  if (at != begin) *at++ = ',';
  return print_text(at, arguments.of_op);
}

std::optional<Argument> SpanArguments::scope_of(std::size_t row) const {
  if (!has_arguments_ || !scope_key_ || profile_.spans.kind[row] != SpanKind::instant) {
    return std::nullopt;
  }
  const auto scope = profile_.spans.arguments.find(row, *scope_key_);
  if (!scope || scope->key.type != ArgumentType::text) return std::nullopt;
  return scope;
}

std::size_t SpanArguments::most(const OfRow& arguments) {
  std::size_t most = arguments.has_extras ? most_extra_ + arguments.of_op.size() : 0;
  if (arguments.form == nullptr) return most;
  most += arguments.form->most;
  for (const std::uint32_t i : arguments.form->texts) {
    const StringId text{std::uint32_t(arguments.values.bits(i))};
    most += out_.text(text).size() * (needs_escapes(text) ? longest_escape : 1);
  }
  return most;
}

char* SpanArguments::print(char* at, const OfRow& arguments) {
  char* const begin = at;
  if (const Form* form = arguments.form) {
    const ArgumentKey* const shape = form->shape;
    const std::string_view* const keys = form->keys.data();
    const ArgumentRow values = arguments.values;
    const std::size_t count = form->count();
    for (std::size_t i = 0; i < count; ++i) {
      if (arguments.has_scope && shape[i].name == *scope_key_) continue;
      at = print_text(at, at == begin ? keys[i].substr(1) : keys[i]);
      at = print_argument(at, shape[i].type, values.bits(i));
    }
  }
  if (!arguments.has_extras) return at;
  if (at != begin) *at++ = ',';
  at = print_extras(print_text(at, extras_begin), arguments);
  *at = '}';
  return at + 1;
}

void SpanArguments::add(const TraceEvent& event, std::size_t row) {
  const std::string of_op = members_of_op(row);
  OfRow arguments = of(row, of_op);
  arguments.has_scope = scope_of(row).has_value();
  const auto write = [&] {
    text_.resize(most(arguments));
    const char* const end = print(text_.data(), arguments);
    out_.json.raw(std::string_view(text_).substr(0, std::size_t(end - text_.data())));
  };
  out_.events.add(event, write, arguments.any());
}

}  // namespace npuscope::chrome
