// A film of a run: frames of a gif one by one, of a video as the browser encodes them while it plays.

import { applyPalette, GIFEncoder, quantize } from "gifenc";

export const FORMATS = ["video", "gif"];
const RATE = { video: 30, gif: 15 }; // pictures per second
const LONGEST = { video: 60, gif: 10 }; // seconds
const WIDTH = 560; // of a gif
const TYPES = ["video/mp4;codecs=avc1.640028", "video/mp4", "video/webm;codecs=vp9", "video/webm"];

const pause = (time) => new Promise((done) => setTimeout(done, time));

// `progress` is told the share that is done; the film of a live run is what happens meanwhile.
export async function filmOf(viewer, format, progress) {
  const rate = RATE[format], { motion, isLive, speed } = viewer, before = viewer.now;
  const span = isLive ? motion.span : viewer.end - viewer.start;
  const count = Math.max(Math.round(Math.min(span / speed, LONGEST[format]) * rate), 2);
  viewer.play(false);
  if (isLive && motion.failed) viewer.restart();
  const writer = format === "gif" ? new Gif(viewer.renderer.domElement, rate) : new Video(viewer.renderer.domElement, rate);
  for (let i = 0; i < count && !viewer.filming.stopped; i++) {
    const begin = performance.now();
    if (isLive) {
      motion.advance(1 / rate, speed);
      viewer.show(motion.now);
    } else viewer.show(viewer.start + ((viewer.end - viewer.start) * i) / (count - 1));
    viewer.render();
    await writer.take();
    progress((i + 1) / count);
    await pause(format === "gif" ? 0 : Math.max(1000 / rate - (performance.now() - begin), 0));
  }
  const film = await writer.end();
  if (!isLive) viewer.show(before);
  return { ...film, count };
}

class Gif {
  constructor(canvas, rate) {
    this.source = canvas;
    this.delay = 1000 / rate;
    this.encoder = GIFEncoder();
    const scale = Math.min(1, WIDTH / canvas.width);
    this.copy = document.createElement("canvas");
    [this.copy.width, this.copy.height] = [Math.round(canvas.width * scale), Math.round(canvas.height * scale)];
    this.pen = this.copy.getContext("2d", { willReadFrequently: true });
  }

  async take() {
    const { width, height } = this.copy;
    this.pen.drawImage(this.source, 0, 0, width, height);
    const { data } = this.pen.getImageData(0, 0, width, height), palette = quantize(data, 128);
    this.encoder.writeFrame(applyPalette(data, palette), width, height, { palette, delay: this.delay });
  }

  async end() {
    this.encoder.finish();
    return { suffix: "gif", blob: new Blob([this.encoder.bytes()], { type: "image/gif" }) };
  }
}

class Video {
  constructor(canvas, rate) {
    this.type = TYPES.find((type) => window.MediaRecorder?.isTypeSupported(type));
    if (!this.type) throw new Error("this browser records no video; save a gif");
    this.stream = canvas.captureStream(rate);
    this.recorder = new MediaRecorder(this.stream, { mimeType: this.type, videoBitsPerSecond: 6e6 });
    this.parts = [];
    this.recorder.addEventListener("dataavailable", (event) => this.parts.push(event.data));
    this.recorder.start();
  }

  async take() {
    await new Promise((done) => requestAnimationFrame(done));
  }

  async end() {
    const ended = new Promise((done) => this.recorder.addEventListener("stop", done));
    this.recorder.stop();
    await ended;
    return { suffix: this.type.startsWith("video/mp4") ? "mp4" : "webm", blob: new Blob(this.parts, { type: this.type }) };
  }
}
