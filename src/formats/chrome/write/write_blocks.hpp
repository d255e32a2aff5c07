// All spans as events, in the order of the layout: printed in blocks by several cores, and handed
// on in their order. The text is the same with any number of cores.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "formats/chrome/write/event_output.hpp"
#include "formats/chrome/write/write_flows.hpp"
#include "formats/chrome/write/write_spans.hpp"
#include "formats/chrome/write/write_tracks.hpp"
#include "npuscope/base/progress.hpp"

namespace npuscope::chrome {

class BlockWriter {
 public:
  BlockWriter(const Profile& profile, const Layout& layout, const FlowWriter& flows,
              EventOutput& out)
      : profile_(profile), layout_(layout), flows_(flows), out_(out) {}

  void write(const ProgressReport& progress);  // of spans
  std::uint64_t not_finite() const;

 private:
  // What a core prints: the lines from `first` on, until `end`, or until they are enough.
  struct Block {
    Block(const Profile& profile, const Layout& layout)
        : out(profile), spans(profile, layout, out) {
      out.use_places(layout.tracks);
      out.events.continue_list();
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    EventOutput out;
    SpanWriter spans;
    std::size_t first = 0, printed = 0, end = 0;
  };

  void write_line(std::size_t line, SpanWriter& spans, EventOutput& out) const;
  void print(Block& block) const;
  void hand_on(Block& block);
  Block& block_for(std::size_t number);

  const Profile& profile_;
  const Layout& layout_;
  const FlowWriter& flows_;
  EventOutput& out_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::unique_ptr<SpanWriter> alone_;  // what is printed into `out_` itself
};

}  // namespace npuscope::chrome
