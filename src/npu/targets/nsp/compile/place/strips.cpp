#include "npu/targets/nsp/compile/place/strips.hpp"

#include <cmath>

namespace npuscope::npu::nsp {

StripCut::StripCut(const Target& target, const Strips& given, std::uint64_t rows,
                   std::uint64_t bytes, const Work& work)
    : bytes_(bytes), made_(given) {
  std::uint64_t most = target.hvx_threads;
  if (given.interval == 0) {  // all is there, or made by HVX alone: as many threads as it has tiles
    const VectorWork whole = work(bytes);
    most = whole.threads;
    if (given.count < 2 && target.hmx_tile_rows > 0)
      made_.count = std::uint32_t(rows / target.hmx_tile_rows);
    made_.count = most < 2 ? 1 : std::min(made_.count, whole.tiles);
  }
  if (made_.count < 2 || bytes < made_.count) {
    made_.count = 1;
    return;
  }
  all_ = made_.count;
  one_ = work(bytes / all_);
  one_.threads = std::max<std::uint32_t>(one_.threads, 1);
  (one_.on_hmx ? made_.interval : made_.load) += double(one_.cycles) * one_.threads;
  if (!one_.on_hmx) together_ = std::max<std::uint64_t>(threads_to_keep_up(most) / one_.threads, 1);
}

std::uint64_t StripCut::threads_to_keep_up(std::uint64_t most) const {
  const double threads = std::ceil(made_.load / std::max(made_.interval, 1.0));
  return std::uint64_t(std::clamp(threads, 1.0, double(most)));
}

VectorWork StripCut::work(std::uint64_t task) const {
  const std::uint64_t strips = end_of(task) - task * together_;
  return {one_.cycles, std::uint32_t(one_.threads * strips), one_.on_hmx, 1};
}

std::uint64_t StripCut::bytes(std::uint64_t task) const {
  const std::uint64_t last = end_of(task);
  return bytes_ / all_ * (last - task * together_) + (last == all_ ? bytes_ % all_ : 0);
}

}  // namespace npuscope::npu::nsp
