// Tables of layers that tables/*.toml describe, or a description of the user's own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/has_text.hpp"
#include "base/try.hpp"
#include "formats/open_table.hpp"
#include "formats/tables/read_table.hpp"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

struct OpenedTable {
  const Input& input;
  const tables::TableDescription& description;
  std::vector<Profile> profiles;
  bool is_joined = false;  // a network's row, which its layers have taken
};

void read_table(const Input& input, const tables::TableDescription& description, OpenRun& run,
                std::vector<OpenedTable>& opened) {
  auto source = open_byte_source(input.path, run.options().source);
  if (!source) return run.fail(input, source.error());
  auto profiles = tables::read_table(**source, description);
  if (!profiles) return run.fail(input, profiles.error());
  opened.push_back({input, description, std::move(*profiles)});
}

void add_all(std::vector<OpenedTable>&& opened, OpenRun& run) {
  for (OpenedTable& table : opened) {
    if (table.is_joined) continue;
    for (Profile& profile : table.profiles) run.add(table.input.order, std::move(profile));
  }
}

bool is_layers_of(const OpenedTable& layers, const OpenedTable& network) {
  const fs::path& file = layers.input.path;
  if (network.profiles.size() != 1 || layers.profiles.size() != 1 ||
      layers.description.rows_are != tables::TableDescription::Rows::layers ||
      file.parent_path() != network.input.path.parent_path()) {
    return false;
  }
  const std::string end = network.profiles[0].provenance.graph + network.description.layers_end;
  return std::ranges::any_of(std::array{"", ".gz", ".zst"},
                             [&](const char* packed) { return file.filename() == end + packed; });
}

// Of an op of the layers, by the name that the network's number has too.
bool is_part(const Measure& part, const Profile& layers, std::string_view name) {
  return part.subject == Measure::Subject::op && layers.text(part.what) == name;
}

// The network's time, tried as the sum of its layers'.
Check sum_of(const OpenedTable& network_table, const Profile& layers) {
  constexpr double rounding = 1e-9;
  const Profile& network = network_table.profiles[0];
  Check check{"sum of the layers' time = the network's", Check::Outcome::impossible, ""};
  for (const tables::TableColumn& column : network_table.description.columns) {
    const StringId name = network.strings.find(column.name).value_or(StringId::empty);
    const auto whole = std::ranges::find(network.measures, name, &Measure::what);
    if (column.is != tables::TableColumn::Is::time || whole == network.measures.end()) continue;
    double sum = 0;
    for (const Measure& part : layers.measures) {
      if (is_part(part, layers, column.name)) sum += part.value;
    }
    const bool holds = std::abs(sum - whole->value) <= rounding * (1 + whole->value);
    check.outcome = holds ? Check::Outcome::passed : Check::Outcome::failed;
    check.detail = fmt::format("{:.10g} and {:.10g}", sum, whole->value);
  }
  return check;
}

ClockId clock_like(const Clock& clock, std::string_view name, Profile& profile) {
  const StringId id = profile.strings.intern(name);
  auto found = std::ranges::find(profile.clocks, id, &Clock::name);
  if (found == profile.clocks.end()) {
    found = profile.clocks.insert(profile.clocks.end(), clock);
    found->name = id;
  }
  if (found->rate.value == 0) found->rate = clock.rate;
  return ClockId(found - profile.clocks.begin());
}

// What the network's row says of all layers together becomes theirs.
void join(OpenedTable& network_table, Profile& layers) {
  const Profile& network = network_table.profiles[0];
  layers.provenance.graph = network.provenance.graph;
  if (!network.provenance.device.empty()) layers.provenance.device = network.provenance.device;
  layers.provenance.files.push_back(network_table.input.path.string());
  for (const Clock& clock : network.clocks) clock_like(clock, network.text(clock.name), layers);
  const auto is_of_layers = [&](const Measure& measure) {
    return std::ranges::any_of(layers.measures, [&](const Measure& part) {
      return is_part(part, layers, network.text(measure.what));
    });
  };
  for (const Measure& measure : network.measures) {
    if (is_of_layers(measure)) continue;
    Measure copy = measure;
    copy.what = layers.strings.intern(network.text(measure.what));
    if (measure.meaning.quantity == NumberQuantity::time) {
      const Clock& clock = network.clocks[index_of(measure.clock)];
      copy.clock = clock_like(clock, network.text(clock.name), layers);
    }
    layers.measures.push_back(copy);
  }
  const auto& known = network_table.description.notes;
  for (Note note : network.notes) {
    if (std::ranges::count(known, note.message) > 0) continue;
    if (note.file.empty()) note.file = network_table.input.path.string();
    layers.notes.push_back(std::move(note));
  }
  network_table.is_joined = true;
}

// The table of a network's layers is written anew for each configuration, the row of the network
// is not: it is of the same run where its numbers are the sums.
void join_networks(std::vector<OpenedTable>& opened) {
  for (OpenedTable& table : opened) {
    std::vector<OpenedTable*> networks, fitting;
    for (OpenedTable& each : opened) {
      if (!each.description.layers_end.empty() && is_layers_of(table, each)) {
        networks.push_back(&each);
      }
    }
    if (networks.empty()) continue;
    Profile& layers = table.profiles[0];
    std::ranges::copy_if(networks, std::back_inserter(fitting), [&](const OpenedTable* each) {
      return sum_of(*each, layers).outcome == Check::Outcome::passed;
    });
    if (networks.size() == 1 || fitting.size() == 1) {
      layers.checks.push_back(sum_of(fitting.empty() ? *networks[0] : *fitting[0], layers));
    }
    if (fitting.size() == 1) {
      join(*fitting[0], layers);
      continue;
    }
    layers.notes.push_back(
        {Severity::warning, networks[0]->input.path.string(), 0,
         fitting.empty() ? "the layers' times do not add up to the network's: one of the two files "
                           "is cut short or of another run; they are not joined"
                         : "the layers' times add up to those of several files of the network; "
                           "open one of them with the layers"});
  }
}

}  // namespace

std::optional<FormatKind> recognise_described_table(const Candidate& candidate) {
  // Traces have neither heads nor marks of tables.
  for (const char* key : {"\"traceEvents\"", "\"ph\""}) {
    if (has_text(candidate.head, key)) return std::nullopt;
  }
  if (!tables::may_fit_builtin_description(candidate.head)) return std::nullopt;
  const auto place = tables::recognise_table(candidate.head);
  return place ? std::optional(FormatKind(*place)) : std::nullopt;
}

void open_described_tables(std::span<const Input> inputs, OpenRun& run) {
  std::vector<OpenedTable> opened;
  for (const Input& input : inputs) {
    read_table(input, tables::builtin_descriptions()[input.kind], run, opened);
  }
  join_networks(opened);
  add_all(std::move(opened), run);
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
  std::vector<OpenedTable> opened;
  read_table(input, run.own_tables()[place], run, opened);
  add_all(std::move(opened), run);
}

}  // namespace npuscope
