#include "formats/xplane/hlo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "formats/xplane/fields.hpp"
#include "npuscope/profile/span_roles.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::xplane {
namespace {

constexpr NamedNumber op_flops{"flops", NumberQuantity::count},
    op_macs{"MACs", NumberQuantity::macs}, op_bytes{"bytes accessed", NumberQuantity::bytes};
constexpr std::uint64_t hbm = 1, read_operation = 1, write_operation = 2;

// The operator at the end of a framework's path: "RandomUniform" of "layer_5/u:RandomUniform",
// "dot_general" of "jit(net)/head/dot_general".
std::string_view operator_of(std::string_view path) {
  while (path.ends_with(':') || path.ends_with('/')) path.remove_suffix(1);
  const std::size_t colon = path.rfind(':'), slash = path.rfind('/');
  if (colon != path.npos && (slash == path.npos || colon > slash)) return path.substr(colon + 1);
  return slash == path.npos ? std::string_view() : path.substr(slash + 1);
}

bool is_product(std::string_view category, std::string_view type) {
  for (const std::string_view word : {"convolution", "dot", "matmul", "gemm"}) {
    if (category.find(word) != category.npos || type.find(word) != type.npos) return true;
  }
  return false;
}

struct Traffic {
  double read = 0, written = 0;
};
Traffic traffic_in(std::string_view breakdown) {
  Traffic traffic;
  FieldReader reader(breakdown);
  while (reader.next()) {
    if (reader.tag_and_type() != bytes_field(breakdown_field::accessed)) {
      reader.skip();
      continue;
    }
    std::uint64_t operation = 0, memory = 0, bytes = 0;
    FieldReader accessed(bytes_of(reader));
    while (accessed.next()) {
      switch (accessed.tag_and_type()) {
        case varint_field(accessed_field::operation): operation = accessed.get_uint64(); break;
        case varint_field(accessed_field::memory): memory = accessed.get_uint64(); break;
        case varint_field(accessed_field::bytes): bytes = accessed.get_uint64(); break;
        default: accessed.skip();
      }
    }
    if (memory != hbm) continue;
    if (operation == read_operation) traffic.read += double(bytes);
    if (operation == write_operation) traffic.written += double(bytes);
  }
  return traffic;
}

}  // namespace

// Programs are event metadata, "jit_net(12)", with their HLO as a stat.
void HloFacts::add_programs(const Plane& plane) {
  for (const EventMetadata& program : plane.events) {
    auto proto = plane.find(program.stats, "Hlo Proto");
    if (!proto) proto = plane.find(program.stats, "hlo_proto");
    if (proto && proto->type == Stat::Type::bytes) add_program(proto->text, program.name);
  }
}

void HloFacts::add_program(std::string_view proto, std::string_view label) {
  const HloProgram program = decode_program(proto);
  name_program(label);
  const StringId module = strings_.intern(program.module), with_number = strings_.intern(label);
  for (const HloOp& op : program.ops) {
    Fact fact;
    fact.category = strings_.intern(op.category);
    fact.path = strings_.intern(op.path);
    fact.source = strings_.intern(op.source);
    fact.is_whole = !op.is_mixed;
    fact.macs = op.macs;
    const StringId name = strings_.intern(op.name);
    facts_.insert_or_assign(key_of(with_number, name), fact);
    facts_.insert_or_assign(key_of(module, name), fact);  // of events that lack the number
  }
}

// "jit_net(12)": a module and the number of the program that it became.
void HloFacts::name_program(std::string_view label) {
  const std::size_t open = label.rfind('(');
  if (open == label.npos || !label.ends_with(')')) return;
  const auto number = parse_number<std::uint64_t>(label.substr(open + 1, label.size() - open - 2));
  if (number) {
    programs_.try_emplace(std::int64_t(*number), strings_.intern(label));
  }
}

StringId HloFacts::program_named(std::int64_t number) const {
  const auto found = programs_.find(number);
  return found == programs_.end() ? StringId::empty : found->second;
}

