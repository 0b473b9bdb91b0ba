/* Search without a server. Browsers start no worker from a file, so a hidden frame runs its script instead. */
"use strict";

if (location.protocol === "file:") {
  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.url = new URL(url, document.baseURI).href;
      this.onmessage = this.onerror = null;
      this.addEventListener("message", (event) => this.onmessage && this.onmessage(event));
      this.addEventListener("error", (event) => this.onerror && this.onerror(event));
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><body></body>";
      this.ready = new Promise((done) => this.frame.addEventListener("load", done, { once: true })).then(() => this.start());
      document.documentElement.appendChild(this.frame);
    }

    /* In the frame, messages to the page are events here, and other scripts are loaded one after the other. */
    async start() {
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = async (...urls) => {
        for (const one of urls) await FrameWorker.load(inside, new URL(one, this.url).href);
      };
      await FrameWorker.load(inside, this.url);
      return inside;
    }

    static load(inside, url) {
      return new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, { src: url, onload: done, onerror: failed });
        inside.document.body.appendChild(script);
      });
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.IFrameWorker = FrameWorker; // how the search script knows that it runs in a frame
  window.Worker = FrameWorker;
}
