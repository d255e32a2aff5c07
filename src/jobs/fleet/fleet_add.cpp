#include "jobs/fleet/fleet_add.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "fleet/facts.hpp"
#include "fleet/identity.hpp"
#include "fleet/schema.hpp"
#include "formats/open_inputs.hpp"

namespace npuscope::jobs {
namespace {

namespace fs = std::filesystem;

// Rows that wait for one transaction: some tens of megabytes.
constexpr std::size_t rows_of_batch = 200'000;
// Sets that are open at once: so many, and so many bytes of files, or one larger one alone.
constexpr std::size_t sets_at_once = 16;
constexpr std::uint64_t bytes_at_once = 64 << 20;

std::int64_t time_of_files(const std::vector<std::string>& files) {
  std::int64_t latest = 0;
  for (const std::string& file : files) {
    std::error_code unknown;
    const auto written = fs::last_write_time(file, unknown);
    if (unknown) continue;
    const auto time = std::chrono::file_clock::to_sys(written).time_since_epoch();
    latest = std::max<std::int64_t>(latest,
                                    std::chrono::duration_cast<std::chrono::seconds>(time).count());
  }
  return latest;
}

struct OpenedSet {
  fleet::Batch batch;
  std::vector<Note> notes;
  std::uint64_t damaged = 0;
  bool is_open = false;
};

OpenedSet open_set(const FileSet& set, const AddRequest& request) {
  OpenedSet opened;
  std::vector<fs::path> paths = set.paths;
  paths.insert(paths.end(), request.with.begin(), request.with.end());
  OpenOptions options = request.open;
  options.progress = {};
  auto profiles = open_profiles(paths, options);
  const std::string name = set.paths.front().string();
  if (!profiles) {
    std::string_view message = without_file(profiles.error().message, name);
    const Severity severity = set.named ? Severity::error : Severity::warning;
    opened.notes.push_back({severity, name, 0, std::string(message), 1});
    return opened;
  }
  opened.notes = std::move(profiles->notes);
  fleet::ContentHashes hashes;
  std::map<std::vector<std::string>, std::size_t> places;
  for (const Profile& profile : profiles->profiles) {
    std::vector<std::string> files = profile.provenance.files;
    std::sort(files.begin(), files.end());
    auto content = hashes.of_profile(files, places[files]++);
    if (!content) {
      opened.notes.push_back({Severity::error, name, 0, content.error().message, 1});
      continue;
    }
    opened.is_open = true;
    add_facts(profile, {std::move(*content), time_of_files(files), request.labels, request.spans},
              opened.batch);
    opened.damaged += opened.batch.runs.back().damaged;
  }
  return opened;
}

template <class Row>
void move_rows(std::vector<Row>& from, std::vector<Row>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

class Adding {
 public:
  explicit Adding(const AddRequest& request) : request_(request) {}

  Result<AddOutcome> run();

 private:
  std::size_t window_end(std::size_t begin) const;
  void take(OpenedSet&& opened);
  void take_runs(fleet::Batch&& batch);
  Status open_store();
  Status flush();

  const AddRequest& request_;
  std::vector<FileSet> sets_;
  std::unique_ptr<fleet::Store> store_;
  fleet::Batch waiting_;
  std::set<fleet::Id> in_waiting_;
  AddOutcome outcome_;
};

std::size_t Adding::window_end(std::size_t begin) const {
  std::size_t end = begin + 1;
  std::uint64_t bytes = sets_[begin].bytes;
  while (end < sets_.size() && end - begin < sets_at_once &&
         bytes + sets_[end].bytes < bytes_at_once) {
    bytes += sets_[end++].bytes;
  }
  return end;
}

void Adding::take(OpenedSet&& opened) {
  outcome_.unopened += !opened.is_open;
  outcome_.damaged += opened.damaged;
  move_rows(opened.notes, outcome_.notes);
  take_runs(std::move(opened.batch));
}

// A run that is named twice is in a batch once.
void Adding::take_runs(fleet::Batch&& batch) {
  std::unordered_set<fleet::Id> twice;
  for (const fleet::Run& run : batch.runs) {
    if (!in_waiting_.insert(run.id).second) twice.insert(run.id);
  }
  outcome_.added.known += twice.size();
  for (const fleet::Table& table : fleet::schema()) table.move(table, batch, twice, waiting_);
}

// Made when there is something to keep, so that a mistyped file leaves no empty store.
Status Adding::open_store() {
  if (store_) return {};
  TRY_AS(store, fleet::open_store(request_.store, fleet::StoreMode::make));
  store_ = std::move(*store);
  return {};
}

Status Adding::flush() {
  if (waiting_.runs.empty()) return {};
  if (const Status opened = open_store(); !opened) return opened;
  TRY_AS(added, store_->add(waiting_));
  outcome_.added.runs += added->runs;
  outcome_.added.known += added->known;
  outcome_.added.op_runs += added->op_runs;
  outcome_.added.other_tags.insert(outcome_.added.other_tags.end(), added->other_tags.begin(),
                                   added->other_tags.end());
  waiting_ = {};
  in_waiting_.clear();
  return {};
}

Result<AddOutcome> Adding::run() {
  if (fleet::store_exists(request_.store)) {
    TRY(open_store());
  }
  sets_ = file_sets(request_.files);
  outcome_.sets = sets_.size();
  for (std::size_t begin = 0; begin < sets_.size();) {
    const std::size_t end = window_end(begin);
    std::vector<OpenedSet> opened(end - begin);
    parallel_for(opened.size(),
                 [&](std::size_t i) { opened[i] = open_set(sets_[begin + i], request_); });
    for (OpenedSet& each : opened) take(std::move(each));
    if (waiting_.op_runs.size() + waiting_.spans.size() > rows_of_batch ||
        waiting_.notes.size() > rows_of_batch) {
      TRY(flush());
    }
    begin = end;
    if (request_.open.progress) request_.open.progress(begin, sets_.size());
  }
  TRY(flush());
  if (outcome_.added.runs + outcome_.added.known == 0) {
    if (outcome_.notes.empty()) return input_error("no file to add; name files or folders");
    const Note& first = outcome_.notes.front();
    return input_error("nothing to add: {}: {}", first.file, first.message);
  }
  return std::move(outcome_);
}

}  // namespace

Result<AddOutcome> add_to_fleet(const AddRequest& request) { return Adding(request).run(); }

}  // namespace npuscope::jobs
