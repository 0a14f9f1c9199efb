// Uploading: files can be dropped anywhere on the frame, and how much is sent is shown.
export function uploads() {
  const form = document.getElementById("upload");
  if (!form) return;
  const drop = document.getElementById("drop");
  const input = document.getElementById("file");
  const chosen = document.getElementById("chosen");
  const tell = () => {
    const names = [...input.files].map((file) => file.name);
    if (names.length) chosen.textContent = names.length > 3 ? `${names.length} files` : names.join(", ");
  };
  input.addEventListener("change", tell);
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  for (const name of ["dragleave", "drop"]) {
    drop.addEventListener(name, () => drop.classList.remove("over"));
  }
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    input.files = event.dataTransfer.files;
    tell();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form, document.getElementById("sent"));
  });
}

function send(form, sent) {
  const button = form.querySelector("button");
  const request = new XMLHttpRequest();
  button.disabled = true;
  sent.hidden = false;
  request.upload.addEventListener("progress", (event) => {
    if (event.lengthComputable) sent.value = (100 * event.loaded) / event.total;
  });
  request.addEventListener("load", () => {
    if (request.status < 400 && request.responseURL) location.href = request.responseURL;
    else document.documentElement.replaceWith(document.importNode(
      new DOMParser().parseFromString(request.responseText, "text/html").documentElement, true));
  });
  request.addEventListener("error", () => { button.disabled = false; sent.hidden = true; form.submit(); });
  request.open("POST", form.action);
  request.send(new FormData(form));
}
