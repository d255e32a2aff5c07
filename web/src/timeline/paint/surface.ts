// A canvas as large as its box on this screen, drawn in CSS pixels.
export class Surface {
  readonly context: CanvasRenderingContext2D;
  width = 0;   // CSS pixels
  height = 0;
  ratio = 1;   // pixels of the screen each

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d", { alpha: false })!;
  }

  fit(width: number, height: number): void {
    this.ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    const wide = Math.max(1, Math.round(width * this.ratio));
    const high = Math.max(1, Math.round(height * this.ratio));
    if (this.canvas.width !== wide) this.canvas.width = wide;
    if (this.canvas.height !== high) this.canvas.height = high;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
  }

  clear(colour: string): CanvasRenderingContext2D {
    const { context } = this;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = colour;
    context.fillRect(0, 0, this.width, this.height);
    return context;
  }
}
