// Profiles in Python: files in, answers out as pages and tables.
#include <pybind11/stl.h>

#include <chrono>

#include "base/text.hpp"
#include "bindings.hpp"
#include "jobs/named_tables.hpp"
#include "npuscope/analysis/run_sets.hpp"
#include "npuscope/formats/open.hpp"
#include "profile/names.hpp"
#include "questions.hpp"
#include "recordings.hpp"
#include "report/compare/diff_document.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/findings/findings_document.hpp"
#include "report/html/report_page.hpp"
#include "report/memory/memory_document.hpp"
#include "report/ops/ops_document.hpp"
#include "report/path/path_document.hpp"
#include "report/show/show.hpp"
#include "report/units/units_document.hpp"
#include "tables.hpp"

namespace npuscope::python {

void check_has_timeline(const Recording& recording) {
  const Profile& profile = recording.profile();
  if (profile.numbers == nullptr) return;
  throw Failure(
      {ErrorKind::usage,
       fmt::format("{}: a snapshot, which has the numbers that diff and show print and no "
                   "spans; name the files that it was made of",
                   report::files_text(profile))});
}

namespace {

using PagePointer = std::shared_ptr<Page>;
using Words = std::vector<std::string>;

constexpr std::size_t max_buckets = 100'000;
constexpr std::size_t all_rows = std::numeric_limits<std::size_t>::max();

// Opening -------------------------------------------------------------------------------------

// Runs of one program become one profile, which keeps what it was made of.
std::vector<ProfileHandle> joined(std::vector<Profile> profiles,
                                  const std::shared_ptr<const std::vector<Note>>& notes) {
  std::vector<const Profile*> all;
  for (const Profile& profile : profiles) all.push_back(&profile);
  const std::vector<analysis::RunSet> sets = analysis::run_sets(all);
  std::vector<std::shared_ptr<const std::vector<Profile>>> samples(sets.size());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i].profiles.size() < 2) continue;
    auto copies = std::make_shared<std::vector<Profile>>();
    for (const std::size_t run : sets[i].profiles) copies->push_back(profiles[run]);
    samples[i] = std::move(copies);
  }
  std::vector<Profile> runs = analysis::join_runs(std::move(profiles));
  std::vector<ProfileHandle> handles;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto recording =
        std::make_shared<Recording>(Recording{analysis::Analysis(std::move(runs[i])), notes});
    if (runs.size() == sets.size()) recording->samples = samples[i];
    handles.push_back({std::move(recording)});
  }
  return handles;
}

std::vector<ProfileHandle> open(const Words& files, bool keep_going, std::uint64_t max_memory,
                                const Words& roles) {
  return unlocked([&] {
    auto opened = opened_files(files, keep_going, max_memory, roles);
    return joined(std::move(opened.profiles),
                  std::make_shared<const std::vector<Note>>(std::move(opened.notes)));
  });
}

// What part is meant --------------------------------------------------------------------------

ProfileHandle select(const ProfileHandle& handle, const report::Selection& selection) {
  return unlocked([&] {
    const Recording& whole = *handle.recording;
    check_has_timeline(whole);
    auto part = taken(report::select(Profile(whole.profile()), selection, {}));
    auto made = std::make_shared<Recording>(
        Recording{analysis::Analysis(std::move(part.profile)), whole.notes});
    made->selection = whole.selection;
    if (!made->selection.empty() && !part.text.empty()) made->selection += ", ";
    made->selection += part.text;
    made->leaves_out_rows = whole.leaves_out_rows || selection.leaves_out_rows();
    made->selections = whole.selections;
    if (!selection.empty()) made->selections.push_back(selection);
    if (!selection.inference) made->samples = whole.samples;
    return ProfileHandle{std::move(made)};
  });
}

// Questions -----------------------------------------------------------------------------------

PagePointer page_of(const char* command, const ProfileHandle& handle,
                    Result<report::Document> document) {
  auto page = std::make_shared<Page>(Page{command, taken(std::move(document)), {}, {}});
  page->document.selection = handle.recording->selection;
  page->notes = *handle.recording->notes;
  page->owner = handle.recording;
  return page;
}

