// Selecting rows: one by one, all of the page, and how many they are.
export function selectRows() {
  const all = document.getElementById("pick-all");
  const picked = document.getElementById("picked");
  const rows = document.getElementById("rows");
  if (!all || !picked || !rows) return;
  const boxes = () => [...rows.querySelectorAll('input[name="job"]')];
  const count = () => {
    const ticked = boxes().filter((box) => box.checked).length;
    picked.textContent = `Selected (${ticked})`;
    all.checked = ticked > 0 && ticked === boxes().length;
    all.indeterminate = ticked > 0 && ticked < boxes().length;
  };
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes()) box.checked = all.checked;
    count();
  });
  rows.addEventListener("change", () => {
    document.querySelector('input[name="which"][value="selected"]').checked = true;
    count();
  });
  count();
}
