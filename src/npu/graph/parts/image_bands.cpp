// Convolutions in bands of an image's rows, or some images of a batch at a time.
#include <algorithm>
#include <set>

#include "npu/graph/operators.hpp"
#include "npu/graph/parts/parts.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu {
namespace {

constexpr std::size_t batch_axis = 0, row_axis = 2;

// Rows [begin, end) of a tensor.
struct Rows {
  std::int64_t begin = 0, end = 0;
  std::int64_t count() const { return end - begin; }
  bool operator==(const Rows&) const = default;
};

bool is_image(const Tensor& tensor) { return tensor.shape.size() == 4 && tensor.elements() > 0; }

// What one row of a window's result takes of its input: rows * stride - before, `reach` of them.
struct RowWindow {
  std::int64_t stride = 1, before = 0, reach = 1;
};

bool is_window(const Node& node) {
  return node.op == "Conv" || node.op == "MaxPool" || node.op == "AveragePool";
}

// None of one that is not known to work row by row.
std::optional<RowWindow> window_of(const Graph& graph, const Node& node) {
  const std::string padding = node.string_attribute("auto_pad", "NOTSET");
  if ((padding != "NOTSET" && !padding.empty()) || node.int_attribute("ceil_mode", 0) != 0)
    return std::nullopt;
  const auto at = [&](const char* name, std::size_t size, std::int64_t otherwise) {
    const auto values = node.ints_attribute(name);
    return values.size() == size ? values[0] : otherwise;
  };
  std::int64_t kernel = at("kernel_shape", 2, 0);
  if (kernel == 0 && node.op == "Conv") kernel = graph[node.inputs[1]].shape[2];
  const std::int64_t dilation = at("dilations", 2, 1);
  return RowWindow{at("strides", 2, 1), at("pads", 4, 0), dilation * (kernel - 1) + 1};
}

// Operators that can be computed band by band, one after the other, with one tensor that comes in
// and one that goes out.
struct Region {
  std::size_t begin = 0, end = 0;  // of the graph's nodes
  TensorId from = TensorId::none, to = TensorId::none;
};

class RegionFinder {
 public:
  RegionFinder(const Graph& graph, const BandLimits& limits) : graph_(graph), limits_(limits) {
    for (const TensorId id : graph.outputs) last_use_[id] = graph.nodes.size();
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const TensorId id : present(graph.nodes[i].inputs)) {
        std::size_t& last = last_use_[id];
        last = std::max(last, i);
      }
    }
  }

  std::vector<Region> find() const {
    std::vector<Region> regions;
    TensorId from = graph_.inputs.size() == 1 ? graph_.inputs[0] : TensorId::none;
    std::set<TensorId> live(graph_.inputs.begin(), graph_.inputs.end());
    Region open;  // between two places where one tensor is all there is
    open.from = from;
    bool fits = from != TensorId::none && is_image(graph_[from]);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      fits = fits && goes_by_rows(node);
      for (const TensorId id : present(node.outputs)) {
        if (!graph_[id].constant) live.insert(id);
      }
      std::erase_if(live, [&](TensorId id) {
        const auto last = last_use_.find(id);
        return last == last_use_.end() || last->second <= i;
      });
      if (live.size() != 1 || *live.begin() == open.from) continue;
      open.end = i + 1;
      open.to = *live.begin();
      if (fits && graph_[open.to].producer != NodeId::none) add(open, regions);
      fits = is_image(graph_[open.to]);
      open = {i + 1, i + 1, open.to, TensorId::none};
    }
    std::erase_if(regions, [&](const Region& region) { return !is_worth_it(region); });
    return regions;
  }

 private:
  // Joined with the one before it where its weights find a place next to theirs.
  void add(const Region& region, std::vector<Region>& regions) const {
    if (!regions.empty() && regions.back().end == region.begin) {
      Region both = regions.back();
      both.end = region.end;
      both.to = region.to;
      if (weight_bytes(both) <= limits_.weight_bytes && windows(both) <= limits_.windows) {
        regions.back() = both;
        return;
      }
    }
    regions.push_back(region);
  }

  bool is_worth_it(const Region& region) const {
    std::uint64_t most = 0;
    std::size_t made = 0;
    for (std::size_t i = region.begin; i < region.end; ++i) {
      for (const TensorId id : present(graph_.nodes[i].outputs)) {
        if (graph_[id].constant) continue;
        most = std::max(most, limits_.bytes_of(graph_[id]));
        ++made;
      }
    }
    return made > 1 && most > limits_.resident_bytes &&
           weight_bytes(region) <= limits_.weight_bytes;
  }

  bool goes_by_rows(const Node& node) const {
    if (node.unknown || !node.domain.empty()) return false;
    const bool constant = std::ranges::all_of(present(node.outputs),
                                              [&](TensorId id) { return graph_[id].constant; });
    if (constant) return true;
    if (node.outputs.size() != 1 || !node.has_input(0) || !is_image(graph_[node.outputs[0]]))
      return false;
    if (is_window(node)) {
      const bool weights =
          node.op != "Conv" || (node.has_input(1) && graph_[node.inputs[1]].constant);
      return weights && is_image(graph_[node.inputs[0]]) && window_of(graph_, node).has_value();
    }
    const bool elementwise = classify(graph_, node) == OpClass::elementwise ||
                             node.op == "BatchNormalization" || node.op == "QuantizeLinear" ||
                             node.op == "DequantizeLinear";
    return elementwise && std::ranges::all_of(present(node.inputs), [&](TensorId id) {
             const Tensor& tensor = graph_[id];
             if (!tensor.constant) return tensor.shape == graph_[node.outputs[0]].shape;
             const std::size_t rank = tensor.shape.size();  // broadcast over the rows
             return rank < 2 || tensor.shape[rank - 2] == 1;
           });
  }

  std::uint64_t weight_bytes(const Region& region) const {
    std::set<TensorId> seen;
    std::uint64_t bytes = 0;
    for (std::size_t i = region.begin; i < region.end; ++i) {
      for (const TensorId id : present(graph_.nodes[i].inputs)) {
        if (graph_[id].constant && seen.insert(id).second) bytes += limits_.bytes_of(graph_[id]);
      }
    }
    return bytes;
  }

  // Each makes bands overlap further.
  std::size_t windows(const Region& region) const {
    std::size_t count = 0;
    for (std::size_t i = region.begin; i < region.end; ++i) {
      if (!is_window(graph_.nodes[i])) continue;
      const auto window = window_of(graph_, graph_.nodes[i]);
      count += window && window->reach > 1 ? 1 : 0;
    }
    return count;
  }

  const Graph& graph_;
  const BandLimits& limits_;
  std::map<TensorId, std::size_t> last_use_;
};

