// The data of the page: stages, items, and which items belong together.
//
// Items are numbered through all stages. `item.from` has the numbers of what it came from, in all stages before; `to`
// is the same the other way round.

"use strict";

const DATA = JSON.parse(document.getElementById("data").textContent);
const STAGES = DATA.stages;
const ITEMS = []; // by number
const TO = []; // by number: what was made from it

for (const stage of STAGES) {
  stage.items.forEach((item, i) => {
    item.number = stage.first + i;
    item.stage = stage;
    item.place = DATA.places[item.place || 0];
    item.from = item.from || [];
    ITEMS[item.number] = item;
    TO[item.number] = [];
  });
}
for (const item of ITEMS) for (const source of item.from) TO[source].push(item.number);

const isOfNodes = (stage) => /^(\d+\.)?(graph|ops|prims|forward|backward)$/.test(stage.key);

// What belongs to an item in another stage: what it came from, what was made from it, or else what was made from the
// same nodes. A loop's line and a kernel's line have no link of their own, but both compute the same prim.
function relatedIn(item, stage) {
  const here = (numbers) => numbers.filter((n) => ITEMS[n].stage === stage);
  const direct = here(item.from).concat(here(TO[item.number]));
  if (direct.length || stage === item.stage) return direct;
  const nodes = item.from.filter((n) => isOfNodes(ITEMS[n].stage));
  const latest = nodes.length ? ITEMS[nodes[nodes.length - 1]].stage : null;
  const shared = nodes.filter((n) => ITEMS[n].stage === latest);
  return [...new Set(shared.flatMap((n) => here(TO[n])))];
}

// All that belongs to an item: number -> "up" (it came from that), "down" (made from it) or "beside" (of the same nodes).
function allRelated(item) {
  const found = new Map();
  for (const stage of STAGES) {
    for (const n of relatedIn(item, stage)) {
      found.set(n, item.from.includes(n) ? "up" : TO[item.number].includes(n) ? "down" : "beside");
    }
  }
  return found;
}
