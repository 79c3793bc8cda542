"use strict";
// Draws the curve, the scatter plot and the profiles for the k that is looked at. Text goes in by
// textContent only: whatever a column is called, it stays text.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  // Okabe and Ito's colours, which colour-blind readers can tell apart; shapes help too.
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07D00", "#3D9BD9", "#7F6BB5", "#808080"];
  const SHAPES = [
    (r) => `m${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
    (r) => `m${-r},${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
    (r) => `m0,${-1.3 * r}l${1.2 * r},${2.2 * r}h${-2.4 * r}z`,
    (r) => `m0,${-1.4 * r}l${1.4 * r},${1.4 * r}l${-1.4 * r},${1.4 * r}l${-1.4 * r},${-1.4 * r}z`,
    (r) => `m0,${1.3 * r}l${1.2 * r},${-2.2 * r}h${-2.4 * r}z`,
  ];
  const $ = (id) => document.getElementById(id);
  const short = (x) => (x === null ? "none" : Number(x.toPrecision(5)).toLocaleString("en", { maximumSignificantDigits: 5 }));
  let k = data.k;

  function add(parent, name, attributes, text) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }
  function cell(row, name, text) {
    const node = document.createElement(name);
    node.textContent = text;
    row.appendChild(node);
    return node;
  }

  function drawCurve() {
    const svg = $("curve"), name = $("measure").value, values = data.measures[name];
    const finite = values.filter((v) => v !== null);
    const part = name === "agreement"; // of the best: from 0 to 1, whatever the values
    const low = part ? 0 : Math.min(...finite), high = part ? 1 : Math.max(...finite), span = high - low || 1;
    const x = (i) => 70 + (470 * i) / Math.max(1, values.length - 1);
    const y = (v) => 25 + (235 * (high - v)) / span;
    svg.replaceChildren();
    for (let i = 0; i <= 4; i++) {
      const v = low + (span * i) / 4;
      add(svg, "line", { x1: 70, x2: 545, y1: y(v), y2: y(v), stroke: "var(--line)" });
      add(svg, "text", { x: 64, y: y(v) + 4, "text-anchor": "end" }, short(v));
    }
    const every = Math.ceil(values.length / 15);
    values.forEach((v, i) => {
      if (i % every === 0) add(svg, "text", { x: x(i), y: 282, "text-anchor": "middle" }, i + 1);
    });
    add(svg, "text", { x: 307, y: 304, "text-anchor": "middle" }, "number of clusters k");
    add(svg, "text", { x: 70, y: 14 }, data.labels[name]);
    const line = values.map((v, i) => (v === null ? null : `${x(i)},${y(v)}`)).filter(Boolean).join(" ");
    add(svg, "polyline", { points: line, fill: "none", stroke: "var(--curve)", "stroke-width": 2 });
    values.forEach((v, i) => {
      if (v === null) return;
      const own = i + 1, spot = add(svg, "g", { "data-k": own, style: "cursor: pointer" });
      add(spot, "title", {}, `k = ${own}: ${short(v)}`);
      add(spot, "rect", { x: x(i) - 8, y: 15, width: 16, height: 255, fill: "transparent" });
      if (own === k) add(spot, "circle", { cx: x(i), cy: y(v), r: 10, fill: "none", stroke: "var(--accent)", "stroke-width": 2 });
      if (own === data.k) add(spot, "circle", { cx: x(i), cy: y(v), r: 6, fill: "var(--accent)" });
      else if (data.others.includes(own)) add(spot, "rect", { x: x(i) - 5, y: y(v) - 5, width: 10, height: 10, fill: "var(--paper)", stroke: "var(--curve)", "stroke-width": 2 });
      else add(spot, "circle", { cx: x(i), cy: y(v), r: 3.5, fill: "var(--curve)" });
      spot.addEventListener("click", () => show(own));
    });
  }

  // Rows are packed by zlib: two bytes for every row and k.
  async function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
  }
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  async function download() {
    const own = k, n = data.sizes[0][0], width = data.sizes.length;
    const labels = new DataView(await unpack(data.rows.labels));
    const ids = JSON.parse(new TextDecoder().decode(await unpack(data.rows.ids)));
    const lines = [`${quoted(data.rows.id)},cluster`];
    for (let i = 0; i < n; i++)
      lines.push(`${ids.length ? quoted(ids[i]) : i + 1},${labels.getUint16(2 * (i * width + own - 1), true)}`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
    link.download = `clusters-${own}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  // Largest first; the numbers are the labels of the library and of the file of labels.
  const bySize = () => data.sizes[k - 1].map((_, c) => c).sort((a, b) => data.sizes[k - 1][b] - data.sizes[k - 1][a]);

  function drawScatter() {
    const svg = $("scatter");
    if (!svg) return;
    svg.replaceChildren();
    const { places, clusters, between } = data.points, own = clusters[k - 1];
    const at = (i) => [280 + 0.26 * places[i][0], 160 - 0.145 * places[i][1]];
    for (let c = 0; c < k; c++) {
      const shape = SHAPES[c % SHAPES.length](2.6);
      const path = own.map((l, i) => (l === c ? `M${at(i).map((v) => v.toFixed(1)).join(",")}${shape}` : "")).join("");
      add(svg, "path", { d: path, fill: COLOURS[c % COLOURS.length], "fill-opacity": 0.75, "data-cluster": c });
    }
    if (k === data.k)
      for (const i of between) {
        const [cx, cy] = at(i);
        add(svg, "circle", { cx, cy, r: 5.5, fill: "none", stroke: "var(--ink)", "stroke-width": 1 });
      }
    svg.setAttribute("aria-label", `Rows on two principal components in ${k} clusters.`);
  }

  function drawProfiles() {
    const table = $("profiles");
    table.replaceChildren();
    const head = table.createTHead().insertRow();
    for (const name of ["cluster", "rows", ...data.columns]) cell(head, "th", name).scope = "col";
    const body = table.createTBody();
    for (const c of bySize()) {
      const row = body.insertRow(), first = cell(row, "th", "");
      first.scope = "row";
      const mark = document.createElementNS(SVG, "svg");
      mark.setAttribute("viewBox", "-5 -5 10 10");
      mark.setAttribute("aria-hidden", "true");
      mark.style.cssText = "width: 0.9em; height: 0.9em; display: inline-block; background: none; vertical-align: -0.1em";
      add(mark, "path", { d: "M0,0" + SHAPES[c % SHAPES.length](3.4), fill: COLOURS[c % COLOURS.length] });
      first.append(mark, ` ${c}`);
      cell(row, "td", data.sizes[k - 1][c].toLocaleString("en"));
      data.centers[k - 1][c].forEach((value, j) => {
        const node = cell(row, "td", short(value)), z = data.scores[k - 1][c][j];
        const strength = Math.min(45, Math.round(Math.abs(z) * 22));
        node.style.background = `color-mix(in srgb, ${z > 0 ? "#3d9bd9" : "#e08a3c"} ${strength}%, var(--paper))`;
      });
    }
  }

  function show(wanted) {
    k = Math.max(1, Math.min(data.sizes.length, wanted));
    $("k").value = String(k);
    $("fewer").disabled = k === 1;
    $("more").disabled = k === data.sizes.length;
    const sizes = bySize().map((c) => data.sizes[k - 1][c].toLocaleString("en"));
    $("said").textContent = `k = ${k}${k === data.k ? " (chosen)" : ""}: ${data.measures.agreement ? `expected agreement ${data.measures.agreement[k - 1].toFixed(2)}; ` : ""}BIC ${short(data.measures.bic[k - 1])}; rows in each cluster: ${sizes.join(", ")}.`;
    drawCurve();
    drawScatter();
    drawProfiles();
  }

  if ($("download") && "DecompressionStream" in window) $("download").addEventListener("click", download);
  else if ($("download")) $("download").hidden = true;
  $("k").addEventListener("change", (event) => show(Number(event.target.value)));
  $("measure").addEventListener("change", drawCurve);
  $("fewer").addEventListener("click", () => show(k - 1));
  $("more").addEventListener("click", () => show(k + 1));
  show(k);
})();