// One band of a region: which rows of each tensor it needs, and its operators.
class BandMaker {
 public:
  BandMaker(const Graph& graph, const Region& region, const BandLimits& limits)
      : graph_(graph), region_(region), limits_(limits) {}

  // Bytes that are there at once at most, of some images, for a band of the result's rows.
  std::uint64_t live_bytes(std::int64_t images, Rows band) {
    find_needs(band);
    std::map<TensorId, std::size_t> last;
    for (std::size_t i = region_.begin; i < region_.end; ++i) {
      for (const TensorId id : present(graph_.nodes[i].inputs)) last[id] = i;
    }
    std::map<TensorId, std::uint64_t> live{{region_.from, bytes_of(region_.from, images)}};
    std::uint64_t now = live.begin()->second, most = now;
    for (std::size_t i = region_.begin; i < region_.end; ++i) {
      for (const TensorId id : present(graph_.nodes[i].outputs)) {
        if (!needs_.contains(id)) continue;
        now += live[id] = bytes_of(id, images);
      }
      most = std::max(most, now);
      for (const TensorId id : present(graph_.nodes[i].inputs)) {
        const auto found = live.find(id);
        if (found == live.end() || last[id] != i) continue;
        now -= found->second;
        live.erase(found);
      }
    }
    return most;
  }

