"use strict";
// Draws what belongs to the k that is looked at.
(() => {
  const { $, data, written, short, tick, colour, shape, add, put, mark, curve, save, savable } = figures;
  const last = data.sizes.length;
  let k = data.k;

  function drawCurve() {
    const svg = $("curve"), name = $("measure").value, values = data.measures[name];
    // Agreement is a part of the best: from 0 to 1, whatever the values.
    const ends = name === "agreement" ? { low: 0, high: 1 } : {};
    const { x, y } = curve(svg, values, { ...ends, title: data.labels[name] });
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
    const own = k, n = data.sizes[0][0];
    const labels = new DataView(await unpack(data.rows.labels));
    const ids = JSON.parse(new TextDecoder().decode(await unpack(data.rows.ids)));
    const lines = [`${quoted(data.rows.id)},cluster`];
    for (let i = 0; i < n; i++)
      lines.push(`${ids.length ? quoted(ids[i]) : i + 1},${labels.getUint16(2 * (i * last + own - 1), true)}`);
    save(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }), `clusters-${own}.csv`);
  }

  // Rows on two axes: hollow where they sit between clusters.
  const place = (i) => [280 + 0.26 * data.points.places[i][0], 160 - 0.145 * data.points.places[i][1]];
  function drawScatter() {
    const svg = $("scatter");
    if (!svg) return;
    svg.replaceChildren();
    const own = data.points.clusters[k - 1], hollow = new Set(k === data.k ? data.points.between : []);
    for (let c = 0; c < k; c++)
      for (const empty of [false, true]) {
        const path = own.map((l, i) => (l === c && hollow.has(i) === empty ? `M${place(i).map((v) => v.toFixed(1)).join(",")}${shape(c, 2.6)}` : "")).join("");
        if (path === "") continue;
        const ink = empty ? { fill: "none", stroke: colour(c), "stroke-width": 1 } : { fill: colour(c), "fill-opacity": 0.75 };
        add(svg, "path", { d: path, "data-cluster": c, "data-hollow": empty, ...ink });
      }
    svg.setAttribute("aria-label", `Rows on two principal components in ${k} clusters.`);
    $("pointed").hidden = true;
  }
  // The row that is pointed at: its id and its cluster.
  function point(event) {
    const svg = $("scatter"), box = svg.getBoundingClientRect(), tip = $("pointed");
    const at = [((event.clientX - box.left) * 560) / box.width, ((event.clientY - box.top) * 320) / box.height];
    let best = -1, least = 12 ** 2;
    data.points.places.forEach((_, i) => {
      const [x, y] = place(i), away = (x - at[0]) ** 2 + (y - at[1]) ** 2;
      if (away < least) [best, least] = [i, away];
    });
    tip.hidden = best < 0;
    if (best < 0) return;
    const [x, y] = place(best);
    const between = k === data.k && data.points.between.includes(best) ? ", between clusters" : "";
    tip.textContent = `${data.points.ids[best]}: cluster ${data.points.clusters[k - 1][best]}${between}`;
    tip.style.left = `${(100 * x) / 560}%`;
    tip.style.top = `${(box.height * y) / 320}px`;
    tip.classList.toggle("left", x > 280);
  }

  // All is 100 %, and nearly all is not.
  const percent = (part) => (part < 1 && part >= 0.995 ? "over 99 %" : `${Math.round(100 * part)} %`);
  // What each cluster is like, a rule for it, and whether it holds.
  function drawClusters() {
    const list = $("clusters");
    list.replaceChildren();
    const words = data.differences && data.differences[k - 1].words, closely = data.closely[k];
    data.sizes[k - 1].forEach((size, c) => {
      const card = put(list, "li"), head = put(card, "h4");
      mark(head, c);
      head.append(` Cluster ${c}: ${written(size)} ${size === 1 ? "row" : "rows"}`);
      if (words) put(card, "p", `${words[c][0].toUpperCase()}${words[c].slice(1)}.`, "like");
      if (!closely || k === 1) return;
      if (!closely.rules[c]) put(card, "p", "No short rule tells it from the others.");
      else {
        const [text, precision, coverage] = closely.rules[c], rule = put(card, "p", "Rule: ");
        put(rule, "code", text);
        put(card, "p", `${percent(precision)} of the rows it names are in the cluster; it names ${percent(coverage)} of the cluster.`);
      }
      const sound = put(card, "p", closely.sound[c]), between = closely.between[c];
      if (closely.unsound.includes(c)) sound.className = "unsound";
      if (closely.single.includes(c)) sound.append(between ? " It sits between clusters." : "");
      else sound.append(between ? ` ${written(between)} of its rows ${between === 1 ? "sits" : "sit"} between clusters.` : " None of its rows sits between clusters.");
    });
    const near = Object.keys(data.closely).join(", ");
    $("closely").textContent = closely || !near ? "" : `Rules, and whether clusters hold, were worked out for k = ${near} only. --k ${k}, or with_k(${k}, X), does it for ${k}.`;
  }

  // Columns by the part of their variance that the clusters explain; in their own order for one.
  function ranked() {
    const all = data.columns.map((_, j) => j), parts = data.differences && data.differences[k - 1].explained;
    return parts ? all.sort((a, b) => parts[b] - parts[a] || a - b) : all;
  }
  function drawProfiles() {
    const table = $("profiles"), order = ranked();
    table.replaceChildren();
    const head = table.createTHead().insertRow();
    for (const name of ["cluster", "rows"]) put(head, "th", name).scope = "col";
    for (const j of order) {
      const part = data.differences && k > 1 ? ` · ${Math.round(100 * data.differences[k - 1].explained[j])} %` : "";
      put(head, "th", data.columns[j] + (data.bent[j] && " *") + part).scope = "col";
    }
    const body = table.createTBody();
    data.sizes[k - 1].forEach((size, c) => {
      const row = body.insertRow(), first = put(row, "th");
      first.scope = "row";
      mark(first, c);
      first.append(` ${c}`);
      put(row, "td", written(size));
      for (const j of order) {
        const node = put(row, "td", data.dated[j] ? day(data.centers[k - 1][c][j]) : short(data.centers[k - 1][c][j])), z = data.scores[k - 1][c][j];
        const strength = Math.min(45, Math.round(Math.abs(z) * 22));
        node.style.background = `color-mix(in srgb, ${z > 0 ? "#3d9bd9" : "#e08a3c"} ${strength}%, var(--paper))`;
      }
    });
  }

  // A date, of the days since 1970-01-01.
  const day = (v) => new Date(864e5 * v).toISOString().slice(0, 10);

  // The columns that tell most: of each cluster the middle, the middle half and nine tenths.
  function drawSpreads() {
    const place = $("spreads");
    if (!place) return;
    place.replaceChildren();
    const { first, quantiles, ticks, explained } = data.differences[k - 1];
    first.forEach((j, nth) => {
      const figure = put(place, "figure"), high = Math.max(14, Math.min(30, 150 / k)), bottom = 8 + high * k;
      const svg = add(figure, "svg", { id: `column-${nth + 1}`, role: "img", viewBox: `0 0 360 ${bottom + 26}` });
      const [least, , most] = ticks[nth], span = most - least || 1, x = (part) => 34 + 306 * part;
      // Of a column in logarithms the middle of the axis is not that of its numbers.
      const even = !data.bent[j];
      ticks[nth].forEach((v, i) => {
        add(svg, "line", { x1: x(i / 2), x2: x(i / 2), y1: 4, y2: bottom, stroke: "var(--line)" });
        add(svg, "text", { x: x(i / 2), y: bottom + 17, "text-anchor": ["start", "middle", "end"][i] }, data.dated[j] ? day(v) : even ? tick(v, span) : written(Number(v.toPrecision(3)), { maximumSignificantDigits: 3 }));
      });
      quantiles[nth].forEach(([a, b, c, d, e], own) => {
        const y = 8 + high * (own + 0.5), thick = Math.min(12, 0.6 * high);
        add(svg, "text", { x: 22, y: y + 4, "text-anchor": "end" }, own);
        add(svg, "line", { x1: x(a), x2: x(e), y1: y, y2: y, stroke: colour(own), "stroke-width": 2 });
        add(svg, "rect", { x: x(b), y: y - thick / 2, width: Math.max(2, x(d) - x(b)), height: thick, fill: colour(own), "fill-opacity": 0.75 });
        add(svg, "line", { x1: x(c), x2: x(c), y1: y - thick / 2 - 2, y2: y + thick / 2 + 2, stroke: "var(--ink)", "stroke-width": 2 });
      });
      const part = k > 1 ? `: the clusters explain ${Math.round(100 * explained[j])} % of its variance` : "";
      svg.setAttribute("aria-label", `${data.columns[j]} in each cluster${part}.`);
      put(figure, "figcaption", `${data.columns[j]}${part}.${even ? "" : ` The axis is that of its ${data.bent[j]}.`}`);
      savable(figure);
    });
  }

  // Who goes where from k - 1 to k and from k to k + 1.
  function drawFlow() {
    const svg = $("flow");
    svg.replaceChildren();
    const ks = [k - 1, k, k + 1].filter((each) => each >= 1 && each <= last), n = data.sizes[0][0];
    const gap = Math.min(10, 120 / (k + 1)), scale = (280 - gap * (ks.at(-1) - 1)) / n, tops = {};
    const x = (own) => 60 + (420 * ks.indexOf(own)) / Math.max(1, ks.length - 1);
    const stack = (own, order) => {
      let top = 28 + (280 - scale * n - gap * (own - 1)) / 2;
      tops[own] = [];
      for (const c of order) {
        tops[own][c] = top;
        top += scale * data.sizes[own - 1][c] + gap;
      }
    };
    // Clusters lie where most of their rows come from, so that few bands cross.
    const weigh = (own, other, pairs) => {
      const sums = data.sizes[own - 1].map(() => [0, 0]);
      for (const [c, e, rows] of pairs) {
        sums[c][0] += rows;
        sums[c][1] += rows * (tops[other][e] + (scale * data.sizes[other - 1][e]) / 2);
      }
      stack(own, sums.map((_, c) => c).sort((a, b) => sums[a][1] / sums[a][0] - sums[b][1] / sums[b][0]));
    };
    stack(k, data.sizes[k - 1].map((_, c) => c));
    if (ks.includes(k - 1)) weigh(k - 1, k, data.flows[k - 2].rows);
    if (ks.includes(k + 1)) weigh(k + 1, k, data.flows[k - 1].rows.map(([c, e, rows]) => [e, c, rows]));
    for (const from of ks.slice(0, -1)) {
      const left = [...tops[from]], right = [...tops[from + 1]], a = x(from) + 14, b = x(from + 1), half = (a + b) / 2;
      const order = [...data.flows[from - 1].rows].sort((p, q) => tops[from][p[0]] - tops[from][q[0]] || tops[from + 1][p[1]] - tops[from + 1][q[1]]);
      for (const [c, e, rows] of order) {
        const h = scale * rows, y = left[c], z = right[e];
        const band = add(svg, "path", { d: `M${a},${y}C${half},${y} ${half},${z} ${b},${z}v${h}C${half},${z + h} ${half},${y + h} ${a},${y + h}z`, fill: colour(c), "fill-opacity": 0.4 });
        add(band, "title", {}, `${written(rows)} ${rows === 1 ? "row" : "rows"} from cluster ${c} of ${from} to cluster ${e} of ${from + 1}`);
        left[c] += h;
        right[e] += h;
      }
    }
    for (const own of ks) {
      add(svg, "text", { x: x(own) + 7, y: 16, "text-anchor": "middle" }, `k = ${own}`);
      data.sizes[own - 1].forEach((size, c) => {
        const y = tops[own][c], h = Math.max(1, scale * size), first = own === ks[0];
        add(svg, "rect", { x: x(own), y, width: 14, height: h, fill: colour(c) });
        if (h + gap > 9) add(svg, "text", { x: first ? x(own) - 5 : x(own) + 19, y: y + h / 2 + 4, "text-anchor": first ? "end" : "start", fill: "var(--ink)" }, c);
      });
    }
    const words = ks.slice(0, -1).map((own) => data.flows[own - 1].words).join(" ");
    $("flows").textContent = words;
    svg.setAttribute("aria-label", `How clusters split and join. ${words}`);
  }

  function show(wanted) {
    k = Math.max(1, Math.min(last, wanted));
    $("k").value = String(k);
    $("fewer").disabled = k === 1;
    $("more").disabled = k === last;
    const sizes = data.sizes[k - 1].map((size) => written(size));
    $("said").textContent = `k = ${$("k").selectedOptions[0].text}: ${data.measures.agreement ? `expected agreement ${data.measures.agreement[k - 1].toFixed(2)}; ` : ""}BIC ${short(data.measures.bic[k - 1])}; rows in each cluster: ${sizes.join(", ")}.`;
    drawCurve();
    drawScatter();
    drawClusters();
    $("differ").hidden = k === 1;
    drawProfiles();
    drawSpreads();
    if (last > 1) drawFlow();
  }

  if ($("download") && "DecompressionStream" in window) $("download").addEventListener("click", download);
  else if ($("download")) $("download").hidden = true;
  if ($("scatter")) {
    for (const kind of ["pointermove", "pointerdown"]) $("scatter").addEventListener(kind, point);
    $("scatter").addEventListener("pointerleave", () => ($("pointed").hidden = true));
  }
  $("k").addEventListener("change", (event) => show(Number(event.target.value)));
  $("measure").addEventListener("change", drawCurve);
  $("fewer").addEventListener("click", () => show(k - 1));
  $("more").addEventListener("click", () => show(k + 1));
  document.querySelectorAll("figure").forEach(savable);
  show(k);
})();
