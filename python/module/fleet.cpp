// npuscope.Fleet: a store of many runs. Each question opens it and asks what the subcommand of
// npuscope fleet asks, so that a fleet may be asked from several threads, and no file stays open.
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "fleet/place/store_place.hpp"
#include "jobs/fleet/fleet_add.hpp"
#include "questions.hpp"
#include "report/fleet/fleet_document.hpp"
#include "tables.hpp"

namespace npuscope::python {
namespace {

using Words = std::vector<std::string>;
using PagePointer = std::shared_ptr<Page>;

struct Fleet {
  std::string store;
  fleet::Choice choice;

  report::FleetHead head() const { return {fleet::store_name(store), choice.where}; }
};

// What `ask` has of the store, as a page: `print` makes its document.
template <class Ask, class Print>
PagePointer answer(const char* command, const Fleet& of, const Ask& ask, const Print& print) {
  return unlocked([&] {
    const auto store =
        taken(fleet::open_store(of.store, fleet::StoreMode::read, fleet::page_limits()));
    return std::make_shared<Page>(
        Page{command, print(of.head(), taken(ask(*store, of.choice))), {}, {}});
  });
}

PagePointer fleet_runs(const Fleet& of, std::size_t top) {
  const auto ask = [&](fleet::Store& store, const fleet::Choice& choice) {
    return fleet::list_of(store, choice, rows_of(top));
  };
  return answer("npuscope fleet ls", of, ask, report::fleet_listing_document);
}

PagePointer fleet_latency(const Fleet& of, const std::string& measure) {
  const auto ask = [&](fleet::Store& store, const fleet::Choice& choice) {
    return fleet::latency_of(store, choice, {measure});
  };
  return answer("npuscope fleet latency", of, ask, report::fleet_latency_document);
}

PagePointer fleet_ops(const Fleet& of, const std::string& measure, std::size_t top) {
  const auto ask = [&](fleet::Store& store, const fleet::Choice& choice) {
    return fleet::ops_of(store, choice, {measure, rows_of(top)});
  };
  return answer("npuscope fleet ops", of, ask, report::fleet_ops_document);
}

PagePointer fleet_findings(const Fleet& of) {
  return answer("npuscope fleet findings", of, fleet::findings_of, report::fleet_findings_document);
}

fleet::ChangeRequest changes_wanted(const std::string& measure, double max_q, double min_change) {
  fleet::ChangeRequest request;
  request.measure = measure;
  request.max_q = max_q;
  request.min_change = min_change;
  return request;
}

PagePointer fleet_diff(const Fleet& of, const std::string& a, const std::string& b,
                       const fleet::ChangeRequest& request) {
  const auto ask = [&](fleet::Store& store, const fleet::Choice& choice) {
    return fleet::compare_ops(store, choice, a, b, request);
  };
  return answer("npuscope fleet diff", of, ask, report::fleet_changes_document);
}

PagePointer fleet_change_points(const Fleet& of, const std::string& along,
                                const fleet::ChangeRequest& request) {
  const auto ask = [&](fleet::Store& store, const fleet::Choice& choice) {
    return fleet::change_points(store, choice, along, request);
  };
  return answer("npuscope fleet diff", of, ask, report::fleet_points_document);
}

PagePointer fleet_outliers(const Fleet& of, const std::string& measure, const Words& within) {
  const auto ask = [&](fleet::Store& store, const fleet::Choice& choice) {
    fleet::OutlierRequest request;
    request.measure = measure;
    request.within = within;
    return fleet::outliers_of(store, choice, request);
  };
  return answer("npuscope fleet outliers", of, ask, report::fleet_outliers_document);
}

// The page, and what could not be opened.
PagePointer add_to_fleet(const std::string& store, const Words& files, const Words& with,
                         const Words& tags, bool spans, bool keep_going, std::uint64_t max_memory) {
  return unlocked([&] {
    jobs::AddRequest request;
    request.store = store;
    request.files.assign(files.begin(), files.end());
    request.with.assign(with.begin(), with.end());
    request.labels = taken(fleet::Labels::parse(tags));
    request.spans = spans;
    request.open.source.memory_limit = max_memory;
    jobs::AddOutcome outcome = taken(jobs::add_to_fleet(request));
    if (!keep_going) check_all_opened(outcome.notes);
    return std::make_shared<Page>(
        Page{"npuscope fleet add",
             report::fleet_added_document({fleet::store_name(store), outcome.added, outcome.damaged,
                                           outcome.sets, outcome.unopened}),
             std::move(outcome.notes),
             {}});
  });
}

py::tuple query_fleet(const std::string& store, const std::string& sql, double seconds,
                      std::uint64_t max_rows) {
  bool has_more = false;
  TableHandle rows =
      unlocked([&] { return TableHandle{queried_store(store, sql, seconds, max_rows, has_more)}; });
  return py::make_tuple(std::move(rows), has_more);
}

}  // namespace

void bind_fleet(py::module_& module) {
  using py::arg, py::kw_only;
  py::class_<fleet::ChangeRequest>(module, "ChangeRequest").def(py::init(&changes_wanted));
  py::class_<Fleet>(module, "Fleet")
      .def(py::init([](std::string store, std::string where, Words by) {
        return Fleet{std::move(store), {std::move(where), std::move(by)}};
      }))
      .def("runs", &fleet_runs)
      .def("latency", &fleet_latency)
      .def("ops", &fleet_ops)
      .def("findings", &fleet_findings)
      .def("diff", &fleet_diff)
      .def("change_points", &fleet_change_points)
      .def("outliers", &fleet_outliers);
  module.def("add_to_fleet", &add_to_fleet, kw_only(), arg("store"), arg("files"), arg("with_"),
             arg("tags"), arg("spans"), arg("keep_going"), arg("max_memory"));
  module.def("query_fleet", &query_fleet);
}

}  // namespace npuscope::python
