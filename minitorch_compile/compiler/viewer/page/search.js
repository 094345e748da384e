// Search through all stages: names, labels, shapes, code, the user's lines.

"use strict";

let haystack = null; // the text of each item, gathered once the page stands

function gather() {
  haystack ||= ITEMS.map((item) =>
    [item.name, item.label, item.detail, item.code, item.place, item.module].filter(Boolean).join("\n").toLowerCase());
}

// The numbers of the items that contain all words.
function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  gather();
  return ITEMS.flatMap((item) => (words.every((word) => haystack[item.number].includes(word)) ? [item.number] : []));
}