// An answer about a profile that has a timeline.
template <class Ask>
PagePointer asked(const char* command, const ProfileHandle& handle, Ask&& ask) {
  return unlocked([&] {
    check_has_timeline(*handle.recording);
    return page_of(command, handle, ask(handle.recording->analysis));
  });
}

report::PeakText chosen_peaks(report::PeakText peaks) {
  taken(report::choose_target(peaks));
  return peaks;
}

template <class Grouping>
std::vector<std::pair<std::string, Grouping>> named_to(Grouping last) {
  std::vector<std::pair<std::string, Grouping>> names;
  for (int i = 0; i <= int(last); ++i) names.emplace_back(name_of(Grouping(i)), Grouping(i));
  return names;
}

PagePointer ops(const ProfileHandle& handle, const std::string& by, std::size_t top,
                double min_share, const std::string& sort, const Words& columns,
                bool fold_bookkeeping, bool owners_as_written, const std::string& rules,
                const std::string& target) {
  return asked("npuscope ops", handle, [&](const analysis::Analysis& analysis) {
    report::OpsRequest request;
    request.grouping = chosen("by", by, named_to(analysis::Grouping::unit));
    request.top = rows_of(top);
    request.min_share = min_share;
    request.sort = sort;
    request.columns = columns;
    request.fold_bookkeeping = fold_bookkeeping;
    request.owners_as_written = owners_as_written;
    request.peaks = chosen_peaks({.target = target});
    std::optional<analysis::Rules> named;
    if (!rules.empty()) named = taken(jobs::named_rules(rules));
    if (named) request.rules = &*named;
    return report::ops_document(analysis, request);
  });
}

PagePointer units(const ProfileHandle& handle, const std::string& by, std::size_t top) {
  using report::UnitsBy;
  return asked("npuscope units", handle, [&](const analysis::Analysis& analysis) {
    report::UnitsRequest request;
    request.by = chosen<UnitsBy>("by", by,
                                 {{"unit", UnitsBy::unit},
                                  {"core", UnitsBy::core},
                                  {"engine", UnitsBy::engine},
                                  {"device", UnitsBy::device}});
    request.top = rows_of(top);
    return report::units_document(analysis, request);
  });
}

PagePointer path(const ProfileHandle& handle, const Words& faster, const Words& slower,
                 std::optional<std::uint32_t> inference, const std::string& by, bool vendor) {
  using analysis::Grouping;
  return asked("npuscope path", handle, [&](const analysis::Analysis& analysis) {
    report::PathDocumentOptions options;
    options.inference = inference;
    options.grouping = chosen<Grouping>(
        "by", by, {{"op", Grouping::op}, {"part", Grouping::part}, {"kind", Grouping::kind}});
    options.top = all_rows;
    options.steps = all_rows;
    if (vendor) options.vendor_segments = all_rows;
    options.faster = faster;
    options.slower = slower;
    return report::path_document(analysis, options);
  });
}

PagePointer memory(const ProfileHandle& handle, const std::string& by,
                   const report::PeakText& peaks, const std::string& model, const Words& symbols,
                   std::size_t buckets, std::size_t top) {
  using analysis::MemoryGrouping;
  return asked("npuscope memory", handle, [&](const analysis::Analysis& analysis) {
    report::MemoryRequest request;
    request.peaks = chosen_peaks(peaks);
    request.grouping = chosen<MemoryGrouping>("by", by,
                                              {{"op", MemoryGrouping::op},
                                               {"node", MemoryGrouping::node},
                                               {"kind", MemoryGrouping::kind}});
    if (!model.empty()) request.model = taken(report::macs_of_model(model, symbols));
    request.is_part = handle.recording->leaves_out_rows;
    request.top = rows_of(top);
    if (buckets > max_buckets) {
      throw Failure({ErrorKind::usage,
                     fmt::format("buckets: {} is more than {}", buckets, thousands(max_buckets))});
    }
    request.buckets = buckets > 0 ? buckets : report::buckets_that_fit(request.width);
    return report::make_memory_document(analysis, request);
  });
}

