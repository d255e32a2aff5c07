// Pages in Python: a tree of sections with facts and tables, and the forms that the program prints.
#include <pybind11/stl.h>

#include <limits>

#include "base/text.hpp"
#include "bindings.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "tables.hpp"

namespace npuscope::python {
namespace {

using report::Document;
using report::Section;

// A section, and the page that it is of.
struct SectionHandle {
  std::shared_ptr<const Page> page;
  const Section* section;
};

Document with_rows(const Page& page, std::size_t rows) {
  Document document = page.document;
  if (rows > 0) report::cut_tables(document.sections, rows);
  return document;
}

std::string text_of_page(const Page& page, std::size_t width, std::size_t rows) {
  return valid_utf8(report::document_text(with_rows(page, rows), width));
}

// What the program prints with --json, without what is said of the program.
std::string json_of_page(const Page& page) {
  if (page.document.profile == nullptr) return report::document_json(page.document, page.notes);
  return report::documents_json({&page.document, 1}, page.notes);
}

std::vector<SectionHandle> handles_of(const std::shared_ptr<const Page>& page,
                                      const std::vector<Section>& sections) {
  std::vector<SectionHandle> handles;
  for (const Section& section : sections) handles.push_back({page, &section});
  return handles;
}

// (key, label, unit, kind, origin, value) of each.
py::list facts_of(const SectionHandle& handle) {
  py::list facts;
  for (const report::Fact& fact : handle.section->facts) {
    const ColumnHead head = head_of(handle.page->document.profile, fact.field);
    facts.append(py::make_tuple(head.name, head.label, head.unit, head.kind, head.origin,
                                to_python(fact.value)));
  }
  return facts;
}

py::object table_of_section(const SectionHandle& handle) {
  const Section& section = *handle.section;
  if (section.table.fields.empty()) return py::none();
  return py::cast(TableHandle{unlocked([&] {
    return std::make_shared<const Table>(
        table_of(section.table, handle.page->document.profile, section.key));
  })});
}

bool shows(const report::Table& table, std::size_t field) {
  if (table.fields[field].label.empty()) return false;
  if (!table.fields[field].only_if_known) return true;
  return std::ranges::any_of(table.rows, [&](const auto& row) { return row[field].known(); });
}

// (label, stands left, texts) of each column that text shows, of the first rows.
py::list shown_of(const SectionHandle& handle, std::size_t rows) {
  const report::Table& table = handle.section->table;
  py::list columns;
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    if (!shows(table, i)) continue;
    py::list texts;
    for (std::size_t row = 0; row < std::min(rows, table.rows.size()); ++row) {
      texts.append(valid_utf8(
          report::value_text(handle.page->document.profile, table.fields[i], table.rows[row][i])));
    }
    columns.append(
        py::make_tuple(table.fields[i].label, report::stands_left(table.fields[i]), texts));
  }
  return columns;
}

// (label, text) of each fact that text shows.
py::list shown_facts_of(const SectionHandle& handle) {
  py::list facts;
  for (const report::Fact& fact : handle.section->facts) {
    if (fact.field.label.empty() || !fact.value.known()) continue;
    facts.append(py::make_tuple(
        fact.field.label,
        valid_utf8(report::value_text(handle.page->document.profile, fact.field, fact.value))));
  }
  return facts;
}

void bind_sections(py::module_& module) {
  py::class_<SectionHandle>(module, "Section")
      .def_property_readonly("key", [](const SectionHandle& h) { return h.section->key; })
      .def_property_readonly("title",
                             [](const SectionHandle& h) { return valid_utf8(h.section->title); })
      .def_property_readonly("in_list", [](const SectionHandle& h) { return h.section->in_list; })
      .def_property_readonly("facts", facts_of)
      .def_property_readonly("table", table_of_section)
      .def_property_readonly("row_count",
                             [](const SectionHandle& h) {
                               const report::Table& table = h.section->table;
                               return std::max<std::uint64_t>(table.row_count, table.rows.size());
                             })
      .def_property_readonly("remarks",
                             [](const SectionHandle& h) {
                               std::vector<std::string> remarks = h.section->remarks;
                               for (std::string& each : remarks) each = valid_utf8(each);
                               return remarks;
                             })
      .def_property_readonly(
          "parts", [](const SectionHandle& h) { return handles_of(h.page, h.section->parts); })
      .def("shown", shown_of)
      .def("shown_facts", shown_facts_of)
      // As a page of its own.
      .def("text", [](const SectionHandle& h, std::size_t width, std::size_t rows) {
        return unlocked([&] {
          Page page{h.page->command, {}, {}, h.page->owner};
          page.document.profile = h.page->document.profile;
          page.document.selection = h.page->document.selection;
          page.document.scope = h.page->document.scope;
          page.document.sections = {*h.section};
          return text_of_page(page, width, rows);
        });
      });
}

}  // namespace

void bind_pages(py::module_& module) {
  bind_sections(module);
  py::class_<Page, std::shared_ptr<Page>>(module, "Page")
      .def_property_readonly("command", [](const Page& page) { return page.command; })
      .def_property_readonly("sections",
                             [](const std::shared_ptr<Page>& page) {
                               return handles_of(page, page->document.sections);
                             })
      .def("text",
           [](const Page& page, std::size_t width, std::size_t rows) {
             return unlocked([&] { return text_of_page(page, width, rows); });
           })
      .def("json", [](const Page& page) { return unlocked([&] { return json_of_page(page); }); })
      .def("csv",
           [](const Page& page, const std::string& table) {
             return unlocked([&] {
               return taken(report::documents_csv({&page.document, 1}, table));
             });
           })
      .def("markdown", [](const Page& page) {
        return unlocked([&] { return report::documents_markdown({&page.document, 1}); });
      });
}

}  // namespace npuscope::python
