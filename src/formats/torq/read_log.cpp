#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "base/text.hpp"
#include "base/try.hpp"
#include "formats/torq/fields.hpp"
#include "formats/torq/runtime_log.hpp"
#include "profile/line_reader.hpp"

namespace npuscope::torq {
namespace {

constexpr std::array<std::string_view, 5> dispatch_columns{"dispatch_name", "invocation_id",
                                                           "action_id", "timestamp_us", "event"};
constexpr std::array<std::string_view, 5> host_columns{"actionIndex", "elapsed_time(us)",
                                                       "timestamp(us)", "event", "location"};
constexpr std::array<std::string_view, 4> job_columns{"id", "time_since_open", "time_since_start",
                                                      "location"};

std::vector<std::string_view> names_in(std::string_view header, char separator) {
  std::vector<std::string_view> names;
  header = without_byte_order_mark(header);
  while (!header.empty() && names.size() < 256) {
    names.push_back(trimmed(take_first(header, separator)));
  }
  return names;
}

// By the columns that only one form has; whether all are there is another question.
LogKind kind_of_header(std::string_view header) {
  const auto names = names_in(header, ',');
  const auto has = [&](std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto dispatch = std::count_if(dispatch_columns.begin(), dispatch_columns.end(), has);
  if (dispatch >= 3) return LogKind::dispatches;
  if (has("actionIndex") && !has("bytes")) return LogKind::host;
  const auto jobs = names_in(header, ';');
  const bool is_jobs = std::equal(jobs.begin(), jobs.end(), job_columns.begin(), job_columns.end());
  return is_jobs ? LogKind::nss_jobs : LogKind::none;
}

class LogReader {
 public:
  LogReader(ByteSource& source, RuntimeLog& log, const TakeEvent& take_event,
            const ProgressReport& progress)
      : source_(source),
        log_(log),
        take_event_(take_event),
        progress_(progress),
        notes_(source.name()) {
    log_.name = source.name();
  }

  Status run();

 private:
  using Columns = std::array<std::size_t, dispatch_columns.size()>;

  Status take_header(std::string_view line);
  void take(std::string_view line, std::uint64_t offset);
  bool take_dispatch_row(std::string_view line, std::uint64_t offset);
  bool take_host_row(std::string_view line);
  bool take_job_row(std::string_view line);
  bool take_fields(std::span<const std::string_view> fields, std::uint64_t offset);
  bool split_event(std::string_view text, LogEvent& event, std::uint64_t offset);
  StringId dispatch_named(std::string_view name);
  StringId type_named(std::string_view name);
  void add_check();

  void hand_on(const LogEvent& event) {
    if (auto status = take_event_(event); !status && status_) status_ = std::move(status);
  }

  ByteSource& source_;
  RuntimeLog& log_;
  const TakeEvent& take_event_;
  const ProgressReport& progress_;
  CountedNotes notes_;
  Status status_;  // of take_event_
  Columns place_{};
  std::size_t columns_ = 0;
  // Neighbouring rows are mostly of one dispatch, and their types few.
  StringId last_dispatch_{};
  std::vector<StringId> types_;
  std::optional<std::int64_t> first_us_;
  std::uint64_t elapsed_right_ = 0, elapsed_wrong_ = 0;
  std::int32_t last_begun_ = std::numeric_limits<std::int32_t>::min();
  std::int64_t runs_ = 0;
};

Status LogReader::run() {
  LineReader lines(source_, notes_, table_limits);
  std::string_view line;
  std::uint64_t count = 0;
  constexpr std::uint64_t lines_a_report = 1 << 16;
  while (lines.next(line)) {
    line = trimmed(line);
    if (line.empty()) continue;
    if (log_.kind == LogKind::none) {
      TRY(take_header(line));
      continue;
    }
    take(line, lines.offset());
    if (!status_) return status_;
    if (progress_ && ++count % lines_a_report == 0) {
      progress_(source_.file_bytes_read(), source_.file_bytes());
    }
  }
  if (log_.kind == LogKind::none) {
    if (lines.error()) return tl::unexpected(*lines.error());
    return input_error("{}: is empty; was the runtime ended before it wrote its log?",
                       source_.name());
  }
  if (log_.kind == LogKind::host) add_check();
  notes_.append_to(log_.notes);
  return {};
}

Status LogReader::take_header(std::string_view line) {
  if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff")) {
    return input_error("{}: text in UTF-16, as PowerShell's > writes; save it as UTF-8",
                       source_.name());
  }
  log_.kind = kind_of_header(line);
  if (log_.kind == LogKind::none) {
    return input_error("{}: begins with '{}', not with the header of a Torq runtime log; check it",
                       source_.name(), printable(line.substr(0, 60)));
  }
  const auto names = names_in(line, log_.kind == LogKind::nss_jobs ? ';' : ',');
  columns_ = names.size();
  if (log_.kind == LogKind::nss_jobs) return {};
  const auto& wanted = log_.kind == LogKind::dispatches ? dispatch_columns : host_columns;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), wanted[i]);
    if (found == names.end()) {
      return input_error("{}: the header has no column {}; the log was cut or edited",
                         source_.name(), wanted[i]);
    }
    place_[i] = std::size_t(found - names.begin());
  }
  if (log_.kind == LogKind::host && !std::is_sorted(place_.begin(), place_.end())) {
    return input_error("{}: the columns are not in the order in which the runtime writes them",
                       source_.name());
  }
  return {};
}

