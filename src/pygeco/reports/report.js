"use strict";
// Draws each chart of the page as SVG and lets it be read by mouse, finger and keyboard.
// Text reaches the page through textContent alone.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const charts = JSON.parse(document.getElementById("charts").textContent);

  const make = (parent, name, attributes, text) => {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  };

  // Round numbers that cover [low, high] with about `count` steps.
  const ticks = (low, high, count, whole) => {
    const rough = (high - low) / count || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    let step = power * [1, 2, 5, 10].find((k) => k * power >= rough * 0.999);
    if (whole) step = Math.max(1, Math.round(step));
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
    return { values: found, step };
  };

  const label = (value, step) => {
    const places = Math.max(0, Math.min(8, -Math.floor(Math.log10(step) + 1e-9)));
    if (step < 1e-6) return Math.abs(value) < step / 2 ? "0" : value.toExponential(1);
    return (Math.abs(value) < step / 2 ? 0 : value).toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
  };

  const widest = (found) => 7 * Math.max(...found.values.map((v) => label(v, found.step).length));

  // As many round numbers, up to `count`, as stand side by side in `room` pixels.
  const ticksBeside = (low, high, count, whole, room) => {
    let found = ticks(low, high, count, whole);
    while (count > 1 && found.values.length * (widest(found) + 12) > room) found = ticks(low, high, --count, whole);
    return found;
  };

  const ends = (values) => [Math.min(...values), Math.max(...values)];

  // The scales of a chart at this size: data to pixels.
  const scales = (chart, width, height) => {
    const bars = chart.series.some((s) => s.kind === "bars");
    const all = chart.series.flatMap((s) => [...s.y, ...(s.low || []), ...(s.high || [])]).filter((y) => y !== null);
    let [low, high] = ends(all);
    if (chart.zero) low = Math.min(0, low);
    const room = high - low || Math.abs(high) || 1;
    if (!chart.zero) low -= 0.06 * room;
    high += 0.08 * room;
    let [first, last] = ends(chart.x);
    const gap = chart.x.length > 1 ? Math.min(...chart.x.slice(1).map((x, i) => x - chart.x[i])) : 1;
    const margin = bars ? gap * 0.6 : (last - first) * 0.02 || 0.5;
    first -= margin;
    last += margin;
    const yTicks = ticks(low, high, 5, false);
    const box = { left: 14 + widest(yTicks), right: width - 10, top: 22, bottom: height - 40 };
    return {
      box, yTicks,
      xTicks: ticksBeside(first, last, width < 420 ? 6 : 9, chart.whole, box.right - box.left),
      x: (v) => box.left + ((v - first) / (last - first)) * (box.right - box.left),
      y: (v) => box.bottom - ((v - low) / (high - low)) * (box.bottom - box.top),
      bar: Math.max(2, (gap / (last - first)) * (box.right - box.left) * 0.82),
    };
  };

  const axes = (svg, chart, at) => {
    const { box } = at;
    for (const v of at.yTicks.values) {
      make(svg, "line", { class: "axis", x1: box.left, x2: box.right, y1: at.y(v), y2: at.y(v) });
      make(svg, "text", { x: box.left - 6, y: at.y(v) + 4, "text-anchor": "end" }, label(v, at.yTicks.step));
    }
    for (const v of at.xTicks.values) {
      const text = label(v, at.xTicks.step);
      if (at.x(v) + 3.5 * text.length > box.right + 20) continue;  // it would be cut
      make(svg, "text", { x: at.x(v), y: box.bottom + 17, "text-anchor": "middle" }, text);
    }
    make(svg, "text", { x: (box.left + box.right) / 2, y: box.bottom + 35, "text-anchor": "middle" }, chart.xLabel);
    make(svg, "text", { x: 0, y: 11 }, chart.yLabel);
  };

  const draw = {
    line: (svg, chart, s, at) => {
      const points = chart.x.map((x, i) => (s.y[i] === null ? "" : `${at.x(x)},${at.y(s.y[i])}`));
      make(svg, "polyline", { class: `line ${s.tone}`, points: points.join(" ") });
      if (s.tone === "muted") return;
      const radius = chart.x.length > 40 ? 2 : 4;
      chart.x.forEach((x, i) => {
        if (s.y[i] !== null) make(svg, "circle", { class: `dot ${s.tone}`, cx: at.x(x), cy: at.y(s.y[i]), r: radius });
      });
    },
    points: (svg, chart, s, at) => {
      chart.x.forEach((x, i) => {
        make(svg, "line", { class: s.tone, x1: at.x(x), x2: at.x(x), y1: at.y(s.low[i]), y2: at.y(s.high[i]) });
        make(svg, "circle", { class: `dot ${s.tone}`, cx: at.x(x), cy: at.y(s.y[i]), r: 5 });
      });
    },
    bars: (svg, chart, s, at) => {
      chart.x.forEach((x, i) => {
        make(svg, "rect", {
          class: `bars ${s.tone}`, x: at.x(x) - at.bar / 2, y: at.y(s.y[i]), width: at.bar,
          height: Math.max(0, at.box.bottom - at.y(s.y[i])), "data-at": i,
        });
      });
    },
  };

  const legend = (plot, chart) => {
    if (chart.series.length < 2) return;
    const list = document.createElement("div");
    list.className = "legend";
    for (const s of chart.series) {
      const item = document.createElement("span");
      const mark = make(item, "svg", { viewBox: "0 0 20 8", "aria-hidden": "true" });
      if (s.kind === "bars") make(mark, "rect", { class: s.tone, width: 20, height: 8 });
      else make(mark, "line", { class: s.tone, x1: 0, x2: 20, y1: 4, y2: 4, "stroke-width": 3 });
      item.append(s.name);
      list.append(item);
    }
    plot.before(list);
  };

  for (const figure of document.querySelectorAll("[data-chart]")) {
    const chart = charts[figure.dataset.chart];
    const plot = figure.querySelector(".plot");
    const readout = figure.querySelector(".readout");
    const said = figure.querySelector(".said");
    const lines = figure.querySelectorAll("tbody tr");
    const hint = said.textContent;
    let at, svg, now = null, held = false;
    legend(plot, chart);

    const mark = () => {
      svg.querySelectorAll(".mark").forEach((node) => node.remove());
      svg.querySelectorAll(".on").forEach((node) => node.classList.remove("on"));
      lines.forEach((line, i) => line.classList.toggle("on", held && i === now));
      readout.classList.toggle("held", held);
      said.textContent = now === null ? hint : chart.say[now] + (held ? " (held; Escape lets go)" : "");
      if (now === null) return;
      plot.setAttribute("aria-valuenow", now + 1);
      plot.setAttribute("aria-valuetext", chart.say[now]);
      const x = at.x(chart.x[now]);
      make(svg, "line", { class: `mark cursor${held ? " held" : ""}`, x1: x, x2: x, y1: at.box.top, y2: at.box.bottom });
      const bar = svg.querySelector(`[data-at="${now}"]`);
      if (bar) bar.classList.add("on");
      for (const s of chart.series) {
        if (s.kind === "bars" || s.tone === "muted" || s.y[now] === null) continue;
        make(svg, "circle", { class: `mark dot ${s.tone}`, cx: x, cy: at.y(s.y[now]), r: 7 });
      }
    };

    const render = () => {
      const width = plot.clientWidth, height = Math.max(230, Math.min(320, width * 0.55));
      if (!width) return;
      if (svg) svg.remove();
      svg = make(plot, "svg", { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" });
      at = scales(chart, width, height);
      axes(svg, chart, at);
      for (const s of chart.series) draw[s.kind](svg, chart, s, at);
      mark();
    };

    const nearest = (event) => {
      const x = event.clientX - plot.getBoundingClientRect().left;
      const away = chart.x.map((v) => Math.abs(at.x(v) - x));
      return away.indexOf(Math.min(...away));
    };

    plot.addEventListener("pointermove", (event) => {
      if (held) return;
      now = nearest(event);
      mark();
    });
    const leave = () => {
      if (held || plot.matches(":hover, :focus")) return;
      now = null;
      mark();
    };
    plot.addEventListener("pointerleave", leave);
    plot.addEventListener("blur", leave);
    plot.addEventListener("click", (event) => {
      const here = nearest(event);
      held = !(held && here === now);
      now = here;
      mark();
    });
    plot.addEventListener("keydown", (event) => {
      const last = chart.x.length - 1, from = now === null ? last : now;
      const to = {
        ArrowRight: from + 1, ArrowUp: from + 1, ArrowLeft: from - 1, ArrowDown: from - 1,
        PageUp: from + 5, PageDown: from - 5, Home: 0, End: last, Enter: from, " ": from,
      }[event.key];
      if (event.key === "Escape") { held = false; now = null; }
      else if (to === undefined) return;
      else {
        if (event.key === "Enter" || event.key === " ") held = !held;
        now = Math.max(0, Math.min(last, to));
      }
      event.preventDefault();
      mark();
    });
    new ResizeObserver(render).observe(plot);
    render();
  }
})();
