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

  // Images of other people's servers are loaded when somebody asks for them, through ours.
  function showImages(button) {
    const frame = button.closest("details").querySelector("iframe");
    const address = new URL(frame.dataset.src || frame.src, location.href);
    address.searchParams.set("images", "1");
    frame.removeAttribute("data-src");
    frame.src = address;
    button.closest("[data-images]").remove();
  }

  // A reply that is being written is kept on the server, so it is there on every device. Each save names the version
  // that it goes on from; where another device was first, nothing is overwritten and the person is told.
  function keepDraft(form) {
    const text = form.querySelector("textarea");
    const note = form.querySelector("[data-draft-note]");
    let timer = 0, saving = false, again = false, sent = false;

    async function save() {
      if (sent) return;
      if (saving) { again = true; return; }
      saving = true;
      const body = new FormData();
      body.set("text", text.value);
      body.set("version", form.dataset.version);
      const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
      try {
        const answer = await fetch(form.dataset.draftUrl, { method: "POST", body, headers: { "X-CSRFToken": token } });
        const said = await answer.json();
        if (answer.ok) {
          form.dataset.version = said.version;
          note.textContent = said.version ? "Draft kept" : "";
        } else {
          note.textContent = `${said.detail} Reload to see it; this text is not kept meanwhile.`;
          sent = answer.status === 409;
        }
      } catch {
        note.textContent = "The draft could not be kept; it is tried again as you write.";
      }
      saving = false;
      if (again) { again = false; save(); }
    }
    text.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(save, 800); });
    form.addEventListener("submit", () => { sent = true; clearTimeout(timer); });
  }

  // A canned answer goes where the cursor is, with its blanks filled in.
  function insertAnswer(select) {
    const chosen = select.selectedOptions[0]?.dataset.text;
    select.selectedIndex = 0;
    if (!chosen) return;
    const area = select.closest("form").querySelector("textarea");
    const filled = chosen.replace(/\{(name|subject|me)\}/g, (_, word) => area.dataset[word] || "");
    area.setRangeText(filled, area.selectionStart, area.selectionEnd, "end");
    area.focus();
    area.dispatchEvent(new Event("input"));
  }

  // What may be done with chosen rows is shown once some are chosen.
  function countChosen(form) {
    const boxes = [...form.querySelectorAll("input[name=thread]")];
    const chosen = boxes.filter((box) => box.checked).length;
    form.querySelector("[data-deeds]").hidden = !chosen;
    form.querySelector("[data-chosen]").textContent = chosen ? `${chosen} chosen` : "Choose all";
    form.querySelector("[data-all]").checked = chosen === boxes.length;
  }

  // j and k move through a list, Enter opens.
  function moveInList(event) {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input, textarea, select, [contenteditable]")) return;
    const rows = [...document.querySelectorAll("[data-keys] > a, [data-keys] > li > a")];
    const step = { j: 1, k: -1 }[event.key];
    if (!step || !rows.length) return;
    const now = rows.indexOf(document.activeElement);
    rows[Math.min(rows.length - 1, Math.max(0, now + step))].focus();
  }

  // One letter, one deed: r reply, n note, e close, s snooze, a assign, l label.
  function pressKey(event) {
    if (event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input, textarea, select, [contenteditable]")) return;
    const target = /^[a-z]$/.test(event.key) && document.querySelector(`[data-key="${event.key}"]`);
    if (!target) return;
    event.preventDefault();
    target.focus();
    if (target.matches("summary") && !target.parentElement.open) target.click();
    else if (target.matches("button")) target.click();
    if (target.matches(".c-note-box > summary")) target.parentElement.querySelector("textarea").focus();
  }

  // Every form says of which workspace its page was: in another tab one may have gone to another since.
  function sayWorkspace(form) {
    const of = document.querySelector("[data-workspace]")?.dataset.workspace;
    if (of === undefined || form.elements.of_workspace) return;
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "of_workspace", value: of }));
  }

  document.addEventListener("click", (event) => {
    const edit = event.target.closest("[data-edit]");
    if (edit) startEditing(edit);
    const images = event.target.closest("[data-show-images]");
    if (images) showImages(images);
    const copy = event.target.closest("[data-copy]");
    if (copy) navigator.clipboard.writeText(document.querySelector("[data-secret]").textContent).then(() => { copy.textContent = "Copied"; });
    for (const menu of document.querySelectorAll("details[data-menu][open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.matches?.("[data-original]")) openOriginal(event.target);
  }, true);
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-answers]")) insertAnswer(event.target);
    if (event.target.matches("[data-go]")) event.target.form.requestSubmit();
    const bulk = event.target.closest("form[data-bulk]");
    if (!bulk) return;
    if (event.target.matches("[data-all]")) bulk.querySelectorAll("input[name=thread]").forEach((box) => { box.checked = event.target.checked; });
    countChosen(bulk);
  });
  document.addEventListener("keydown", (event) => {
    moveInList(event);
    pressKey(event);
    if (event.key === "Escape") document.querySelectorAll("details[data-menu][open]").forEach((menu) => { menu.open = false; });
  });
  // One click, one request: the second of a double click has nothing to press.
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    sayWorkspace(event.target);
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
