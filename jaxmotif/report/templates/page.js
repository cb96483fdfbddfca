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
