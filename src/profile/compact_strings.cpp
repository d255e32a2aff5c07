#include "profile/compact_strings.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace npuscope {
namespace {

class Compactor {
 public:
  explicit Compactor(const StringPool& old) : old_(old), ids_(old.size(), not_yet) {
    ids_[0] = StringId::empty;
  }

  void keep(StringId& id) {
    StringId& renamed = ids_[std::uint32_t(id)];
    if (renamed == not_yet) renamed = strings_.intern(old_[id]);
    id = renamed;
  }

  void keep(Arguments& arguments) {
    std::vector<std::vector<std::size_t>> texts;  // places of texts in each shape
    bool any = false;
    for (ArgumentShape& shape : arguments.shapes) {
      texts.emplace_back();
      for (std::size_t place = 0; place < shape.size(); ++place) {
        keep(shape[place].name);
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
        keep(id);
        values[place] = std::uint32_t(id);
      }
      renamed.add(row, shape, values);
    }
    renamed.shapes = std::move(arguments.shapes);
    arguments = std::move(renamed);
  }

  StringPool finish() { return std::move(strings_); }

 private:
  static constexpr StringId not_yet{std::numeric_limits<std::uint32_t>::max()};

  const StringPool& old_;
  StringPool strings_;
  std::vector<StringId> ids_;
};

}  // namespace

void compact_strings(Profile& profile) {
  Compactor compactor(profile.strings);
  const auto keep = [&](auto&... ids) { (compactor.keep(ids), ...); };
  for (Clock& clock : profile.clocks) keep(clock.name);
  for (Unit& unit : profile.units) keep(unit.name, unit.process_id, unit.thread_id);
  for (Op& op : profile.ops) {
    keep(op.name, op.kind, op.node, op.node_kind, op.memory, op.types, op.shape, op.attributes,
         op.operands);
  }
  keep(profile.spans.arguments);
  for (MeasureColumn& column : profile.spans.measures) keep(column.what);
  for (Measure& measure : profile.measures) keep(measure.what);
  for (Flow& flow : profile.flows) keep(flow.name, flow.category);
  for (CounterSeries& series : profile.counters.series) {
    keep(series.name, series.part, series.quantity);
  }
  for (Phase& phase : profile.phases) keep(phase.name);
  for (PeerPort& port : profile.peer_ports) keep(port.from, port.to, port.transaction);
  for (Tensor& tensor : profile.tensors) {
    keep(tensor.name, tensor.type, tensor.shape, tensor.memory);
  }
  profile.strings = compactor.finish();
}

}  // namespace npuscope
