#include "formats/torq/memory/dispatch_memory.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <vector>

#include "base/has_text.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::torq {
namespace {

using simdjson::dom::element;

constexpr NamedNumber loaded{"code and constants", NumberQuantity::bytes};
constexpr NamedNumber scratch{"scratch", NumberQuantity::bytes};
constexpr NamedNumber inputs{"inputs", NumberQuantity::bytes};
constexpr NamedNumber outputs{"outputs", NumberQuantity::bytes};

constexpr std::uint64_t max_text_bytes = std::uint64_t{256} << 20;

// Addresses of a segment or a binding; none where it has no sound ones.
std::optional<Interval> addresses_of(const element& of) {
  std::uint64_t address = 0, size = 0, offset = 0;
  if (of["address"].get(address) || of["size"].get(size)) return std::nullopt;
  if (of["offset"].get(offset)) offset = 0;
  constexpr std::uint64_t most = std::uint64_t{1} << 60;
  if (address > most || size > most || offset > most) return std::nullopt;
  const auto begin = std::int64_t(address + offset);
  return Interval{begin, begin + std::int64_t(size)};
}

class MemoryProfile {
 public:
  explicit MemoryProfile(ByteSource& source) : source_(source), losses_(source.name()) {}

  Result<Profile> run() {
    TRY_AS(text, read_all(source_, max_text_bytes));
    simdjson::dom::parser parser;
    simdjson::dom::array dispatches;
    element file;
    if (parser.parse(text->data(), text->size()).get(file) || file["dispatches"].get(dispatches)) {
      return refusal(": is not whole JSON");
    }
    Provenance& from = profile_.provenance;
    from.format = "Torq dispatch memory";
    from.platform = Provenance::Platform::torq;
    from.device = "Torq";
    from.instrumentation = "addresses of dispatches";
    std::string_view module;
    if (!file["module"].get(module)) from.graph = valid_utf8(module);
    for (const element& dispatch : dispatches) add(dispatch);
    if (profile_.ops.empty()) return refusal(": has no dispatch with a name");
    losses_.append_to(profile_.notes);
    return std::move(profile_);
  }

 private:
  tl::unexpected<Error> refusal(const char* why) const {
    return tl::unexpected(
        Error{ErrorKind::input,
              source_.name() + why + "; write it again with torq-run-module --dump_dispatches"});
  }

  void add(const element& dispatch) {
    std::string_view name;
    if (dispatch["name"].get(name)) {
      return losses_.add(Severity::warning, 0, "dispatches without a name: left out");
    }
    const auto id = std::uint32_t(profile_.ops.size());
    Op op;
    op.name = profile_.strings.intern(valid_utf8(name));
    op.kind = profile_.strings.intern("dispatch");
    op.is_unnamed = true;
    op.position = id;
    profile_.ops.push_back(op);
    std::vector<Interval> of_load, of_scratch, of_inputs, of_outputs;
    const bool knows_segments =
        each(dispatch, "segments", [&](const element& segment, Interval at) {
          bool is_loaded = false;
          if (segment["initialized"].get(is_loaded)) is_loaded = false;
          (is_loaded ? of_load : of_scratch).push_back(at);
        });
    const bool knows_bindings =
        each(dispatch, "bindings", [&](const element& binding, Interval at) {
          bool reads = false;
          if (binding["is_read_only"].get(reads)) reads = false;
          (reads ? of_inputs : of_outputs).push_back(at);
        });
    if (knows_segments) {
      put(id, loaded, of_load);
      put(id, scratch, of_scratch);
    }
    if (knows_bindings) {
      put(id, inputs, of_inputs);
      put(id, outputs, of_outputs);
    }
  }

  // Whether the file says all of them: a list with addresses left out is no sum.
  template <class Take>
  bool each(const element& dispatch, const char* key, Take take) {
    simdjson::dom::array all;
    if (dispatch[key].get(all)) return false;
    bool whole = true;
    for (const element& one : all) {
      const auto at = addresses_of(one);
      if (at) {
        take(one, *at);
      } else {
        whole = false;
        losses_.add(Severity::warning, 0,
                    fmt::format("{} without an address and a size: left out", key));
      }
    }
    return whole;
  }

  void put(std::uint32_t op, const NamedNumber& number, std::vector<Interval>& at) {
    profile_.add_measure(Measure::Subject::op, op, number, Origin::measured, {},
                         double(covered_length(at)));
  }

  ByteSource& source_;
  CountedNotes losses_;
  Profile profile_;
};

}  // namespace

bool looks_like_dispatch_memory(std::string_view head) {
  return head.starts_with('{') && has_text(head, "\"dispatches\"") &&
         has_text(head, "\"segments\"") && has_text(head, "\"initialized\"");
}

Result<Profile> read_dispatch_memory(ByteSource& source) { return MemoryProfile(source).run(); }

}  // namespace npuscope::torq
