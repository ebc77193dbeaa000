/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Saltus developers
 *
 * Search, theme and menu of the documentation. The index is a script of its own, loaded when somebody searches: a page
 * that is opened as a file may not read other files, but it may load scripts. */
"use strict";
(function () {
  var root = document.body.dataset.root;
  var box = document.getElementById("search");
  var list = document.getElementById("search-results");
  var pages = null; /* [address, page, heading, text] */
  var folded = null;
  var chosen = 0;

  function fold(text) {
    return text.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "");
  }

  /* A word of the query in a text: 0 none, 1 inside of a word, 2 at the start of one, 3 a whole word. */
  function match(text, word) {
    var best = 0;
    for (var at = text.indexOf(word); at >= 0 && best < 3; at = text.indexOf(word, at + 1)) {
      var starts = at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]);
      var end = at + word.length;
      var ends = end === text.length || !/[\p{L}\p{N}]/u.test(text[end]);
      best = Math.max(best, starts ? (ends ? 3 : 2) : 1);
    }
    return best;
  }

  function find(query) {
    var words = fold(query).split(/\s+/).filter(Boolean);
    var found = [];
    for (var i = 0; words.length > 0 && i < pages.length; i++) {
      var score = 0;
      for (var k = 0; k < words.length; k++) {
        var one = 12 * match(folded[i][0], words[k]) + 9 * match(folded[i][1], words[k]) + match(folded[i][2], words[k]);
        if (one === 0) {
          score = 0;
          break;
        }
        score += one;
      }
      if (score > 0) {
        found.push([score + (pages[i][2] === "" ? 3 : 0), i]);
      }
    }
    found.sort(function (a, b) { return b[0] - a[0] || a[1] - b[1]; });
    return { words: words, entries: found.slice(0, 14).map(function (f) { return pages[f[1]]; }), count: found.length };
  }

  function marked(parent, text, words) {
    var low = fold(text);
    var exact = low.length === text.length; /* else places differ: no marks */
    var at = 0;
    while (exact && at < text.length) {
      var next = -1, length = 0;
      words.forEach(function (w) {
        var p = low.indexOf(w, at);
        if (p >= 0 && (next < 0 || p < next)) {
          next = p;
          length = w.length;
        }
      });
      if (next < 0) {
        break;
      }
      parent.append(text.slice(at, next));
      var mark = document.createElement("mark");
      mark.textContent = text.slice(next, next + length);
      parent.append(mark);
      at = next + length;
    }
    parent.append(text.slice(at));
  }

  function snippet(text, words) {
    var low = fold(text);
    var at = Math.max(0, Math.min.apply(null, words.map(function (w) {
      var p = low.indexOf(w);
      return p < 0 ? text.length : p;
    })) - 60);
    if (at >= text.length) {
      at = 0;
    }
    return (at > 0 ? "… " : "") + text.slice(at, at + 170) + (at + 170 < text.length ? " …" : "");
  }

  function show() {
    list.textContent = "";
    chosen = 0;
    var query = box.value.trim();
    list.hidden = query === "" || pages === null;
    if (list.hidden) {
      return;
    }
    var result = find(query);
    result.entries.forEach(function (entry, i) {
      var item = document.createElement("li");
      var link = document.createElement("a");
      link.href = root + entry[0];
      marked(link, entry[2] || entry[1], result.words);
      item.append(link);
      if (entry[2]) {
        var where = document.createElement("span");
        where.className = "where";
        where.textContent = "  " + entry[1];
        item.append(where);
      }
      var text = document.createElement("p");
      marked(text, snippet(entry[3], result.words), result.words);
      item.append(text);
      item.className = i === 0 ? "chosen" : "";
      list.append(item);
    });
    if (result.count === 0) {
      var none = document.createElement("li");
      none.textContent = "nothing found";
      list.append(none);
    }
  }

  function load() {
    if (pages !== null || document.getElementById("index")) {
      return;
    }
    var script = document.createElement("script");
    script.id = "index";
    script.src = root + "search-index.js";
    script.onload = function () {
      pages = window.saltusSearchIndex;
      folded = pages.map(function (p) { return [fold(p[2] || p[1]), fold(p[1]), fold(p[3])]; });
      show();
    };
    document.body.append(script);
  }

  function choose(by) {
    var items = list.children;
    if (items.length > 0) {
      items[chosen].className = "";
      chosen = (chosen + by + items.length) % items.length;
      items[chosen].className = "chosen";
      items[chosen].scrollIntoView({ block: "nearest" });
    }
  }

  box.addEventListener("focus", load);
  box.addEventListener("input", function () { load(); show(); });
  box.addEventListener("keydown", function (event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      choose(event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
    } else if (event.key === "Enter") {
      var link = list.children[chosen] && list.children[chosen].querySelector("a");
      if (link) {
        location.href = link.href;
        list.hidden = true;
      }
    } else if (event.key === "Escape") {
      box.value = "";
      show();
      box.blur();
    }
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && document.activeElement !== box && !event.ctrlKey && !event.metaKey) {
      box.focus();
      event.preventDefault();
    }
  });
  document.addEventListener("click", function (event) {
    if (!event.target.closest(".search")) {
      list.hidden = true;
    }
  });
  document.getElementById("theme").addEventListener("click", function () {
    var dark = document.documentElement.dataset.theme === "dark" ||
      (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("saltus-theme", document.documentElement.dataset.theme); } catch (e) { /* private */ }
  });
  document.getElementById("menu").addEventListener("click", function () {
    document.getElementById("nav").classList.toggle("open");
  });
  var here = document.querySelector("nav a.here");
  if (here) { /* the list alone: scrollIntoView would move the page too */
    var nav = document.getElementById("nav");
    nav.scrollTop = here.getBoundingClientRect().top - nav.getBoundingClientRect().top - nav.clientHeight / 2;
  }
  var asked = new URLSearchParams(location.search).get("q"); /* page.html?q=words */
  if (asked) {
    box.value = asked;
    load();
  }
})();
