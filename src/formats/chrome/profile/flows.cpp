#include "formats/chrome/profile/flows.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "formats/chrome/numbering.hpp"
#include "formats/chrome/problems.hpp"

namespace npuscope::chrome {
namespace {

constexpr std::uint32_t no_slice = std::numeric_limits<std::uint32_t>::max();

bool is_flow(char phase) { return phase == 's' || phase == 't' || phase == 'f'; }

struct FlowPoint {
  std::uint32_t mark = 0;
  std::uint32_t slice = no_slice;
};

// Finds slices of one thread at times that only grow.
class SliceFinder {
 public:
  SliceFinder(const Slices& slices, std::vector<std::uint32_t> rows)
      : slices_(slices), rows_(std::move(rows)) {}

  // The innermost slice at this time; else one that ends just then. A slice of no length that
  // begins just then counts where it is before the arrow in the file: as many slices as are there.
  std::uint32_t enclosing(std::int64_t time, std::uint32_t slices_before) {
    for (; next_ < rows_.size() && slices_.start[rows_[next_]] <= time; ++next_) {
      close(slices_.start[rows_[next_]]);
      open_.push_back(rows_[next_]);
    }
    close(time);
    std::uint32_t just_ended = no_slice;
    std::uint32_t behind = no_slice;
    const std::size_t depth = std::min(open_.size(), deepest_search);
    for (std::size_t i = 0; i < depth; ++i) {
      const std::uint32_t row = open_[open_.size() - 1 - i];
      const std::int64_t end = slices_.start[row] + slices_.duration[row];
      if (end > time || (slices_.start[row] == time && row < slices_before)) return row;
      if (slices_.start[row] == time) behind = row;  // the first of them in the end
      if (end == time && slices_.start[row] != time && just_ended == no_slice) just_ended = row;
    }
    return behind != no_slice ? behind : just_ended;
  }

  // The first slice that starts at this time or later.
  std::uint32_t next(std::int64_t time) {
    while (following_ < rows_.size() && slices_.start[rows_[following_]] < time) ++following_;
    return following_ < rows_.size() ? rows_[following_] : no_slice;
  }

 private:
  void close(std::int64_t time) {
    while (!open_.empty() && slices_.start[open_.back()] + slices_.duration[open_.back()] < time) {
      open_.pop_back();
    }
  }

  const Slices& slices_;
  std::vector<std::uint32_t> rows_;  // in nesting order
  std::size_t next_ = 0;
  std::size_t following_ = 0;
  std::vector<std::uint32_t> open_;
};

std::vector<std::vector<std::uint32_t>> slices_of(const std::vector<bool>& threads,
                                                  const Slices& slices,
                                                  const std::vector<std::uint32_t>& order) {
  std::vector<std::vector<std::uint32_t>> rows(threads.size());
  for (std::uint32_t place = 0; place < slices.size(); ++place) {
    const std::uint32_t row = order.empty() ? place : order[place];
    if (threads[slices.thread[row]]) rows[slices.thread[row]].push_back(row);
  }
  return rows;
}

// At the same time a flow goes on before it ends, and starts before both.
int rank(char phase) { return phase == 's' ? 0 : phase == 't' ? 1 : 2; }

// Joins the parts of each flow. Several f may follow one s: a launch of several kernels.
class FlowJoiner {
 public:
  FlowJoiner(const Marks& marks, Flows& result) : marks_(marks), result_(result) {}

  void add(std::uint32_t mark, std::uint32_t slice) {
    const std::uint32_t key =
        keys_.intern(std::uint32_t(marks_.category[mark]), std::uint32_t(marks_.id[mark]));
    if (key == open_.size()) open_.emplace_back();
    Open& open = open_[key];
    if (slice == no_slice) ++result_.unbound;
    if (marks_.phase[mark] == 's') {
      if (open.begun && !open.used) ++result_.unpaired;
      open = {true, false, slice};
      return;
    }
    if (!open.begun) {
      ++result_.unpaired;
      return;
    }
    open.used = true;
    if (open.slice != no_slice && slice != no_slice) {
      result_.flows.push_back({SpanId(open.slice), SpanId(slice), EdgeKind::flow, marks_.name[mark],
                               marks_.category[mark]});
    }
    if (marks_.phase[mark] == 't') open.slice = slice;
  }

  void finish() {
    for (const Open& open : open_) result_.unpaired += open.begun && !open.used ? 1 : 0;
  }

 private:
  struct Open {
    bool begun = false;
    bool used = false;
    std::uint32_t slice = no_slice;  // where the next part starts
  };