void HloFacts::add(StringId module, StringId name, const Plane& plane,
                   const EventMetadata& metadata) {
  const auto number = [](const Stat& stat) { return number_of(stat).value_or(-1); };
  Fact said;
  bool any = false;
  for (const std::string_view bytes : metadata.stats) {
    const Stat stat = decode_stat(bytes);
    const std::string_view what = plane.stat_name(stat.name);
    const auto is = [&](std::string_view name_of_stat) { return what == name_of_stat; };
    const bool known = is("hlo_category") || is("tf_op") || is("source") || is("flops") ||
                       is("model_flops") || is("bytes_accessed") || is("memory_access_breakdown");
    any = any || known;
    if (is("hlo_category")) said.category = strings_.intern(plane.text_of(stat));
    if (is("tf_op")) said.path = strings_.intern(plane.text_of(stat));
    if (is("source")) said.source = strings_.intern(plane.text_of(stat));
    if (is("model_flops") || (is("flops") && said.flops < 0)) said.flops = number(stat);
    if (is("bytes_accessed")) said.bytes = number(stat);
    if (is("memory_access_breakdown") && stat.type == Stat::Type::bytes) {
      const Traffic traffic = traffic_in(stat.text);
      said.read = traffic.read;
      said.written = traffic.written;
    }
  }
  // A fusion's path is that of its last operator; where it is known for a product, that counts.
  const std::string_view category = strings_[said.category];
  said.is_whole = category.find("fusion") == category.npos || is_product(category, {});
  if (any) facts_.try_emplace(key_of(module, name), said);
}

void HloFacts::apply(const Fact& fact, std::uint32_t op, Profile& profile) const {
  Op& of = profile.ops[op];
  of.kind = fact.category;
  if (fact.is_whole) {
    of.node_kind = profile.strings.intern(operator_of(profile.text(fact.path)));
  }
  std::string attributes(profile.text(fact.path));
  if (fact.source != StringId::empty) {
    attributes += fmt::format("{}{}", attributes.empty() ? "" : " ", profile.text(fact.source));
  }
  of.attributes = profile.strings.intern(attributes);
  const auto add = [&](const NamedNumber& number, double value, Origin origin = Origin::estimated) {
    const bool is_known = value >= 0 && std::isfinite(value);
    if (is_known) profile.add_measure(Measure::Subject::op, op, number, origin, {}, value);
  };
  add(op_flops, fact.flops);
  if (fact.macs >= 0) {
    add(op_macs, fact.macs, Origin::derived);
  } else if (is_product(profile.text(of.kind), profile.text(of.node_kind))) {
    add(op_macs, fact.flops / 2);
  }
  add(op_bytes, fact.bytes);
}

// Of each execution of an op whose cost model tells reads from writes.
void HloFacts::add_traffic(const std::vector<const Fact*>& fact_of_op, Profile& profile) const {
  const auto add = [&](const NamedNumber& number, double Fact::*bytes) {
    const auto has = [&](const Fact* fact) { return fact != nullptr && fact->*bytes >= 0; };
    if (std::none_of(fact_of_op.begin(), fact_of_op.end(), has)) return;
    auto& measures = profile.spans.measures;
    const StringId what = profile.strings.intern(number.name);
    auto column = std::find_if(measures.begin(), measures.end(),
                               [&](const MeasureColumn& of) { return of.what == what; });
    if (column == measures.end()) {
      measures.push_back(profile.column_of(number, Origin::estimated));
      column = measures.end() - 1;
      column->values.assign(profile.spans.size(), MeasureColumn::missing);
    }
    for (std::size_t row = 0; row < profile.spans.size(); ++row) {
      const Fact* fact = fact_of_op[index_of(profile.spans.op[row])];
      if (!has(fact) || role_of(profile.spans.kind[row]) != Role::work) continue;
      column->values[row] = std::int64_t(std::min(fact->*bytes, 9e18));
    }
  };
  add(ddr_read_bytes, &Fact::read);
  add(ddr_write_bytes, &Fact::written);
}

void HloFacts::apply(const std::vector<StringId>& modules, Profile& profile) const {
  std::vector<const Fact*> fact_of_op(profile.ops.size(), nullptr);
  for (std::uint32_t op = 0; op < profile.ops.size(); ++op) {
    const auto found = facts_.find(key_of(profile.ops[op].kind, profile.ops[op].name));
    StringId& kind = profile.ops[op].kind;
    if (std::ranges::find(modules, kind) != modules.end()) kind = StringId::empty;
    if (found == facts_.end()) continue;
    fact_of_op[op] = &found->second;
    apply(found->second, op, profile);
  }
  add_traffic(fact_of_op, profile);
}

}  // namespace npuscope::xplane
