// Every text that a profile names by its id, with what sort of text it is: one walk for what drops
// unused texts and for what hides names.
//
//   visit_texts(profile, [&](StringId& id, TextRole role) { id = renamed(id, role); });
#pragma once

#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

enum class TextRole : std::uint8_t {
  vocabulary,  // of the vendor or the format: kinds, types, memories, names of numbers and hardware
  op,          // given by the model's author: an op, a node
  tensor,
  process,  // given by the host: processes and threads
  words,    // anything: attributes, arguments
  json,     // the same as JSON
};

namespace texts_detail {

// Names of arguments are the format's; their values are packed by shape, so that texts among them
// are read and written row by row.
template <class Visit>
void visit_arguments(Arguments& arguments, const Visit& visit) {
  std::vector<std::vector<std::size_t>> texts;  // places of texts in each shape
  bool any = false;
  for (ArgumentShape& shape : arguments.shapes) {
    texts.emplace_back();
    for (std::size_t place = 0; place < shape.size(); ++place) {
      visit(shape[place].name, TextRole::vocabulary);
      const ArgumentType type = shape[place].type;
      if (type != ArgumentType::text && type != ArgumentType::json) continue;
      texts.back().push_back(place);
      any = true;
    }
  }
  if (!any) return;
  Arguments renamed;
  std::vector<std::uint64_t> values;
  for (std::size_t row = 0; row < arguments.size(); ++row) {
    arguments.read(row, values);
    const std::uint32_t shape = arguments.shape(row);
    for (const std::size_t place : texts[shape]) {
      auto id = StringId(std::uint32_t(values[place]));
      const bool is_json = arguments.shapes[shape][place].type == ArgumentType::json;
      visit(id, is_json ? TextRole::json : TextRole::words);
      values[place] = std::uint32_t(id);
    }
    renamed.add(row, shape, values);
  }
  renamed.shapes = std::move(arguments.shapes);
  arguments = std::move(renamed);
}

}  // namespace texts_detail

// `visit` may give a text another id, of the profile's pool or of one that takes its place.
template <class Visit>
void visit_texts(Profile& profile, Visit visit) {
  const auto all = [&](TextRole role, auto&... ids) { (visit(ids, role), ...); };
  for (Clock& clock : profile.clocks) all(TextRole::vocabulary, clock.name);
  for (Unit& unit : profile.units) {
    const bool is_of_host = unit.engine == Engine::host || unit.engine == Engine::process ||
                            unit.engine == Engine::thread || unit.engine == Engine::none ||
                            unit.engine == Engine::other;
    all(is_of_host ? TextRole::process : TextRole::vocabulary, unit.name);
    all(TextRole::vocabulary, unit.process_id, unit.thread_id);
  }
  for (Op& op : profile.ops) {
    all(TextRole::op, op.name, op.node, op.identity, op.split_from);
    all(TextRole::vocabulary, op.kind, op.node_kind, op.memory, op.types, op.shape, op.provider);
    all(TextRole::words, op.attributes, op.operands);
  }
  texts_detail::visit_arguments(profile.spans.arguments, visit);
  for (MeasureColumn& column : profile.spans.measures) all(TextRole::vocabulary, column.what);
  for (Measure& measure : profile.measures) all(TextRole::vocabulary, measure.what);
  for (Flow& flow : profile.flows) {
    all(TextRole::op, flow.name);
    all(TextRole::vocabulary, flow.category);
  }
  for (CounterSeries& series : profile.counters.series) {
    all(TextRole::vocabulary, series.name, series.part, series.quantity);
  }
  for (Phase& phase : profile.phases) all(TextRole::vocabulary, phase.name);
  for (PeerPort& port : profile.peer_ports) {
    all(TextRole::vocabulary, port.from, port.to, port.transaction);
  }
  for (Tensor& tensor : profile.tensors) {
    all(TextRole::tensor, tensor.name);
    all(TextRole::vocabulary, tensor.type, tensor.shape, tensor.memory);
  }
  for (SourceOperator& source : profile.source_operators) {
    all(TextRole::op, source.name);
    all(TextRole::vocabulary, source.kind);
  }
}

// Readers intern what they meet, numbers in quotes included; once those have become columns nobody
// names them any more.
//
//   compact_strings(profile);   // the pool holds what the tables name, in order of use
void compact_strings(Profile& profile);

}  // namespace npuscope
