// The compiler's log (-aic-perf-metrics), of both generations: plain bytes, or thousands separators
// and KB. Traffic is per inference unless it says first-inf.
#include <array>
#include <map>
#include <set>

#include "base/text.hpp"
#include "formats/qaic/device.hpp"
#include "formats/qaic/limits.hpp"
#include "formats/qaic/opstats/profile_rows.hpp"
#include "formats/qaic/text/read_text_parts.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::qaic {
namespace {

// "VTCMMaxSize: 8323072 B": what precedes the number and what the number is.
struct Figure {
  std::string_view label;
  std::string_view what;
  NumberQuantity quantity = NumberQuantity::count;
  NumberRole role = NumberRole::none;

  constexpr NamedNumber number() const { return {what, quantity, role}; }
};
constexpr auto in_bytes = NumberQuantity::bytes, in_macs = NumberQuantity::macs;
constexpr Figure sizes[] = {
    {"preD32 constants size", "constants before d32 conversion bytes", in_bytes},
    {"d32 constants size", "constants in d32 form bytes", in_bytes},
    {"final constants size", "final constants bytes", in_bytes},
    {"final combined specializations constants size", "constants of all specializations bytes",
     in_bytes},
    {"VTCMMaxSize", "vtcm bytes of the fullest core", in_bytes, NumberRole::vtcm_peak},
    {"StaticSharedDDRSize", "static shared ddr bytes", in_bytes},
    {"DynamicSharedDDRSize", "dynamic shared ddr bytes", in_bytes},
    {"StaticConstantsSize", "static constants bytes", in_bytes},
    {"DynamicConstantsSize", "dynamic constants bytes", in_bytes},
    {"Constants size", "constants bytes", in_bytes},
    {"constants.bin QPC section size", "constants.bin bytes", in_bytes},
    {"ELF sections size", "elf sections bytes", in_bytes},
    {"MulticastStaticVASizeMax", "multicast address space bytes", in_bytes},
};
constexpr Figure amounts[] = {
    {"Original MAC estimate", "macs of the model", in_macs},
    {"AIC HMX MAC estimate", "macs on HMX", in_macs},
    {"AIC non-HMX MAC estimate", "macs beside HMX", in_macs},
    {"MulticastTableSize", "multicast table entries"},
    {"Number of specialized kernels", "specialized kernels"},
    {"Number of shared specialized kernels", "shared specialized kernels"},
};
// Lines that say what is said elsewhere, or nothing about the program.
constexpr std::string_view idle_lines[] = {
    "Compile started", "Compiler estimated memory traffic:", "Port info:", " port", "output elts",
    "Using VTCM alg",  "Original Graph operation",
};
constexpr std::string_view told_lines[] = {"Reading ONNX Model from ", "Compiling model with ",
                                           "Generated binary is present at "};

// Each network of a program has a block with one of these; the first that comes again begins the
// next network's.
constexpr std::string_view once_a_network[] = {"Original MAC estimate:",
                                               "Original Graph operation size histogram:",
                                               "preD32 constants size:",
                                               "VTCM0Size:",
                                               "VTCMMaxSize:",
                                               "StaticSharedDDRSize:",
                                               "Compiler estimated memory traffic:"};

struct Traffic {
  std::string unit;    // host, port01, c00, total
  NamedNumber number;  // "ddr read bytes"
};

class CompilerLog {
 public:
  explicit CompilerLog(const std::string& name) : name_(name), rows_(profile_) { begin(); }

  Result<std::vector<Profile>> run(std::string_view text) {
    TextLines lines(text);
    while (const auto line = lines.next()) {
      begin_network_at(without_blanks(line->text));
      take(*line);
    }
    finish();
    if (profiles_.empty()) {
      return input_error(
          "{}: has no figures of the compiler; compile with -aic-perf-metrics and keep its output",
          name_);
    }
    ProfileRows(profiles_.front()).note_unknown(Severity::info, name_, first_unknown_, unknown_);
    return std::move(profiles_);
  }

