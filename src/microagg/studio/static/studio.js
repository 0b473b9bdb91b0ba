// What htmx does not do: keeping what is being typed when a job ends, copying a command, ticking all boxes, printing, and saying that a file is too large before it
// is sent. Everything else works without this file.
"use strict";

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button && button.dataset.copy !== undefined) {
    navigator.clipboard.writeText(button.dataset.copy).then(
      () => { button.firstChild.textContent = "Copied"; },
      () => { button.firstChild.textContent = "Select it to copy"; },
    );
  }
  if (button && "print" in button.dataset) window.print();
});

// What was chosen while the page was still loading counts, too.
document.addEventListener("DOMContentLoaded", () => {
  for (const field of document.querySelectorAll("form[hx-trigger^='change'] :is(select, input:not([type=hidden]))")) {
    const said = field.options ? [...field.options].find((one) => one.defaultSelected)?.value : field.defaultValue;
    const changed = field.type === "checkbox" ? field.checked !== field.defaultChecked : said !== undefined && field.value !== said;
    if (changed) field.dispatchEvent(new Event("change", { bubbles: true }));
  }
});

document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.dataset.all) {
    for (const box of document.querySelectorAll(`input[name="${field.dataset.all}"]`)) box.checked = field.checked;
  }
  if (field.type === "file" && field.dataset.most) {
    const words = document.getElementById("too-large");
    const isTooLarge = [...field.files].some((file) => file.size > Number(field.dataset.most));
    words.hidden = !isTooLarge;
    words.textContent = isTooLarge
      ? `This file is larger than ${field.dataset.said}, the most that may be sent. Name it when the studio starts: microagg studio FILE` : "";
    document.getElementById("send").disabled = isTooLarge;
  }
});

// The end of a job fetches the page anew; what somebody is typing or choosing meanwhile stays, with the version that it is an edit of, and so does what is unfolded.
const FIELDS = "main :is(textarea, input:not([type])), main input[type=date], main form:not([hx-trigger^='change']) :is(select, input[type=checkbox])";
const said = (field) => (field.type === "checkbox" ? field.defaultChecked : field.options ? ([...field.options].find((one) => one.defaultSelected) ?? field.options[0])?.value : field.defaultValue);
const value = (field) => (field.type === "checkbox" ? field.checked : field.value);
const folds = () => [...document.querySelectorAll("main details")];
let typed = [], folded = [];
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.requestConfig?.triggeringEvent?.type !== "job-ended") return;
  const fields = [...document.querySelectorAll(FIELDS), ...document.querySelectorAll("main input[type=checkbox][form]")];
  typed = fields.filter((one) => one.id && value(one) !== said(one)).map((one) => (
    { id: one.id, value: value(one), version: one.form?.elements.namedItem("version")?.value }));
  folded = folds().map((one) => ({ words: one.querySelector("summary")?.textContent, open: one.open }));
});
document.addEventListener("htmx:afterSettle", () => {
  for (const one of typed) {
    const field = document.getElementById(one.id);
    if (!field) continue;
    if (field.type === "checkbox") field.checked = one.value;
    else field.value = one.value;
    const version = field.form?.elements.namedItem("version");
    if (version && one.version !== undefined) version.value = one.version;
  }
  for (const one of folded) {
    const fold = folds().find((other) => other.querySelector("summary")?.textContent === one.words);
    if (fold && one.open) fold.open = true;
  }
  typed = []; folded = [];
});

// A studio that has ended, or was started anew, answers nothing or refuses: what is on the page then is not saved.
const tellGone = (words) => {
  const told = document.getElementById("told");
  if (!told) return;
  const line = told.querySelector(".gone") ?? document.createElement("p");
  line.className = "told error gone";
  line.setAttribute("role", "alert");
  line.textContent = words;
  told.append(line);
  line.scrollIntoView({ block: "center" });
};
document.addEventListener("htmx:sendError", () => {
  tellGone("The studio does not answer: it has ended, or is about to. What you change here is not kept. Start it again with microagg studio, and open the address that it prints.");
});
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.xhr.status !== 403) return;
  event.detail.shouldSwap = false;
  tellGone("The studio was started anew and does not know this page. Open the address that it printed.");
});
