// Addresses within the page: "#timeline" is the timeline of the first profile, "#timeline-2" that of
// the second, "#profile-2" its tab. Behind a question mark stands what is chosen (state/fragment.ts).
export interface Address {
  id: string;     // of an element
  place: number;  // of the profile
  chosen: string; // "range=100-900"; empty: nothing is said
}

export const idIn = (panel: string, place: number): string => (place === 0 ? panel : `${panel}-${place + 1}`);

export function addressOf(hash: string): Address {
  const text = hash.replace(/^#/, "");
  const mark = text.indexOf("?");
  let id = mark < 0 ? text : text.slice(0, mark);
  try {
    id = decodeURIComponent(id);
  } catch {
    id = "";
  }
  const number = /-(\d+)$/.exec(id);
  return { id, place: number === null ? 0 : Number(number[1]) - 1, chosen: mark < 0 ? "" : text.slice(mark + 1) };
}

export const hashOf = (id: string, chosen: string): string => `#${id}${chosen === "" ? "" : `?${chosen}`}`;

// Without a step of the browser's history. A page that is shown within another may not change its address.
export function setHash(hash: string): void {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // Then it stays as it is.
  }
}
