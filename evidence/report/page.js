
"use strict";
// Draws the report from the data in the page. Texts of pages and maps become text
// nodes and attributes only, never markup.
(() => {
  const run = JSON.parse(document.getElementById("data").textContent);
  const order = ["failed", "broken", "quarantined", "flaky", "drifted", "passed", "skipped"];
  const red = new Set(["failed", "broken"]);
  const notWell = new Set(["failed", "broken", "quarantined", "flaky", "drifted"]);
  const batch = 100; // rows that are drawn at once
  const opened = 5; // failures that begin open

  const make = (tag, attributes, ...children) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes || {})) {
      if (v !== undefined && v !== null && v !== false) e.setAttribute(k, v === true ? "" : String(v));
    }
    e.append(...children.filter((c) => c !== undefined && c !== null && c !== ""));
    return e;
  };
  const span = (ms) =>
    ms < 1000
      ? `${ms} ms`
      : ms < 60000
        ? `${(ms / 1000).toFixed(1)} s`
        : `${Math.floor(ms / 60000)} min ${Math.floor((ms % 60000) / 1000)} s`;
  const capital = (s) => s[0].toUpperCase() + s.slice(1);
  const place = (p) => (p && p.file ? p.file + (p.line ? `:${p.line}` : "") + (p.pointer ? ` ${p.pointer}` : "") : "");

  const longest = Math.max(1, ...run.tests.map((t) => t.duration_ms));
  const words = (t) => [
    t.name,
    t.class,
    t.description,
    t.message,
    t.url,
    place(t.place),
    ...(t.failures || []).map((f) => f.message),
    ...(t.steps || []).flatMap(words)
  ];
  run.tests.forEach((t, i) => {
    t.index = i;
    t.text = [run.suites[t.suite], ...words(t)].join("\n").toLowerCase();
  });

  if (run.started_at) {
    const when = new Date(run.started_at);
    if (!isNaN(when))
      document
        .getElementById("when")
        .append(
          " · ",
          make(
            "time",
            { datetime: run.started_at },
            when.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
          )
        );
  }
  const bar = document.getElementById("bar");
  for (const o of order) {
    if (!run.totals[o]) continue;
    const part = make("i", { class: o });
    part.style.flexGrow = run.totals[o];
    bar.append(part);
  }

  // The tools above the list.
  const filter = { outcome: "all", text: "", sort: "order" };
  const search = make("input", {
    type: "search",
    placeholder: "Search tests, messages and files",
    "aria-label": "Search tests",
    id: "search",
    autocomplete: "off",
    spellcheck: "false"
  });
  const chips = make("div", { class: "chips", role: "group", "aria-label": "Outcome" });
  const chip = (name, count) => {
    const b = make(
      "button",
      { type: "button", "data-outcome": name, "aria-pressed": String(name === "all") },
      capital(name),
      make("b", {}, String(count))
    );
    b.addEventListener("click", () => {
      filter.outcome = name;
      update();
    });
    chips.append(b);
  };
  chip("all", run.tests.length);
  for (const o of order) if (run.totals[o]) chip(o, run.totals[o]);
  // Suites with what failed come first, and in them the tests that did, so that nobody scrolls for them.
  const anyRed = order.some((o) => red.has(o) && run.totals[o]);
  const redSuites = new Set(run.tests.filter((t) => red.has(t.outcome)).map((t) => t.suite));
  const sort = make(
    "select",
    { "aria-label": "Order", id: "sort" },
    anyRed ? make("option", { value: "red" }, "Failures first") : null,
    make("option", { value: "order" }, "As run"),
    make("option", { value: "slow" }, "Slowest first")
  );
  filter.sort = sort.value;
  const tools = document.getElementById("tools");
  tools.append(search, sort, chips);
  tools.hidden = false;
  search.addEventListener("input", () => {
    filter.text = search.value.trim().toLowerCase();
    update();
  });
  sort.addEventListener("change", () => { filter.sort = sort.value; update(); });

  // One test.
  const lines = (p) => {
    if (!p || !p.lines || !p.lines.length) return null;
    const pre = make("pre", { tabindex: "0", role: "group", "aria-label": `Lines of ${p.file}` });
    for (const l of p.lines) {
      pre.append(
        make(
          "span",
          { class: l.number === p.line ? "hit" : "row" },
          make("span", { class: "n" }, String(l.number)),
          l.text
        )
      );
    }
    return pre;
  };
  const copy = (text) => {
    const b = make("button", { type: "button", class: "copy" }, "Copy");
    b.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        b.textContent = "Copied";
      } catch {
        const range = document.createRange();
        range.selectNodeContents(b.closest(".text").querySelector("pre"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        b.textContent = "Selected";
      }
    });
    return b;
  };
  const text = (x, copied) => {
    const pre = make("pre", { tabindex: "0", role: "group", "aria-label": capital(x.title) });
    if (x.diff) {
      for (const l of x.body.replace(/\n$/, "").split("\n")) {
        const kind = /^\+(?!\+\+)/.test(l) ? "add" : /^-(?!--)/.test(l) ? "cut" : "row";
        pre.append(make("span", { class: kind }, l + "\n"));
      }
    } else {
      pre.append(x.body);
    }
    return make(
      "div",
      { class: "text" },
      make("div", { class: "head" }, make("h3", {}, capital(x.title)), copied ? copy(x.body) : null),
      pre
    );
  };
  const shot = (t) => {
    const p = run.pictures[t.picture];
    const box = make(
      "div",
      { class: "shot" },
      make("img", {
        src: p.src,
        alt: `The page when ${t.name} ${notWell.has(t.outcome) ? "failed" : "was judged"}`,
        loading: "lazy",
        width: p.width || null,
        height: p.height || null
      })
    );
    if (t.outlines && p.width && p.height) {
      const ns = "http://www.w3.org/2000/svg";
      const svg = document.createElementNS(ns, "svg");
      svg.setAttribute("viewBox", `0 0 ${p.width} ${p.height}`);
      svg.setAttribute("preserveAspectRatio", "none");
      svg.setAttribute("aria-hidden", "true");
      for (const o of t.outlines) {
        const rect = document.createElementNS(ns, "rect");
        for (const [k, v] of Object.entries({
          x: o.x - 4,
          y: o.y - 4,
          width: o.width + 8,
          height: o.height + 8,
          rx: 4
        }))
          rect.setAttribute(k, v);
        svg.append(rect);
      }
      box.append(svg);
    }
    return make(
      "div",
      {},
      make("h3", {}, "Picture"),
      make("figure", {}, box, t.outlines ? make("figcaption", {}, "The target is outlined.") : null)
    );
  };
  // A screenshot beside the one that was kept: the slider parts them.
  const compared = (c) => {
    const [kept, now, difference] = c.shown.map((i) => (i < 0 ? null : run.pictures[i].src));
    const old = make("img", { src: kept, alt: `The screenshot ${c.name} that was kept` });
    const top = make("img", { src: now, alt: `The screenshot ${c.name} of this run`, class: "top" });
    const part = (percent) => { top.style.clipPath = `inset(0 0 0 ${percent}%)`; };
    const slider = make("input", {
      type: "range",
      min: "0",
      max: "100",
      value: "50",
      "aria-label": `Part of ${c.name} that shows what was kept`
    });
    slider.addEventListener("input", () => part(slider.value));
    part(50);
    const box = make("div", { class: "shot both" }, old, top);
    const views = make("div", { class: "chips", role: "group", "aria-label": `View of ${c.name}` });
    const show = (view) => {
      for (const b of views.children) b.setAttribute("aria-pressed", String(b.dataset.view === view));
      old.hidden = view === "actual" || view === "difference";
      top.hidden = view === "expected";
      top.src = view === "difference" ? difference : now;
      slider.hidden = view !== "slider";
      part(view === "slider" ? slider.value : 0);
    };
    for (const view of ["slider", "expected", "actual", "difference"]) {
      if (view === "difference" && !difference) continue;
      const b = make("button", { type: "button", "data-view": view }, capital(view));
      b.addEventListener("click", () => show(view));
      views.append(b);
    }
    show(difference ? "slider" : "actual");
    return make(
      "div",
      { class: "compared" },
      make("h3", {}, `Screenshot ${c.name}`),
      views,
      make("figure", {}, box, slider, make("figcaption", {}, "Left: what was kept. Right: what the page shows."))
    );
  };
  const summary = (t, ...more) =>
    make(
      "summary",
      {},
      make("span", { class: `word ${t.outcome}` }, t.outcome),
      make(
        "span",
        { class: "name" },
        t.name,
        t.message ? make("span", { class: `why ${t.outcome}` }, t.message) : null
      ),
      ...more
    );
  // Steps stand in order. Those of a plan open; the ones that are not well are open.
  const steps = (t) => {
    const list = make("ol", { class: "steps" });
    for (const s of t.steps) {
      const took = make("span", { class: "took" }, span(s.duration_ms));
      if (!s.class) {
        list.append(make("li", { class: "line" }, ...summary(s, took).childNodes));
        continue;
      }
      const d = make("details", { class: "step", "data-outcome": s.outcome }, summary(s, took));
      const fill = () => {
        if (d.children.length === 1) d.append(body(s, true));
      };
      d.addEventListener("toggle", fill);
      if (notWell.has(s.outcome)) {
        fill();
        d.open = true;
      }
      list.append(make("li", {}, d));
    }
    return list;
  };
  const body = (t, isStep) => {
    const b = make("div", { class: "body" });
    const about = [t.description, t.url].filter(Boolean).join(" · ");
    if (about) b.append(make("p", { class: "about" }, about));
    const ofPlan = (t.steps || []).some((s) => s.class);
    if (isStep && place(t.place)) {
      b.append(make("code", { class: "place" }, place(t.place)));
      const excerpt = lines(t.place);
      if (excerpt) b.append(excerpt);
    }
    if (ofPlan && !isStep) {
      b.append(steps(t)); // they say what failed
      for (const r of t.repairs || []) b.append(text(r, true));
      for (const x of t.texts || []) b.append(text(x, false));
      return b;
    }
    for (const f of t.failures || []) {
      const one = make("div", { class: "failure" }, make("p", {}, f.message));
      if (f.expected || f.found) {
        one.append(
          make(
            "dl",
            {},
            make("dt", {}, "Expected"),
            make("dd", {}, make("code", {}, f.expected || "nothing")),
            make("dt", {}, "Found"),
            make("dd", {}, make("code", {}, f.found || "nothing"))
          )
        );
      }
      if (f.compared && f.compared.shown) one.append(compared(f.compared));
      const known = isStep && place(f.place) === place(t.place);
      if (place(f.place) && !known) one.append(make("code", { class: "place" }, place(f.place)));
      const excerpt = known ? null : lines(f.place);
      if (excerpt) one.append(excerpt);
      b.append(one);
    }
    if (!(t.failures || []).length) {
      if (t.message)
        b.append(
          red.has(t.outcome)
            ? make("div", { class: "failure" }, make("p", {}, t.message))
            : make("p", { class: "about" }, t.message)
        );
      if (place(t.place) && !isStep) b.append(make("code", { class: "place" }, place(t.place)));
      const excerpt = isStep || t.outcome === "passed" || t.outcome === "skipped" ? null : lines(t.place);
      if (excerpt) b.append(excerpt);
    }
    if (t.picture !== undefined) b.append(shot(t));
    for (const r of t.repairs || []) b.append(text(r, true));
    if ((t.steps || []).length) b.append(make("h3", {}, ofPlan ? "Checks" : "Steps"), steps(t));
    for (const x of t.texts || []) b.append(text(x, false));
    return b;
  };
  const history = (t) => {
    if (!t.history) return make("span", {});
    const all = [...t.history, t.outcome];
    const label = `Last ${all.length} runs, the newest last: ${all.map((o) => o || "absent").join(", ")}`;
    return make(
      "span",
      { class: "history", role: "img", "aria-label": label, title: label },
      ...all.map((o) => make("i", { class: o || "none" }))
    );
  };
  const isOpen = new Map();
  let left = opened;
  for (const t of run.tests) if (red.has(t.outcome) && left-- > 0) isOpen.set(t.index, true);
  const row = (t) => {
    const took = make("span", { class: "took" }, t.duration_ms ? span(t.duration_ms) : "");
    if (t.duration_ms > 0) {
      const length = make("i", { "aria-hidden": "true" });
      length.style.width = `${Math.max(2, (100 * t.duration_ms) / longest)}%`;
      took.append(length);
    }
    const d = make(
      "details",
      { class: "test", id: `t${t.index + 1}`, "data-outcome": t.outcome },
      summary(t, history(t), took)
    );
    const fill = () => {
      if (d.children.length === 1) d.append(body(t));
    };
    d.addEventListener("toggle", () => {
      isOpen.set(t.index, d.open);
      if (d.open) fill();
    });
    if (isOpen.get(t.index)) {
      fill();
      d.open = true;
    }
    return d;
  };

  // The list, drawn as far as it is scrolled to.
  const list = document.getElementById("list");
  const count = document.getElementById("count");
  let shown = [], drawn = 0, section = null, sectionOf = -1;
  const end = make("div", { "aria-hidden": "true" });
  const draw = (to) => {
    for (; drawn < Math.min(to, shown.length); drawn++) {
      const t = shown[drawn];
      const of = filter.sort === "slow" ? -2 : t.suite;
      if (of !== sectionOf) {
        sectionOf = of;
        const title = of === -2 ? "Slowest first" : run.suites[of];
        const mine = of === -2 ? shown : shown.filter((x) => x.suite === of);
        section = make("div", { class: "suite" });
        const id = `s${drawn}`;
        end.before(
          make(
            "section",
            { "aria-labelledby": id },
            make("h2", { id }, title, make("small", {}, `${mine.length} ${mine.length === 1 ? "test" : "tests"}`)),
            section
          )
        );
      }
      section.append(row(t));
    }
  };
  const update = () => {
    for (const b of chips.children) b.setAttribute("aria-pressed", String(b.dataset.outcome === filter.outcome));
    const words = filter.text.split(/\s+/).filter(Boolean);
    shown = run.tests.filter(
      (t) => (filter.outcome === "all" || t.outcome === filter.outcome) && words.every((w) => t.text.includes(w))
    );
    if (filter.sort === "slow") shown.sort((a, b) => b.duration_ms - a.duration_ms || a.index - b.index);
    if (filter.sort === "red") {
      const green = (t) => (redSuites.has(t.suite) ? 0 : 1);
      shown.sort(
        (a, b) =>
          green(a) - green(b) || a.suite - b.suite || red.has(b.outcome) - red.has(a.outcome) || a.index - b.index
      );
    }
    list.replaceChildren(end);
    drawn = 0;
    sectionOf = -1;
    count.textContent = shown.length === run.tests.length ? "" : `${shown.length} of ${run.tests.length} tests`;
    if (!shown.length) end.before(make("p", { class: "empty" }, "No test matches."));
    draw(batch);
  };
  new IntersectionObserver(
    (seen) => {
      if (seen.some((e) => e.isIntersecting)) draw(drawn + batch);
    },
    { rootMargin: "1200px" }
  ).observe(end);
  addEventListener(
    "scroll",
    () => {
      if (drawn < shown.length && end.getBoundingClientRect().top < innerHeight + 1200) draw(drawn + batch);
    },
    { passive: true }
  );
  list.addEventListener("keydown", (e) => {
    if ((e.key !== "ArrowDown" && e.key !== "ArrowUp") || e.target.tagName !== "SUMMARY") return;
    const all = [...list.querySelectorAll("details.test > summary")];
    const next = all[all.indexOf(e.target) + (e.key === "ArrowDown" ? 1 : -1)];
    if (next) { e.preventDefault(); next.focus(); }
  });
  addEventListener("beforeprint", () => {
    draw(shown.length);
    for (const d of list.querySelectorAll("details.test"))
      if (red.has(d.dataset.outcome) && !d.open) {
        d.append(...(d.children.length === 1 ? [body(run.tests[d.id.slice(1) - 1])] : []));
        d.open = true;
      }
  });
  update();
  const target = /^#t(\d+)$/.exec(location.hash);
  if (target && run.tests[target[1] - 1]) {
    isOpen.set(target[1] - 1, true);
    draw(shown.length);
    const d = document.getElementById(`t${target[1]}`);
    d.append(...(d.children.length === 1 ? [body(run.tests[target[1] - 1])] : []));
    d.open = true;
    d.scrollIntoView();
  }
})();
