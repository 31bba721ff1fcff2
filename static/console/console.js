// Small comforts of the console. Everything works without them: forms post, links lead, times are exact in their titles.
"use strict";

(() => {
  const STEPS = [[60, "s", 1], [3600, "min", 60], [86400, "h", 3600], [2592000, "d", 86400], [31536000, "mo", 2592000]];

  function distance(seconds) {
    const size = Math.abs(seconds);
    if (size < 45) return seconds >= 0 ? "just now" : "in a moment";
    const step = STEPS.find(([limit]) => size < limit) || [0, "y", 31536000];
    const text = `${Math.round(size / step[2])} ${step[1]}`;
    return seconds >= 0 ? `${text} ago` : `in ${text}`;
  }

  function refreshTimes() {
    for (const time of document.querySelectorAll("time.c-time")) {
      time.textContent = distance((Date.now() - Date.parse(time.dateTime)) / 1000);
    }
  }

  // The original formatting of a mail is fetched only when somebody asks for it.
  function openOriginal(details) {
    const frame = details.querySelector("iframe[data-src]");
    if (details.open && frame) {
      frame.src = frame.dataset.src;
      frame.removeAttribute("data-src");
    }
  }

  function startEditing(button) {
    const form = button.closest("form");
    form.querySelector("[data-draft]").hidden = true;
    const editor = form.querySelector("[data-editor]");
    editor.hidden = false;
    editor.querySelector("textarea").focus();
    form.querySelector("[data-approve]").textContent = "Approve with changes";
    button.remove();
  }

  // A reply that is being written survives a closed tab, on this computer only.
  function keepDraft(form) {
    const text = form.querySelector("textarea");
    const note = form.querySelector("[data-draft-note]");
    const key = `reply:${form.dataset.reply}`;
    text.value = text.value || localStorage.getItem(key) || "";
    if (text.value) note.textContent = "Draft restored";
    text.addEventListener("input", () => {
      localStorage.setItem(key, text.value);
      note.textContent = text.value ? "Draft kept on this computer" : "";
    });
    form.addEventListener("submit", () => localStorage.removeItem(key));
  }

  // j and k move through a list, Enter opens.
  function moveInList(event) {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input, textarea, select, [contenteditable]")) return;
    const rows = [...document.querySelectorAll("[data-keys] > a")];
    const step = { j: 1, k: -1 }[event.key];
    if (!step || !rows.length) return;
    const now = rows.indexOf(document.activeElement);
    rows[Math.min(rows.length - 1, Math.max(0, now + step))].focus();
  }

  document.addEventListener("click", (event) => {
    const edit = event.target.closest("[data-edit]");
    if (edit) startEditing(edit);
    const copy = event.target.closest("[data-copy]");
    if (copy) navigator.clipboard.writeText(document.querySelector("[data-secret]").textContent).then(() => { copy.textContent = "Copied"; });
    for (const menu of document.querySelectorAll("details[data-menu][open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.matches?.("[data-original]")) openOriginal(event.target);
  }, true);
  document.addEventListener("keydown", (event) => {
    moveInList(event);
    if (event.key === "Escape") document.querySelectorAll("details[data-menu][open]").forEach((menu) => { menu.open = false; });
  });
  // One click, one request: the second of a double click has nothing to press.
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    setTimeout(() => event.target.querySelectorAll("button[type=submit], button:not([type])").forEach((b) => { b.disabled = true; }), 0);
  });
  window.addEventListener("pageshow", () => document.querySelectorAll(".c-btn[disabled]").forEach((b) => { b.disabled = false; }));
  document.addEventListener("DOMContentLoaded", () => {
    refreshTimes();
    setInterval(refreshTimes, 30000);
    document.querySelectorAll("form[data-reply]").forEach(keepDraft);
    const target = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    target?.querySelector("details")?.setAttribute("open", "");
  });
})();
