#include "formats/chrome/collect/pipeline.hpp"

#include <memory>
#include <utility>

#include "formats/chrome/parse/chunk_parser.hpp"

#ifndef __SANITIZE_THREAD__

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

namespace npuscope::chrome {

void run_pipeline(const std::function<std::optional<Chunk>()>& next, EventCollector& collector) {
  tbb::enumerable_thread_specific<ChunkParser> parsers;
  const std::size_t under_way = 2 * std::size_t(tbb::this_task_arena::max_concurrency());
  const auto cut = [&](tbb::flow_control& control) -> std::shared_ptr<Chunk> {
    auto chunk = next();
    if (chunk) return std::make_shared<Chunk>(std::move(*chunk));
    control.stop();
    return nullptr;
  };
  const auto parse = [&](const std::shared_ptr<Chunk>& chunk) {
    return std::make_shared<ChunkTable>(parsers.local().parse(std::move(*chunk)));
  };
  const auto collect = [&](const std::shared_ptr<ChunkTable>& table) {
    collector.append(std::move(*table));
  };
  tbb::parallel_pipeline(
      under_way,
      tbb::make_filter<void, std::shared_ptr<Chunk>>(tbb::filter_mode::serial_in_order, cut) &
          tbb::make_filter<std::shared_ptr<Chunk>, std::shared_ptr<ChunkTable>>(
              tbb::filter_mode::parallel, parse) &
          tbb::make_filter<std::shared_ptr<ChunkTable>, void>(tbb::filter_mode::serial_in_order,
                                                              collect));
}

}  // namespace npuscope::chrome

#else

// The thread sanitizer does not see how the uninstrumented oneTBB library orders its tasks.
namespace npuscope::chrome {

void run_pipeline(const std::function<std::optional<Chunk>()>& next, EventCollector& collector) {
  ChunkParser parser;
  while (auto chunk = next()) collector.append(parser.parse(std::move(*chunk)));
}

}  // namespace npuscope::chrome

#endif