void LogReader::take(std::string_view line, std::uint64_t offset) {
  bool taken = false;
  switch (log_.kind) {
    case LogKind::dispatches: taken = take_dispatch_row(line, offset); break;
    case LogKind::host: taken = take_host_row(line); break;
    case LogKind::nss_jobs: taken = take_job_row(line); break;
    case LogKind::none: break;
  }
  if (!taken) {
    notes_.add(Severity::warning, offset,
               "rows with too few columns, or numbers that are none; left out");
  }
}

bool is_action(std::optional<std::int64_t> number) {
  return number && *number >= no_action && *number < std::numeric_limits<std::int32_t>::max();
}

bool LogReader::take_dispatch_row(std::string_view line, std::uint64_t offset) {
  std::array<std::string_view, dispatch_columns.size()> fields;
  std::size_t found = 0;
  if (line.find('"') != line.npos) {
    const auto all = fields_of(line, ',');
    for (std::size_t i = 0; i < place_.size(); ++i) {
      if (place_[i] >= all.size()) return false;
      fields[i] = all[place_[i]];
    }
    return take_fields(fields, offset);
  }
  // What take_first() leaves behind the last field is of nowhere.
  for (std::size_t column = 0; column < columns_ && line.data() != nullptr; ++column) {
    const std::string_view field = take_first(line);
    for (std::size_t i = 0; i < place_.size(); ++i) {
      if (place_[i] != column) continue;
      fields[i] = field;
      ++found;
    }
  }
  return found == fields.size() && take_fields(fields, offset);
}

// In the order of dispatch_columns.
bool LogReader::take_fields(std::span<const std::string_view> fields, std::uint64_t offset) {
  const auto invocation = whole_number(fields[1]), action = whole_number(fields[2]),
             time = whole_number(fields[3]);
  if (!invocation || !is_action(action) || !time) return false;
  LogEvent event{.time_us = *time, .invocation = *invocation, .action = std::int32_t(*action)};
  event.dispatch = dispatch_named(trimmed(fields[0]));
  if (split_event(trimmed(fields[4]), event, offset)) hand_on(event);
  return true;
}

// "NSS_START_END" is the end of NSS_START.
bool LogReader::split_event(std::string_view text, LogEvent& event, std::uint64_t offset) {
  const auto cut = text.rfind('_');
  const std::string_view suffix = cut == text.npos ? std::string_view() : text.substr(cut + 1);
  const bool has_edge = suffix == "BEGIN" || suffix == "END";
  if (!has_edge && !log_.strings[event.dispatch].starts_with("__HAL")) {
    notes_.add(Severity::warning, offset, "events that neither begin nor end; left out");
    return false;
  }
  event.edge = !has_edge ? LogEdge::instant : suffix == "BEGIN" ? LogEdge::begin : LogEdge::end;
  event.type = type_named(has_edge ? text.substr(0, cut) : text);
  return true;
}