 private:
  void begin();
  void finish();
  void begin_network_at(std::string_view text);
  void take(const TextLine& line);
  bool take_size(std::string_view line);
  bool take_count(std::string_view line);
  bool take_vtcm(std::string_view line);
  bool take_histogram(std::string_view line);
  bool take_traffic(std::string_view line);
  bool take_constant_traffic(std::string_view line);
  bool take_barriers(std::string_view line);
  bool take_purpose(std::string_view line);
  bool take_told(const TextLine& line);
  bool add_traffic(TextScanner& scanner, const std::string& what, NumberRole role);
  void add_checks();
  void check_sum(const std::string& what);
  std::optional<UnitId> unit_of(std::string_view name);
  void estimate(const NamedNumber& number, double value) {
    rows_.of_profile(number, Origin::estimated, profile_.base_clock, value);
  }

  const std::string& name_;
  std::vector<Profile> profiles_;  // of the networks before
  Profile profile_;
  ProfileRows rows_;
  std::set<std::string_view> seen_;  // of once_a_network
  UnitId device_{};
  std::map<std::string, UnitId, std::less<>> units_;
  std::map<std::string, std::map<std::string, std::uint64_t>> kilobytes_;  // by what, then by unit
  Traffic latest_{{}, ddr_read_bytes};  // what a line "constant only:" without a unit is about
  std::uint64_t histogram_so_far_ = 0;
  std::uint64_t unknown_ = 0;
  std::uint64_t first_unknown_ = 0;
};

void CompilerLog::begin() {
  profile_ = {};
  profile_.base_clock = rows_.clock("none", ClockKind::wall, Hertz{0});
  name_device(profile_.provenance);
  device_ = rows_.unit("device", Engine::device, UnitId::none);
  seen_.clear();
  units_.clear();
  kilobytes_.clear();
  latest_.unit.clear();
  histogram_so_far_ = 0;
}

void CompilerLog::finish() {
  if (profile_.measures.empty()) return;
  add_checks();
  profiles_.push_back(std::move(profile_));
}

void CompilerLog::begin_network_at(std::string_view text) {
  for (const std::string_view mark : once_a_network) {
    if (!text.starts_with(mark)) continue;
    if (seen_.contains(mark)) {
      finish();
      begin();
    }
    seen_.insert(mark);
  }
}

void CompilerLog::take(const TextLine& line) {
  const std::string_view text = without_blanks(line.text);
  if (text.empty()) return;
  for (const std::string_view idle : idle_lines) {
    if (text.starts_with(without_blanks(idle)) && text.find("traffic ") == text.npos) return;
  }
  if (take_told(line) || take_size(text) || take_count(text) || take_vtcm(text) ||
      take_histogram(text) || take_traffic(text) || take_constant_traffic(text) ||
      take_barriers(text) || take_purpose(text)) {
    return;
  }
  const bool is_name = text.find_first_of(" \t:") == text.npos;
  if (is_name && profile_.provenance.graph.empty()) {
    profile_.provenance.graph = std::string(text);
    return;
  }
  if (unknown_++ == 0) first_unknown_ = line.offset;
}

// What the compiler says in words, for the reader of the profile.
bool CompilerLog::take_told(const TextLine& line) {
  const bool warns = line.text.find("WARNING") != line.text.npos;
  bool told = warns;
  for (const std::string_view begin : told_lines) told = told || line.text.starts_with(begin);
  if (!told) return false;
  rows_.note(warns ? Severity::warning : Severity::info, name_, line.offset,
             fmt::format("the compiler says: {}", line.text.substr(0, 400)));
  return true;
}

// "12,852 MB", "8162 KB", "886016 B", "215076864 (bytes)"
std::optional<std::uint64_t> bytes_of(std::string_view text) {
  std::uint64_t value = 0;
  TextScanner scanner(text);
  if (!scanner.blanks().count(value).blanks().ok()) return std::nullopt;
  const std::string_view unit = scanner.rest();
  std::uint64_t scale = 0;
  if (unit == "B" || unit == "(bytes)") scale = 1;
  if (unit == "KB") scale = bytes_per_kilobyte;
  if (unit == "MB") scale = bytes_per_kilobyte * bytes_per_kilobyte;
  if (unit == "GB") scale = bytes_per_kilobyte * bytes_per_kilobyte * bytes_per_kilobyte;
  if (scale == 0 || value > UINT64_MAX / scale) return std::nullopt;
  return value * scale;
}

bool CompilerLog::take_size(std::string_view line) {
  for (const Figure& figure : sizes) {
    TextScanner scanner(line);
    if (!scanner.text(figure.label).text(":").ok()) continue;
    const auto size = bytes_of(scanner.rest());
    if (size) estimate(figure.number(), double(*size));
    return size.has_value();
  }
  return false;
}

bool CompilerLog::take_count(std::string_view line) {
  for (const Figure& figure : amounts) {
    std::uint64_t value = 0;
    TextScanner scanner(line);
    if (!scanner.text(figure.label).text(":").ok()) continue;
    if (!scanner.blanks().count(value).done()) return false;
    if (value > UINT64_MAX / 2) {  // seen of SDK 1.10: a negative sum printed as unsigned
      rows_.note(Severity::warning, name_, 0,
                 fmt::format("the compiler's {} overflowed ({}); left out", figure.label, value));
    } else {
      estimate(figure.number(), double(value));
    }
    return true;
  }
  return false;
}

bool CompilerLog::take_vtcm(std::string_view line) {
  std::uint64_t core = 0;
  TextScanner scanner(line);
  if (!scanner.text("VTCM").count(core).text("Size:").ok() || core >= max_cores) return false;
  const auto size = bytes_of(scanner.rest());
  const auto unit = unit_of(fmt::format("c{:02}", core));
  if (!size || !unit) return false;
  rows_.of_unit(*unit, {"vtcm bytes", in_bytes, NumberRole::vtcm_peak}, Origin::estimated,
                profile_.base_clock, double(*size));
  return true;
}

// "     output elts      op count (cumulative)": counts add up from line to line.
bool CompilerLog::take_histogram(std::string_view line) {
  std::uint64_t elements = 0, so_far = 0, percent = 0;
  TextScanner scanner(line);
  scanner.count(elements).blanks().count(so_far).blanks().count(percent).text("%");
  if (!scanner.done()) return false;
  const std::uint64_t before = so_far < histogram_so_far_ ? 0 : histogram_so_far_;
  estimate(
      {fmt::format("operators of {} output elements", thousands(elements)), NumberQuantity::count},
      double(so_far - before));
  histogram_so_far_ = so_far;
  return true;
}

std::optional<UnitId> CompilerLog::unit_of(std::string_view name) {
  if (const auto found = units_.find(name); found != units_.end()) return found->second;
  std::uint64_t number = 0;
  UnitId unit = device_;
  if (name == "host") {
    unit = rows_.unit("host", Engine::host, UnitId::none);
  } else if (TextScanner(name).text("c").count(number).done() && number < max_cores) {
    unit = rows_.unit(fmt::format("core {}", number), Engine::core, device_, std::uint32_t(number));
  } else if (TextScanner(name).text("port").count(number).done() && units_.size() < 2 * max_cores) {
    unit = rows_.unit(fmt::format("port {}", number), Engine::other, *unit_of("host"));
  } else if (name != "total") {
    return std::nullopt;
  }
  units_.emplace(std::string(name), unit);
  return unit;
}

// "read:  83957 KB (first-inf 83957 KB)"
bool CompilerLog::add_traffic(TextScanner& scanner, const std::string& what, NumberRole role) {
  const auto unit = unit_of(latest_.unit);
  std::uint64_t value = 0, first = 0;
  if (!unit || !scanner.blanks().count(value).text(" KB").ok()) return false;
  const auto add = [&](const std::string& name, NumberRole is, std::uint64_t kilobytes) {
    rows_.of_unit(*unit, {name, in_bytes, is}, Origin::estimated, profile_.base_clock,
                  double(kilobytes) * double(bytes_per_kilobyte));
    kilobytes_[name][latest_.unit] = kilobytes;
  };
  add(what, role, value);
  if (TextScanner(scanner).text(" (first-inf").blanks().count(first).text(" KB)").done()) {
    add(what + ", first inference", NumberRole::none, first);
    return true;
  }
  return scanner.done();
}

// "   c00: DDR traffic  read:      83957 KB (first-inf      83957 KB)"
bool CompilerLog::take_traffic(std::string_view line) {
  const auto colon = line.find(": ");
  if (colon == line.npos) return false;
  struct Kind {
    std::string_view label, direction;
    NamedNumber number;
  };
  constexpr Kind kinds[] = {
      {"DDR", "read", ddr_read_bytes},
      {"DDR", "write", ddr_write_bytes},
      {"MC ", "read", {"multicast read bytes", in_bytes}},
      {"MC ", "write", {"multicast write bytes", in_bytes, NumberRole::multicast_write}}};
  for (const Kind& kind : kinds) {
    TextScanner scanner(line.substr(colon + 2));
    scanner.text(kind.label).text(" traffic").blanks().text(kind.direction).text(":");
    if (!scanner.ok()) continue;
    latest_ = {std::string(line.substr(0, colon)), kind.number};
    return add_traffic(scanner, std::string(kind.number.name), kind.number.meaning.role);
  }
  return false;
}

// "constant only: 83957 KB (first-inf …)" below a core's line, or "c00: constant only: 0 KB".
bool CompilerLog::take_constant_traffic(std::string_view line) {
  const auto at = line.find("constant only:");
  if (at == line.npos || latest_.unit.empty()) return false;
  TextScanner scanner(line.substr(at));
  scanner.text("constant only:");
  const bool is_read = latest_.number.meaning.role == NumberRole::ddr_read;
  return add_traffic(scanner, std::string(latest_.number.name) + ", constants",
                     is_read ? NumberRole::ddr_read_constants : NumberRole::none);
}

bool CompilerLog::take_barriers(std::string_view line) {
  const auto blank = line.find(' ');
  if (blank == line.npos) return false;
  std::uint64_t value = 0;
  TextScanner scanner(line.substr(blank));
  if (!scanner.text(" barriers:").blanks().count(value).done()) return false;
  const auto unit = unit_of(line.substr(0, blank));
  if (!unit) return false;
  rows_.of_unit(*unit, {"barriers", NumberQuantity::count}, Origin::estimated, profile_.base_clock,
                double(value));
  return true;
}

// npuscope's own: "purpose retained state:  read  131072 KB  write  131072 KB", cores and host.
bool CompilerLog::take_purpose(std::string_view line) {
  constexpr std::string_view start = "purpose ";
  const auto colon = line.find(':');
  if (!line.starts_with(start) || colon == line.npos || unit_of("total") == std::nullopt) {
    return false;
  }
  const std::string_view purpose = line.substr(start.size(), colon - start.size());
  std::uint64_t read = 0, written = 0;
  TextScanner scanner(line.substr(colon + 1));
  scanner.blanks().text("read").blanks().count(read).text(" KB").blanks().text("write").blanks();
  if (!scanner.count(written).text(" KB").done()) return false;
  const auto add = [&](std::string_view direction, std::uint64_t kilobytes) {
    rows_.of_unit(
        *unit_of("total"), {fmt::format("ddr {} bytes for {}", direction, purpose), in_bytes},
        Origin::estimated, profile_.base_clock, double(kilobytes) * double(bytes_per_kilobyte));
  };
  add("read", read);
  add("write", written);
  return true;
}

// Totals are of host and cores; ports are parts of the host. Each figure was cut to whole KB.
void CompilerLog::check_sum(const std::string& what) {
  const auto& by_unit = kilobytes_.at(what);
  const auto total = by_unit.find("total");
  if (total == by_unit.end()) return;
  std::uint64_t sum = 0, parts = 0;
  for (const auto& [unit, kilobytes] : by_unit) {
    if (unit != "host" && unit[0] != 'c') continue;
    sum += kilobytes;
    parts += 1;
  }
  const bool fits = sum <= total->second && total->second - sum <= parts;
  profile_.checks.push_back({fmt::format("{}: host + cores = total", what),
                             fits ? Check::Outcome::passed : Check::Outcome::failed,
                             fmt::format("{} KB of {} parts, total {} KB", thousands(sum), parts,
                                         thousands(total->second))});
}

void CompilerLog::add_checks() {
  for (const auto& [what, by_unit] : kilobytes_) check_sum(what);
}

}  // namespace

Result<std::vector<Profile>> read_compiler_log(std::string_view text, const std::string& name) {
  return CompilerLog(name).run(text);
}

}  // namespace npuscope::qaic