// Of files of one inference each, the one nearest their median, cut down as the profile is.
analysis::Analysis median_run(const Recording& recording, const analysis::RunSet& set) {
  Profile run = (*recording.samples)[set.nearest_median];
  for (const report::Selection& selection : recording.selections) {
    run = taken(report::select(std::move(run), selection, {})).profile;
  }
  return analysis::Analysis(std::move(run));
}

analysis::RunSet set_of(const std::vector<Profile>& samples) {
  std::vector<const Profile*> all;
  for (const Profile& run : samples) all.push_back(&run);
  return analysis::run_sets(all).front();
}

PagePointer diagnose(const ProfileHandle& handle, const std::string& rule, bool with_rest,
                     const report::PeakText& peaks) {
  return unlocked([&] {
    const Recording& recording = *handle.recording;
    check_has_timeline(recording);
    report::FindingsRequest request;
    request.peaks = chosen_peaks(peaks);
    request.rule = rule;
    request.with_rest = with_rest;
    request.is_part = recording.leaves_out_rows;
    if (!recording.samples) {
      return page_of("npuscope diagnose", handle,
                     report::make_findings_document(recording.analysis, request));
    }
    const analysis::RunSet set = set_of(*recording.samples);
    const auto run = std::make_shared<const analysis::Analysis>(median_run(recording, set));
    request.samples = &set;
    auto page = page_of("npuscope diagnose", handle, report::make_findings_document(*run, request));
    page->owner = run;
    return page;
  });
}

PagePointer show(const ProfileHandle& handle, const Words& sections, std::size_t top,
                 const std::string& target) {
  return unlocked([&] {
    const Recording& recording = *handle.recording;
    if (recording.profile().numbers) {
      return page_of("npuscope show", handle, report::snapshot_document(recording.profile()));
    }
    report::ShowRequest request;
    request.sections = sections;
    request.top = rows_of(top);
    request.leaves_out_rows = recording.leaves_out_rows;
    request.is_part = recording.is_part();
    request.peaks = chosen_peaks({.target = target});
    return page_of("npuscope show", handle, report::show_document(recording.analysis, request));
  });
}

PagePointer first_page(const ProfileHandle& handle, std::size_t width) {
  return unlocked([&] {
    const Recording& recording = *handle.recording;
    const Profile& profile = recording.profile();
    if (profile.numbers) {
      return page_of("npuscope show", handle, report::snapshot_document(profile));
    }
    report::FirstPageRequest request{.width = width,
                                     .leaves_out_rows = recording.leaves_out_rows,
                                     .is_part = recording.is_part(),
                                     .files = report::files_text(profile)};
    request.peaks = chosen_peaks({});
    return page_of("npuscope show", handle, report::first_page(recording.analysis, request));
  });
}

std::string report_html(const ProfileHandle& handle, std::size_t max_spans, std::size_t top) {
  return unlocked([&] {
    const Recording& recording = *handle.recording;
    check_has_timeline(recording);
    report::ReportRequest request;
    request.arguments = {"npuscope", "report"};
    for (const std::string& file : recording.profile().provenance.files) {
      request.arguments.push_back(file);
    }
    request.limits.max_spans = max_spans;
    request.top = rows_of(top);
    request.peaks = chosen_peaks({});
    report::ReportPage page(std::move(request));
    page.add(recording.analysis, {recording.selection, recording.leaves_out_rows});
    page.add_notes(*recording.notes);
    return page.html();
  });
}

// About the profile ---------------------------------------------------------------------------