StringId LogReader::dispatch_named(std::string_view name) {
  if (log_.strings[last_dispatch_] != name) last_dispatch_ = log_.strings.intern(name);
  return last_dispatch_;
}

StringId LogReader::type_named(std::string_view name) {
  for (const StringId type : types_) {
    if (log_.strings[type] == name) return type;
  }
  const StringId type = log_.strings.intern(name);
  constexpr std::size_t max_remembered = 40;
  if (types_.size() < max_remembered) types_.push_back(type);
  return type;
}

// X_START and X_END are a pair; but NSS_START ends with NSS_START_END.
bool LogReader::take_host_row(std::string_view rest) {
  const auto action = whole_number(take_first(rest)), elapsed = whole_number(take_first(rest)),
             time = whole_number(take_first(rest));
  const std::string_view text = trimmed(take_first(rest));
  if (!is_action(action) || !elapsed || !time || text.empty()) return false;
  LogEvent event{.time_us = *time, .action = std::int32_t(*action)};
  if (text == "NSS_START") {
    event.type = type_named(text);
  } else if (text.ends_with("_END")) {
    event.type = type_named(text.substr(0, text.size() - 4));
    event.edge = LogEdge::end;
  } else if (text.ends_with("_START")) {
    event.type = type_named(text.substr(0, text.size() - 6));
  } else {
    return false;
  }
  if (event.edge == LogEdge::begin) {
    if (event.action <= last_begun_) ++runs_;
    last_begun_ = event.action;
  }
  event.invocation = runs_;
  event.location = log_.strings.intern(unquoted(trimmed(rest)));
  if (!first_us_) first_us_ = *time;
  std::int64_t since_first = 0;
  const bool right =
      !__builtin_sub_overflow(*time, *first_us_, &since_first) && since_first == *elapsed;
  right ? ++elapsed_right_ : ++elapsed_wrong_;
  hand_on(event);
  return true;
}

// A job ended time_since_open after the device was opened, and took time_since_start.
bool LogReader::take_job_row(std::string_view rest) {
  const auto job = whole_number(take_first(rest, ';')),
             since_open = whole_number(take_first(rest, ';')),
             took = whole_number(take_first(rest, ';'));
  std::int64_t begin = 0;
  if (!is_action(job) || !since_open || !took ||
      __builtin_sub_overflow(*since_open, *took, &begin)) {
    return false;
  }
  LogEvent event{.time_us = begin, .action = std::int32_t(*job)};
  event.type = type_named("NSS_JOB");
  event.location = log_.strings.intern(unquoted(trimmed(rest)));
  if (event.action <= last_begun_) ++runs_;
  last_begun_ = event.action;
  event.invocation = runs_;
  hand_on(event);
  event.time_us = *since_open;
  event.edge = LogEdge::end;
  hand_on(event);
  return true;
}

void LogReader::add_check() {
  log_.checks.push_back({"elapsed_time = timestamp - the first timestamp",
                         elapsed_wrong_ == 0 ? Check::Outcome::passed : Check::Outcome::failed,
                         fmt::format("{} of {} rows", thousands(elapsed_right_),
                                     thousands(elapsed_right_ + elapsed_wrong_))});
}

}  // namespace

LogKind recognise_log(std::string_view head) {
  while (!head.empty()) {
    const std::string_view line = trimmed(take_first(head, '\n'));
    if (!line.empty()) return kind_of_header(line);
  }
  return LogKind::none;
}

Status read_log(ByteSource& source, RuntimeLog& log, const TakeEvent& take,
                const ProgressReport& progress) {
  return LogReader(source, log, take, progress).run();
}

Result<RuntimeLog> read_log(ByteSource& source, const ProgressReport& progress) {
  RuntimeLog log;
  const auto keep = [&](const LogEvent& event) {
    log.events.push_back(event);
    return Status{};
  };
  TRY(read_log(source, log, keep, progress));
  return log;
}

}  // namespace npuscope::torq
