// Addresses in a core's VTCM. All cores run the same plan, so one allocator serves them all.
//
// Tensors lie as low as they fit, large ones as high, so that small ones do not break up the room
// that large ones need. Tiles, which live only for one task, go round robin through the rest (next
// fit): the longer an address rests, the earlier a DMA transfer may fill it again while older work
// still runs. Whoever gets an address must wait for the last users of what lay there before;
// `predecessors` names them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace npuscope::npu::nsp {

class VtcmAllocator {
 public:
  static constexpr std::uint64_t alignment = 128;  // one HVX vector

  explicit VtcmAllocator(std::uint64_t capacity_bytes);

  struct Allocation {
    std::uint64_t address = 0;
    std::vector<std::uint32_t> predecessors;  // earlier owners of these bytes
  };
  enum class Lifetime : std::uint8_t { tensor, tile };
  // Nothing when no gap is large enough. `owner` is any number, distinct per allocation.
  std::optional<Allocation> allocate(std::uint64_t bytes, std::uint32_t owner, Lifetime lifetime);
  void release(std::uint64_t address);
  // The largest gap that there would be without the allocations at these addresses (sorted).
  std::uint64_t largest_gap_without(const std::vector<std::uint64_t>& addresses) const;

  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t live_bytes() const { return live_bytes_; }
  std::uint64_t peak_live_bytes() const { return peak_live_bytes_; }  // so far

 private:
  struct Region {
    std::uint64_t end = 0;
    std::uint32_t owner = 0;
    std::uint64_t used = 0;  // steps_ when its owner got or gave it up
  };
  struct Choice;
  void consider(std::uint64_t begin, std::uint64_t bytes, Choice& best) const;
  std::optional<std::uint64_t> choose(std::uint64_t bytes, Lifetime lifetime) const;
  std::uint64_t last_use(std::uint64_t begin, std::uint64_t end) const;
  std::optional<std::uint64_t> find_gap(std::uint64_t bytes, std::uint64_t from) const;
  std::vector<std::uint32_t> take_over(std::uint64_t begin, std::uint64_t end, std::uint32_t owner);

  std::uint64_t capacity_;
  std::uint64_t next_ = 0;
  std::uint64_t steps_ = 0;  // allocations and releases so far
  std::uint64_t live_bytes_ = 0;
  std::uint64_t peak_live_bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t> live_;  // begin -> end
  std::map<std::uint64_t, Region> last_owner_;   // begin -> who wrote here last
};

}  // namespace npuscope::npu::nsp
