// What the pages have beside the documents: a key that goes to the search, a link that is copied, a window that is drawn on the strip of
// ended Jobs, and changes that are shown. Everything else works without it.
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

// A record that is meant opens what it is folded into.
const meant = location.hash && document.getElementById(location.hash.slice(1));
if (meant && meant.closest("details")) meant.closest("details").open = true;

// dress adds to a page that was laid out what it has only with this script.
const dress = () => {
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
};

// Changes: the server says that there are some, and whether it still answers. They are shown when asked for, or at once where nothing
// is open, chosen or scrolled. A hidden or paused page asks nothing. All words come from the server.
let bar = document.querySelector(".live");
let events = null;
let heard = 0;
let paused = false;

// undisturbed says that nobody reads on the page: what is shown anew moves nothing.
const undisturbed = () => {
  const active = document.activeElement;
  return window.scrollY === 0 && (!active || active === document.body || bar.contains(active)) &&
    String(document.getSelection()) === "" && !document.querySelector("main details[open]") && !location.hash &&
    [...document.querySelectorAll("main .wide, main pre")].every((part) => part.scrollLeft === 0 && part.scrollTop === 0);
};

const disconnect = () => {
  if (events) events.close();
  events = null;
};

const connect = () => {
  disconnect();
  if (!bar || paused || document.hidden) return;
  heard = Date.now();
  listen();
};

const listen = () => {
  const mine = new EventSource(bar.dataset.live);
  events = mine;
  mine.onmessage = (message) => {
    if (events === mine) tell(JSON.parse(message.data));
  };
  mine.onerror = () => {
    if (events === mine && mine.readyState === EventSource.CLOSED) { // a status that is no 200 ends it for good
      disconnect();
      setTimeout(() => !events && !paused && !document.hidden && listen(), 1000);
    }
  };
};

// tell shows what an event says.
const tell = (said) => {
  heard = Date.now();
  bar.querySelector(".away").hidden = true;
  if (said.clock) bar.querySelector(".away time").textContent = said.clock;
  const notes = said.off ? [said.off] : said.notes || [];
  const shown = [...document.querySelectorAll("main .standing")];
  for (const note of shown) note.classList.toggle("over", !notes.includes(note.textContent));
  const fresh = notes.filter((text) => !shown.some((note) => note.textContent === text));
  const list = bar.querySelector(".said");
  if (fresh.join("\n") !== list.dataset.notes) {
    list.dataset.notes = fresh.join("\n");
    list.replaceChildren(...fresh.map((text) => {
      const line = document.createElement("p");
      line.textContent = text;
      return line;
    }));
  }
  if (said.off) {
    disconnect();
    bar.querySelector("input").checked = false;
    paused = true;
    return;
  }
  const more = bar.querySelector(".more");
  more.hidden = !said.changes;
  if (said.changes && more.textContent !== said.changes) more.textContent = said.changes;
  if (said.changes && !showing && undisturbed()) show(true);
};

// show replaces the page by what the same address shows now. By itself it does so only if nobody has begun to read meanwhile.
let showing = false;
const show = async (byItself) => {
  showing = true;
  try {
    const answer = await fetch(location.href);
    const text = await answer.text();
    const next = new DOMParser().parseFromString(text, "text/html");
    const fresh = next.querySelector(".live");
    if (!answer.ok || !fresh || byItself && !undisturbed()) return;
    for (const part of ["main", ".asof", "footer"]) {
      const old = document.querySelector(part);
      const now = next.querySelector(part);
      if (old && now) old.replaceWith(now);
    }
    bar.replaceWith(fresh);
    document.title = next.title;
    begin(fresh);
    dress();
  } catch { // no answer: the page says so by itself
  } finally {
    showing = false;
  }
};

const begin = (element) => {
  bar = element;
  if (!bar) return;
  bar.hidden = false;
  const time = bar.querySelector(".away time"); // until the server gives its clock, the browser's is all that is known
  time.textContent = new Date().toISOString().replace("T", " ").replace(/\.\d+Z$/, "Z");
  const box = bar.querySelector("input");
  box.checked = !paused;
  box.addEventListener("change", () => {
    paused = !box.checked;
    bar.querySelector(".away").hidden = true;
    connect();
  });
  bar.querySelector(".more").addEventListener("click", () => show(false));
  connect();
};

setInterval(() => {
  if (!bar || paused || document.hidden) return;
  if (Date.now() - heard > Number(bar.dataset.silent)) {
    bar.querySelector(".more").hidden = true;
    bar.querySelector(".away").hidden = false;
  }
}, 500);
document.addEventListener("visibilitychange", connect);
window.addEventListener("pagehide", disconnect);
window.addEventListener("pageshow", (event) => event.persisted && connect());
begin(bar);
dress();