  const Marks& marks_;
  Flows& result_;
  PairTable keys_;  // category and id
  std::vector<Open> open_;
};

}  // namespace

Flows connect_flows(const Slices& slices, const Marks& marks, std::size_t threads,
                    const std::vector<std::uint32_t>& order) {
  std::vector<FlowPoint> points;
  std::vector<bool> has_points(threads);
  for (std::uint32_t i = 0; i < marks.size(); ++i) {
    if (!is_flow(marks.phase[i])) continue;
    points.push_back({i, no_slice});
    has_points[marks.thread[i]] = true;
  }
  Flows result;
  if (points.empty()) return result;
  std::ranges::stable_sort(points, [&](const FlowPoint& a, const FlowPoint& b) {
    return std::tuple(marks.time[a.mark], rank(marks.phase[a.mark])) <
           std::tuple(marks.time[b.mark], rank(marks.phase[b.mark]));
  });
  std::vector<SliceFinder> finders;
  for (auto& rows : slices_of(has_points, slices, order))
    finders.emplace_back(slices, std::move(rows));
  FlowJoiner joiner(marks, result);
  for (const FlowPoint& point : points) {
    SliceFinder& finder = finders[marks.thread[point.mark]];
    const std::int64_t time = marks.time[point.mark];
    const bool to_next = marks.phase[point.mark] == 'f' && marks.binding[point.mark] != 'e';
    joiner.add(point.mark, to_next ? finder.next(time)
                                   : finder.enclosing(time, marks.slices_before[point.mark]));
  }
  joiner.finish();
  return result;
}

namespace {

struct BoundSlice {
  std::uint32_t row = 0;
  std::uint32_t id = 0;
  bool in = false, out = false;
};

bool is_true(const std::optional<Argument>& argument, const StringPool& strings) {
  if (!argument) return false;
  switch (argument->key.type) {
    case ArgumentType::boolean: return argument->boolean();
    case ArgumentType::text: return strings[argument->text()] == "true";
    case ArgumentType::integer: return argument->integer() != 0;
    default: return false;
  }
}

// Slices of shapes that have the key, which are few where there are no such flows.
std::vector<BoundSlice> bound_slices(const Slices& slices, const StringPool& strings) {
  const Arguments& arguments = slices.arguments;
  const auto key = strings.find("bind_id");
  if (!key || arguments.empty()) return {};
  std::vector<bool> has_key(arguments.shapes.size());
  bool any = false;
  for (std::size_t shape = 0; shape < has_key.size(); ++shape) {
    const ArgumentShape& keys = arguments.shapes[shape];
    has_key[shape] =
        std::any_of(keys.begin(), keys.end(), [&](const auto& each) { return each.name == *key; });
    any = any || has_key[shape];
  }
  std::vector<BoundSlice> found;
  if (!any) return found;
  const auto in = strings.find("flow_in"), out = strings.find("flow_out");
  PairTable ids;
  for (std::size_t row = 0; row < slices.size(); ++row) {
    if (!has_key[arguments.shape(row)]) continue;
    const auto id = arguments.find(row, *key);
    BoundSlice slice{std::uint32_t(row), 0, in && is_true(arguments.find(row, *in), strings),
                     out && is_true(arguments.find(row, *out), strings)};
    if (!slice.in && !slice.out) continue;
    const bool is_text = id->key.type == ArgumentType::text;
    slice.id = ids.intern(is_text ? ~std::uint32_t{0} : std::uint32_t(id->bits >> 32),
                          std::uint32_t(id->bits));
    found.push_back(slice);
  }
  return found;
}

}  // namespace

BoundFlows connect_bound_flows(const Slices& slices, const StringPool& strings) {
  std::vector<BoundSlice> bound = bound_slices(slices, strings);
  std::stable_sort(bound.begin(), bound.end(), [&](const BoundSlice& a, const BoundSlice& b) {
    return std::tuple(a.id, slices.start[a.row]) < std::tuple(b.id, slices.start[b.row]);
  });
  BoundFlows result;
  const BoundSlice* from = nullptr;
  bool is_used = true;  // whether anything was reached from there
  for (const BoundSlice& slice : bound) {
    if (from != nullptr && from->id != slice.id) {
      result.unpaired += is_used ? 0 : 1;
      from = nullptr;
    }
    if (slice.in && from == nullptr) ++result.unpaired;
    if (slice.in && from != nullptr) {
      result.flows.push_back({SpanId(from->row), SpanId(slice.row), EdgeKind::flow, {}, {}});
      is_used = true;
    }
    if (!slice.out) continue;
    if (!slice.in && from != nullptr && !is_used) ++result.unpaired;
    from = &slice;
    is_used = false;
  }
  if (from != nullptr && !is_used) ++result.unpaired;
  return result;
}

}  // namespace npuscope::chrome
