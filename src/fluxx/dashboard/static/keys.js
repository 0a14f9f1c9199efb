// Keys for those who don't take the mouse. They can be switched off, as single letters get in the way of speech input.
const PAGES = { o: "/dashboard", j: "/dashboard/jobs", e: "/dashboard/extractors", u: "/dashboard/upload" };
const STORED = "fluxx-keys";
const ACTIONS = {
  "/": () => document.getElementById("find")?.focus(),
  "?": () => document.getElementById("keys")?.showModal(),
  j: () => walk(1),
  k: () => walk(-1),
  x: () => document.activeElement?.closest("tr")?.querySelector('input[type="checkbox"]')?.click(),
};

export function keyboard() {
  const use = document.getElementById("use-keys");
  if (!use) return;
  use.checked = localStorage.getItem(STORED) !== "off";
  use.addEventListener("change", () => localStorage.setItem(STORED, use.checked ? "on" : "off"));
  document.getElementById("show-keys").addEventListener("click", ACTIONS["?"]);
  let going = false;
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("input:not([type=checkbox], [type=radio]), select, textarea");
    if (!use.checked || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const page = going && PAGES[event.key] && document.querySelector(`nav a[href="${PAGES[event.key]}"]`);
    if (page) {
      page.click();
      return;
    }
    going = event.key === "g";
    if (!ACTIONS[event.key]) return;
    event.preventDefault();
    ACTIONS[event.key]();
  });
}

function walk(step) {
  const links = [...document.querySelectorAll("main a.name")];
  if (!links.length) return;
  const row = document.activeElement?.closest("tr");
  const present = links.findIndex((link) => link === document.activeElement || (row && row.contains(link)));
  links[Math.min(Math.max(present + step, 0), links.length - 1)].focus();
}
