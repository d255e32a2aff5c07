#include "formats/chrome/write/write_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "profile/names.hpp"

namespace npuscope::chrome {
namespace {

// Of a byte as JSON, \\u0001 or U+FFFD.
constexpr std::size_t longest_escape = 6;
// Where a text of the profile is longer, the texts of each row are looked at for how much they
// take.
constexpr std::size_t short_text = 4096;
constexpr std::string_view extras_key = R"(,"npuscope":)";

// A key with the comma before it and the colon.
std::string made_key(std::string_view name) {
  return std::string(JsonKey(name, own_style.values).as_next());
}

}  // namespace

std::size_t longest_text_of(const Profile& profile) {
  std::size_t longest = 0;
  for (std::uint32_t text = 0; text < profile.strings.size(); ++text) {
    longest = std::max(longest, profile.text(StringId(text)).size());
  }
  return longest;
}

SpanArguments::SpanArguments(const Profile& profile, std::size_t longest_text, EventOutput& out)
    : profile_(profile),
      longest_text_(longest_text),
      out_(out),
      scope_key_(profile.strings.find("s")) {
  const Spans& spans = profile.spans;
  if (spans.size() == 0) return;
  has_arguments_ = spans.arguments.size() == spans.size();
  any_extra_ = spans.instance.size() == spans.size() ||
               spans.processor_cycles.size() == spans.size() || !spans.measures.empty();
  if (any_extra_) most_of_row_ = 100;  // inference and cycles
  for (const Op& op : profile.ops) {
    any_extra_ = any_extra_ || op.node != StringId::empty || op.memory != StringId::empty ||
                 op.shape != StringId::empty || op.types != StringId::empty || op.id != 0;
  }
  forms_.resize(spans.arguments.shapes.size());
  place_of_key_.resize(profile.strings.size());
  escapes_.resize(profile.strings.size());
  for (const MeasureColumn& measure : spans.measures) {
    most_of_row_ += key_of(measure.what).size() + max_number_size;
  }
}

std::string_view SpanArguments::key_of(StringId name) {
  std::uint32_t& place = place_of_key_[std::uint32_t(name)];
  if (place == 0) {
    keys_.push_back(made_key(out_.text(name)).append(key_step, '\0'));
    place = std::uint32_t(keys_.size());
  }
  return std::string_view(keys_[place - 1]).substr(0, keys_[place - 1].size() - key_step);
}

const SpanArguments::Form& SpanArguments::make_form(std::uint32_t shape) {
  Form& form = forms_[shape];
  const ArgumentShape& keys = profile_.spans.arguments.shapes[shape];
  form.shape = keys.data();
  form.most = key_step;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    form.keys.push_back(key_of(keys[i].name));
    form.most += form.keys.back().size() + max_number_size;
    const bool is_text = keys[i].type == ArgumentType::text || keys[i].type == ArgumentType::json;
    if (!is_text) continue;
    if (longest_text_ <= short_text) {
      form.most += longest_text_ * longest_escape;
    } else {
      form.texts.push_back(i);
    }
  }
  return form;
}

bool SpanArguments::look_for_escapes(StringId text) {
  const bool needs = !needs_no_json_escape(out_.text(text));
  escapes_[std::uint32_t(text)] = needs ? Escapes::some : Escapes::none;
  return needs;
}

char* SpanArguments::print_escaped(char* at, std::string_view text) {
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

SpanArguments::Extras SpanArguments::extras_of(std::size_t row) const {
  const SpanKind kind = profile_.spans.kind[row];
  if (!any_extra_ && is_plain(kind)) return {};
  Extras extras{std::string(extras_key), members_of_op(row) + "}"};
  if (!is_plain(kind)) {
    extras.before += fmt::format(R"({{"span":"{}")", stable_name(kind));
  } else if (most_of_row_ == 0) {
    extras.before += '{';
    if (extras.after.size() > 1) extras.after.erase(0, 1);
  }
  if (most_of_row_ == 0) extras.before += std::exchange(extras.after, {});
  return extras;
}

// Each with a comma before it.
std::string SpanArguments::members_of_op(std::size_t row) const {
  const std::size_t of_row = index_of(profile_.spans.op[row]);
  if (of_row >= profile_.ops.size()) return {};
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
  object.pop_back();
  object[0] = ',';
  return object.size() > 1 ? object : "";
}

// What the event itself has no place for.
char* SpanArguments::print_extras(char* at, const OfRow& arguments) {
  const auto& [before, after] = arguments.extras;
  char* const bracket = at + extras_key.size();  // in place of the comma before the first member
  at = print_text(at, before);
  at = print_of_row(at, arguments.row);
  if (at == bracket && after.size() == 1) ++at;
  at = print_text(at, after);
  *bracket = '{';
  return at;
}

char* SpanArguments::print_of_row(char* at, std::size_t row) {
  const Spans& spans = profile_.spans;
  if (spans.instance.size() == spans.size() && spans.instance[row] != every_instance) {
    at = print_integer(print_text(at, R"(,"inference":)"), spans.instance[row]);
  }
  if (spans.processor_cycles.size() == spans.size() && spans.processor_cycles[row] >= 0) {
    at = print_integer(print_text(at, R"(,"processor cycles":)"), spans.processor_cycles[row]);
  }
  for (const MeasureColumn& measure : spans.measures) {
    if (measure.values.size() != spans.size()) continue;
    if (measure.values[row] == MeasureColumn::missing) continue;
    at = print_integer(print_text(at, key_of(measure.what)), measure.values[row]);
  }
  return at;
}

std::optional<Argument> SpanArguments::scope_of(std::size_t row) const {
  if (!has_arguments_ || !scope_key_ || profile_.spans.kind[row] != SpanKind::instant) {
    return std::nullopt;
  }
  const auto scope = profile_.spans.arguments.find(row, *scope_key_);
  if (!scope || scope->key.type != ArgumentType::text) return std::nullopt;
  return scope;
}

std::size_t SpanArguments::most_of_texts(const OfRow& arguments) {
  std::size_t most = 0;
  for (const std::uint32_t i : arguments.form->texts) {
    const StringId text{std::uint32_t(arguments.values.bits(i))};
    most += out_.text(text).size() * (needs_escapes(text) ? longest_escape : 1);
  }
  return most;
}

void SpanArguments::add(const TraceEvent& event, std::size_t row) {
  const Extras extras = extras_of(row);
  OfRow arguments = of(row, extras);
  arguments.has_scope = scope_of(row).has_value();
  const auto write = [&] {
    text_.resize(most(arguments));
    const char* const end = print(text_.data(), arguments);
    const std::string_view members(text_.data(), end);
    out_.json.raw(members.substr(std::min<std::size_t>(members.size(), 1)));  // no comma first
  };
  out_.events.add(event, write, arguments.any());
}

}  // namespace npuscope::chrome
