#include "formats/chrome/parse/row_buffers.hpp"

#include <algorithm>

namespace npuscope::chrome {
namespace {

template <class Row, class Value>
void take_column(const std::vector<Row>& rows, Value Row::*member, Column<Value>& column) {
  column.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) column[i] = rows[i].*member;
}

template <class Row>
void take_arguments(RowBuffer<Row>& from, Arguments& to) {
  const bool any = std::any_of(from.rows.begin(), from.rows.end(),
                               [](const Row& row) { return row.arguments.shape != 0; });
  if (!any) return;
  to.shape.resize(from.rows.size());
  to.first.resize(from.rows.size());
  for (std::size_t i = 0; i < from.rows.size(); ++i) {
    to.shape[i] = from.rows[i].arguments.shape;
    to.first[i] = from.rows[i].arguments.first;
  }
  to.values.assign(from.values.begin(), from.values.end());
}

template <class Row>
bool any_category(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const Row& row) { return row.category != StringId::empty; });
}

}  // namespace

void take_rows(RowBuffer<SliceRow>& from, Slices& to) {
  take_column(from.rows, &SliceRow::thread, to.thread);
  take_column(from.rows, &SliceRow::name, to.name);
  if (any_category(from.rows)) take_column(from.rows, &SliceRow::category, to.category);
  take_column(from.rows, &SliceRow::start, to.start);
  take_column(from.rows, &SliceRow::duration, to.duration);
  take_arguments(from, to.arguments);
  from.clear();
}

void take_rows(RowBuffer<MarkRow>& from, Marks& to) {
  take_column(from.rows, &MarkRow::phase, to.phase);
  take_column(from.rows, &MarkRow::thread, to.thread);
  take_column(from.rows, &MarkRow::name, to.name);
  take_column(from.rows, &MarkRow::category, to.category);
  take_column(from.rows, &MarkRow::time, to.time);
  take_column(from.rows, &MarkRow::id, to.id);
  take_column(from.rows, &MarkRow::binding, to.binding);
  take_column(from.rows, &MarkRow::slices_before, to.slices_before);
  take_arguments(from, to.arguments);
  from.clear();
}

void take_rows(RowBuffer<EndRow>& from, Ends& to) {
  take_column(from.rows, &EndRow::thread, to.thread);
  take_column(from.rows, &EndRow::name, to.name);
  take_column(from.rows, &EndRow::slices_before, to.slices_before);
  take_column(from.rows, &EndRow::time, to.time);
  take_arguments(from, to.arguments);
  from.clear();
}

}  // namespace npuscope::chrome
