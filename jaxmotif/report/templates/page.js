"use strict";
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
  const head = button.parentElement, body = head.closest("table").tBodies[0], at = head.cellIndex;
  const down = head.getAttribute("aria-sort") !== "descending", text = head.classList.contains("text");
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = (row) => { const v = row.cells[at].dataset.v; return text ? v : v === "" ? NaN : Number(v); };
  const compare = (a, b) => {
    const x = key(a), y = key(b);
    if (text) return x < y ? -1 : x > y ? 1 : 0;
    const last = down ? -1 : 1;  // rows without a value
    if (Number.isNaN(x)) return Number.isNaN(y) ? 0 : last;
    return Number.isNaN(y) ? -last : x - y || 0;
  };
  const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(a, b));
  body.append(...rows);
});

const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "color", "font-family",
  "font-size", "text-anchor"];
function save(svg, name) {
  const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  document.documentElement.classList.add("plain");  // colours for paper, whatever the page has
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const property of kept) to[i].style.setProperty(property, style.getPropertyValue(property));
  });
  document.documentElement.classList.remove("plain");
  const box = svg.viewBox.baseVal;
  for (const [key, value] of [["xmlns", "http://www.w3.org/2000/svg"], ["width", box.width], ["height", box.height]])
    copy.setAttribute(key, value);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  link.download = name.replace(/[^\w.+-]+/g, "_") + ".svg";
  link.click();
}
for (const figure of document.querySelectorAll("figure")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "save";
  button.textContent = "Save as SVG";
  button.addEventListener("click", () => save(figure.querySelector("svg"), figure.dataset.name));
  figure.append(button);
}
for (const svg of document.querySelectorAll("tbody svg.drawing"))
  svg.addEventListener("click", () => save(svg, svg.querySelector("title").textContent));
