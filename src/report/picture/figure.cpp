#include "report/picture/figure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "report/document/provenance.hpp"
#include "report/document/text_table.hpp"

namespace npuscope::report {
namespace {

constexpr std::array batlow{"#011959", "#103F60", "#1C5A62", "#3C6D56", "#687B3E",
                            "#9D892B", "#D29343", "#F8A17B", "#FDB7BC", "#FACCFA"};

}  // namespace

const char* engine_colour(Engine engine) {
  switch (engine) {
    case Engine::hmx: return "#d0480c";
    case Engine::hvx: return "#0b6fb8";
    case Engine::dma_issue: return "#8f5bb5";
    case Engine::dma: return "#0d8f6f";
    case Engine::compute: return "#b8860b";
    case Engine::communication: return "#a8417c";
    case Engine::host: return "#5d7083";
    case Engine::device:
    case Engine::core: return "#74808c";
    case Engine::process: return "#66788a";
    case Engine::thread: return "#51799c";
    case Engine::other:
    case Engine::none: return "#858d95";
  }
  return "#858d95";
}

const char* shade(std::size_t number, std::size_t count) {
  if (count <= 1) return batlow[2];
  return batlow[std::min(number, count - 1) * (batlow.size() - 1) / (count - 1)];
}

std::string heat_colour(double share) {
  constexpr std::array hottest{0xf2, 0x70, 0x3a};
  // By the root, so that a few per cent are seen.
  const double part = std::sqrt(std::clamp(share, 0.0, 1.0));
  const auto mixed = [&](int full) { return int(std::lround(255 + (full - 255) * part)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(hottest[0]), mixed(hottest[1]),
                     mixed(hottest[2]));
}

std::string svg_escaped(std::string_view text) {
  std::string out;
  const std::string shown = printable(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    // U+FFFE and U+FFFF are no characters of XML.
    if (shown.compare(i, 2, "\xEF\xBF") == 0 && i + 2 < shown.size() &&
        static_cast<unsigned char>(shown[i + 2]) >= 0xBE) {
      out += "\xEF\xBF\xBD";
      i += 2;
      continue;
    }
    switch (shown[i]) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += shown[i];
    }
  }
  return out;
}

std::string svg_number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

namespace {

constexpr double letter_width = 0.6;  // of a letter's height; what stands in for Helvetica is wider
constexpr double line_height = 16;

const char* word_of(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

std::string tooltip_element(std::string_view tooltip) {
  return tooltip.empty() ? "" : fmt::format("<title>{}</title>", svg_escaped(tooltip));
}

}  // namespace

double text_width(std::string_view text, double size) {
  return double(columns_of(text)) * letter_width * size;
}

std::string fitting_text(std::string_view text, double room, double size) {
  constexpr std::size_t min = 3;
  const auto letters = std::size_t(std::max(0.0, room / (letter_width * size)));
  return shortened(printable(text), std::max(min, letters));
}

Figure::Figure(double width, const FigureHeading& heading) : width_(width), title_(heading.title) {
  constexpr double title_size = 17;
  const double room = width - 2 * figure_margin;
  if (!heading.title.empty()) {
    y_ += title_size;
    text(figure_margin, y_ - 3, Anchor::start, fitting_text(heading.title, room, title_size),
         {.size = title_size, .bold = true});
  }
  for (const std::string& line : heading.lines) add_lines(line, 12);
  y_ += figure_margin;
}

void Figure::text(double x, double y, Anchor anchor, std::string_view content,
                  const TextStyle& style) {
  const std::string place =
      style.upwards
          ? fmt::format("transform=\"translate({} {}) rotate(-90)\"", svg_number(x), svg_number(y))
          : fmt::format("x=\"{}\" y=\"{}\"", svg_number(x), svg_number(y));
  body_ += fmt::format(
      "<text {} font-size=\"{}\" fill=\"{}\"{}{}>{}{}</text>\n", place, svg_number(style.size),
      style.colour, style.bold ? " font-weight=\"bold\"" : "",
      anchor == Anchor::start ? "" : fmt::format(" text-anchor=\"{}\"", word_of(anchor)),
      svg_escaped(content), tooltip_element(style.tooltip));
}

void Figure::element(std::string_view name, std::string_view attributes, std::string_view tooltip) {
  if (tooltip.empty()) {
    body_ += fmt::format("<{} {}/>\n", name, attributes);
  } else {
    body_ += fmt::format("<{0} {1}>{2}</{0}>\n", name, attributes, tooltip_element(tooltip));
  }
}

void Figure::rect(const Box& box, std::string_view colour, std::string_view tooltip) {
  element("rect",
          fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"", svg_number(box.x),
                      svg_number(box.y), svg_number(box.width), svg_number(box.height), colour),
          tooltip);
}

void Figure::circle(double x, double y, double radius, std::string_view colour,
                    std::string_view tooltip) {
  element("circle",
          fmt::format("cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" fill-opacity=\"0.65\" "
                      "stroke=\"{}\"",
                      svg_number(x), svg_number(y), svg_number(radius), colour, colour),
          tooltip);
}

void Figure::filled_path(std::string_view path, std::string_view colour, std::string_view tooltip) {
  element("path", fmt::format("fill=\"{}\" d=\"{}\"", colour, path), tooltip);
}

void Figure::line(std::string_view path, std::string_view colour, double thickness,
                  std::string_view dash) {
  const std::string dashes =
      dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", svg_escaped(dash));
  element("path",
          fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{} d=\"{}\"", colour,
                      svg_number(thickness), dashes, path),
          {});
}

