"use strict";
(() => {
  const root = document.documentElement;
  const keep = (value) => { try { localStorage.setItem("parallax-theme", value); } catch (e) { /* no storage */ } };
  const kept = () => { try { return localStorage.getItem("parallax-theme"); } catch (e) { return null; } };
  const before = kept();
  if (before === "dark" || before === "light") root.dataset.theme = before;
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const turn = () => { root.dataset.theme = isDark() ? "light" : "dark"; keep(root.dataset.theme); };
  document.querySelector(".theme").addEventListener("click", turn);

  // Texts go into the page as texts and never as markup.
  const make = (tag, names, text) => {
    const made = document.createElement(tag);
    if (names) made.className = names;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  class Player {
    constructor(section) {
      this.section = section;
      this.data = JSON.parse(section.querySelector("script.data").textContent);
      this.end = this.data.last + 1;
      this.dock = section.querySelector(".dock");
      this.slider = this.dock.querySelector("input");
      this.step = this.data.last;
      this.timer = 0;
      this.isPlayed = false;
      this.dock.hidden = false;
      this.edges = [...section.querySelectorAll(".edges .edge")];
      if (this.edges.some((edge) => edge.classList.contains("cycle"))) section.classList.add("has-cycle");
      this.listen();
      this.show();
      // A pane fits between the top of the window and the dock.
      section.style.setProperty("--dock", `${this.dock.offsetHeight}px`);
      // What it is about comes into view; of long executions that is far down.
      const about = [...section.querySelectorAll(".card.involved")].pop();
      if (about) this.into(about, section.querySelector(".threads"));
      const hot = section.querySelector(".line.hot");
      if (hot) this.into(hot, section.querySelector(".source"));
    }

    all(step) { return this.section.querySelectorAll(`[data-step="${step}"],[data-end="${step}"]`); }

    listen() {
      const on = (name, act) => this.dock.querySelector(name).addEventListener("click", act);
      on(".first", () => this.go(0));
      on(".back", () => this.go(this.step - 1));
      on(".on", () => this.go(this.step + 1));
      on(".play", () => this.toggle());
      this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
      this.section.addEventListener("click", (event) => {
        const step = event.target.closest("[data-step]");
        if (step) return this.go(Number(step.dataset.step));
        const end = event.target.closest("[data-end]");
        if (end) return this.go(this.data.last);
        const edge = event.target.closest(".edges .edge");
        if (edge) return this.choose(edge);
        const line = event.target.closest("[data-line]");
        const chip = line && line.querySelector("[data-step]");
        if (chip) this.go(Number(chip.dataset.step));
      });
      this.section.addEventListener("mouseover", (event) => this.light(event.target));
      this.section.addEventListener("mouseleave", () => this.light(null));
      this.section.addEventListener("focusin", (event) => this.light(event.target));
    }

    // Everything that belongs to what the pointer is on.
    light(target) {
      for (const lit of this.section.querySelectorAll(".lit")) lit.classList.remove("lit");
      const at = target && target.closest("[data-step],[data-end],[data-steps],.edges .edge,[data-line]");
      if (!at) return;
      let steps = [];
      if (at.dataset.steps !== undefined) {
        steps = at.dataset.steps.split(" ").filter(Boolean);
        for (const edge of this.edges) {
          if (steps.includes(edge.dataset.from) && steps.includes(edge.dataset.to)) edge.classList.add("lit");
        }
        at.classList.add("lit");
      } else if (at.classList.contains("edge")) {
        steps = [at.dataset.from, at.dataset.to];
        at.classList.add("lit");
      } else if (at.dataset.line !== undefined) {
        at.classList.add("lit");
        steps = [...at.querySelectorAll("[data-step],[data-end]")].map((chip) => chip.dataset.step || chip.dataset.end);
      } else {
        steps = [at.dataset.step || at.dataset.end];
        for (const edge of this.edges) {
          if (edge.dataset.from === steps[0] || edge.dataset.to === steps[0]) edge.classList.add("lit");
        }
      }
      for (const step of steps) {
        for (const part of this.all(step)) {
          if (part.matches(".card")) {
            part.classList.add("lit");
            this.lines(part.dataset.at).forEach((line) => line.classList.add("lit"));
          }
        }
      }
    }

    lines(at) { return at ? [...this.section.querySelectorAll(`[data-line="${at}"]`)] : []; }

    choose(edge) {
      const to = Number(edge.dataset.to), from = Number(edge.dataset.from);
      this.go(Math.min(Math.max(to, from), this.data.last));
      this.light(edge);
      this.dock.querySelector(".now").textContent = edge.querySelector("title").textContent;
    }

    go(step) {
      this.isPlayed = true;
      this.step = Math.max(0, Math.min(this.data.last, step));
      this.show();
      const card = this.section.querySelector(".card.now");
      if (card) this.into(card, this.section.querySelector(".threads"));
      const line = this.section.querySelector(".line.now");
      if (line) {
        const fold = line.closest("details");
        if (fold) fold.open = true;
        this.into(line, this.section.querySelector(".source"));
      }
    }

    // Scrolls a pane, and not the page.
    into(part, pane) {
      const a = part.getBoundingClientRect(), b = pane.getBoundingClientRect(), top = b.top + 70;
      // What is behind the dock is not seen.
      const edge = Math.min(b.bottom, this.dock.getBoundingClientRect().top);
      const low = Math.max(edge - 20, top + 60);
      if (a.top < top) pane.scrollTop -= top - a.top;
      else if (a.bottom > low) pane.scrollTop += a.bottom - low;
      if (part.matches(".card")) {
        if (a.left < b.left + 10) pane.scrollLeft -= b.left + 10 - a.left;
        else if (a.right > b.right - 10) pane.scrollLeft += a.right - b.right + 10;
      }
    }

    toggle() {
      const play = this.dock.querySelector(".play");
      if (this.timer) {
        clearInterval(this.timer);
        this.timer = 0;
        play.textContent = "▶";
        return;
      }
      if (this.step >= this.data.last) this.go(0);
      play.textContent = "❚❚";
      this.timer = setInterval(() => {
        if (this.step < this.data.last) this.go(this.step + 1);
        if (this.step >= this.data.last) this.toggle();
      }, 1100);
    }

    show() {
      const { step, data } = this;
      const isEnd = step >= data.last;
      this.slider.value = step;
      this.dock.querySelector("output").textContent = `${step} / ${data.last}`;
      this.dock.querySelector(".now").textContent =
        step === 0 ? "before the first step" : data.steps[step - 1] || "";
      for (const part of this.section.querySelectorAll(".threads [data-step], .source [data-step]")) {
        const own = Number(part.dataset.step);
        part.classList.toggle("future", own > step);
        if (part.matches(".card")) part.classList.toggle("now", this.isPlayed && own === step);
      }
      for (const part of this.section.querySelectorAll("[data-end]")) part.classList.toggle("future", !isEnd);
      for (const edge of this.edges) {
        const later = Math.max(Number(edge.dataset.from), Number(edge.dataset.to));
        edge.classList.toggle("future", later > step && !(isEnd && later >= this.end));
      }
      for (const line of this.section.querySelectorAll(".line.now")) line.classList.remove("now");
      const card = this.section.querySelector(".card.now");
      if (card) this.lines(card.dataset.at).forEach((line) => line.classList.add("now"));
      this.memory();
    }

    memory() {
      const { step, data } = this;
      const box = this.dock.querySelector(".memory");
      box.replaceChildren();
      const reads = data.reads.filter((read) => read.step === step);
      data.cells.forEach((place, number) => {
        const there = place.stores.map((store, index) => ({ ...store, index })).filter((store) => store.from <= step);
        if (!there.length) return;
        const landed = there.filter((store) => store.lands !== undefined && store.lands <= step);
        const cell = make("span", "cell");
        const isNew = there.some((store) => store.from === step && step > 0 && store.step === step);
        if (isNew || reads.some((read) => read.cell === number)) cell.classList.add("touched");
        cell.append(make("b", "", place.name));
        const shown = landed.slice(-6);
        if (shown.length < landed.length) cell.append(make("s", "", "…"));
        shown.forEach((store, index) => {
          if (index) cell.append(make("s", "", "→"));
          const value = make("i", index === shown.length - 1 ? "newest" : "", store.value);
          value.title = `${store.who}${store.step ? `, step ${store.step}` : ""}`;
          this.mark(value, reads, number, store.index);
          cell.append(value);
        });
        if (place.freed !== undefined && place.freed <= step) {
          cell.classList.add("gone");
          cell.title = "freed";
        }
        box.append(cell);
      });
      (data.buffers || []).forEach((name, thread) => {
        const waiting = [];
        data.cells.forEach((place, number) => place.stores.forEach((store, index) => {
          const isThere = store.from <= step && !(store.lands !== undefined && store.lands <= step);
          if (isThere && store.thread === thread) waiting.push({ place, number, store, index });
        }));
        if (!waiting.length) return;
        waiting.sort((a, b) => a.store.from - b.store.from);
        const cell = make("span", "cell buffer");
        cell.append(make("b", "", `buffer of ${name}`));
        waiting.forEach(({ place, number, store, index }, at) => {
          if (at) cell.append(make("s", "", ","));
          const value = make("i", "newest", `${place.name} = ${store.value}`);
          this.mark(value, reads, number, index);
          cell.append(value);
        });
        box.append(cell);
      });
    }

    mark(value, reads, cell, store) {
      const read = reads.find((read) => read.cell === cell && read.store === store);
      if (!read) return;
      value.classList.add("read");
      if (read.old) value.classList.add("old");
      value.title = `${value.title ? `${value.title}; ` : ""}read in step ${read.step}${read.old ? ", an old value" : ""}`;
    }
  }

  const players = [...document.querySelectorAll("section.violation")]
    .filter((section) => section.querySelector("script.data"))
    .map((section) => new Player(section));

  // The execution that most of the window shows.
  const current = () => {
    const seen = (player) => {
      const box = player.section.getBoundingClientRect();
      return Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
    };
    return players.reduce((best, player) => !best || seen(player) > seen(best) ? player : best, null);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const player = current();
    if (event.key === "t") return turn();
    if (!player || event.target === player.slider) return;
    const step = { ArrowLeft: player.step - 1, ArrowRight: player.step + 1, j: player.step + 1, k: player.step - 1, Home: 0, End: player.data.last }[event.key];
    if (step !== undefined) player.go(step);
    else if (event.key === " " && !event.target.closest("button, summary")) player.toggle();
    else return;
    event.preventDefault();
  });
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
})();
