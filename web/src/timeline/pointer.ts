// Mouse, pen and fingers on the timeline: drag pans, with shift (or on the axis) selects, a click
// chooses, ctrl and wheel or two fingers zoom, wheel with shift or sideways pans. The wheel alone
// scrolls, as everywhere on the page.
export interface PointerActions {
  pan(pixels: number): void;
  scroll(pixels: number): void;
  zoom(factor: number, x: number): void;
  select(fromX: number, toX: number, done: boolean): void;
  clearSelection(): void;
  choose(x: number, y: number, twice: boolean): void;
  hover(x: number, y: number, event: PointerEvent): void;
  leave(): void;
}

const slop = 4;           // pixels that a click may move
const wheelLine = 18;     // pixels of a line of a wheel that counts lines
const perPixel = 0.0022;  // zoom of a pixel of the wheel
const pinchPerPixel = 0.01;

interface Drag {
  x: number;
  y: number;
  startX: number;
  moved: boolean;
  selects: boolean;
}

const pixelsOf = (event: WheelEvent, delta: number): number => (event.deltaMode === 1 ? delta * wheelLine : event.deltaMode === 2 ? delta * 400 : delta);

export function wheel(canvas: HTMLElement, actions: PointerActions): void {
  canvas.addEventListener("wheel", (event) => {
    const dx = pixelsOf(event, event.deltaX);
    const dy = pixelsOf(event, event.deltaY);
    if (event.ctrlKey || event.metaKey) {
      // A pinch on a pad comes as small steps with ctrl.
      const speed = Math.abs(dy) < 20 ? pinchPerPixel : perPixel;
      actions.zoom(Math.exp(dy * speed), event.offsetX);
    } else if (event.shiftKey && dx === 0) {
      actions.pan(dy);
    } else if (Math.abs(dx) > Math.abs(dy)) {
      actions.pan(dx);
    } else {
      return;
    }
    event.preventDefault();
  }, { passive: false });
}

export function pointer(canvas: HTMLElement, actions: PointerActions, alwaysSelects: boolean): void {
  const fingers = new Map<number, PointerEvent>();
  let drag: Drag | null = null;
  let spread = 0;
  const xIn = (event: PointerEvent): number => event.clientX - canvas.getBoundingClientRect().left;
  const yIn = (event: PointerEvent): number => event.clientY - canvas.getBoundingClientRect().top;
  const spreadOf = (): [distance: number, middle: number] => {
    const [a, b] = [...fingers.values()].map(xIn);
    return [Math.max(10, Math.abs(a - b)), (a + b) / 2];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, event);
    canvas.setPointerCapture(event.pointerId);
    if (fingers.size === 2) {
      drag = null;
      spread = spreadOf()[0];
      return;
    }
    const x = xIn(event);
    drag = { x, y: yIn(event), startX: x, moved: false, selects: alwaysSelects || event.shiftKey };
    actions.leave();
  });
  canvas.addEventListener("pointermove", (event) => {
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, event);
    if (fingers.size === 2) {
      const [distance, middle] = spreadOf();
      actions.zoom(spread / distance, middle);
      spread = distance;
      return;
    }
    const x = xIn(event);
    const y = yIn(event);
    if (drag === null) {
      actions.hover(x, y, event);
      return;
    }
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < slop) return;
    drag.moved = true;
    canvas.classList.toggle("dragged", !drag.selects);
    if (drag.selects) {
      actions.select(drag.startX, x, false);
    } else {
      actions.pan(drag.x - x);
      if (event.pointerType !== "touch") actions.scroll(drag.y - y);
    }
    drag.x = x;
    drag.y = y;
  });
  const end = (event: PointerEvent): void => {
    fingers.delete(event.pointerId);
    canvas.classList.remove("dragged");
    const ended = drag;
    drag = null;
    if (ended === null) return;
    if (ended.moved && ended.selects) actions.select(ended.startX, ended.x, true);
    if (ended.moved || event.type === "pointercancel") return;
    if (ended.selects) actions.clearSelection();
    else actions.choose(ended.x, ended.y, event.detail > 1);
  };
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("pointerleave", () => actions.leave());
}
