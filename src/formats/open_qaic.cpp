// Cloud AI 100: raw statistics buffers are decoded against the program that wrote them, and
// summaries of the same inference are compared with what was decoded.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/open_table.hpp"
#include "formats/qaic/opstats/opstats_networks.hpp"
#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/qpc/qpc.hpp"
#include "formats/qaic/stats/stats_buffer.hpp"
#include "formats/qaic/text/read_text.hpp"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

enum BufferKind : FormatKind { raw_buffer, program };

constexpr std::uint64_t largest_unpacked = std::uint64_t{4} << 30;
constexpr std::uint64_t largest_text = std::uint64_t{256} << 20;

// The bytes of a file: mapped, or unpacked when it is compressed.
struct FileBytes {
  std::optional<MappedFile> mapped;
  std::string unpacked;

  ByteSpan bytes() const { return mapped ? mapped->bytes() : as_byte_span(unpacked); }
};

Result<FileBytes> load(const fs::path& path, const OpenOptions& options) {
  FileBytes loaded;
  TRY_AS(source, open_byte_source(path, options.source));
  if ((*source)->compression() == Compression::none) {
    TRY_AS(mapped, MappedFile::open(path));
    loaded.mapped = std::move(*mapped);
    return loaded;
  }
  TRY_AS(text, read_all(**source, largest_unpacked));
  loaded.unpacked = std::move(*text);
  return loaded;
}

bool begins_like_qpc(const fs::path& path) {
  const auto head = read_head(path, 64);
  return head && qaic::looks_like_qpc(as_byte_span(*head));
}

class BufferOpening {
 public:
  BufferOpening(std::span<const Input> inputs, OpenRun& run) : inputs_(inputs), run_(run) {}

  void run() {
    for (const Input& input : inputs_) {
      if (input.kind == raw_buffer) open_buffer(input);
    }
    for (const Input& input : inputs_) {
      if (input.kind == program && !used_.contains(input.path)) open_program(input);
    }
  }

 private:
  using Networks = Result<qaic::OpstatsNetworks>;

  const Networks& networks_of(const fs::path& path);
  std::vector<fs::path> programs_for(const fs::path& buffer);
  const std::vector<fs::path>& programs_in(const fs::path& folder);
  void open_buffer(const Input& input);
  std::optional<Profile> decode(const FileBytes& file, const fs::path& path, Error& first);
  void open_program(const Input& input);

  std::span<const Input> inputs_;
  OpenRun& run_;
  std::map<fs::path, std::unique_ptr<Networks>> networks_;
  std::map<fs::path, std::vector<fs::path>> in_folder_;
  std::map<fs::path, std::size_t> used_;
};

const BufferOpening::Networks& BufferOpening::networks_of(const fs::path& path) {
  std::unique_ptr<Networks>& networks = networks_[path];
  if (!networks) {
    const auto file = load(path, run_.options());
    networks =
        std::make_unique<Networks>(file ? qaic::load_networks(file->bytes(), path.string(), true)
                                        : Networks(tl::unexpected(file.error())));
  }
  return *networks;
}

const std::vector<fs::path>& BufferOpening::programs_in(const fs::path& folder) {
  const auto [found, is_new] = in_folder_.try_emplace(folder);
  if (!is_new) return found->second;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (!entry->is_regular_file(unknown)) continue;
    const std::string name = entry->path().filename().string();
    const bool named_like_one = name.ends_with("qpc.bin") || name.ends_with(".qpc");
    if (named_like_one && begins_like_qpc(entry->path())) {
      found->second.push_back(folder / entry->path().filename());
    }
  }
  std::sort(found->second.begin(), found->second.end());
  return found->second;
}

// Programs that were given, those in the same folder first; else those that lie beside the buffer
// or above it.
std::vector<fs::path> BufferOpening::programs_for(const fs::path& buffer) {
  const fs::path folder = buffer.parent_path();
  std::vector<fs::path> programs;
  for (const Input& input : inputs_) {
    if (input.kind == program) programs.push_back(input.path);
  }
  std::stable_partition(programs.begin(), programs.end(),
                        [&](const fs::path& path) { return path.parent_path() == folder; });
  const fs::path above = folder.empty() ? fs::path("..") : folder / "..";
  for (const fs::path& place : {folder, above}) {
    for (const fs::path& path : programs_in(place)) {
      if (std::find(programs.begin(), programs.end(), path) == programs.end()) {
        programs.push_back(path);
      }
    }
  }
  return programs;
}

