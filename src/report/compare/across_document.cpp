#include "report/compare/across_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "report/compare/diff_text.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

constexpr const char* letters[] = {"A", "B"};

std::string side_text(const Profile& profile, const AcrossSide& side) {
  std::string inferences;
  if (side.inferences > 1) inferences = ", " + scope_of_median(side.inferences - 1, true);
  return fmt::format("{}: {}; {}, {}, {} of {}{}", files_text(profile), what_was_profiled(profile),
                     side.column, stable_name(side.origin), amount_text(side.unit, side.total),
                     counted(side.nodes, "node"), inferences);
}

std::string joined_text(const AcrossSide& side, int which) {
  const double share = side.total > 0 ? side.joined / side.total : 0;
  return fmt::format("{} of {} of {} ({} of its {})", side.joined_nodes,
                     counted(side.nodes, "node"), letters[which], percent_text(share, 1),
                     side.column);
}

// "conv1 + relu1", of many the first and how many more.
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t named = 4;
  if (names.size() <= named) return fmt::format("{}", fmt::join(names, " + "));
  return fmt::format("{} + {} more", names.front(), names.size() - 1);
}

Field amount_field(const AcrossSide& side, int which, const char* key) {
  const bool has_unit_in_values = side.unit == MeasuredIn::seconds;
  Field field{key,
              has_unit_in_values ? letters[which]
                                 : fmt::format("{}, {}", letters[which], name_of(side.unit)),
              format_in(side.unit)};
  field.kind = side.kind;
  field.origin = side.origin;
  return field;
}

Section joined_section(const Across& across) {
  const auto& [a, b] = across.sides;
  Section section{.key = "nodes", .title = "NODES, in the order of A"};
  section.table.fields = {{"", "node"},
                          {"nodes", "", Format::names},
                          {"nodes_a", "", Format::names},
                          {"nodes_b", "", Format::names},
                          {"", "in A", Format::name, true, true},
                          {"", "in B", Format::name, true, true},
                          {"kind_a", "kind"},
                          {"kind_b", "kind in B", Format::name, false},
                          amount_field(a, 0, "a"),
                          of_kind(a.kind, {"share_of_a", "of A", Format::share}),
                          amount_field(b, 1, "b"),
                          of_kind(b.kind, {"share_of_b", "of B", Format::share}),
                          {"b_by_a", "B by A", Format::number, true, true},
                          {"joined_by", "joined by", Format::name, false}};
  for (const AcrossRow& row : across.rows) {
    if (row.by == JoinedBy::none) continue;
    const auto& [value_a, value_b] = row.values;
    const bool divides = across.has_ratio() && value_a && value_b && *value_a > 0;
    const std::string node = names_text(row.nodes.empty() ? row.names[0] : row.nodes);
    const auto other_name = [&](int side) {
      const std::string name = names_text(row.names[side]);
      return name == node ? Value() : Value(name);
    };
    section.table.rows.push_back({node, if_any(row.nodes), row.names[0], row.names[1],
                                  other_name(0), other_name(1), row.kinds[0], row.kinds[1], value_a,
                                  value_a ? ratio(*value_a, a.total) : Value(), value_b,
                                  value_b ? ratio(*value_b, b.total) : Value(),
                                  divides ? Value(*value_b / *value_a) : Value(), name_of(row.by)});
  }
  return section;
}

Section alone_section(const Across& across, int which) {
  const AcrossSide& side = across.sides[which];
  Section section{.key = fmt::format("only_in_{}", which == 0 ? "a" : "b"),
                  .title = fmt::format("ONLY IN {}", letters[which])};
  section.table.fields = {
      {"node", "node"},
      {"kind", "kind"},
      amount_field(side, which, which == 0 ? "a" : "b"),
      of_kind(side.kind, {fmt::format("share_of_{}", which == 0 ? "a" : "b"),
                          fmt::format("of {}", letters[which]), Format::share})};
  for (const AcrossRow& row : across.rows) {
    if (row.by != JoinedBy::none || !row.is_only_in(which)) continue;
    const auto& value = row.values[which];
    section.table.rows.push_back({row.names[which].front(), row.kinds[which], value,
                                  value ? ratio(*value, side.total) : Value()});
  }
  return section;
}

// What the two numbers are to each other.
std::vector<std::string> cautions_of(const Across& across) {
  const auto& [a, b] = across.sides;
  std::vector<std::string> cautions;
  for (int side = 0; side < 2; ++side) {
    if (across.sides[side].runs < 2) continue;
    cautions.push_back(
        fmt::format("Of the {} runs of {} the first is compared; name the file of another.",
                    across.sides[side].runs, letters[side]));
  }
  if (!across.has_ratio()) {
    cautions.push_back(fmt::format(
        "A counts {} and B {}, which no known rate relates: only shares of a side compare.",
        name_of(a.unit), name_of(b.unit)));
  }
  if (a.origin != b.origin) {
    cautions.push_back(
        fmt::format("A is {} and B is {}: what is estimated or simulated did not run.",
                    stable_name(a.origin), stable_name(b.origin)));
  }
  if (a.column != b.column || a.kind != b.kind) {
    cautions.push_back(
        fmt::format("A is {} and B is {}: the two need not count alike.", a.column, b.column));
  }
  return cautions;
}

}  // namespace

Document across_document(const Profile& a, const Profile& b, const Across& across) {
  Document document;
  document.sides = {{"a", &a}, {"b", &b}};
  Section about{.key = "across"};
  const Profile* const profiles[] = {&a, &b};
  for (int side = 0; side < 2; ++side) {
    const AcrossSide& of = across.sides[side];
    const std::string key = side == 0 ? "a" : "b";
    about.facts.push_back({{"", letters[side]}, side_text(*profiles[side], of)});
    about.facts.push_back({{key + "_column"}, of.column});
    about.facts.push_back({{key + "_unit"}, name_of(of.unit)});
    about.facts.push_back({{key + "_origin"}, stable_name(of.origin)});
    about.facts.push_back({{key + "_total", "", format_in(of.unit)}, of.total});
    about.facts.push_back({{key + "_nodes", "", Format::count}, of.nodes});
    about.facts.push_back({{key + "_joined_nodes", "", Format::count}, of.joined_nodes});
    about.facts.push_back({{key + "_joined", "", format_in(of.unit)}, of.joined});
  }
  about.facts.push_back(
      {{"", "joined"},
       fmt::format("{}, {}", joined_text(across.sides[0], 0), joined_text(across.sides[1], 1))});
  about.remarks = cautions_of(across);
  document.sections = {std::move(about), joined_section(across), alone_section(across, 0),
                       alone_section(across, 1)};
  return document;
}

}  // namespace npuscope::report
