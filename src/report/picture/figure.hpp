// A picture for a page, a slide or a paper: SVG 1.1, vectors and text only, no scripts, links or
// fonts, so that it looks the same wherever it is put. Lengths are pixels.
//
//   Figure figure(960, {"Timeline by unit", {"QNN HTP optrace · chain8"}});
//   figure.rect({40, figure.y(), 200, 14}, engine_colour(Engine::hmx), "HMX: 41.6 % busy");
//   figure.skip(20);
//   figure.add_legend({{engine_colour(Engine::hmx), "HMX"}});
//   write_file_atomically("figure.svg", as_byte_span(figure.svg()));
//
// Things are drawn from the top to the bottom; y() is where the next one begins. Names are data
// and escaped as such.
#pragma once

#include <fmt/format.h>
#include <cstddef>

#include <string>
#include <string_view>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

// Colours by meaning, the same in every picture and in the report's page
// (web/src/style/colours.css).
//
//   engine_colour(Engine::hmx)    "#d0480c", the strongest
//   shade(0, 7)                   "#011959": the first of seven things that have no colour of their
//   own heat_colour(0.4)              of a thing that took 40 % of the time
//
// Shades differ in lightness, so that they print in grey and everybody tells them apart (batlow,
// F. Crameri, Scientific colour maps, 2018).

const char* engine_colour(Engine engine);

inline constexpr const char* wait_colour = "#c3c9cf";  // light: a wait is no work
inline constexpr const char* more_colour = "#b3261e";  // of what got slower
inline constexpr const char* less_colour = "#0b7a4b";

// Of `count` things the one with this number, as far apart from one another as the map allows.
const char* shade(std::size_t number, std::size_t count);

// From white to the colour of the hottest, by a share of 0 to 1; dark text can be read on it.
std::string heat_colour(double share);

// Pieces of SVG.

// Text as the content of an element or the value of an attribute. XML takes no control characters:
// they are shown as \x1b.
std::string svg_escaped(std::string_view text);

// At most two decimals, none that are not needed: "12.5".
std::string svg_number(double value);
// Numbers in a path's commands: svg_path("M{} {}H{}", 0.5, 12, 100) is "M0.5 12H100".
template <class... Numbers>
std::string svg_path(const char* commands, Numbers... numbers) {
  return fmt::format(fmt::runtime(commands), svg_number(double(numbers))...);
}

struct FigureHeading {
  std::string title = {};
  std::vector<std::string> lines = {};  // quiet, below it; what is empty takes no room
};

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 12;
  const char* colour = "#1c2126";
  bool bold = false;
  bool upwards = false;      // turned to be read from the bottom
  std::string tooltip = {};  // empty: none
};

inline constexpr const char* quiet_colour = "#5c6670";  // of what is not the point
inline constexpr const char* grid_colour = "#d9dde1";
inline constexpr double figure_margin = 16;

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

struct LegendEntry {
  std::string colour, text;
  bool thin = false;  // drawn as a line, as waits are
};

// As wide as the text will be, about: nothing here knows the font.
double text_width(std::string_view text, double size = 12);
// Cut in the middle to what has room.
std::string fitting_text(std::string_view text, double room, double size = 12);

class Figure {
 public:
  Figure(double width, const FigureHeading& heading);

  double width() const { return width_; }
  double y() const { return y_; }
  void skip(double height) { y_ += height; }

  void text(double x, double y, Anchor anchor, std::string_view content,
            const TextStyle& style = {});
  // Without a tooltip where it is empty.
  void rect(const Box& box, std::string_view colour, std::string_view tooltip = {});
  void circle(double x, double y, double radius, std::string_view colour,
              std::string_view tooltip = {});
  void filled_path(std::string_view path, std::string_view colour, std::string_view tooltip = {});
  // `dash` as SVG has it: "6 4"; empty: a whole line.
  void line(std::string_view path, std::string_view colour, double thickness = 1,
            std::string_view dash = {});
  // In as many rows as it needs, from the left margin.
  void add_legend(const std::vector<LegendEntry>& entries);
  // What the plot below is, and at the right what is to be known of it.
  void add_plot_title(std::string_view title, std::string_view about);
  // A sentence or two in small, quiet letters.
  void add_remark(std::string_view sentence);

  // Up to y().
  std::string svg() const;

 private:
  // In as many lines as it needs.
  void add_lines(std::string_view sentence, double size);
  void element(std::string_view name, std::string_view attributes, std::string_view tooltip);

  double width_, y_ = figure_margin;
  std::string title_, body_;
};

// The heading that every picture of a profile has: what was profiled, and which inferences and
// which part of it the numbers are of, as the head of the command's page says it.
//
//   Figure figure(view.width, picture_heading("Timeline by unit", profile,
//                                             {.facts = {"wall 12.53 ms"},
//                                              .scope = scope_of_all(profile),
//                                              .selection = view.selection}));
//
//   Timeline by unit
//   Cloud AI 100 raw device statistics · 2 inferences, the first cold
//   wall 12.53 ms · all 2 inferences together · core 0

// How all pictures are asked for.
struct PictureView {
  double width = 960;          // pixels
  std::string selection = {};  // what of the profile it is; empty: all
};

struct PictureFacts {
  std::vector<std::string> facts = {};  // the picture's figures in words
  std::string scope = {};  // of which inferences they are (provenance.hpp); empty: of one
  std::string selection = {};
};

FigureHeading picture_heading(std::string title, const Profile& profile, const PictureFacts& about);

}  // namespace npuscope::report
