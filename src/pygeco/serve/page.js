"use strict";
// The page of a served model. Text from data is set through textContent alone.
const $$ = (id) => document.getElementById(id);
const about = document.body.dataset;
const isClicks = about.kind === "clicks";
const levels = JSON.parse(about.levels), low = levels[0], high = levels.at(-1); // to rate with
const power = Math.floor(Math.log10(isClicks || high <= low ? 1 : high - low));
const isFar = power < -6 || power >= 12; // then numbers are written with powers of ten
const PLACES = isFar ? 2 : power < 0 ? 2 - power : Math.max(0, Math.min(2, 3 - power));
const SVG = "http://www.w3.org/2000/svg";
const INTERVAL = 1.6449; // deviations on each side of nine tenths

function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && !name.startsWith("aria")) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function draw(tag, attributes = {}) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

async function ask(path, body) {
  const given = body === undefined ? {} : {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  };
  const answer = await fetch(path, given).catch(() => {
    throw new Error("The server does not answer; try again when it runs.");
  });
  const found = await answer.json().catch(() => null); // a proxy's page, perhaps
  if (!answer.ok || !found) throw new Error(found?.error?.message ?? `The server failed with status ${answer.status}.`);
  if (found.model !== about.version) $$("changed").hidden = false;
  return found;
}

// Only the last of several questions in a row is shown.
function latest(work) {
  let last = 0;
  return async (status, list, ...given) => {
    const own = ++last;
    list.setAttribute("aria-busy", "true");
    try {
      const show = await work(...given);
      if (own === last) show();
    } catch (error) {
      if (own === last) status.textContent = error.message;
    } finally {
      if (own === last) list.removeAttribute("aria-busy");
    }
  };
}

const nameOf = (one) => one.title ?? String(one.item ?? one.id);
const write = (value, most, least = most) => isFar ? value.toExponential(most)
  : value.toLocaleString("en", { maximumFractionDigits: most, minimumFractionDigits: least });
const number = (value) => write(value, PLACES);
const rough = (value) => write(value, Math.max(0, PLACES - 1));
const counted = (count) => `${count} ${count === 1 ? about.kind.slice(0, -1) : about.kind}`;
const isolate = (text) => make("bdi", { textContent: text }); // of either direction

// A field that finds users or items by typing.
function combobox(input, list, side, choose) {
  let matches = [], at = -1, last = 0, finding = null;
  const close = () => {
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (next) => {
    at = next;
    [...list.children].forEach((node, t) => node.setAttribute("aria-selected", String(t === at)));
    if (at < 0) return;
    input.setAttribute("aria-activedescendant", list.children[at].id);
    list.children[at].scrollIntoView({ block: "nearest" });
  };
  const take = (one) => {
    input.value = side === "user" ? String(one.id) : nameOf(one);
    close();
    choose(one);
  };
  const look = async () => {
    const own = ++last;
    const asked = `v1/find?side=${side}&k=12&text=${encodeURIComponent(input.value)}`;
    const found = await ask(asked).catch((error) => ({ matches: [], failed: error.message }));
    if (own !== last) return;
    finding = null;
    if (document.activeElement !== input) return;
    matches = found.matches;
    at = -1;
    input.removeAttribute("aria-activedescendant");
    list.replaceChildren(...matches.map((one, t) => make("li",
      { role: "option", id: `${list.id}-${t}`, "aria-selected": "false",
        onmousedown: (event) => { event.preventDefault(); take(one); } },
      make("span", { textContent: nameOf(one) }),
      make("small", { textContent: counted(one.count) }))));
    if (!matches.length) {
      list.replaceChildren(make("li", { role: "option", "aria-disabled": "true", textContent: found.failed ?? "nothing found" }));
    }
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  };
  const find = () => { finding = look(); };
  // Enter means the first match of what stands in the field, which may not have come yet.
  const enter = async () => {
    while (finding) await finding;
    if (!list.hidden && matches.length) take(matches[Math.max(at, 0)]);
  };
  input.addEventListener("input", find);
  input.addEventListener("focus", () => input.select());
  input.addEventListener("click", find);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const count = matches.length;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (list.hidden) { find(); return; }
      if (count) mark(event.key === "ArrowDown" ? (at + 1) % count : (at <= 0 ? count : at) - 1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      enter();
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      close();
    }
  });
}

