// How Analysis finds its answers: a function for each, where the question is answered.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "analysis/ops/op_times.hpp"
#include "analysis/units/unit_busy.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {

// Values that are made when they are first asked for, once, by whichever thread comes first.
template <class T>
class Lazy {
 public:
  bool is_known() const { return known_.load(std::memory_order_acquire) != nullptr; }

  template <class Make>
  const T& get(const Make& make) {
    if (const T* known = known_.load(std::memory_order_acquire)) return *known;
    std::call_once(once_, [&] {
      // A thread that waits for parts of this value must not begin with another one, which may ask
      // for this.
      isolated([&] { value_ = std::make_unique<T>(make()); });
      known_.store(value_.get(), std::memory_order_release);
    });
    return *value_;
  }

 private:
  std::once_flag once_;
  std::unique_ptr<T> value_;
  std::atomic<const T*> known_ = nullptr;
};

// The same of a value that takes much memory: it is there as long as anyone who asked for it holds
// it, and made anew when it is asked for later.
template <class T>
class LazyWhileHeld {
 public:
  template <class Make>
  std::shared_ptr<const T> get(const Make& make) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const T> value = known_.lock();
    if (value != nullptr) return value;
    isolated([&] { value = std::make_shared<const T>(make()); });
    known_ = value;
    return value;
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<const T> known_;
};

SelfTimes find_self_times(const Analysis& analysis);
Coarse find_coarse(const Analysis& analysis);
OpTable find_op_table(const Analysis& analysis, const OpOptions& options);
OpTimes find_op_times(const Analysis& analysis);
std::vector<OneCoreOp> find_one_core_ops(const Analysis& analysis, double min_share);
// `by_unit`: from the spans by unit, which are there already; else from the rows where that is less
// work. Both give the same.
std::vector<UnitBusy> find_unit_busy(const Analysis& analysis, bool by_unit);
BusyTogether find_busy_together(const Analysis& analysis);
UnitTable find_units(const Analysis& analysis);
std::vector<UnitGroupRow> find_unit_groups(const Analysis& analysis, UnitGrouping grouping);
Overlap find_overlap(const Analysis& analysis);
Concurrency find_concurrency(const Analysis& analysis);
std::vector<ImbalanceRow> find_imbalance(const Analysis& analysis);
std::vector<SteadyUse> find_steady_use(const Analysis& analysis);
TimelineRows find_timeline(const Analysis& analysis, const TimelineRequest& request);
TimelineCells find_cells(const Analysis& analysis, const TimelineRows& rows,
                         const CellsRequest& request);
MemoryTable find_memory(const Analysis& analysis, const MemoryOptions& options);
Spill find_spill(const Analysis& analysis);
std::vector<TransferSize> find_transfers(const Analysis& analysis);
BandwidthSeries find_bandwidth(const Analysis& analysis, std::size_t buckets);
Diagnosis find_findings(const Analysis& analysis, const DiagnoseOptions& options);

}  // namespace npuscope::analysis
