#include "formats/torq/profile/program_split.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace npuscope::torq {
namespace {

struct Piece {
  std::uint32_t work = no_work;
  Interval at{};
  bool is_compute = false;
  // The one that has a moment comes first.
  auto rank() const { return std::tuple(!is_compute, at.begin, work); }
  bool operator<(const Piece& other) const { return rank() < other.rank(); }
};

// All that ran within the program; what began before it, or ended after it, with its part.
std::vector<Piece> pieces_of(const DispatchInfo& dispatch, const ProgramRun& program) {
  std::vector<Piece> pieces;
  const Interval whole = *program.cycles;
  const auto add = [&](std::uint32_t work) {
    const UnitWork& each = dispatch.work[work];
    if (!each.cycles) return;
    const std::int64_t length = std::clamp<std::int64_t>(
        each.duration_cycles.value_or(length_of(*each.cycles)), 0, length_of(*each.cycles));
    const std::int64_t begin = std::clamp(each.cycles->begin, whole.begin, whole.end);
    const std::int64_t end = std::clamp(each.cycles->begin + length, begin, whole.end);
    pieces.push_back({work, {begin, end}, !is_transfer(each.unit)});
  };
  for (const std::uint32_t work : program.work) add(work);
  for (const std::uint32_t work : program.unfinished_work) add(work);
  return pieces;
}

}  // namespace

std::vector<ProgramPart> parts_of(const DispatchInfo& dispatch, const ProgramRun& program) {
  if (!program.cycles) return {};
  std::vector<Piece> pieces = pieces_of(dispatch, program);
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.at.begin < b.at.begin; });
  std::vector<std::int64_t> moments{program.cycles->begin, program.cycles->end};
  for (const Piece& piece : pieces) {
    moments.insert(moments.end(), {piece.at.begin, piece.at.end});
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  std::vector<ProgramPart> parts;
  std::set<std::uint32_t> shown;
  std::set<Piece> running;
  auto next = pieces.begin();
  for (std::size_t i = 0; i + 1 < moments.size(); ++i) {
    const Interval at{moments[i], moments[i + 1]};
    while (!running.empty() && running.begin()->at.end <= at.begin) running.erase(running.begin());
    for (; next != pieces.end() && next->at.begin <= at.begin; ++next) {
      if (next->at.end > at.begin) running.insert(*next);
    }
    const std::uint32_t work = running.empty() ? no_work : running.begin()->work;
    shown.insert(work);
    if (!parts.empty() && parts.back().work == work) {
      parts.back().cycles.end = at.end;
    } else {
      parts.push_back({work, at});
    }
  }
  for (const Piece& piece : pieces) {
    if (!shown.contains(piece.work)) {
      parts.push_back({piece.work, {piece.at.begin, piece.at.begin}});
    }
  }
  std::stable_sort(parts.begin(), parts.end(), [](const ProgramPart& a, const ProgramPart& b) {
    return a.cycles.begin < b.cycles.begin;
  });
  return parts;
}

std::vector<std::int64_t> split(std::int64_t ticks, std::span<const ProgramPart> parts) {
  std::vector<std::int64_t> ends;
  ends.reserve(parts.size());
  double whole = 0, until = 0;
  for (const ProgramPart& part : parts) whole += double(length_of(part.cycles));
  std::int64_t before = 0;
  for (const ProgramPart& part : parts) {
    until += double(length_of(part.cycles));
    const double share = until < whole ? until / whole : 1;
    const std::int64_t end = share < 1 ? std::int64_t(double(ticks) * share) : ticks;
    before = std::clamp(end, before, ticks);
    ends.push_back(before);
  }
  return ends;
}

}  // namespace npuscope::torq