// An item of a list: how much, how sure, and why.
function meter(one, top) {
  const svg = draw("svg", { class: "meter", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
  const place = (value) => isClicks ? 100 * Math.max(0, value) / top : 100 * (value - low) / Math.max(high - low, 1e-9);
  const bound = (x) => Math.min(100, Math.max(0, x));
  svg.append(draw("rect", { class: "track", x: 0, y: 2.5, width: 100, height: 3 }));
  const half = one.deviation ? INTERVAL * one.deviation : 0;
  const [from, to] = isClicks ? [0, bound(place(one.score))] : [bound(place(one.score - half)), bound(place(one.score + half))];
  svg.append(draw("rect", { class: "range", x: from, y: 1.5, width: Math.max(0, to - from), height: 5 }));
  svg.append(draw("rect", { class: "mark", x: bound(place(one.score)) - 0.7, y: 0, width: 1.4, height: 8 }));
  return svg;
}

function showItem(one, top) {
  const parts = [make("div", { className: "line" },
    make("button", { type: "button", className: "name", textContent: nameOf(one),
      title: "Items like this one", onclick: () => openItem({ id: one.item, title: one.title }) }),
    make("span", { className: "number", textContent: describeScore(one) })), meter(one, top)];
  const reasons = (one.reasons ?? []).filter((reason) => reason.adds > 0);
  const why = reasons.flatMap((r, t) => [t ? ", " : "because of ", isolate(nameOf(r)), ` (+${number(r.adds)})`]);
  if (!why.length && one.reasons?.length) why.push("no single item speaks for it");
  parts.push(make("p", { className: "why" }, ...why));
  return make("li", {}, ...parts);
}

function describeScore(one) {
  if (isClicks) return `score ${number(one.score)}`;
  if (!one.deviation) return number(one.score);
  const half = INTERVAL * one.deviation, isBounded = about.bounded === "yes";
  const from = isBounded ? Math.max(Math.min(low, one.score), one.score - half) : one.score - half;
  const to = isBounded ? Math.min(Math.max(high, one.score), one.score + half) : one.score + half;
  return `${number(one.score)}, 90 %: ${rough(from)} to ${rough(to)}`;
}

function fill(list, items) {
  const top = Math.max(1e-9, ...items.map((one) => one.score));
  list.replaceChildren(...items.map((one) => showItem(one, top)));
}

const extras = { k: 10, deviation: about.sure === "yes", reasons: about.explains === "yes" ? 3 : 0 };

const showUser = latest(async (user) => {
  const found = await ask("v1/recommend", { user, ...extras });
  return () => {
    fill($$("user-items"), found.items);
    const user = isolate(String(found.user)), count = found.items.length;
    const did = isClicks ? "clicked" : "rated";
    $$("user-status").replaceChildren(...(!found.known
      ? ["The model does not know ", user, "; this is the list of the average user."]
      : count ? [`${count} recommendation${count === 1 ? "" : "s"} for user `, user, "."]
        : ["User ", user, ` has ${did} all items, so none is left to recommend.`]));
  };
});

const showAlike = latest(async (one) => {
  const found = await ask("v1/similar", { item: one.id, k: 12 });
  return () => {
    const alike = found.alike.filter((other) => other.similarity > 0); // others are unlike, or unknown
    $$("alike-items").replaceChildren(...alike.map((other) => make("li", {},
      make("button", { type: "button", className: "name", textContent: nameOf(other),
        onclick: () => openItem({ id: other.item, title: other.title }) }),
      make("span", { className: "number", textContent: `cosine ${other.similarity.toFixed(2)}` }))));
    const count = alike.length;
    $$("alike-status").replaceChildren(...(!count ? ["The model knows of no item like ", isolate(nameOf(one)), "."]
      : [`${count} item${count === 1 ? "" : "s"} most like `, isolate(nameOf(one)), "."]));
    map.choose(one.id, alike.map((other) => other.item));
  };
});

function openItem(one) {
  $$("item-text").value = nameOf(one);
  showAlike($$("alike-status"), $$("alike-items"), one);
  $$("alike").scrollIntoView();
  $$("alike-title").focus({ preventScroll: true }); // what was pressed may be gone, or far above
}

// Try it yourself: what is rated or clicked stays in this page.
const mine = new Map(); // id: { one, value }

function drawMine() {
  $$("try-mine").replaceChildren(...[...mine.values()].map(({ one, value }) => {
    const group = make("div", { className: "rate", role: "group", "aria-label": `Your ${isClicks ? "click" : "rating"} of ${nameOf(one)}` });
    const press = (next) => {
      mine.get(one.id).value = value === next ? null : next;
      const focus = document.activeElement?.dataset.key;
      drawMine();
      if (focus) document.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus();
      refresh();
    };
    for (const level of levels) {
      const text = isClicks ? (value ? "clicked" : "click") : write(level, PLACES, 0);
      const button = make("button", { type: "button", textContent: text, "aria-pressed": String(value === level), onclick: () => press(level) });
      button.dataset.key = `${one.id} ${level}`;
      group.append(button);
    }
    return make("li", {}, make("span", { className: "label", textContent: nameOf(one) }), group);
  }));
}

const showTry = latest(async (known) => {
  const found = await ask("v1/fold-in", { known, ...extras });
  return () => {
    fill($$("try-items"), found.items);
    $$("try-status").textContent = !found.items.length ? "You know all items, so none is left to recommend."
      : known.length ? `By your ${counted(known.length)}.`
      : `What the average user gets, until you ${isClicks ? "click" : "rate"} an item.`;
  };
});

function refresh() {
  const known = [...mine.values()].filter(({ value }) => value !== null)
    .map(({ one, value }) => isClicks ? { item: one.id } : { item: one.id, value });
  return showTry($$("try-status"), $$("try-items"), known);
}

async function startTry() {
  mine.clear();
  const found = await ask("v1/find?side=item&k=6");
  for (const one of found.matches) mine.set(one.id, { one, value: null });
  drawMine();
  await refresh();
}

// The map: points stay, the view moves.
const map = (() => {
  const box = $$("map"), svg = draw("svg", { "aria-hidden": "true" });
  const points = draw("g"), texts = draw("g"), cross = draw("path", { class: "cross" });
  svg.append(points, texts, cross);
  box.append(svg);
  let data = null, view = { x: 0, y: 0, size: 1.1 }, chosen = null, near = new Set(), frame = 0;
  const spots = new Map();
  const screen = () => ({ w: box.clientWidth || 1, h: box.clientHeight || 1 });
  const scale = () => { const { w, h } = screen(); return Math.min(w, h) / (2 * view.size); };
  const at = (t) => { const { w, h } = screen(), k = scale(); return [w / 2 + (data.x[t] - view.x) * k, h / 2 + (data.y[t] - view.y) * k]; };
  const title = (t) => data.titles ? data.titles[t] : String(data.items[t]);
  const pen = document.createElement("canvas").getContext("2d"), signs = new Intl.Segmenter();
  const WIDEST = 190; // pixels of a label, and less where the map is narrow
  pen.font = "12px system-ui, sans-serif"; // as in page.css

  // As much of a title as has room, no sign of it cut in two, and how wide it is.
  function label(t, room) {
    if (data.labels.room !== room) data.labels = { room };
    if (!data.labels[t]) {
      const all = [...signs.segment(title(t).slice(0, 400))].map((one) => one.segment);
      let count = Math.min(all.length, 30), text, wide;
      do {
        text = all.slice(0, count).join("") + (count < all.length ? "…" : "");
        wide = pen.measureText(text).width;
        count -= 1;
      } while (count > 0 && wide > room);
      data.labels[t] = { text, wide };
    }
    return data.labels[t];
  }

  function render() {
    frame = 0;
    if (!data) return;
    const { w, h } = screen(), shown = [];
    const { offsetLeft: side, offsetHeight: tall } = box.parentNode.querySelector(".buttons");
    const radius = Math.min(6, 1.6 + 0.9 * Math.sqrt(1.1 / view.size));
    for (let t = 0; t < data.x.length; t++) {
      const [x, y] = at(t), node = data.nodes[t], own = data.items[t];
      const inside = x > -9 && y > -9 && x < w + 9 && y < h + 9;
      node.style.display = inside ? "" : "none";
      if (!inside) continue;
      node.setAttribute("cx", x.toFixed(1));
      node.setAttribute("cy", y.toFixed(1));
      node.setAttribute("r", own === chosen ? radius + 3 : near.has(own) ? radius + 1.5 : radius);
      shown.push([own === chosen ? 0 : near.has(own) ? 1 : 2, t, x, y]);
    }
    shown.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const labels = [], taken = [];
    for (const [, t, x, y] of shown) {
      if (labels.length >= 26) break;
      const { text, wide } = label(t, Math.min(WIDEST, w / 2 - 24)), left = x + wide + 12 > w ? x - wide - 8 : x + 8;
      if (left < 2 || y < 14 || y > h - 6 || (y < tall + 18 && left + wide > side - 6)) continue;
      if (taken.some((o) => left < o[0] + o[2] + 6 && o[0] < left + wide + 6 && Math.abs(y - o[1]) < 15)) continue;
      taken.push([left, y, wide]);
      const node = draw("text", { x: left.toFixed(1), y: (y + 4).toFixed(1) });
      node.textContent = text;
      labels.push(node);
    }
    texts.replaceChildren(...labels);
    cross.setAttribute("d", `M${w / 2 - 9} ${h / 2}h18M${w / 2} ${h / 2 - 9}v18`);
  }
  const redraw = () => { if (!frame) frame = requestAnimationFrame(render); };
  function zoom(by, px, py) {
    const { w, h } = screen(), x = px ?? w / 2, y = py ?? h / 2, before = scale();
    view.size = Math.min(2, Math.max(0.01, view.size * by));
    const after = scale();
    view.x += (x - w / 2) * (1 / before - 1 / after);
    view.y += (y - h / 2) * (1 / before - 1 / after);
    redraw();
  }
  function nearest(px, py, most) {
    let best = -1, least = most * most;
    for (let t = 0; data && t < data.x.length; t++) {
      const [x, y] = at(t), d = (x - px) ** 2 + (y - py) ** 2;
      if (d < least) [best, least] = [t, d];
    }
    return best;
  }
  const say = (t) => { $$("map-said").replaceChildren(isolate(title(t)), `, ${counted(data.counts[t])}. Click or press Enter for items like it.`); };
  const open = (t) => openFromMap({ id: data.items[t], title: data.titles ? data.titles[t] : null });

  const fingers = new Map();
  let moved = 0;
  box.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    moved = 0;
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    const rect = box.getBoundingClientRect(), x = event.clientX - rect.left, y = event.clientY - rect.top;
    const before = fingers.get(event.pointerId);
    if (!before) { const t = nearest(x, y, 14); if (t >= 0) say(t); return; }
    const others = [...fingers].filter(([id]) => id !== event.pointerId).map(([, p]) => p);
    if (others.length) {
      const [o] = others, was = Math.hypot(before[0] - o[0], before[1] - o[1]), is = Math.hypot(x - o[0], y - o[1]);
      if (is > 1) zoom(was / is, (x + o[0]) / 2, (y + o[1]) / 2);
    } else {
      view.x -= (x - before[0]) / scale();
      view.y -= (y - before[1]) / scale();
    }
    moved += Math.hypot(x - before[0], y - before[1]);
    fingers.set(event.pointerId, [x, y]);
    redraw();
  });
  const lift = (event) => {
    const rect = box.getBoundingClientRect();
    if (fingers.delete(event.pointerId) && moved < 5 && event.type === "pointerup") {
      const t = nearest(event.clientX - rect.left, event.clientY - rect.top, 16);
      if (t >= 0) open(t);
    }
  };
  box.addEventListener("pointerup", lift);
  box.addEventListener("pointercancel", lift);
  box.addEventListener("wheel", (event) => {
    event.preventDefault();
    const rect = box.getBoundingClientRect();
    zoom(Math.exp(event.deltaY / 500), event.clientX - rect.left, event.clientY - rect.top);
  }, { passive: false });
  box.addEventListener("keydown", (event) => {
    const step = 0.15 * view.size, { w, h } = screen();
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (event.key in moves) { view.x += moves[event.key][0]; view.y += moves[event.key][1]; redraw(); }
    else if (event.key === "+" || event.key === "=") zoom(0.8);
    else if (event.key === "-") zoom(1.25);
    else if (event.key === "Enter" || event.key === " ") { const t = nearest(w / 2, h / 2, 60); if (t >= 0) { say(t); open(t); } }
    else return;
    event.preventDefault();
    const t = nearest(w / 2, h / 2, 60);
    if (t >= 0 && event.key !== "Enter" && event.key !== " ") say(t);
  });
  const center = (id, size) => { const t = spots.get(id); if (t !== undefined) view = { x: data.x[t], y: data.y[t], size }; redraw(); };
  $$("map-in").addEventListener("click", () => zoom(0.7));
  $$("map-out").addEventListener("click", () => zoom(1 / 0.7));
  $$("map-all").addEventListener("click", () => { view = { x: 0, y: 0, size: 1.1 }; redraw(); });
  $$("map-near").addEventListener("click", () => center(chosen, 0.2));
  new ResizeObserver(redraw).observe(box);

  return {
    async load() {
      data = await ask("v1/map");
      data.nodes = data.items.map(() => draw("circle"));
      data.labels = {};
      points.replaceChildren(...data.nodes);
      data.items.forEach((id, t) => spots.set(id, t));
      this.mark();
    },
    choose(id, others) {
      chosen = id;
      near = new Set(others);
      this.mark();
    },
    mark() {
      if (!data) return;
      data.items.forEach((id, t) => data.nodes[t].setAttribute("class", id === chosen ? "chosen" : near.has(id) ? "near" : ""));
      redraw();
    },
  };
})();

