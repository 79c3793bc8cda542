"use strict";
// What the pages draw with: shapes, colours, text, and buttons that save every figure. Text goes in
// by textContent only: whatever a column is called, it stays text.
const figures = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const COLOURS = 8; // in the style, one set for a light ground and one for a dark one
  const SHAPES = [
    (r) => `m${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
    (r) => `m${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
    (r) => `m0,${-1.3 * r}l${1.2 * r},${2.2 * r}h${-2.4 * r}z`,
    (r) => `m0,${-1.4 * r}l${1.4 * r},${1.4 * r}l${-1.4 * r},${1.4 * r}l${-1.4 * r},${-1.4 * r}z`,
    (r) => `m0,${1.3 * r}l${1.2 * r},${-2.2 * r}h${-2.4 * r}z`,
  ];
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  // Thousands are parted from 10,000 on: a year is written 2010.
  const written = (x, options) => x.toLocaleString("en", { useGrouping: Math.abs(x) >= 1e4, ...options });
  const short = (x) => (x === null ? "none" : written(Number(x.toPrecision(5)), { maximumSignificantDigits: 5 }));
  // Numbers at an axis: as many digits as tell its marks apart, and no more than there is room for.
  function tick(v, span) {
    const digits = Math.min(20, Math.max(0, 2 - Math.floor(Math.log10(span))));
    if (Math.abs(v) >= 1e6) return written(v, { notation: "compact", maximumSignificantDigits: 5 });
    return digits > 5 ? Number(v.toPrecision(3)).toString() : written(v, { maximumFractionDigits: digits });
  }
  const colour = (c) => `var(--c${c % COLOURS})`;
  const shape = (c, r) => SHAPES[c % SHAPES.length](r);

  function add(parent, name, attributes, text) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }
  function put(parent, name, text, kind) {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    if (kind) node.className = kind;
    parent.appendChild(node);
    return node;
  }
  function mark(parent, c) {
    const svg = add(parent, "svg", { viewBox: "-5 -5 10 10", "aria-hidden": "true", class: "mark" });
    add(svg, "path", { d: "M0,0" + shape(c, 3.4), fill: colour(c) });
  }

  // A curve over k with its axis; points are drawn by the caller, at the places returned.
  function curve(svg, values, { low, high, title, error }) {
    const finite = values.flatMap((v, i) => (v === null ? [] : error && error[i] !== null ? [v - error[i], v + error[i]] : [v]));
    low ??= Math.min(...finite);
    high ??= Math.max(...finite);
    const span = high - low || 1;
    const x = (i) => 70 + (470 * i) / Math.max(1, values.length - 1);
    const y = (v) => 32 + (228 * (high - v)) / span;
    svg.replaceChildren();
    for (let i = 0; i <= 4; i++) {
      const v = low + (span * i) / 4;
      add(svg, "line", { x1: 70, x2: 545, y1: y(v), y2: y(v), stroke: "var(--line)" });
      add(svg, "text", { x: 64, y: y(v) + 4, "text-anchor": "end" }, tick(v, span));
    }
    const every = Math.ceil(values.length / 15);
    values.forEach((v, i) => {
      if (i % every === 0) add(svg, "text", { x: x(i), y: 282, "text-anchor": "middle" }, i + 1);
    });
    add(svg, "text", { x: 307, y: 304, "text-anchor": "middle" }, "number of clusters k");
    add(svg, "text", { x: 70, y: 14 }, title);
    if (error) {
      const known = values.map((v, i) => i).filter((i) => values[i] !== null && error[i] !== null);
      const band = [...known.map((i) => [i, values[i] + error[i]]), ...known.reverse().map((i) => [i, values[i] - error[i]])];
      add(svg, "polygon", { points: band.map(([i, v]) => `${x(i)},${y(v)}`).join(" "), fill: "var(--curve)", "fill-opacity": 0.2 });
    }
    const line = values.map((v, i) => (v === null ? null : `${x(i)},${y(v)}`)).filter(Boolean).join(" ");
    add(svg, "polyline", { points: line, fill: "none", stroke: "var(--curve)", "stroke-width": 2 });
    return { x, y };
  }

  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  // A figure that stands by itself: colours of the page in place of their names, and a ground.
  function alone(svg) {
    const style = getComputedStyle(document.documentElement), copy = svg.cloneNode(true);
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const value = (text) => text.replace(/var\((--\w+)\)/g, (_, name) => style.getPropertyValue(name).trim());
    for (const node of [copy, ...copy.querySelectorAll("*")]) {
      for (const { name, value: text } of [...node.attributes]) if (text.includes("var(")) node.setAttribute(name, value(text));
      if (node.tagName === "text") {
        if (!node.hasAttribute("fill")) node.setAttribute("fill", value("var(--faint)"));
        node.setAttribute("font-family", "sans-serif");
        node.setAttribute("font-size", "12");
      }
    }
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const ground = add(copy, "rect", { width, height, fill: value("var(--wash)") });
    copy.prepend(ground);
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  }
  async function saveFigure(svg, name, kind) {
    const { text, width, height } = alone(svg), drawn = new Blob([text], { type: "image/svg+xml" });
    if (kind === "svg") return save(drawn, `${name}.svg`);
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * width;
    canvas.height = 2 * height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
  }
  // Every figure gets two buttons below; its name is that of its element.
  function savable(figure) {
    const svg = figure.querySelector("svg"), row = put(figure, "p", undefined, "save");
    for (const kind of ["svg", "png"]) {
      const button = put(row, "button", `Save ${kind.toUpperCase()}`);
      button.type = "button";
      button.setAttribute("aria-label", `Save the figure ${svg.id} as ${kind.toUpperCase()}`);
      button.addEventListener("click", () => saveFigure(svg, svg.id, kind));
    }
  }

  return { $, data, written, short, tick, colour, shape, add, put, mark, curve, save, savable };
})();
