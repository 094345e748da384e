// What is said about items by class and by sign, so that it can be told without colour.

"use strict";

// A mark is { classes: [...], sign: "▲" }. `counted` is that of a closed frame, from the marks of what is in it.
function counted(marks) {
  if (!marks.length) return undefined;
  const signs = new Map();
  for (const { sign } of marks) if (sign) signs.set(sign, (signs.get(sign) || 0) + 1);
  const text = [...signs].map(([sign, count]) => `${sign}${count}`).join(" ");
  return { classes: [...new Set(marks.flatMap((mark) => mark.classes))], sign: text };
}

const PLAIN = new WeakMap(); // element -> its class without marks

function setMark(element, mark) {
  if (!PLAIN.has(element)) PLAIN.set(element, element.getAttribute("class"));
  const plain = PLAIN.get(element);
  element.setAttribute("class", mark ? `${plain} ${mark.classes.join(" ")}` : plain);
  const badge = element.querySelector(".badge");
  const sign = mark ? mark.sign : "";
  if (badge && badge.textContent !== sign) badge.textContent = sign;
}

// Later marks go before earlier ones where both have a sign.
function joined(...all) {
  const found = new Map();
  for (const marks of all) {
    for (const [number, { classes, sign }] of marks) {
      const before = found.get(number) || { classes: [], sign: "" };
      found.set(number, { classes: [...before.classes, ...classes], sign: sign || before.sign });
    }
  }
  return found;
}

const SIGNS = { up: "▲", down: "▼", beside: "◆" };

function selectionMarks(item) {
  const marks = new Map();
  if (!item) return marks;
  for (const [number, way] of allRelated(item)) marks.set(number, { classes: [way], sign: SIGNS[way] });
  marks.set(item.number, { classes: ["selected"], sign: "●" });
  return marks;
}
