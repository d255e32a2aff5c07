// What other panels ask of the timeline of their tab:
//
//   show(store, { begin: 100, end: 900 }, [3])   zooms there, opens unit 3 and scrolls to it
import type { Range, Store } from "../state/store";

export type Show = (range: Range, units: readonly number[]) => void;

const timelines = new WeakMap<Store, Show>();

export function register(store: Store, show: Show): void {
  timelines.set(store, show);
}

export function show(store: Store, range: Range, units: readonly number[] = []): void {
  const zoom = timelines.get(store);
  if (zoom !== undefined) zoom(range, units);
  else store.set({ visible: range });
}