void Figure::add_legend(const std::vector<LegendEntry>& entries) {
  constexpr double swatch = 12, after_swatch = 5, gap = 18, longest_text = 240;
  if (entries.empty()) return;
  const double right = width_ - figure_margin;
  double x = figure_margin;
  y_ += line_height;
  for (const LegendEntry& entry : entries) {
    const double room = std::min(longest_text, right - figure_margin - swatch - after_swatch);
    const std::string name = fitting_text(entry.text, room);
    const double taken = swatch + after_swatch + text_width(name);
    if (x > figure_margin && x + taken > right) {
      x = figure_margin;
      y_ += line_height + 2;
    }
    const double height = entry.thin ? 3 : swatch;
    rect({x, y_ - 4 - height / 2, swatch, height}, entry.colour);
    text(x + swatch + after_swatch, y_, Anchor::start, name);
    x += taken + gap;
  }
  y_ += line_height / 2;
}

void Figure::add_plot_title(std::string_view title, std::string_view about) {
  constexpr double size = 13;
  const double room = width_ - 2 * figure_margin;
  const std::string name = fitting_text(title, room, size);
  y_ += size;
  text(figure_margin, y_, Anchor::start, name, {.size = size, .bold = true});
  const double left = room - text_width(name, size) - figure_margin;
  if (!about.empty() && left > 0) {
    text(width_ - figure_margin, y_, Anchor::end, fitting_text(about, left),
         {.colour = quiet_colour});
  }
  y_ += line_height;
}

void Figure::add_remark(std::string_view sentence) { add_lines(sentence, 11); }

void Figure::add_lines(std::string_view sentence, double size) {
  const double room = width_ - 2 * figure_margin;
  std::string line;
  const auto flush = [&] {
    if (line.empty()) return;
    y_ += line_height;
    text(figure_margin, y_, Anchor::start, line, {.size = size, .colour = quiet_colour});
    line.clear();
  };
  for (std::size_t begin = 0; begin < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', begin), sentence.size());
    const std::string word = fitting_text(sentence.substr(begin, end - begin), room, size);
    if (!line.empty() && text_width(line + ' ' + word, size) > room) flush();
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  flush();
}

std::string Figure::svg() const {
  const std::string width = svg_number(width_), height = svg_number(y_ + figure_margin / 2);
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, sans-serif\">\n",
      width, height);
  if (!title_.empty()) out += fmt::format("<title>{}</title>\n", svg_escaped(title_));
  out += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"#ffffff\"/>\n", width, height);
  return out + body_ + "</svg>\n";
}

FigureHeading picture_heading(std::string title, const Profile& profile,
                              const PictureFacts& about) {
  std::vector<std::string> said = about.facts;
  for (const std::string& part : {about.scope, about.selection}) {
    if (!part.empty()) said.push_back(part);
  }
  return {std::move(title),
          {what_was_profiled(profile), fmt::format("{}", fmt::join(said, " · "))}};
}

}  // namespace npuscope::report
