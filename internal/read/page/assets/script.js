// What the pages have beside the documents: a key that goes to the search, a link that is copied, and a window that is drawn on the
// strip of ended Jobs. Everything works without it.
"use strict";

// "/" goes to the search, unless something is being written.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  const search = document.querySelector(".search input");
  if (search) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});

// A link to this page, to be copied.
const forms = document.querySelector(".forms");
if (forms && navigator.clipboard) {
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = "copy link";
  link.addEventListener("click", (event) => {
    event.preventDefault();
    navigator.clipboard.writeText(location.href).then(() => {
      link.textContent = "copied";
      link.className = "copied";
    });
  });
  forms.prepend(link);
}

// A record that is meant opens what it is folded into.
const meant = location.hash && document.getElementById(location.hash.slice(1));
if (meant && meant.closest("details")) meant.closest("details").open = true;

// Dragging over the strip of ended Jobs makes a window of that time.
const strip = document.querySelector(".strip svg[data-from]");
if (strip) {
  const from = Date.parse(strip.dataset.from);
  const to = Date.parse(strip.dataset.to);
  const width = strip.viewBox.baseVal.width;
  let begun = null;
  let brush = null;
  const place = (event) => {
    const box = strip.getBoundingClientRect();
    return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
  };
  strip.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    begun = place(event);
    brush = document.createElementNS(strip.namespaceURI, "rect");
    brush.setAttribute("class", "brush");
    brush.setAttribute("y", "0");
    brush.setAttribute("height", "76");
    strip.append(brush);
    strip.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  strip.addEventListener("pointermove", (event) => {
    if (begun === null) return;
    const at = place(event);
    brush.setAttribute("x", String(Math.min(begun, at) * width));
    brush.setAttribute("width", String(Math.abs(at - begun) * width));
  });
  strip.addEventListener("pointerup", (event) => {
    if (begun === null) return;
    const at = place(event);
    const [low, high] = [Math.min(begun, at), Math.max(begun, at)];
    begun = null;
    brush.remove();
    if (high - low < 0.01) return;
    const time = (part) => new Date(from + (to - from) * part).toISOString().replace(/\.\d+Z$/, "Z");
    const address = new URL(location.href);
    address.searchParams.set("since", time(low));
    address.searchParams.set("until", time(high));
    location.assign(address);
  });
  strip.addEventListener("pointercancel", () => {
    if (brush) brush.remove();
    begun = null;
  });
}
