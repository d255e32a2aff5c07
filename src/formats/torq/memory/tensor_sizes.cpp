#include "formats/torq/memory/tensor_sizes.hpp"

#include <map>

#include "base/text.hpp"
#include "formats/torq/debug/location.hpp"
#include "formats/torq/fields.hpp"
#include "formats/torq/profile/place_names.hpp"
#include "formats/torq/profile/rows.hpp"

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

}  // namespace npuscope::torq
