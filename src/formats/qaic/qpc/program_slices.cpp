#include "formats/qaic/qpc/program_slices.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/try.hpp"
#include "formats/qaic/qpc/program_check.hpp"

namespace npuscope::qaic {
namespace {

Status check_slices(std::span<const Program* const> slices, std::string_view name) {
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const Program& program = *slices[i];
    const Program& first = *slices[0];
    if (program.slices != slices.size() || program.slice != i) {
      return input_error(
          "{}: {} is the part of device {} of {}, where that of device {} of {} is expected; "
          "compile the program again",
          name, program.network_name, program.slice, program.slices, i, slices.size());
    }
    if (program.cores != first.cores || program.hvx_threads != first.hvx_threads ||
        program.stats_level != first.stats_level || program.batch_size != first.batch_size) {
      return input_error(
          "{}: {} and {} differ in their cores, threads, batch or statistics level; compile the "
          "program again",
          name, first.network_name, program.network_name);
    }
  }
  return {};
}

class Joiner {
 public:
  Joiner(std::span<const Program* const> slices, std::string_view name)
      : slices_(slices), name_(name) {}

  Result<Program> run() {
    const Program& first = *slices_[0];
    joined_ = first;
    joined_.peer_transfers.clear();
    joined_.kernels.clear();
    joined_.tasks.clear();
    joined_.waits.clear();
    joined_.dependencies.clear();
    joined_.hoisted_bytes.clear();
    joined_.queue_begin = {0};
    joined_.cores = first.cores * std::uint32_t(slices_.size());
    for (const Program* slice : slices_) append(*slice);
    TRY(join_transfers());
    TRY(check_that_it_ends(joined_, name_));
    return std::move(joined_);
  }

 private:
  struct Side {
    std::uint32_t task = 0;  // of the joined program
    std::uint64_t bytes = 0;
  };
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, number

  void append(const Program& slice) {
    const auto first_task = std::uint32_t(joined_.tasks.size());
    const auto first_queue = std::uint32_t(joined_.queue_begin.size() - 1);
    const auto first_kernel = std::uint32_t(joined_.kernels.size());
    const auto first_wait = std::uint32_t(joined_.waits.size());
    const auto first_dependency = std::uint32_t(joined_.dependencies.size());
    joined_.kernels.insert(joined_.kernels.end(), slice.kernels.begin(), slice.kernels.end());
    for (Task task : slice.tasks) {
      task.kernel += first_kernel;
      task.wait_begin += first_wait;
      task.dependency_begin += first_dependency;
      joined_.tasks.push_back(task);
    }
    for (std::size_t i = 1; i < slice.queue_begin.size(); ++i) {
      joined_.queue_begin.push_back(first_task + slice.queue_begin[i]);
    }
    for (const Wait& wait : slice.waits) {
      joined_.waits.push_back({first_queue + wait.queue, wait.count});
    }
    for (const Dependency& dependency : slice.dependencies) {
      joined_.dependencies.push_back({first_task + dependency.task, dependency.kind});
    }
    for (PeerTransfer transfer : slice.peer_transfers) {
      const bool incoming = transfer.incoming != 0;
      const Key key{incoming ? transfer.peer : slice.slice, incoming ? slice.slice : transfer.peer,
                    transfer.number};
      transfer.task += first_task;
      repeated_ = repeated_ || !(incoming ? incoming_ : outgoing_)
                                    .emplace(key, Side{transfer.task, transfer.bytes})
                                    .second;
      joined_.peer_transfers.push_back(transfer);
    }
    // Of a slice without any, those before and after it may have some.
    joined_.hoisted_bytes.resize(joined_.queue_begin.size() / thread_groups - slice.cores);
    joined_.hoisted_bytes.insert(joined_.hoisted_bytes.end(), slice.hoisted_bytes.begin(),
                                 slice.hoisted_bytes.end());
    joined_.hoisted_bytes.resize(joined_.queue_begin.size() / thread_groups);
    joined_.input_bytes = std::max(joined_.input_bytes, slice.input_bytes);
    joined_.output_bytes = std::max(joined_.output_bytes, slice.output_bytes);
    joined_.retained_bytes = std::max(joined_.retained_bytes, slice.retained_bytes);
  }

  Status join_transfers() {
    if (repeated_ || incoming_.size() != outgoing_.size()) {
      return input_error(
          "{}: {} transfers between devices are sent but {} awaited, or a number is given twice; "
          "compile the program again",
          name_, outgoing_.size(), incoming_.size());
    }
    for (const auto& [key, side] : incoming_) {
      const auto sender = outgoing_.find(key);
      if (sender == outgoing_.end() || sender->second.bytes != side.bytes) {
        return input_error(
            "{}: transfer {} from device {} to device {} of {} bytes has no sender of as many; "
            "compile the program again",
            name_, std::get<2>(key), std::get<0>(key), std::get<1>(key), side.bytes);
      }
      add_wait(side.task, sender->second.task);
    }
    return {};
  }

  // The task's waits move to the end of the table, where there is room for one more.
  void add_wait(std::uint32_t receiver, std::uint32_t sender) {
    const auto& begin = joined_.queue_begin;
    const auto queue =
        std::uint32_t(std::upper_bound(begin.begin(), begin.end(), sender) - begin.begin() - 1);
    Task& task = joined_.tasks[receiver];
    const auto moved = std::uint32_t(joined_.waits.size());
    for (std::uint32_t i = 0; i < task.wait_count; ++i) {
      const Wait wait = joined_.waits[task.wait_begin + i];
      joined_.waits.push_back(wait);
    }
    joined_.waits.push_back({queue, sender - begin[queue] + 1});
    task.wait_begin = moved;
    ++task.wait_count;
  }

  std::span<const Program* const> slices_;
  std::string_view name_;
  Program joined_;
  std::map<Key, Side> outgoing_;
  std::map<Key, Side> incoming_;
  bool repeated_ = false;
};

}  // namespace

Result<Program> join_slices(std::span<const Program* const> slices, std::string_view name) {
  if (slices.empty()) return input_error("{}: holds the part of no device", name);
  TRY(check_slices(slices, name));
  return Joiner(slices, name).run();
}

}  // namespace npuscope::qaic
