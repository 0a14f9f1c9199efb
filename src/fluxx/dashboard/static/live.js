// Keeps a page true while it is looked at: events say that something changed, the page is fetched anew, and
// the parts marked data-live are made like the fresh ones. Rows of a list keep their places: newer ones are
// announced, not pushed in.
import { morph } from "./morph.js";

const WORDS = { on: "Live", off: "", lost: "Connecting …" };
const SETTLED = 1500; // milliseconds

export function followEvents() {
  const source = document.body.dataset.events;
  if (!source) return;
  const every = Number(document.body.dataset.every || 1000);
  const sign = document.getElementById("live");
  const show = (state) => {
    sign.dataset.state = state;
    sign.textContent = WORDS[state];
  };
  let waiting = false;
  let last = 0;
  const changed = () => {
    if (waiting) return;
    waiting = true;
    setTimeout(async () => {
      waiting = false;
      if (document.hidden) return;
      last = Date.now();
      await refresh();
      if (!document.body.dataset.events) { stream.close(); show("off"); }
    }, Math.max(50, last + every - Date.now()));
  };
  let settling;
  const happened = () => {
    changed();
    clearTimeout(settling); // the counts are shared by all who look for a second: the last ones come then
    settling = setTimeout(changed, SETTLED);
  };
  let stream;
  const open = () => {
    stream = new EventSource(source);
    stream.addEventListener("open", () => { show("on"); changed(); });
    stream.addEventListener("error", () => show(stream.readyState === EventSource.CLOSED ? "off" : "lost"));
    stream.addEventListener("job", happened);
    stream.addEventListener("reset", happened);
  };
  open();
  document.addEventListener("visibilitychange", () => {
    stream.close(); // what nobody looks at needs no connection
    if (!document.hidden && document.body.dataset.events) open();
  });
  addEventListener("pagehide", () => stream.close());
  setInterval(changed, 15000); // counts of the last hour change without events, too
}

async function refresh() {
  let text;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) return;
    text = await answer.text();
  } catch {
    return; // the next event tries again
  }
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const part of document.querySelectorAll("[data-live][id]")) {
    const wanted = fresh.getElementById(part.id);
    if (!wanted) continue;
    if ("rows" in part.dataset) updateRows(part, wanted);
    else if (!part.isEqualNode(wanted)) morph(part, wanted);
  }
  if (!document.getElementById("rows") && fresh.getElementById("rows")) location.reload(); // the list was empty
  if (!("events" in fresh.body.dataset)) delete document.body.dataset.events;
}

function updateRows(rows, wanted) {
  const known = new Set();
  for (const row of rows.children) {
    known.add(row.dataset.key);
    const fresh = wanted.querySelector(`[data-key="${row.dataset.key}"]`);
    if (fresh && !row.isEqualNode(fresh)) morph(row, fresh);
  }
  const newer = [...wanted.children].filter((row) => !known.has(row.dataset.key)).length;
  const pill = document.getElementById("newer");
  if (pill && newer) {
    pill.textContent = `Show ${newer === wanted.children.length ? `${newer} or more` : newer} newer`;
    pill.hidden = false;
  }
}