function openFromMap(one) {
  $$("item-text").value = nameOf(one);
  showAlike($$("alike-status"), $$("alike-items"), one);
}

async function showHealth() {
  const found = await ask("v1/model");
  $$("figures").replaceChildren(...found.figures.map((figure) => make("div", {},
    make("dt", { textContent: figure.label }),
    make("dd", {}, make("b", { textContent: figure.value, className: figure.value.length > 7 ? "long" : "" }), make("small", { textContent: figure.note })))));
}

async function start() {
  const chooseUser = (one) => showUser($$("user-status"), $$("user-items"), one.id);
  combobox($$("user-text"), $$("user-list"), "user", chooseUser);
  combobox($$("item-text"), $$("item-list"), "item", openFromMap);
  combobox($$("try-text"), $$("try-list"), "item", (one) => {
    if (!mine.has(one.id)) mine.set(one.id, { one, value: isClicks ? 1 : null });
    drawMine();
    refresh();
    $$("try-text").value = "";
    $$("try-mine").lastElementChild?.querySelector("button")?.focus();
  });
  $$("try-clear").addEventListener("click", startTry);
  $$("reload").addEventListener("click", () => location.reload());
  const user = JSON.parse(document.body.dataset.user);
  $$("user-text").value = String(user);
  chooseUser({ id: user });
  const items = await ask("v1/find?side=item&k=1");
  if (items.matches.length) openFromMap(items.matches[0]);
  await Promise.all([startTry(), map.load(), showHealth()]);
  document.body.dataset.ready = "yes";
}

start().catch((error) => { $$("user-status").textContent = error.message; });
