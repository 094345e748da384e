// One stage as a picture: boxes and arrows that can be dragged, zoomed, opened and closed.

"use strict";

const SVG = "http://www.w3.org/2000/svg";
const PORT_IN = "▿ ", PORT_OUT = "▵ ";

function svg(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (text !== undefined) made.textContent = text;
  return made;
}

class Picture {
  // `told(item)` is called when a box is clicked; `drawn()` when boxes were drawn anew, and have lost their marks.
  constructor(stage, told, drawn) {
    this.stage = stage;
    this.told = told;
    this.drawn = drawn;
    this.open = new Set((stage.frames || []).flatMap((frame) => (frame.open ? [frame.number] : [])));
    this.element = svg("svg", { class: "picture", tabindex: "0", role: "img", "aria-label": stage.title });
    this.world = this.element.appendChild(svg("g", {}));
    this.view = { x: 0, y: 0, scale: 1 };
    this.boxes = new Map(); // number of an item -> its element
    this.listen();
    this.draw();
  }

  // ---- drawing

  draw() {
    this.world.replaceChildren();
    this.boxes.clear();
    this.framed = new Map(); // number of a frame -> its x, y, width, height
    if (this.stage.form === "chart") return this.drawChart();
    const frame = arranged(this.stage.frames, 0, (number) => this.open.has(number));
    this.size = [frame.size[0], frame.size[1] - HEADER];
    this.drawFrame(frame, -MARGIN, -HEADER, true);
    this.drawn();
  }

  drawChart() {
    this.size = [0, 0];
    for (const item of this.stage.items) {
      const [x, y, width, height] = item.box;
      this.size = [Math.max(this.size[0], x + width), Math.max(this.size[1], y + height)];
      this.drawBox(item, x, y, width, height, this.world);
    }
    this.drawn();
  }

  // Frames first, then arrows, then names and boxes: no arrow crosses a text.
  drawFrame(frame, left, top, outermost) {
    const x = left + MARGIN, y = top + HEADER;
    this.framed.set(frame.number, [left, top, ...frame.size]);
    if (!outermost) {
      const [width, height] = frame.size;
      this.world.append(svg("rect", { class: "frame", x: left, y: top, width, height, rx: 6 }));
    }
    for (const box of frame.boxes) {
      if (box.inner) this.drawFrame(box.inner, x + box.x - box.width / 2, y + box.y - box.height / 2, false);
    }
    for (const points of frame.arrows) this.drawArrow(points, x, y);
    for (const box of frame.boxes) {
      const [boxX, boxY] = [x + box.x - box.width / 2, y + box.y - box.height / 2];
      if (box.inner) this.drawName(box.inner, boxX, boxY);
      else if (box.item !== undefined) this.drawBox(this.stage.items[box.item], boxX, boxY, box.width, box.height);
      else if (box.frame !== undefined) this.drawClosed(box.frame, boxX, boxY, box.width, box.height);
      else this.drawPort(box, boxX, boxY);
    }
  }

  drawArrow(points, x, y) {
    const at = (i) => `${(points[i] + x).toFixed(1)},${(points[i + 1] + y).toFixed(1)}`;
    let path = `M${at(0)}`;
    for (let i = 2; i + 5 < points.length; i += 6) path += `C${at(i)} ${at(i + 2)} ${at(i + 4)}`;
    this.world.append(svg("path", { class: "arrow", d: path, "marker-end": "url(#head)" }));
  }

  drawBox(item, x, y, width, height) {
    const kind = item.kind || "line";
    const group = svg("g", { class: `box k-${kind}`, transform: `translate(${x},${y})`, "data-number": item.number });
    if (kind !== "axis") group.setAttribute("tabindex", "0");
    group.append(svg("rect", { width, height, rx: kind === "input" || kind === "output" ? 9 : 3 }));
    const glyph = DATA.glyphs[kind] || "";
    const two = item.detail && height > 26;
    const label = `${glyph} ${item.label}`.trim();
    if (height >= 11 && (this.stage.form !== "chart" || width > 6 * label.length)) {
      const middle = height / 2 + 4;
      group.append(svg("text", { x: width / 2, y: two ? middle - 6 : middle }, label));
      if (two) group.append(svg("text", { class: "detail", x: width / 2, y: middle + 8 }, item.detail));
    }
    group.append(svg("text", { class: "badge", x: width - 3, y: 9 }));
    this.boxes.set(item.number, group);
    this.world.append(group);
  }

  drawClosed(number, x, y, width, height) {
    const frame = this.stage.frames[number];
    this.framed.set(number, [x, y, width, height]);
    const group = svg("g", { class: "box closed", transform: `translate(${x},${y})`, "data-frame": number, tabindex: "0" });
    for (const shift of [3, 0]) group.append(svg("rect", { x: shift, y: shift, width, height, rx: 3 }));
    group.append(svg("text", { x: width / 2, y: height / 2 - 2 }, `▸ ${frame.label}`));
    group.append(svg("text", { class: "detail", x: width / 2, y: height / 2 + 12 }, `${this.inside(number).length} nodes`));
    group.append(svg("text", { class: "badge", x: width - 3, y: 9 }));
    this.world.append(group);
  }

  drawName(frame, x, y) {
    const group = svg("g", { class: "name", transform: `translate(${x},${y})`, "data-frame": frame.number, tabindex: "0" });
    group.append(svg("rect", { x: 2, y: 2, width: Math.max(30, frame.label.length * 5.8 + 18), height: 16, rx: 4 }));
    group.append(svg("text", { x: 6, y: 14 }, `▾ ${frame.label}`));
    this.world.append(group);
  }

