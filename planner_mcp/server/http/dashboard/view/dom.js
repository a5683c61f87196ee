// Makes elements. Text always becomes a text node, so that no name of a caller is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.setAttribute("class", value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// Where an event is in an element, from 0 to 1 across and down.
export function placeIn(node, { clientX, clientY }) {
  const { left, top, width, height } = node.getBoundingClientRect();
  return [(clientX - left) / width, (clientY - top) / height];
}

const MOST_ROWS = 500; // that a table shows before it is asked for all

export function table(headings, rows, caption) {
  const head = h("tr", {}, headings.map((text) => h("th", { scope: "col" }, text)));
  const made = (part) => part.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell ?? ""))));
  const body = h("tbody", {}, made(rows.slice(0, MOST_ROWS)));
  const rest = rows.slice(MOST_ROWS);
  const show = (event) => (body.append(...made(rest)), event.target.remove());
  return h(
    "div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", { class: "hidden" }, caption), h("thead", {}, head), body),
    rest.length > 0 && h("button", { type: "button", onclick: show }, `+ ${rest.length}`),
  );
}
