// Small comforts: copying, asking before what can't be undone, bulk actions that go on by themselves, keys.
export function copyButtons() {
  const can = Boolean(navigator.clipboard);
  const show = () => {
    for (const button of document.querySelectorAll("button.copy[hidden]")) button.hidden = !can;
  };
  show();
  new MutationObserver(show).observe(document.getElementById("main"), { childList: true, subtree: true });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const words = button.textContent;
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = words; }, 1500);
  });
}

export function confirmForms() {
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.dataset.confirm || form.dataset.confirmed) return;
    event.preventDefault();
    if (await asked(form.dataset.confirm, form.querySelector("button").textContent)) {
      form.dataset.confirmed = "yes";
      form.requestSubmit();
    }
  });
}

function asked(question, verb) {
  const dialog = document.createElement("dialog");
  const words = document.createElement("p");
  words.id = "question";
  words.textContent = question;
  dialog.setAttribute("aria-labelledby", "question");
  const form = document.createElement("form");
  form.method = "dialog";
  form.className = "buttons";
  for (const [value, label, kind] of [["yes", verb, "danger"], ["no", "Don’t", ""]]) {
    const button = document.createElement("button");
    button.value = value;
    button.textContent = label;
    button.className = kind;
    form.append(button);
  }
  dialog.append(words, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}

export function goOn() {
  const form = document.querySelector("form[data-go-on]");
  if (form) setTimeout(() => form.requestSubmit(), 150);
}

const PAGES = { o: "/dashboard", j: "/dashboard/jobs", e: "/dashboard/extractors", u: "/dashboard/upload" };

/** "/" goes to the search; j and k walk the rows, Enter opens one; g then o, j, e or u goes to a page. */
export function keyboard() {
  let going = false;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    if (going && PAGES[event.key]) {
      location.href = PAGES[event.key];
      return;
    }
    going = event.key === "g";
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById("find")?.focus();
    } else if (event.key === "j" || event.key === "k") {
      walk(event.key === "j" ? 1 : -1);
    }
  });
}

function walk(step) {
  const links = [...document.querySelectorAll("main a.name")];
  if (!links.length) return;
  const present = links.indexOf(document.activeElement);
  links[Math.min(Math.max(present + step, 0), links.length - 1)].focus();
}
