// Rows of spans on the canvas. All visible rows are computed as lines of pixels in one small image,
// and each line is drawn as high as its row: a frame costs one upload however many spans there are.
import type { ChosenSpans } from "../chosen";
import type { Colouring } from "../colouring";
import type { DrawnRow } from "../layout";
import { pixelOf, type Colours } from "../palette";
import { rasterPlaces, rasterRow, type ColourOf } from "../raster";
import { lowerBound } from "../times";
import type { Scale } from "../view";
import type { Surface } from "./surface";

// The first place of a list that may be seen from `time` on.
function firstSeen(row: DrawnRow["row"], places: Int32Array, time: number): number {
  return lowerBound(places, row.firstFrom(time), 0, places.length);
}

function colourIn(row: DrawnRow, colouring: Colouring, colours: Colours): ColourOf {
  const lane = colouring.laneGroup(row.engine, row.unit);
  return (span) => colours.pixels[colouring.tone(span, lane)];
}

export class LinePainter {
  private readonly canvas = document.createElement("canvas");
  private readonly context = this.canvas.getContext("2d")!;
  private image: ImageData | null = null;

  // A new image with so many lines, all transparent.
  private lines(width: number, count: number): Uint32Array {
    if (this.image === null || this.image.width !== width || this.image.height < count) {
      this.image = new ImageData(width, Math.max(count, this.image?.width === width ? 2 * this.image.height : 64));
      this.canvas.width = width;
      this.canvas.height = this.image.height;
    }
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0, 0, width * count);
    return pixels;
  }

  private copy(surface: Surface, rows: readonly DrawnRow[], top: number, width: number, alpha: number): void {
    if (this.image === null || rows.length === 0) return;
    this.context.putImageData(this.image, 0, 0, 0, 0, width, rows.length);
    const { context } = surface;
    context.imageSmoothingEnabled = false;
    context.globalAlpha = alpha;
    rows.forEach((row, i) => {
      context.drawImage(this.canvas, 0, i, width, 1, 0, row.y - top, surface.width, row.height > 4 ? row.height - 1 : row.height);
    });
    context.globalAlpha = 1;
  }

  // `faded`: other spans are highlighted.
  paint(surface: Surface, rows: readonly DrawnRow[], colouring: Colouring, colours: Colours, view: Scale, top: number, faded: boolean): void {
    const width = surface.canvas.width;
    const pixels = this.lines(width, rows.length);
    rows.forEach((row, i) => {
      rasterRow(row.row, colourIn(row, colouring, colours), { ...view, width }, pixels, i * width);
    });
    this.copy(surface, rows, top, width, faded ? 0.3 : 1);
  }

  // In their colours, or in that of `mark`.
  paintChosen(surface: Surface, rows: readonly DrawnRow[], colouring: Colouring, chosen: ChosenSpans, colours: Colours, mark: string | null,
              view: Scale, top: number): void {
    const width = surface.canvas.width;
    const pixels = this.lines(width, rows.length);
    const marked = mark === null ? 0 : pixelOf(colours.rgb(mark));
    rows.forEach((row, i) => {
      const places = chosen.placesOf(row.row);
      if (places === null) return;
      const own = colourIn(row, colouring, colours);
      const colour = mark === null ? (place: number): number => own(row.row.spanAt(place)) : (): number => marked;
      rasterPlaces(row.row, places, firstSeen(row.row, places, view.begin), colour, { ...view, width }, pixels, i * width);
    });
    this.copy(surface, rows, top, width, 1);
  }
}