  // What the band becomes. `source`: the images of the region's input that it is of.
  TensorId make(Parts& parts, TensorId source, Rows band) {
    find_needs(band);
    std::map<TensorId, TensorId> made;
    std::map<std::pair<std::int64_t, std::int64_t>, TensorId> taken;  // of the source, by rows
    const auto take = [&](Rows wanted) {
      const auto [found, fresh] = taken.emplace(std::pair(wanted.begin, wanted.end), source);
      if (fresh) found->second = rows_of(parts, source, {0, rows(region_.from)}, wanted);
      return found->second;
    };
    for (std::size_t i = region_.begin; i < region_.end; ++i) {
      const Node& node = graph_.nodes[i];
      if (graph_[node.outputs[0]].constant) continue;
      const Rows result = needs_.at(node.outputs[0]);
      Parts::Attributes attributes = node.attributes;
      std::vector<TensorId> inputs = node.inputs;
      for (TensorId& id : inputs) {
        if (id == TensorId::none || graph_[id].constant) continue;
        const Rows wanted = input_rows(node, id, result), held = needs_.at(id);
        if (id != region_.from) {
          id = rows_of(parts, made.at(id), held, wanted);
        } else {
          id = limits_.trims_in_place ? rows_of(parts, take(held), held, wanted) : take(wanted);
        }
      }
      if (is_window(node)) attributes["pads"] = padding(node, result);
      const TensorId own =
          parts.add(node.name.substr(node.name.rfind('/') + 1), node.op, inputs, attributes);
      parts.is_like(own, graph_[node.outputs[0]]);
      made[node.outputs[0]] = own;
    }
    return made.at(region_.to);
  }

 private:
  std::int64_t rows(TensorId id) const { return graph_[id].shape[row_axis]; }
  std::uint64_t bytes_of(TensorId id, std::int64_t images) const {
    const Shape& shape = graph_[id].shape;
    return limits_.bytes_of(graph_[id]) * std::uint64_t(images) / std::uint64_t(shape[batch_axis]) *
           std::uint64_t(needs_.at(id).count()) / std::uint64_t(shape[row_axis]);
  }

  // Of the input before padding: rows below 0 and beyond the last are padding.
  Rows reached(const Node& node, Rows result) const {
    const auto window = window_of(graph_, node);
    return {result.begin * window->stride - window->before,
            (result.end - 1) * window->stride - window->before + window->reach};
  }
  Rows input_rows(const Node& node, TensorId input, Rows result) const {
    if (!is_window(node)) return result;
    const Rows all = reached(node, result);
    return {std::max<std::int64_t>(all.begin, 0), std::min(all.end, rows(input))};
  }
  std::vector<std::int64_t> padding(const Node& node, Rows result) const {
    auto pads = node.ints_attribute("pads");
    pads.resize(4, 0);
    const Rows all = reached(node, result);
    pads[0] = std::max<std::int64_t>(-all.begin, 0);
    pads[2] = std::max<std::int64_t>(all.end - rows(node.inputs[0]), 0);
    return pads;
  }

  void find_needs(Rows band) {
    needs_ = {{region_.to, band}};
    for (std::size_t i = region_.end; i-- > region_.begin;) {
      const Node& node = graph_.nodes[i];
      const auto result = needs_.find(node.outputs[0]);
      if (result == needs_.end()) continue;
      for (const TensorId id : present(node.inputs)) {
        if (graph_[id].constant) continue;
        const Rows own = input_rows(node, id, result->second);
        const auto [found, fresh] = needs_.emplace(id, own);
        if (fresh) continue;
        found->second = {std::min(found->second.begin, own.begin),
                         std::max(found->second.end, own.end)};
      }
    }
  }

  static TensorId rows_of(Parts& parts, TensorId id, Rows held, Rows wanted) {
    if (held == wanted) return id;
    const TensorId rows =
        parts.add("rows", "Slice",
                  {id, parts.integers({wanted.begin - held.begin}),
                   parts.integers({wanted.end - held.begin}), parts.integers({row_axis})});
    parts.is_like(rows, Tensor(parts[id]));
    return rows;
  }

