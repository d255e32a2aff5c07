#include "formats/torq/memory/dispatch_memory.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <map>
#include <vector>

#include "base/has_text.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/torq/debug/location.hpp"
#include "formats/torq/fields.hpp"
#include "formats/torq/profile/place_names.hpp"
#include "formats/torq/profile/rows.hpp"
#include "npuscope/profile/intervals.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::torq {

namespace {

// An operand that several operations read counts for each of them, so only results add up.
constexpr NamedNumber result_bytes{"result bytes", NumberQuantity::bytes};
constexpr NamedNumber operand_bytes =
    NamedNumber{"operand bytes", NumberQuantity::bytes}.not_additive();

struct Sizes {
  std::string_view operation, location;
  std::optional<std::int64_t> inputs, output;  // none: the compiler does not know
};

std::optional<std::int64_t> bytes_in(std::string_view field, bool& is_one) {
  field = trimmed(field);
  const auto bytes = whole_number(field);
  is_one = is_one && (field == "unknown" || (bytes && *bytes >= 0));
  return bytes;
}

std::optional<Sizes> sizes_in(std::string_view line) {
  Sizes sizes;
  sizes.operation = take_first(line);
  bool is_one = sizes.operation.find('.') != sizes.operation.npos &&
                sizes.operation.find_first_not_of(
                    "abcdefghijklmnopqrstuvwxyz"
                    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == sizes.operation.npos;
  sizes.inputs = bytes_in(take_first(line), is_one);
  sizes.output = bytes_in(take_first(line), is_one);
  sizes.location = line;
  is_one = is_one && line.starts_with("loc(") && line.ends_with(')');
  return is_one ? std::optional(sizes) : std::nullopt;
}

class SizesProfile {
 public:
  SizesProfile(ByteSource& source, SourceFiles& sources)
      : source_(source), sources_(sources), losses_(source.name()) {}

  Result<Profile> run() {
    Provenance& from = profile_.provenance;
    from.format = "Torq tensor sizes";
    from.platform = Provenance::Platform::torq;
    from.device = "Torq";
    from.instrumentation = "sizes of tensors";
    from.times = Origin::estimated;
    LineReader lines(source_, losses_, table_limits);
    std::string_view line;
    while (lines.next(line)) {
      line = trimmed(line);
      if (line.empty()) continue;
      if (const auto sizes = sizes_in(line)) {
        take(*sizes);
      } else {
        losses_.add(Severity::warning, lines.offset(),
                    "lines that do not hold an operation, its bytes and its location: left out");
      }
    }
    if (profile_.ops.empty()) {
      if (lines.error()) return tl::unexpected(*lines.error());
      return tl::unexpected(
          Error{ErrorKind::input, source_.name() +
                                      ": has no operation on tensors of known sizes; write it "
                                      "again with torq-compile --torq-export-tensor-sizes"});
    }
    for (const std::string& name : sources_.operators()) add_source_operator(profile_, name);
    losses_.append_to(profile_.notes);
    return std::move(profile_);
  }

 private:
  void take(const Sizes& sizes) {
    // No scalar is larger, and no tensor that matters smaller.
    constexpr std::int64_t largest_scalar = 16;
    if (!sizes.output && !sizes.inputs) {
      return losses_.add(Severity::info, 0, "operations whose sizes the compiler does not know");
    }
    const std::int64_t inputs = sizes.inputs.value_or(0), output = sizes.output.value_or(0);
    if (inputs <= largest_scalar && output <= largest_scalar) {
      return losses_.add(Severity::info, 0, "operations on scalars: not shown");
    }
    if (sizes.operation == "tensor.empty") {
      return losses_.add(Severity::info, 0, "tensors before anything is in them: not shown");
    }
    Op op;
    op.kind = profile_.strings.intern(sizes.operation);
    op.name = named(sizes, op);
    op.position = std::uint32_t(profile_.ops.size());
    op.once_per_inference = true;
    profile_.ops.push_back(op);
    const auto add = [&](const NamedNumber& number, std::int64_t bytes) {
      profile_.add_measure(Measure::Subject::op, op.position, number, Origin::estimated, {},
                           double(bytes));
    };
    if (sizes.output) add(result_bytes, output);
    if (inputs > 0) add(operand_bytes, inputs);
  }

  StringId named(const Sizes& sizes, Op& op) {
    std::string name(sizes.operation);
    if (const auto place = locations_.parse(sizes.location); place) {
      PlaceName found;
      if (name_by_operators(sources_, locations_.files(*place), found)) {
        op.node = profile_.strings.intern(found.label);
        op.node_kind = profile_.strings.intern(found.kind);
      }
      if (*place != LocationId::unknown) name += " " + locations_.brief(*place);
    }
    const std::uint64_t before = same_[name]++;
    if (before > 0) name += fmt::format(" ({})", before + 1);
    op.identity = profile_.strings.intern(
        fmt::format("{} {}", sizes.operation, of_operation_[std::string(sizes.operation)]++));
    return profile_.strings.intern(name);
  }

  ByteSource& source_;
  SourceFiles& sources_;
  CountedNotes losses_;
  Profile profile_;
  Locations locations_;
  std::map<std::string, std::uint64_t> same_, of_operation_;
};

}  // namespace

bool looks_like_tensor_sizes(std::string_view head) {
  return sizes_in(trimmed(head.substr(0, head.find('\n')))).has_value();
}

Result<Profile> read_tensor_sizes(ByteSource& source, SourceFiles& sources) {
  return SizesProfile(source, sources).run();
}

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
