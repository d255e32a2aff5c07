#include "report/show/show.hpp"

#include <algorithm>

#include "base/near_names.hpp"
#include "report/document/call_section.hpp"
#include "report/document/scope.hpp"
#include "report/ops/ops_document.hpp"
#include "report/show/show_sections.hpp"
#include "report/units/units_document.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

class FullPage {
 public:
  FullPage(const Analysis& analysis, const ShowRequest& request)
      : analysis_(analysis),
        request_(request),
        top_(request.top == 0 ? ~std::size_t{0} : request.top) {}

  Result<Document> make();

 private:
  void add(Section section);
  void add_ops(Grouping grouping, const char* key);
  void add_units();
  bool wants(std::initializer_list<const char*> keys) const;

  const Analysis& analysis_;
  const ShowRequest& request_;
  std::size_t top_;
  Document document_;
  std::vector<std::string> known_;
};

// Whether any of these sections is asked for: what nobody wants to see is not worked out.
bool FullPage::wants(std::initializer_list<const char*> keys) const {
  if (request_.sections.empty()) return true;
  return std::any_of(keys.begin(), keys.end(), [&](const char* key) {
    return std::find(request_.sections.begin(), request_.sections.end(), key) !=
           request_.sections.end();
  });
}

void FullPage::add(Section section) {
  if (section.key.empty()) return;
  known_.push_back(section.key);
  if (wants({section.key.c_str()})) document_.sections.push_back(std::move(section));
}

// As `npuscope ops` has them.
void FullPage::add_ops(Grouping grouping, const char* key) {
  if (!wants({key})) return known_.push_back(key);
  OpsRequest request;
  request.grouping = grouping;
  request.top = request_.top;
  request.peaks = request_.peaks;
  auto ops = ops_document(analysis_, request);
  if (!ops || ops->sections.empty() || ops->sections.front().table.rows.empty()) return;
  Section section = std::move(ops->sections.front());
  section.key = key;
  if (grouping != Grouping::op) section.remarks.clear();  // as those of the table before
  add(std::move(section));
}

void FullPage::add_units() {
  auto units = units_document(analysis_, {.by = UnitsBy::unit, .top = request_.top});
  if (!units) return;
  for (Section& section : units->sections) {
    if (section.key == "wall") continue;  // this page has its own
    add(std::move(section));
  }
}

Result<Document> FullPage::make() {
  const Profile& profile = analysis_.profile();
  document_.profile = &profile;
  document_.scope = scope_of_all(profile);
  add(about_section(analysis_));
  if (!request_.is_part) add(latency_section(latency_of(analysis_)));
  if (analysis_.call()) add(call_section(*analysis_.call()));
  add(wall_section(analysis_, request_.leaves_out_rows));
  if (!request_.is_part) add(throughput_section(profile, request_.peaks));
  add(phases_section(analysis_, top_));
  if (wants({"findings"})) {
    add(first_findings_section(analysis_, request_.leaves_out_rows, request_.peaks));
  } else {
    known_.push_back("findings");
  }
  add(model_parts_section(analysis_));
  add_ops(Grouping::op, "ops");
  add_ops(Grouping::kind, "kinds");
  add_units();
  add(unit_numbers_section(analysis_, top_));
  add(traffic_section(analysis_));
  add(run_numbers_section(analysis_, top_));
  add(part_numbers_section(analysis_, top_));
  add(counters_section(profile, top_));
  add(checks_section(profile));
  add(notes_section(profile, top_));
  for (const std::string& key : request_.sections) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    std::string names;
    for (const std::string& name : known_) names += (names.empty() ? "" : ", ") + name;
    return usage_error("--section={}: this profile has no such section{}; it has {}", key,
                       did_you_mean(names, key), names);
  }
  return std::move(document_);
}

}  // namespace

Result<Document> show_document(const Analysis& analysis, const ShowRequest& request) {
  return FullPage(analysis, request).make();
}

}  // namespace npuscope::report