  drawPort(box, x, y) {
    const [number, sign] = box.in !== undefined ? [box.in, PORT_IN] : [box.out, PORT_OUT];
    const text = number < 0 ? "…" : this.stage.items[number].name;
    const group = svg("g", { class: "port", transform: `translate(${x},${y})` });
    if (number >= 0) group.setAttribute("data-port", this.stage.items[number].number);
    group.append(svg("rect", { width: box.width, height: box.height, rx: box.height / 2 }));
    group.append(svg("text", { x: box.width / 2, y: box.height / 2 + 4 }, sign + text));
    this.world.append(group);
  }

  // ---- frames

  inside(number) {
    return this.stage.frames[number].inside;
  }

  setOpen(number, isOpen) {
    if (isOpen) this.open.add(number);
    else this.open.delete(number);
    this.draw();
    this.look(this.framed.get(number), isOpen ? 0.5 : this.view.scale, isOpen ? 1.2 : this.view.scale);
  }

  openAll(isOpen) {
    this.open = new Set(isOpen ? this.stage.frames.map((frame) => frame.number) : [0]);
    this.draw();
    this.fit();
  }

  // Opens the frames around an item.
  show(item) {
    if (this.boxes.has(item.number)) return;
    for (const frame of this.stage.frames) {
      if (frame.inside.includes(item.number - this.stage.first)) this.open.add(frame.number);
    }
    this.draw();
  }

  // ---- looking

  place() {
    const { x, y, scale } = this.view;
    this.world.setAttribute("transform", `translate(${x},${y}) scale(${scale})`);
  }

  // The whole picture, as wide as the pane; a tall one from its top, at a size that can be read.
  fit() {
    if (this.size) this.look([0, 0, ...this.size], Math.min(0.55, (this.element.clientWidth - 20) / this.size[0]), 1.4);
  }

  // A part of the picture, as large as fits and as the bounds allow; what is too tall, from its top.
  look([left, top, wide, tall], least, most) {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!width) return;
    const scale = Math.min(most, Math.max(least, Math.min((width - 20) / wide, (height - 20) / tall)));
    const x = (width - wide * scale) / 2 - left * scale;
    this.view = { scale, x, y: Math.max(10, (height - tall * scale) / 2) - top * scale };
    this.place();
  }

  // On paper all of the picture is seen, as large as the page.
  print(isPrinting) {
    if (isPrinting && this.size) {
      this.element.setAttribute("viewBox", `-10 -10 ${this.size[0] + 20} ${this.size[1] + 20}`);
      this.world.removeAttribute("transform");
    } else {
      this.element.removeAttribute("viewBox");
      this.place();
    }
  }

  zoom(factor, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2) {
    const scale = Math.min(6, Math.max(0.02, this.view.scale * factor));
    const grown = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * grown, y: y - (y - this.view.y) * grown };
    this.place();
  }

  pan(x, y) {
    this.view.x += x;
    this.view.y += y;
    this.place();
  }

  reveal(item) {
    this.show(item);
    const [, x, y] = this.boxes.get(item.number).getAttribute("transform").match(/translate\(([^,]*),([^)]*)\)/);
    const scale = Math.max(this.view.scale, 0.8);
    this.view = { scale, x: this.element.clientWidth / 2 - x * scale, y: this.element.clientHeight / 3 - y * scale };
    this.place();
  }

  // ---- marks: classes and badges by number; a closed frame counts those in it

  mark(marks) {
    for (const [number, group] of this.boxes) setMark(group, marks.get(number));
    for (const group of this.world.querySelectorAll(".closed")) {
      const found = this.inside(Number(group.dataset.frame)).map((i) => marks.get(this.stage.first + i));
      setMark(group, counted(found.filter(Boolean)));
    }
  }

  // ---- mouse, fingers and keys

  listen() {
    const fingers = new Map();
    let moved = 0;
    this.element.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
    }, { passive: false });
    this.element.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, event);
      moved = 0;
    });
    this.element.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const [x, y] = [event.clientX - before.clientX, event.clientY - before.clientY];
      moved += Math.abs(x) + Math.abs(y);
      if (moved > 4 && !this.element.hasPointerCapture(event.pointerId)) this.element.setPointerCapture(event.pointerId);
      const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
      if (other) {
        const apart = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY);
        this.zoom(apart(event) / Math.max(apart(before), 1), event.offsetX, event.offsetY);
      } else this.pan(x, y);
      fingers.set(event.pointerId, event);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      this.element.addEventListener(name, (event) => fingers.delete(event.pointerId));
    }
    this.element.addEventListener("click", (event) => moved <= 4 && this.activate(event.target));
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.activate(event.target);
      else if (event.key === "+") this.zoom(1.3);
      else if (event.key === "-") this.zoom(1 / 1.3);
      else if (event.key === "0") this.fit();
      else if (event.key.startsWith("Arrow")) {
        this.pan(...{ Left: [50, 0], Right: [-50, 0], Up: [0, 50], Down: [0, -50] }[event.key.slice(5)]);
      } else return;
      event.preventDefault();
    });
  }

  activate(target) {
    const group = target.closest("[data-number],[data-frame],[data-port]");
    if (!group) return;
    const { number, frame, port } = group.dataset;
    if (frame !== undefined) this.setOpen(Number(frame), !this.open.has(Number(frame)));
    else this.told(ITEMS[Number(number ?? port)]);
    if (port !== undefined) this.reveal(ITEMS[Number(port)]);
  }
}
