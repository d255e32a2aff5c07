#include "cli/flag_values.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "base/text.hpp"
#include "cli/standard_input.hpp"

namespace npuscope::cli {
namespace {

enum class Use : std::uint8_t { value, reads_file, reads_folder, writes };

struct KnownValue {
  const char* word;
  Use use = Use::value;
};

constexpr KnownValue read_file{"FILE", Use::reads_file}, read_folder{"DIR", Use::reads_folder},
    written_file{"FILE", Use::writes}, written_folder{"DIR", Use::writes};

// By the first of the long names; of what stands without a flag by its place's name.
const std::map<std::string_view, KnownValue>& known_values() {
  static const std::map<std::string_view, KnownValue> values{
      {"files", read_file},
      {"roles", read_file},
      {"gates", read_file},
      {"a", read_file},
      {"b", read_file},
      {"qpc", read_file},
      {"host-trace", read_file},
      {"expect", read_file},
      {"model", read_file},
      {"ipu-log-file", read_file},
      {"core0", read_file},
      {"core1", read_file},
      {"cc", read_file},
      {"layout", read_file},
      {"wall-time", read_file},
      {"debug", read_file},
      {"runtime", read_file},
      {"file", read_file},
      {"mdp-load-partition-config", read_file},
      {"network-specialization-config", read_file},
      {"input", {"FILE"}},
      {"input-file", {"FILE"}},
      {"custom-IO-list-file", read_file},
      {"input-dir", read_folder},
      {"test-data", read_folder},
      {"source", read_folder},
      {"output", written_file},
      {"dot", written_file},
      {"svg", written_file},
      {"mdp-dump-partition-config", written_file},
      {"torq-dump-profiling", written_file},
      {"torq_profile_host", written_file},
      {"torq_profile", written_file},
      {"output-dir", written_folder},
      {"aic-binary-dir", written_folder},
      {"aic-profiling-out-dir", written_folder},
      {"emit-dir", written_folder},
      {"write-output-dir", written_folder},
      {"ipu_log", written_folder},
      {"dump-compilation-phases-to", written_folder},
      {"torq-debug-info", written_folder},
      {"from", {"TIME"}},
      {"to", {"TIME"}},
      {"timeout", {"TIME"}},
      {"unit", {"REGEX"}},
      {"op", {"REGEX"}},
      {"around", {"REGEX"}},
      {"path", {"FROM TO"}},
      {"faster", {"CHANGE"}},
      {"slower", {"CHANGE"}},
      {"steps", {"N|all"}},
      {"rules", {"RULES"}},
      {"rule", {"RULE"}},
      {"explain", {"RULE"}},
      {"table", {"TABLE"}},
      {"section", {"SECTIONS"}},
      {"sort", {"COLUMN"}},
      {"columns", {"COLUMNS"}},
      {"min-share", {"PERCENT"}},
      {"target", {"TARGET"}},
      {"max-memory", {"SIZE"}},
      {"ddr-peak", {"RATE"}},
      {"vtcm-peak", {"RATE"}},
      {"mac-peak", {"RATE"}},
      {"clock", {"HERTZ"}},
      {"graph", {"NAME"}},
      {"expect-provider", {"NAME"}},
      {"fail-if", {"GATE"}},
      {"require", {"GATE"}},
      {"sql", {"SQL"}},
      {"store", {"STORE"}},
      {"where", {"SQL"}},
      {"where-a", {"SQL"}},
      {"where-b", {"SQL"}},
      {"along", {"COLUMN"}},
      {"within", {"COLUMNS"}},
      {"min-change", {"PERCENT"}},
      {"by", {"COLUMNS"}},
      {"tag", {"KEY=VALUE"}},
      {"with", read_file},
      {"older-than", {"AGE"}},
      {"before", {"DATE"}},
      {"as", {"NAMES"}},
      {"onnx-define-symbol", {"NAME,N"}},
      {"segments", {"GLOB"}},
      {"program", {"NAME|N"}},
      {"aic-device-id", {"LIST"}},
      {"aic-device-map", {"LIST"}},
      {"select-cores", {"LIST"}},
      {"select-devices", {"LIST"}},
      {"aic-pmu-events", {"LIST"}},
      {"aic-pmu-recipe", {"RECIPE"}},
      {"aic-hw-version", {"TEXT"}},
      {"mdts-mos", {"TEXT"}},
      {"ipu_version", {"CHIP"}},
      {"soc_version", {"CHIP"}},
      {"preset", {"PRESET"}},
      {"name", {"NAME"}}};
  return values;
}

std::string take_standard_input(std::string& name) {
  auto file = input_file(name);
  if (!file) throw file.error();  // run_program() reports it
  name = std::move(*file);
  return {};
}

std::string refuse_standard_input(const std::string& name) {
  return name == "-" ? "'-' is standard input, which is one file; name a folder" : "";
}

std::string known_name(const Flag& flag) {
  const std::string name = flag.name();
  if (name.starts_with("--")) return name.substr(2);
  return flag.place().empty() ? name.substr(1) : flag.place();
}

void name_value(Flag& flag) {
  const std::string& word = flag.value_word;
  if (word.find('|') != word.npos || word == "perfetto" || word == "qnn") return;  // its own words
  const auto known = known_values().find(known_name(flag));
  if (known == known_values().end()) return;
  flag.called(known->second.word);
  if (known->second.use == Use::reads_file) flag.check(take_standard_input);
  if (known->second.use == Use::reads_folder) flag.check(refuse_standard_input);
}

}  // namespace

FlagValue value_of(const Flag& flag) {
  FlagValue value{ValueKind::text, flag.value_word};
  if (!flag.offered.empty()) return {ValueKind::words, value.word, flag.offered};
  if (value.word == "FILE") value.kind = ValueKind::file;
  if (value.word == "DIR") value.kind = ValueKind::folder;
  std::string_view rest = value.word;
  if (rest.starts_with('[')) rest = rest.substr(1, rest.size() - 2);  // may be left out
  const bool are_words =
      rest.find('|') != rest.npos || std::all_of(rest.begin(), rest.end(), [](char c) {
        return std::islower(static_cast<unsigned char>(c)) != 0;
      });
  if (!are_words) return value;
  std::istringstream words{std::string(rest)};
  for (std::string word; std::getline(words, word, '|');) {
    const bool stands_for_others = std::all_of(word.begin(), word.end(), is_capital);
    if (!stands_for_others) value.words.push_back(word);
  }
  if (!value.words.empty()) value.kind = ValueKind::words;
  return value;
}

void name_values(Command& program) {
  for (Flag& flag : program.flags) name_value(flag);
  for (Command& command : program.commands) name_values(command);
}

}  // namespace npuscope::cli
