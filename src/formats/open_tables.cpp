// Tables of layers that tables/*.toml describe, or a description of the user's own.
#include "base/try.hpp"
#include "formats/open_table.hpp"
#include "formats/tables/read_table.hpp"

namespace npuscope {
namespace {

void open_table(const Input& input, const tables::TableDescription& description, OpenRun& run) {
  auto source = open_byte_source(input.path, run.options().source);
  if (!source) return run.fail(input, source.error());
  auto profiles = tables::read_table(**source, description);
  if (!profiles) return run.fail(input, profiles.error());
  for (Profile& profile : *profiles) run.add(input.order, std::move(profile));
}

}  // namespace

std::optional<FormatKind> recognise_described_table(const Candidate& candidate) {
  // Traces have neither heads nor marks of tables, and descriptions take time to parse.
  for (const char* key : {"\"traceEvents\"", "\"ph\""}) {
    if (candidate.head.find(key) != candidate.head.npos) return std::nullopt;
  }
  const auto place = tables::recognise_table(candidate.head);
  return place ? std::optional(FormatKind(*place)) : std::nullopt;
}

void open_described_tables(std::span<const Input> inputs, OpenRun& run) {
  for (const Input& input : inputs) {
    open_table(input, tables::builtin_descriptions()[input.kind], run);
  }
}

OpenRun::OpenRun(const OpenOptions& options) : options_(options) {}
OpenRun::~OpenRun() = default;

Status OpenRun::read_own_tables() {
  TRY_AS(read, tables::read_descriptions(options_.tables));
  own_tables_ = std::move(*read);
  return {};
}

std::optional<std::size_t> recognise_own_table(const Candidate& candidate, const OpenRun& run) {
  return tables::recognise_table(candidate.head, run.own_tables());
}

std::string why_no_own_table(const Candidate& candidate, const OpenRun& run) {
  if (run.own_tables().empty()) return "";
  const tables::TableDescription& first = run.own_tables().front();
  return fmt::format("; {} does not fit it: {}", first.file,
                     tables::why_it_does_not_fit(candidate.head, first));
}

void open_own_table(const Input& input, std::size_t place, OpenRun& run) {
  open_table(input, run.own_tables()[place], run);
}

}  // namespace npuscope
