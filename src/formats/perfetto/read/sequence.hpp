// What the packets of one sequence share and refer to: strings by number, defaults, the thread that
// writes them. All of it but the thread is forgotten when a packet says that incremental state was
// cleared.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "npuscope/base/string_pool.hpp"

namespace npuscope::perfetto {

// Values by interning id. Ids are small and dense where an honest writer chose them.
template <class Value>
class InternTable {
 public:
  void set(std::uint64_t iid, Value value) {
    if (iid < dense_.size()) {
      dense_[std::size_t(iid)] = value;
    } else if (iid < 2 * dense_.size() + 16) {
      dense_.resize(std::size_t(iid) + 1);
      dense_[std::size_t(iid)] = value;
    } else {
      sparse_[iid] = value;
    }
  }
  // Null where there is none; valid until the next is set.
  const Value* find(std::uint64_t iid) const {
    if (iid < dense_.size() && dense_[std::size_t(iid)]) return &*dense_[std::size_t(iid)];
    if (sparse_.empty()) return nullptr;
    const auto found = sparse_.find(iid);
    return found == sparse_.end() ? nullptr : &found->second;
  }

 private:
  std::vector<std::optional<Value>> dense_;
  std::unordered_map<std::uint64_t, Value> sparse_;
};

struct SourceLocation {
  StringId file{};
  StringId function{};
  std::uint32_t line = 0;
};

struct InternedState {
  InternTable<StringId> categories;
  InternTable<StringId> names;
  InternTable<StringId> annotation_names;
  InternTable<StringId> annotation_strings;
  InternTable<SourceLocation> locations;
  std::unordered_map<std::uint32_t, std::int64_t> incremental_counters;  // by track
  // Under which the decoder of annotations keeps what it has learnt while these names count; 0:
  // nothing.
  mutable std::uint64_t annotation_forms = 0;

  // May throw protozero's exceptions on a broken message; what it said before stays.
  void add(std::string_view interned_data, StringPool& strings);
};

struct SequenceDefaults {
  std::uint32_t clock = 0;
  std::optional<std::uint64_t> track_uuid;
  std::vector<std::uint64_t> extra_counter_tracks;
  std::vector<std::uint64_t> extra_double_counter_tracks;

  static SequenceDefaults decode(std::string_view trace_packet_defaults);
};

struct Sequence {
  bool state_valid = false;  // until the first packet that clears the state, something is missing
  std::optional<std::uint32_t> thread_track;  // that was described last
  std::optional<std::int64_t> reference_time_us;
  std::int64_t thread_time_us = 0;  // counted up by its events
  std::int64_t thread_instructions = 0;
  SequenceDefaults defaults;
  std::unique_ptr<InternedState> interned;  // most hostile sequences have none

  InternedState& state() {
    if (!interned) interned = std::make_unique<InternedState>();
    return *interned;
  }
  void clear_state();
};

SourceLocation decode_location(std::string_view message, StringPool& strings, std::uint64_t& iid);

}  // namespace npuscope::perfetto
