// A list of tabs as the ARIA practices describe it: arrow keys, Home and End move the focus.
import { make } from "../dom/make";
import { shortened } from "../format/format";

export interface TabTitle {
  readonly id: string;
  readonly title: string;
  readonly hint: string;  // the title in full
}

export interface TabList {
  readonly element: HTMLElement;
  choose(index: number): void;
}

// What sets the titles of profiles apart, for their tabs: "/runs/a/chain8 · optrace" and
// "/runs/b/chain8 · optrace" are "a/chain8" and "b/chain8"; equal ones are numbered.
export function tabTitles(titles: readonly string[]): string[] {
  const unlike = (texts: readonly string[]): boolean => new Set(texts).size === texts.length;
  const heads = titles.map((title) => title.split(" · ")[0]);
  let names = unlike(heads) ? heads : [...titles];
  if (names.length > 1) {
    let common = names[0];
    for (const name of names) while (!name.startsWith(common)) common = common.slice(0, -1);
    const cut = common.lastIndexOf("/") + 1;
    names = names.map((name) => name.slice(cut));
  }
  return names.map((name, i) => (names.indexOf(name) === names.lastIndexOf(name) ? name : `${name} (${names.slice(0, i + 1).filter((one) => one === name).length})`));
}

// The index that a key leads to; null: the key has no meaning here.
export function moved(key: string, index: number, count: number): number | null {
  if (key === "ArrowRight") return (index + 1) % count;
  if (key === "ArrowLeft") return (index + count - 1) % count;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return null;
}

export function tabList(tabs: readonly TabTitle[], chosen: (index: number) => void): TabList {
  const element = make("div", { class: "tabs", attributes: { role: "tablist", "aria-label": "profiles" } });
  const buttons = tabs.map((tab, i) => make("button", {
    class: "tab", text: shortened(tab.title, 60), title: shortened(tab.hint, 500),
    attributes: { type: "button", role: "tab", id: `tab-${tab.id}`, "aria-controls": tab.id },
    on: { click: () => choose(i) },
  }));
  const choose = (index: number): void => {
    buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(i === index));
      button.tabIndex = i === index ? 0 : -1;
    });
    chosen(index);
  };
  element.append(...buttons);
  element.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const next = at < 0 ? null : moved(event.key, at, buttons.length);
    if (next === null) return;
    event.preventDefault();
    buttons[next].focus();
    choose(next);
  });
  return { element, choose };
}
