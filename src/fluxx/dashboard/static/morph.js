// Makes one element like another with as few changes as possible: what has focus, is open or ticked stays so.
const OWN = new Set(["open", "checked", "value", "hidden"]); // states that belong to whoever looks at the page

function sameKind(a, b) {
  return a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);
}

function keyOf(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id || "" : "";
}

function attributes(old, fresh) {
  for (const { name, value } of fresh.attributes) {
    if (!OWN.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!OWN.has(name) && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
}

/** Make `old` like `fresh`; children are matched by data-key or id, else by their order. */
export function morph(old, fresh) {
  attributes(old, fresh);
  const keyed = new Map([...old.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let place = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const known = keyOf(wanted) ? keyed.get(keyOf(wanted)) : null;
    if (known && known !== place) old.insertBefore(known, place);
    const current = known || place;
    if (current && sameKind(current, wanted)) {
      if (current.nodeType === Node.ELEMENT_NODE) morph(current, wanted);
      else if (current.nodeValue !== wanted.nodeValue) current.nodeValue = wanted.nodeValue;
      place = current.nextSibling;
    } else {
      old.insertBefore(document.importNode(wanted, true), place);
    }
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}
