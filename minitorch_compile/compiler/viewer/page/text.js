// One stage as text: a line for each item, with a narrow column for signs on its left.

"use strict";

class Text {
  constructor(stage, told) {
    this.stage = stage;
    this.element = document.createElement("div");
    this.element.className = "text";
    this.element.tabIndex = 0;
    this.lines = new Map(); // number of an item -> its element
    const all = document.createDocumentFragment();
    for (const item of stage.items) {
      const line = document.createElement("div");
      line.className = `line ${item.kind || ""}`;
      line.dataset.number = item.number;
      const sign = line.appendChild(document.createElement("span"));
      sign.className = "badge";
      line.append(item.label || " ");
      this.lines.set(item.number, line);
      all.append(line);
    }
    this.element.append(all);
    this.marked = [];
    this.element.addEventListener("click", (event) => {
      const line = event.target.closest("[data-number]");
      if (line && String(getSelection()).length === 0) told(ITEMS[Number(line.dataset.number)]);
    });
  }

  reveal(item) {
    this.lines.get(item.number).scrollIntoView({ block: "center" });
  }

  mark(marks) {
    for (const line of this.marked) setMark(line, undefined);
    this.marked = [];
    for (const [number, mark] of marks) {
      const line = this.lines.get(number);
      if (!line) continue;
      setMark(line, mark);
      this.marked.push(line);
    }
  }

  fit() {}
  print() {}
  openAll() {}
  zoom(factor) {
    const size = parseFloat(getComputedStyle(this.element).fontSize);
    this.element.style.fontSize = `${Math.min(30, Math.max(6, size * factor))}px`;
  }
}
