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

// The end of a job fetches the page anew; what somebody is typing meanwhile stays, with the version that it is an edit of.
let typed = [];
document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.requestConfig?.triggeringEvent?.type !== "job-ended") return;
  const fields = [...document.querySelectorAll("main :is(textarea, input:not([type])), main input[type=date]")];
  typed = fields.filter((one) => one.id && one.value !== one.defaultValue).map((one) => (
    { id: one.id, value: one.value, version: one.form?.elements.namedItem("version")?.value }));
});
document.addEventListener("htmx:afterSettle", () => {
  for (const one of typed) {
    const field = document.getElementById(one.id);
    if (!field) continue;
    field.value = one.value;
    const version = field.form?.elements.namedItem("version");
    if (version && one.version !== undefined) version.value = one.version;
  }
  typed = [];
});
