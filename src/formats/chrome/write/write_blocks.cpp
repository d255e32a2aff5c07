#include "formats/chrome/write/write_blocks.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "base/pipeline.hpp"

namespace npuscope::chrome {
namespace {

constexpr std::size_t lines_of_block = 4096;
// Of a block, in characters: a line may repeat a long text, and is printed without delay then.
constexpr std::size_t enough = std::size_t{4} << 20;
// More than that print faster than anything takes their text.
constexpr std::size_t most_blocks = 8;

}  // namespace

void BlockWriter::write_line(std::size_t line, SpanWriter& spans, EventOutput& out) const {
  const std::size_t row = layout_.order.empty() ? line : layout_.order[line];
  spans.write(row);
  flows_.write_behind(row, out);
}

void BlockWriter::print(Block& block) const {
  block.out.out.clear();
  std::size_t line = block.first;
  while (line < block.end && block.out.out.text().size() < enough) {
    write_line(line++, block.spans, block.out);
  }
  block.printed = line;
}

void BlockWriter::hand_on(Block& block) {
  out_.out.hand_on(block.out.out.text());
  for (std::size_t line = block.printed; line < block.end; ++line) {
    write_line(line, *alone_, out_);
  }
}

// Blocks that are under way at once are neighbours.
BlockWriter::Block& BlockWriter::block_for(std::size_t number) {
  std::unique_ptr<Block>& block = blocks_[number % blocks_.size()];
  if (!block) block = std::make_unique<Block>(profile_, layout_);
  return *block;
}

void BlockWriter::write(const ProgressReport& progress) {
  const std::size_t lines = profile_.spans.size();
  alone_ = std::make_unique<SpanWriter>(profile_, layout_, out_);
  // The first event of the list has no comma before it.
  std::size_t next = std::min<std::size_t>(lines, 1);
  if (next > 0) write_line(0, *alone_, out_);
  blocks_.resize(std::min(workers() + 1, most_blocks));
  std::size_t number = 0;
  const auto begin = [&]() -> Block* {
    if (next == lines) return nullptr;
    Block& block = block_for(number++);
    block.first = next;
    block.end = next = std::min(lines, next + lines_of_block);
    return &block;
  };
  const auto end = [&](Block* block) {
    hand_on(*block);
    if (progress) progress(block->end, lines);
  };
  run_pipeline<Block*>(
      blocks_.size(), begin, [&](Block* block) { print(*block); }, end);
}

std::uint64_t BlockWriter::not_finite() const {
  std::uint64_t all = alone_ ? alone_->not_finite() : 0;
  for (const auto& block : blocks_) all += block ? block->spans.not_finite() : 0;
  return all;
}

}  // namespace npuscope::chrome