std::optional<Profile> BufferOpening::decode(const FileBytes& file, const fs::path& path,
                                             Error& first) {
  const auto name = qaic::parse_stats_buffer_name(path.filename().string());
  const qaic::StatsBufferFile buffer{path, name.value_or(qaic::StatsBufferName{})};
  for (const fs::path& from : programs_for(path)) {
    const Networks& networks = networks_of(from);
    std::string label;
    auto profile = networks ? networks->decode(file.bytes(), buffer, label)
                            : Result<Profile>(tl::unexpected(networks.error()));
    if (!profile) {
      if (first.message.empty()) first = profile.error();
      continue;
    }
    used_[from] += 1;
    profile->provenance.files = {path.string(), from.string()};
    profile->provenance.graph = label;
    return std::move(*profile);
  }
  return std::nullopt;
}

void BufferOpening::open_buffer(const Input& input) {
  const auto file = load(input.path, run_.options());
  if (!file) return run_.fail(input, file.error());
  Error first;
  auto profile = decode(*file, input.path, first);
  if (!profile) {
    if (first.message.empty()) {
      first.message =
          "no programqpc.bin next to it says what its operators are; name the one that "
          "was run too";
    }
    return run_.fail(input, first);
  }
  Provenance& from = profile->provenance;
  from.format = "Cloud AI 100 raw statistics";
  from.version = "npuscope buffer 1.0";
  from.inferences = 1;
  const double level = qaic::profile_measure(*profile, qaic::measure::stats_level).value_or(0);
  from.instrumentation = fmt::format("stats level {:.0f}", level);
  run_.add(input.order, std::move(*profile));
}

// A program without buffers: what it would record, no timeline.
void BufferOpening::open_program(const Input& input) {
  const Networks& networks = networks_of(input.path);
  if (!networks) return run_.fail(input, networks.error());
  for (const qaic::OpstatsNetwork& network : networks->networks) {
    Profile profile = network.network.profile();
    profile.provenance.files = {input.path.string()};
    profile.provenance.format = "Cloud AI 100 program";
    network.name_hardware(profile.provenance);
    profile.provenance.graph = network.label;
    profile.provenance.instrumentation =
        fmt::format("stats level {}", network.network.stats_level());
    for (const Error& problem : networks->problems) {
      profile.notes.push_back({Severity::error, input.path.string(), 0, problem.message, 1});
    }
    run_.add(input.order, std::move(profile));
  }
}

// --- texts ---

// All of it, or what comes before it breaks off.
Result<std::string> read_text_file(const Input& input, const OpenOptions& options,
                                   std::optional<Error>& broken) {
  TRY_AS(source, open_byte_source(input.path, options.source));
  std::string text;
  for (;;) {
    constexpr std::size_t step = 64 << 10;
    const std::size_t before = text.size();
    text.resize(before + step);
    const auto count = (*source)->read(std::span(text).subspan(before));
    text.resize(before + (count ? *count : 0));
    if (!count) {
      broken = count.error();
      return text;
    }
    if (*count == 0) return text;
    if (text.size() > largest_text) {
      return input_error("{}: has more than {} bytes, too many for a text of its kind; check it",
                         input.path.string(), largest_text);
    }
  }
}

struct TickRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const TickRange&) const = default;
};

// From the first core's begin to the last core's end.
std::optional<TickRange> inference_of(const Profile& profile) {
  std::optional<TickRange> range;
  for (std::size_t i = 0; i < profile.spans.size(); ++i) {
    if (profile.spans.kind[i] != SpanKind::inference) continue;
    if (profile.units[index_of(profile.spans.unit[i])].engine != Engine::core) continue;
    const std::int64_t begin = profile.spans.start[i];
    const std::int64_t end = begin + profile.spans.duration[i];
    range = range ? TickRange{std::min(range->begin, begin), std::max(range->end, end)}
                  : TickRange{begin, end};
  }
  return range;
}

