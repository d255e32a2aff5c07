// Elements, with texts as texts: nothing here parses markup.
//
//   make("button", { class: "quiet", text: "copy as CSV", on: { click: copy } })
//   make("td", { class: "number" }, bar, "12.5 %")
export interface Parts {
  class?: string;
  text?: string;
  title?: string;
  attributes?: { [name: string]: string | number | boolean | null };
  on?: { [event: string]: (event: never) => void };
}

type Child = Node | string | null;

function fill(element: Element, parts: Parts, children: readonly Child[]): void {
  if (parts.class !== undefined) element.setAttribute("class", parts.class);
  if (parts.title !== undefined) element.setAttribute("title", parts.title);
  for (const [name, value] of Object.entries(parts.attributes ?? {})) {
    if (value === null || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [event, listener] of Object.entries(parts.on ?? {})) {
    element.addEventListener(event, listener as (event: Event) => void);
  }
  if (parts.text !== undefined) element.textContent = parts.text;
  for (const child of children) if (child !== null) element.append(child);
}

export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name, parts: Parts = {}, ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  fill(element, parts, children);
  return element;
}

export function makeSvg<Name extends keyof SVGElementTagNameMap>(
  name: Name, parts: Parts = {}, ...children: Child[]
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  const { title, ...rest } = parts;
  fill(element, rest, children);
  if (title !== undefined) {
    const text = document.createElementNS("http://www.w3.org/2000/svg", "title");
    text.textContent = title;
    element.prepend(text);
  }
  return element;
}
