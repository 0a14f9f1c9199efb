// Small comforts: copying, asking before what can't be undone, bulk actions that go on by themselves.
export function copyButtons() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button || button.dataset.words) return;
    await copied(button.dataset.copy);
    button.dataset.words = button.textContent;
    button.textContent = "Copied";
    button.focus();
    setTimeout(() => {
      button.textContent = button.dataset.words;
      delete button.dataset.words;
    }, 1500);
  });
}

async function copied(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea"); // over plain HTTP there is no other way
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
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

