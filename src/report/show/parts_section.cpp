#include "analysis/ops/model_parts.hpp"
#include "report/ops/op_column_name.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {

using namespace analysis;

Section model_parts_section(const Analysis& analysis) {
  const OpTable ops = analysis.ops(options_of_parts());
  const auto parts = model_parts(analysis.profile(), ops);
  if (!parts) return {};
  const OpColumn& column = ops.columns[ops.ranked_by];
  const bool is_time = column.kind != MeasureKind::count;
  Section section{.key = "model_parts", .title = "PARTS OF THE MODEL, by " + ops.ranked_by_name};
  section.facts = {{{"rules", "rules", Format::name}, parts->rules},
                   {{"explained_share", "", Format::share}, parts->explained}};
  section.table.fields = {{"part", "part", Format::name},
                          {"value", ops.ranked_by_name, is_time ? Format::ticks : Format::number},
                          {"share", "of all", Format::share}};
  section.table.fields[1].clock = column.clock;
  for (const ModelPart& part : parts->parts) {
    section.table.rows.push_back({part.name, part.value, part.share});
  }
  return section;
}

}  // namespace npuscope::report
