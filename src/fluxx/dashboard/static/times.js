// Relative times go on while the page is open. The exact one is the title, made by the server.
const STEPS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** Words for a moment, as the server has them. */
function ago(moment, now) {
  const seconds = (now - moment) / 1000;
  if (Math.abs(seconds) < 2) return seconds >= 0 ? "just now" : "now";
  const [size, unit] = STEPS.find(([size]) => Math.abs(seconds) >= size);
  const words = `${Math.floor(Math.abs(seconds) / size)} ${unit}`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

export function tickTimes() {
  setInterval(() => {
    if (document.hidden) return;
    const now = Date.now();
    for (const time of document.querySelectorAll("time[datetime]")) {
      const words = ago(Date.parse(time.dateTime), now);
      if (time.textContent !== words) time.textContent = words;
    }
  }, 1000);
}