py::dict about(const ProfileHandle& handle) {
  const Recording& recording = *handle.recording;
  const Profile& profile = recording.profile();
  const Provenance& from = profile.provenance;
  const auto known = [](const std::string& text) -> py::object {
    if (text.empty()) return py::none();
    return py::str(valid_utf8(text));
  };
  py::list files;
  for (const std::string& file : from.files) files.append(valid_utf8(file));
  py::list notes;
  for (const auto* each : {&profile.notes, recording.notes.get()}) {
    for (const Note& note : *each) notes.append(valid_utf8(report::note_text(note)));
  }
  py::dict clock;
  if (index_of(profile.base_clock) < profile.clocks.size()) {
    const Clock& base = profile.clocks[index_of(profile.base_clock)];
    clock["name"] = valid_utf8(profile.text(base.name));
    clock["kind"] = stable_name(base.kind);
    clock["unit"] = report::unit_of(profile, profile.base_clock);
    clock["hertz"] = base.rate.value > 0 ? py::object(py::float_(base.rate.value)) : py::none();
  }
  py::dict all;
  all["files"] = files;
  all["format"] = known(from.format);
  all["version"] = known(from.version);
  all["device"] = known(from.device);
  all["graph"] = known(from.graph);
  all["instrumentation"] = known(from.instrumentation);
  all["inferences"] = from.inferences > 0 ? py::object(py::int_(from.inferences)) : py::none();
  all["clock"] = clock;
  all["selection"] = known(recording.selection);
  all["is_damaged"] = report::is_damaged(profile);
  all["damage"] = known(report::is_damaged(profile) ? report::damage_sentence(profile) : "");
  all["is_structure_only"] = report::is_structure_only(profile);
  all["is_snapshot"] = profile.numbers != nullptr;
  all["what"] = valid_utf8(report::what_was_profiled(profile));
  all["name"] = valid_utf8(report::files_text(profile));
  all["notes"] = notes;
  return all;
}

TableHandle table(const ProfileHandle& handle, const std::string& name) {
  return unlocked([&] {
    const auto& recording = handle.recording;
    return TableHandle{std::make_shared<const Table>(taken(
        profile_table(std::shared_ptr<const Profile>(recording, &recording->profile()), name)))};
  });
}

py::tuple query(const std::vector<std::pair<std::string, ProfileHandle>>& profiles,
                const std::string& sql, double seconds, std::uint64_t max_rows) {
  bool has_more = false;
  TableHandle rows = unlocked([&] {
    std::vector<query::NamedProfile> named;
    for (const auto& [name, handle] : profiles) {
      check_has_timeline(*handle.recording);
      named.push_back({name, &handle.recording->profile()});
    }
    return TableHandle{queried(named, sql, seconds, max_rows, has_more)};
  });
  return py::make_tuple(std::move(rows), has_more);
}

report::PeakText peaks_of(const std::string& target, const std::string& ddr,
                          const std::string& vtcm, const std::string& macs,
                          const std::string& clock) {
  return {.target = target, .ddr = ddr, .vtcm = vtcm, .macs = macs, .clock = clock};
}

}  // namespace

void bind_profiles(py::module_& module) {
  using py::arg, py::kw_only;
  py::class_<report::PeakText>(module, "Peaks")
      .def(py::init(&peaks_of), kw_only(), arg("target") = "", arg("ddr") = "", arg("vtcm") = "",
           arg("macs") = "", arg("clock") = "");
  py::class_<report::Selection>(module, "Selection")
      .def(py::init([](std::string from, std::string until, std::string unit, std::string op,
                       std::optional<std::uint32_t> core, std::optional<std::uint32_t> inference) {
        return report::Selection{
            std::move(from), std::move(until), std::move(unit), std::move(op), core, inference};
      }));
  py::class_<ProfileHandle>(module, "Profile")
      .def("about", about)
      .def("select", select)
      .def("ops", ops)
      .def("units", units)
      .def("path", path)
      .def("memory", memory)
      .def("diagnose", diagnose)
      .def("show", show)
      .def("first_page", first_page)
      .def("report_html", report_html)
      .def("table", table);
  module.def("open", open);
  module.def("query", query);
  module.def("table_names", profile_table_names);
}

}  // namespace npuscope::python