  const Graph& graph_;
  const Region& region_;
  const BandLimits& limits_;
  std::map<TensorId, Rows> needs_;
};

// As many as there must be for the largest of so many even parts to fit.
template <class Fits>
std::int64_t parts_that_fit(std::int64_t extent, const Fits& fits) {
  std::int64_t parts = 1;
  while (parts < extent && !fits((extent + parts - 1) / parts)) ++parts;
  return parts;
}

// Into how many parts the images of a batch and the rows of an image are cut.
struct Cut {
  std::int64_t groups = 1, bands = 1;
};

Cut find_cut(const Graph& graph, const Region& region, const BandLimits& limits) {
  BandMaker maker(graph, region, limits);
  const Shape& shape = graph[region.to].shape;
  const std::int64_t batch = shape[batch_axis], all = shape[row_axis];
  const std::int64_t groups = parts_that_fit(batch, [&](std::int64_t images) {
    return maker.live_bytes(images, {0, all}) <= limits.live_bytes;
  });
  const std::int64_t images = (batch + groups - 1) / groups;
  const std::int64_t bands = parts_that_fit(all, [&](std::int64_t rows) {
    const std::int64_t begin = (all - rows) / 2;  // in the middle, where it overlaps both ways
    return maker.live_bytes(images, {begin, begin + rows}) <= limits.live_bytes;
  });
  return {groups, bands};
}

void make_region(Parts& parts, const Graph& graph, const Region& region, const BandLimits& limits,
                 const Cut& cut) {
  BandMaker maker(graph, region, limits);
  const Shape shape = graph[region.to].shape;
  const std::int64_t batch = shape[batch_axis], all = shape[row_axis];
  const auto join = [&](const char* name, const std::vector<TensorId>& made, std::size_t axis,
                        TensorId into) {
    if (made.size() == 1 && into == TensorId::none) return made[0];
    const TensorId whole = parts.add(name, "Concat", made, {{"axis", std::int64_t(axis)}}, into);
    parts.is_like(whole, graph[region.to]);
    return whole;
  };
  std::vector<TensorId> made;
  for (std::int64_t group = 0; group < cut.groups; ++group) {
    TensorId source = region.from;
    if (cut.groups > 1) {
      const std::int64_t first = batch * group / cut.groups;
      const std::int64_t last = batch * (group + 1) / cut.groups;
      source = parts.add(
          "images", "Slice",
          {source, parts.integers({first}), parts.integers({last}), parts.integers({batch_axis})});
      parts.is_like(source, graph[region.from]);
    }
    std::vector<TensorId> own;
    for (std::int64_t band = 0; band < cut.bands; ++band) {
      own.push_back(
          maker.make(parts, source, {all * band / cut.bands, all * (band + 1) / cut.bands}));
    }
    made.push_back(join("bands", own, row_axis, cut.groups == 1 ? region.to : TensorId::none));
  }
  if (cut.groups > 1) join("batch", made, batch_axis, region.to);
}

}  // namespace

std::optional<Graph> with_image_bands(const Graph& graph, const BandLimits& limits) {
  std::map<std::size_t, std::pair<Region, Cut>> regions;  // by their first node
  for (const Region& region : RegionFinder(graph, limits).find()) {
    const Cut cut = find_cut(graph, region, limits);
    if (cut.groups * cut.bands > 1) regions.emplace(region.begin, std::pair(region, cut));
  }
  if (regions.empty()) return std::nullopt;
  Parts parts(graph);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto found = regions.find(i);
    if (found == regions.end()) {
      parts.keep(graph.nodes[i]);
      continue;
    }
    const auto& [region, cut] = found->second;
    for (std::size_t j = region.begin; j < region.end; ++j) {
      if (graph[graph.nodes[j].outputs[0]].constant) parts.keep(graph.nodes[j]);
    }
    parts.begin(graph[region.to].name);
    make_region(parts, graph, region, limits, cut);
    i = region.end - 1;
  }
  return parts.take();
}

}  // namespace npuscope::npu
