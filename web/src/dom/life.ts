// How long listeners of the window and the document live that belong to what the page shows: until it shows something
// else.
//
//   window.addEventListener("scroll", follow, { signal: life() });
let shown = new AbortController();

export const life = (): AbortSignal => shown.signal;

export function endLife(): void {
  shown.abort();
  shown = new AbortController();
}
