// Room for opened frames. Graphviz has laid out each frame by itself, with the frames inside it as small boxes. When one
// of these is opened, the layout around it is stretched along both axes where the box was, and nowhere else: what was
// left of it stays left of it, what was above stays above, so nothing overlaps and no arrow has to be routed anew.

"use strict";

const HEADER = 20; // the line with a frame's name
const MARGIN = 8; // around what is in it

// A map of one axis. Each piece [from, to, extra] becomes longer by at least `extra`, evenly.
function stretched(pieces) {
  const cuts = [...new Set(pieces.flatMap(([from, to]) => [from, to]))].sort((a, b) => a - b);
  const moved = [cuts[0] || 0];
  for (let i = 1; i < cuts.length; i++) {
    const length = cuts[i] - cuts[i - 1];
    const rates = pieces.map(([from, to, extra]) => (from <= cuts[i - 1] && cuts[i] <= to ? extra / (to - from) : 0));
    moved.push(moved[i - 1] + length * (1 + Math.max(0, ...rates)));
  }
  return (x) => {
    if (!cuts.length || x <= cuts[0]) return x;
    let i = cuts.findIndex((cut) => cut >= x);
    if (i < 0) return x + moved[cuts.length - 1] - cuts[cuts.length - 1];
    const part = (x - cuts[i - 1]) / (cuts[i] - cuts[i - 1]);
    return moved[i - 1] + part * (moved[i] - moved[i - 1]);
  };
}

// A frame with all that is open in it: its size, its boxes with the place of their middle, its arrows.
// `isOpen` says of the number of a frame whether it is open.
function arranged(frames, number, isOpen) {
  const frame = frames[number];
  const inner = frame.boxes.map((box) =>
    box.frame !== undefined && isOpen(box.frame) ? arranged(frames, box.frame, isOpen) : null);
  const pieces = (axis) => frame.boxes.flatMap((box, i) => {
    if (!inner[i]) return [];
    const half = box.at[2 + axis] / 2;
    return [[box.at[axis] - half, box.at[axis] + half, Math.max(0, inner[i].size[axis] - 2 * half)]];
  });
  const maps = [stretched(pieces(0)), stretched(pieces(1))];
  const boxes = frame.boxes.map((box, i) => {
    const middle = maps.map((map, axis) => {
      const half = box.at[2 + axis] / 2;
      return (map(box.at[axis] - half) + map(box.at[axis] + half)) / 2;
    });
    const size = inner[i] ? inner[i].size : box.at.slice(2);
    return { ...box, x: middle[0], y: middle[1], width: size[0], height: size[1], inner: inner[i] };
  });
  const size = [0, 1].map((axis) => maps[axis](frame.size[axis]));
  return {
    number,
    label: frame.label,
    boxes,
    arrows: frame.arrows.map((arrow) => bent(arrow, frame.boxes, boxes, maps)),
    size: [Math.max(size[0], frame.label.length * 6.5) + 2 * MARGIN, size[1] + HEADER + MARGIN],
  };
}

// The points of an arrow after stretching. Its ends stay at the borders of its boxes.
function bent([from, to, ...numbers], before, after, maps) {
  const points = numbers.map((value, i) => maps[i % 2](value));
  const atBorder = (i, box) => {
    for (const axis of [0, 1]) {
      const half = before[box].at[2 + axis] / 2;
      const grown = [after[box].width, after[box].height][axis] / (2 * half);
      const off = numbers[i + axis] - before[box].at[axis]; // from the middle; what is beyond the border stays as it was
      const inside = Math.max(-half, Math.min(half, off));
      points[i + axis] = [after[box].x, after[box].y][axis] + inside * grown + off - inside;
    }
  };
  atBorder(0, from);
  atBorder(points.length - 2, to);
  return points;
}
