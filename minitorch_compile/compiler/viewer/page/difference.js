// The difference between two stages: what has no counterpart in the other one, what became several, what reads otherwise.
//
//   - gone: nothing on the right came from it        + new: it came from nothing on the left
//   ~ changed: it has one counterpart, which looks different, or several        = the same

"use strict";

function difference(left, right) {
  const marks = new Map();
  const count = { gone: 0, new: 0, changed: 0, same: 0 };
  const look = (item) => `${item.label} ${item.detail || ""}`;
  const judge = (item, other, alone, sign) => {
    const found = relatedIn(item, other);
    let verdict = alone;
    if (found.length === 1 && look(ITEMS[found[0]]) === look(item)) [verdict, sign] = ["same", "="];
    else if (found.length) [verdict, sign] = ["changed", found.length > 1 ? `~${found.length}` : "~"];
    marks.set(item.number, { classes: [verdict], sign });
    return verdict;
  };
  for (const item of left.items) if (item.kind !== "axis") count[judge(item, right, "gone", "-")]++;
  for (const item of right.items) if (item.kind !== "axis" && judge(item, left, "new", "+") === "new") count.new++;
  return { marks, text: `− ${count.gone} gone   + ${count.new} new   ~ ${count.changed} changed   = ${count.same} the same` };
}