// The file's text against what the buffer gives: the figures are printed rounded, so no other
// comparison is as strict.
Check compare(std::string_view text, const Profile& profile, const std::string& file) {
  Check check;
  check.name = "the summary says what the raw buffer says";
  const std::string expected = qaic::print_summary(qaic::summarise(profile));
  const auto [a, b] = std::mismatch(text.begin(), text.end(), expected.begin(), expected.end());
  if (a == text.end() && b == expected.end()) {
    check.detail = fmt::format("{}: {} bytes alike", file, thousands(text.size()));
    return check;
  }
  check.outcome = Check::Outcome::failed;
  check.detail = fmt::format("{}: line {} differs", file, 1 + std::count(text.begin(), a, '\n'));
  return check;
}

// A summary of an inference that has been opened already joins it.
bool join_summary(const std::string& text, const Input& input, OpenRun& run) {
  const auto summary = qaic::parse_summary(text, input.path.string());
  if (!summary || summary->end() == 0) return false;
  const TickRange wanted{std::int64_t(summary->begin()), std::int64_t(summary->end())};
  for (auto& [order, profile] : run.profiles()) {
    const bool is_raw = profile.provenance.format == "Cloud AI 100 raw statistics";
    if (!is_raw || profile.provenance.graph != summary->network) continue;
    if (inference_of(profile) != wanted) continue;
    profile.provenance.files.push_back(input.path.string());
    profile.checks.push_back(compare(text, profile, input.path.filename().string()));
    return true;
  }
  return false;
}

}  // namespace

std::optional<FormatKind> recognise_qaic_buffer(const Candidate& candidate) {
  if (candidate.head.starts_with(qaic::stats_magic)) return raw_buffer;
  if (qaic::looks_like_qpc(as_byte_span(candidate.head))) return program;
  return std::nullopt;
}

void open_qaic_buffers(std::span<const Input> inputs, OpenRun& run) {
  BufferOpening(inputs, run).run();
}

std::optional<FormatKind> recognise_qaic_text(const Candidate& candidate) {
  if (candidate.head.find('\0') != std::string_view::npos) return std::nullopt;
  const qaic::TextKind kind = qaic::recognise_text(candidate.head);
  if (kind == qaic::TextKind::none) return std::nullopt;
  return FormatKind(kind);
}

void open_qaic_texts(std::span<const Input> inputs, OpenRun& run) {
  struct Log {
    std::size_t order;
    Profile profile;
  };
  std::vector<Log> compiled, ran;
  for (const Input& input : inputs) {
    std::optional<Error> broken;
    const auto text = read_text_file(input, run.options(), broken);
    if (!text) {
      run.fail(input, text.error());
      continue;
    }
    const auto kind = qaic::TextKind(input.kind);
    if (kind == qaic::TextKind::summary && !broken && join_summary(*text, input, run)) continue;
    auto profiles = qaic::read_text(kind, *text, input.path.string());
    if (!profiles) {
      run.fail(input, broken ? *broken : profiles.error());
      continue;
    }
    for (Profile& profile : *profiles) {
      if (broken) {
        profile.notes.push_back(
            {Severity::error, input.path.string(), text->size(), broken->message, 1});
      }
      std::vector<Log>* logs = kind == qaic::TextKind::compiler_log ? &compiled
                               : kind == qaic::TextKind::runner_log ? &ran
                                                                    : nullptr;
      if (logs != nullptr) {
        logs->push_back({input.order, std::move(profile)});
      } else {
        run.add(input.order, std::move(profile));
      }
    }
  }
  const bool is_one_of_each = compiled.size() == 1 && ran.size() == 1;
  if (is_one_of_each && qaic::join_compiler_log(ran[0].profile, compiled[0].profile)) {
    return run.add(std::min(ran[0].order, compiled[0].order), std::move(ran[0].profile));
  }
  for (std::vector<Log>* logs : {&compiled, &ran}) {
    for (Log& log : *logs) run.add(log.order, std::move(log.profile));
  }
}

}  // namespace npuscope
