#include "formats/chrome/collect/pipeline.hpp"

#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/per_thread.hpp"
#include "base/pipeline.hpp"
#include "formats/chrome/parse/chunk_parser.hpp"

namespace npuscope::chrome {

void collect_chunks(const std::function<std::optional<Chunk>()>& next, EventCollector& collector) {
  struct Slot {
    std::optional<Chunk> chunk;
    std::optional<ChunkTable> table;
  };
  std::vector<Slot> slots(2 * workers());
  std::size_t number = 0;
  PerThread<ChunkParser> parsers;
  run_pipeline<Slot*>(
      slots.size(),
      [&]() -> Slot* {
        Slot& slot = slots[number++ % slots.size()];
        slot.chunk = next();
        return slot.chunk ? &slot : nullptr;
      },
      [&](Slot* slot) {
        slot->table.emplace(parsers.mine().parse(std::move(*slot->chunk)));
        slot->chunk.reset();
      },
      [&](Slot* slot) {
        collector.append(std::move(*slot->table));
        slot->table.reset();
      });
}

}  // namespace npuscope::chrome
