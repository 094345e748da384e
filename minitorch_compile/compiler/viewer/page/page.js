// The page: two panes with a stage each, what is selected, what was searched for, and the way that one has gone.

"use strict";

const $ = (id) => document.getElementById(id);
const PANES = [];
let selected = null; // an item
let hits = []; // numbers of items that the search found
let comparing = false;
const way = { items: [], at: -1 }; // for the back and forward buttons

function make(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// ---- panes

class Pane {
  constructor(name, stage) {
    this.element = document.querySelector("main").appendChild($("pane").content.firstElementChild.cloneNode(true));
    this.element.id = name;
    this.element.setAttribute("aria-label", `${name} pane`);
    this.choice = this.element.querySelector("select");
    this.choice.setAttribute("aria-label", `stage of the ${name} pane`);
    for (const each of STAGES) this.choice.append(new Option(each.title, each.key));
    this.views = new Map(); // a stage keeps its zoom and its open frames while another one is shown
    this.choice.addEventListener("change", () => this.choose(STAGES[this.choice.selectedIndex]));
    for (const button of this.element.querySelectorAll("button[data-do]")) {
      button.addEventListener("click", () => this.do(button.dataset.do));
    }
    this.choose(stage);
  }

  choose(stage) {
    this.stage = stage;
    this.choice.value = stage.key;
    const isNew = !this.views.has(stage);
    if (isNew) {
      const drawn = () => queueMicrotask(mark);
      this.views.set(stage, stage.form === "text" ? new Text(stage, select) : new Picture(stage, select, drawn));
    }
    this.view = this.views.get(stage);
    this.element.querySelector(".stage").replaceChildren(this.view.element);
    const note = this.element.querySelector(".note");
    note.textContent = note.title = stage.note;
    this.element.classList.toggle("flat", stage.form !== "graph");
    if (isNew) this.view.fit();
    mark();
  }

  do(what) {
    if (what === "open") this.view.openAll(true);
    else if (what === "close") this.view.openAll(false);
    else if (what === "fit") this.view.fit();
    else this.view.zoom(what === "in" ? 1.3 : 1 / 1.3);
    mark();
  }

  reveal(item) {
    if (item.stage !== this.stage) this.choose(item.stage);
    this.view.reveal(item);
    mark();
  }
}

const HIT = { classes: ["hit"], sign: "✱" };

// All signs and colours of both panes.
function mark() {
  if (PANES.length < 2) return;
  const [left, right] = PANES;
  const found = comparing ? difference(left.stage, right.stage) : null;
  const shown = hits.filter((n) => ITEMS[n].stage === left.stage || ITEMS[n].stage === right.stage);
  const searched = new Map(shown.map((n) => [n, HIT]));
  const marks = joined(searched, found ? found.marks : new Map(), selectionMarks(selected));
  for (const pane of PANES) pane.view.mark(marks);
  $("difference").textContent = found ? `${left.stage.title} → ${right.stage.title}:  ${found.text}` : "";
  document.body.classList.toggle("comparing", comparing);
}

// ---- selecting an item, and following it through the stages

function select(item, isOnTheWay = false) {
  selected = item;
  if (!isOnTheWay) {
    way.items.splice(way.at + 1);
    way.items.push(item);
    way.at = way.items.length - 1;
  }
  $("back").disabled = way.at <= 0;
  $("forward").disabled = way.at >= way.items.length - 1;
  showDetails(item);
  mark();
}

function go(step) {
  const item = way.items[way.at + step];
  if (!item) return;
  way.at += step;
  select(item, true);
  const pane = PANES.find((each) => each.stage === item.stage) || PANES[0];
  pane.reveal(item);
}

const MOST_CHIPS = 8; // of a stage

function showDetails(item) {
  const about = $("about");
  about.replaceChildren(make("b", "", `${item.label.trim()}`), make("span", "where", ` in ${item.stage.title}`));
  for (const text of [item.detail, item.module && `module ${item.module}`, item.place, item.code]) {
    if (text) about.append(make("div", text === item.code ? "code" : "", text));
  }
  const trail = $("trail");
  trail.replaceChildren();
  for (const stage of STAGES) {
    const numbers = stage === item.stage ? [item.number] : relatedIn(item, stage);
    numbers.sort((a, b) => ITEMS[a].from.length - ITEMS[b].from.length || a - b); // what is about the fewest, first
    if (!numbers.length) continue;
    const row = trail.appendChild(make("div", "row"));
    row.dataset.stage = stage.key;
    row.append(make("span", "title", stage.title));
    for (const number of numbers.slice(0, MOST_CHIPS)) row.append(chip(ITEMS[number], item));
    if (numbers.length > MOST_CHIPS) row.append(make("span", "more", `and ${numbers.length - MOST_CHIPS} more`));
  }
}

// A button that goes to an item: in the pane that doesn't show where one comes from.
function chip(item, from) {
  const button = make("button", item === from ? "chip here" : "chip", item.label.trim().slice(0, 44) || item.name);
  button.title = [item.code || item.label, item.place].filter(Boolean).join("\n");
  button.dataset.number = item.number;
  button.addEventListener("click", () => {
    const showing = PANES.find((pane) => pane.stage === item.stage);
    const other = PANES.find((pane) => pane.stage !== from.stage) || PANES[1];
    (showing || other).reveal(item);
    select(item);
  });
  return button;
}

// ---- search

function find(text) {
  performance.mark("typed");
  hits = search(text);
  const counts = new Map();
  for (const number of hits) counts.set(ITEMS[number].stage, (counts.get(ITEMS[number].stage) || 0) + 1);
  const list = $("found");
  list.replaceChildren();
  if (text.trim()) list.append(make("span", "count", hits.length ? `${hits.length} found` : "nothing found"));
  for (const [stage, count] of counts) {
    const button = list.appendChild(make("button", "chip", `${stage.title} ${count}`));
    button.addEventListener("click", () => nextHit(stage));
  }
  mark();
  performance.measure("search", "typed");
}

// Goes to the next hit of a stage, from the one that is selected.
function nextHit(stage) {
  const numbers = hits.filter((n) => ITEMS[n].stage === stage);
  if (!numbers.length) return;
  const number = numbers.find((n) => selected && n > selected.number) ?? numbers[0];
  (PANES.find((pane) => pane.stage === stage) || PANES[0]).reveal(ITEMS[number]);
  select(ITEMS[number]);
}

// ---- what the mouse rests on

function hover(event) {
  const tip = $("tip");
  const target = event.target.closest && event.target.closest("[data-number],[data-port],[data-frame]");
  const number = target && (target.dataset.number ?? target.dataset.port);
  const isFrame = target && number === undefined;
  tip.hidden = !target || isFrame || event.buttons > 0;
  if (tip.hidden) return;
  const item = ITEMS[Number(number)];
  const lines = [item.code || item.label.trim(), item.detail, item.module && `module ${item.module}`, item.place];
  tip.textContent = lines.filter(Boolean).join("\n");
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
}

// ---- the beginning

// Graphviz made boxes for Helvetica; where a wider font stands in for it, letters become smaller.
const SAMPLE = "abcdefghijklmnopqrstuvwxyz0123456789_", SAMPLE_WIDTH = 18.842; // in Helvetica, in units of its size

function fitFont() {
  const context = document.createElement("canvas").getContext("2d");
  context.font = "100px Helvetica, Arial, sans-serif";
  const wider = context.measureText(SAMPLE).width / (100 * SAMPLE_WIDTH);
  document.documentElement.style.setProperty("--letters", Math.min(1, 1 / wider).toFixed(3));
}

function showLegend() {
  const legend = $("trail").appendChild(make("div", "legend"));
  for (const kind in DATA.glyphs) {
    const used = STAGES.some((stage) => stage.form !== "text" && stage.items.some((item) => item.kind === kind));
    if (used) legend.append(make("span", "", `${DATA.glyphs[kind]} ${DATA.kinds[kind]}`));
  }
}

let wasSized = false;

// The pictures fit anew; the first time the text goes to its first kernel.
function sized() {
  if (!document.querySelector("main").clientWidth) return;
  for (const pane of PANES) pane.view.fit();
  const kernel = PANES[1].stage.items.find((item) => item.kind === "heading");
  if (kernel && !wasSized) PANES[1].view.reveal(kernel);
  wasSized = true;
}

function begin() {
  document.documentElement.classList.add("scripted");
  fitFont();
  showLegend();
  const graph = STAGES.find((stage) => stage.key === "graph") || STAGES[0];
  const other = STAGES.find((stage) => stage.key === "source") || STAGES[STAGES.length - 1];
  PANES.push(new Pane("left", graph));
  PANES.push(new Pane("right", other));
  mark();
  new ResizeObserver(sized).observe(document.querySelector("main")); // it may have no size yet, in a notebook's frame
  $("search").addEventListener("input", (event) => find(event.target.value));
  $("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && hits.length) {
      const shown = PANES.map((pane) => pane.stage).find((stage) => hits.some((n) => ITEMS[n].stage === stage));
      nextHit(shown || ITEMS[hits[0]].stage);
    }
  });
  $("compare").addEventListener("click", () => {
    comparing = !comparing;
    $("compare").setAttribute("aria-pressed", comparing);
    mark();
  });
  $("theme").addEventListener("click", () => {
    const chosen = document.documentElement.dataset;
    const isDark = chosen.theme ? chosen.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    chosen.theme = isDark ? "light" : "dark";
  });
  $("back").addEventListener("click", () => go(-1));
  $("forward").addEventListener("click", () => go(1));
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== $("search")) {
      $("search").focus();
      event.preventDefault();
    } else if (event.key === "Escape") {
      $("search").value = "";
      find("");
    }
  });
  let theme;
  addEventListener("beforeprint", () => {
    theme = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    for (const pane of PANES) pane.view.print(true);
  });
  addEventListener("afterprint", () => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    for (const pane of PANES) pane.view.print(false);
  });
  document.addEventListener("mousemove", hover);
}

begin();
performance.mark("drawn");
setTimeout(gather, 0);
