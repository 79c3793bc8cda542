"use strict";
// Draws how many criteria choose each k, and the curve of every criterion.
(() => {
  const { $, data, short, add, put, curve, savable } = figures;

  function drawAnswers() {
    const svg = $("answers"), counts = Array.from({ length: data.k_max }, () => [0, 0]);
    for (const { k, one } of data.curves) counts[k - 1][one ? 0 : 1]++;
    const most = Math.max(1, ...counts.map(([a, b]) => a + b)), every = Math.ceil(data.k_max / 15);
    const x = (i) => 50 + (490 * (i + 0.5)) / data.k_max, y = (v) => 260 - (235 * v) / most, wide = Math.min(40, 350 / data.k_max);
    for (let v = 0; v <= most; v += Math.ceil(most / 5)) {
      add(svg, "line", { x1: 50, x2: 545, y1: y(v), y2: y(v), stroke: "var(--line)" });
      add(svg, "text", { x: 44, y: y(v) + 4, "text-anchor": "end" }, v);
    }
    counts.forEach(([able, unable], i) => {
      if (i % every === 0) add(svg, "text", { x: x(i), y: 282, "text-anchor": "middle" }, i + 1);
      add(svg, "rect", { x: x(i) - wide / 2, y: y(able), width: wide, height: y(0) - y(able), fill: "var(--curve)" });
      add(svg, "rect", { x: x(i) - wide / 2, y: y(able + unable), width: wide, height: y(able) - y(able + unable), fill: "var(--curve)", "fill-opacity": 0.4 });
    });
    add(svg, "text", { x: 295, y: 304, "text-anchor": "middle" }, "number of clusters k");
  }

  data.curves.forEach(({ name, k, looks, values, error, better }) => {
    const figure = put($("drawn"), "figure");
    const svg = add(figure, "svg", { id: name, role: "img", viewBox: "0 0 560 320" });
    svg.setAttribute("aria-label", `The curve of ${name}, which chooses k = ${k}.`);
    const { x, y } = curve(svg, values, { title: `${name} – ${better} is better`, error });
    if (values[k - 1] !== null) {
      const spot = add(svg, "circle", { cx: x(k - 1), cy: y(values[k - 1]), r: 7, fill: "var(--accent)" });
      add(spot, "title", {}, `k = ${k}: ${short(values[k - 1])}`);
    }
    put(figure, "figcaption", `${name}: ${k}${looks && `. It looks at ${looks}.`}`);
  });
  drawAnswers();
  document.querySelectorAll("figure").forEach(savable);
})();
