// page.js - loads the module, trains the network a little in every frame, and shows what it learns.
"use strict";

const STEPS = 900, TEST_EVERY = 10, CLASSES = 10, SIDE = 8, PIXELS = SIDE * SIDE;
const PER_FRAME = 2, MILLISECONDS = 8; // a frame trains no more steps, and no longer
const $ = id => document.getElementById(id);
let net; // what page.c exports
let running = false, seed = 0, losses = [], accuracies = []; // accuracies: [step, part]

const floats = (at, n) => new Float32Array(net.memory.buffer, at, n);
const percent = (part, digits) => (100 * part).toFixed(digits) + " %";

// Shows what went wrong, and stops; without words, what the library reports.
function problem(words) {
    running = false;
    if (!words) {
        const bytes = new Uint8Array(net.memory.buffer).slice(net.page_error());
        words = "The library reports: " + new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
    }
    $("problem").textContent = words;
    $("problem").hidden = false;
}

// --- the module -----------------------------------------------------------------------------------

// The module's libc can ask for files, time and the environment. The page needs none: all is refused.
async function load() {
    if (!self.DecompressionStream) return problem("This browser is too old: it has no DecompressionStream.");
    const packed = Uint8Array.from(atob(WASM), c => c.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = await new Response(unpacked).arrayBuffer();
    if (!WebAssembly.validate(bytes)) return problem("This page needs WebAssembly SIMD, which this browser lacks.");
    const refuse = new Proxy({}, { get: () => () => 52 });
    const module = await WebAssembly.instantiate(bytes, { env: refuse, wasi_snapshot_preview1: refuse });
    net = module.instance.exports;
    net._initialize();
    $("held").textContent = net.page_held();
    for (const id of ["train", "restart", "example"]) $(id).disabled = false;
    restart();
}

// --- training -------------------------------------------------------------------------------------

function restart() {
    if (!net.page_reset(++seed)) return problem();
    losses = [];
    accuracies = [];
    test();
    run(true);
}
function run(on) {
    if (on && !running) requestAnimationFrame(frame);
    running = on;
    $("train").textContent = on ? "Pause" : "Go on";
}
function frame() {
    const end = performance.now() + MILLISECONDS;
    for (let i = 0; running && i < PER_FRAME && performance.now() < end; i++) {
        const loss = net.page_train(10 ** $("rate").value);
        if (loss < 0) return problem();
        losses.push(loss);
        if (losses.length % TEST_EVERY === 0) test();
        if (losses.length % STEPS === 0) run(false); // learned enough, until asked to go on
    }
    if (losses.length) show();
    if (running) requestAnimationFrame(frame);
}
function test() {
    const part = net.page_test();
    if (part < 0) return problem();
    accuracies.push([losses.length, part]);
    showWrong();
}

// --- what it learns -------------------------------------------------------------------------------

function showAll() {
    $("rate-text").textContent = (10 ** $("rate").value).toPrecision(2);
    showPaper();
    if (!losses.length) return;
    show();
    showWrong();
}
function show() {
    const last = losses.slice(-TEST_EVERY);
    $("step").textContent = losses.length;
    $("loss").textContent = (last.reduce((a, b) => a + b) / last.length).toFixed(3);
    $("accuracy").textContent = percent(accuracies[accuracies.length - 1][1], 1);
    showCurve();
    showWeights();
    read();
}
const color = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name);
function context(canvas, width, height) { // an empty canvas of this many pixels
    Object.assign(canvas, { width, height });
    return canvas.getContext("2d");
}
function line(g, points) {
    g.beginPath();
    for (const [x, y] of points) g.lineTo(x, y);
    g.stroke();
}
function showCurve() {
    const { clientWidth: width, clientHeight: height } = $("curve"), scale = devicePixelRatio;
    const g = context($("curve"), width * scale, height * scale);
    const left = 30, right = width - 48, top = 8, bottom = height - 20, most = 2.4; // most: of the loss
    const steps = Math.max(STEPS, losses.length);
    const x = step => left + (right - left) * step / steps, y = part => bottom - (bottom - top) * part;
    const label = (name, align, words, ...at) =>
        Object.assign(g, { fillStyle: color(name), textAlign: align }).fillText(words, ...at);
    g.scale(scale, scale);
    g.font = "12px system-ui, sans-serif";
    g.strokeStyle = color("line");
    for (let part = 0; part <= 1; part += 0.25) {
        line(g, [[left, y(part)], [right, y(part)]]);
        label("loss", "right", (most * part).toFixed(1), left - 6, y(part) + 4);
        label("accuracy", "left", percent(part, 0), right + 6, y(part) + 4);
    }
    for (let i = 0; i <= 3; i++) label("soft", "center", Math.round(steps * i / 3), x(steps * i / 3), height - 4);
    Object.assign(g, { strokeStyle: color("loss"), lineWidth: 1.2 });
    line(g, losses.map((loss, i) => [x(i + 1), y(Math.min(1, loss / most))]));
    Object.assign(g, { strokeStyle: color("accuracy"), lineWidth: 2.5 });
    line(g, accuracies.map(([step, part]) => [x(step), y(part)]));
}
// A picture of 8 x 8 numbers from -1 to 1: the colour of `more`, or of `less` below 0, on the card's.
function picture(g, x, y, numbers, more, less) {
    numbers.forEach((v, i) => {
        g.fillStyle = v < 0 ? less : more;
        g.globalAlpha = Math.min(1, Math.abs(v));
        g.fillRect(x + i % SIDE, y + Math.floor(i / SIDE), 1, 1);
    });
}
function showWeights() {
    const units = net.page_hidden(), weights = floats(net.page_weights(), units * PIXELS);
    const columns = $("weights").clientWidth < 500 ? 8 : 16, rows = Math.ceil(units / columns), step = SIDE + 1;
    const g = context($("weights"), columns * step - 1, rows * step - 1), more = color("more"), less = color("less");
    const top = weights.reduce((a, v) => Math.max(a, Math.abs(v)), 0);
    const shades = weights.map(v => Math.sign(v) * Math.sqrt(Math.abs(v) / top));
    for (let i = 0; i < units; i++)
        picture(g, i % columns * step, Math.floor(i / columns) * step, shades.subarray(i * PIXELS, (i + 1) * PIXELS), more, less);
}
function showWrong() {
    const wrong = [];
    for (let i = 0; i < net.page_held(); i++) if (net.page_guess(i) !== net.page_label(i)) wrong.push(i);
    $("wrong-title").textContent = "Held-out digits that it misreads: " + wrong.length;
    $("wrong").replaceChildren(...wrong.slice(0, 12).map(i => {
        const item = document.createElement("li"), canvas = document.createElement("canvas");
        picture(context(canvas, SIDE, SIDE), 0, 0, floats(net.page_digit(i), PIXELS), color("ink"));
        item.append(canvas, net.page_label(i) + " as " + net.page_guess(i));
        return item;
    }));
}

// --- what is drawn --------------------------------------------------------------------------------

let strokes = [], example = -1; // lists of [x, y] on paper of side 1; or the number of a held-out digit
let pen = null; // of the keyboard: x, y, down

function paint(g, width) {
    Object.assign(g, { lineWidth: width, lineCap: "round", lineJoin: "round" });
    for (const stroke of strokes) line(g, [stroke[0], ...stroke]);
}
// The drawing as the data are: its box is scaled to a square of 32 and centred there, and a pixel is
// the part of 4 x 4 that has ink, in levels. A square is painted 4 times as large, for its edges.
function pixels() {
    if (example >= 0) return floats(net.page_digit(example), PIXELS);
    const side = 128, block = side / SIDE, [xs, ys] = [0, 1].map(k => strokes.flat().map(p => p[k]));
    const x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(...ys);
    const ink = side / 8, scale = (side - ink) / Math.max(x1 - x0, y1 - y0, 0.05), sums = new Float32Array(PIXELS);
    const g = context(document.createElement("canvas"), side, side);
    g.setTransform(scale, 0, 0, scale, side / 2 - scale * (x0 + x1) / 2, side / 2 - scale * (y0 + y1) / 2);
    paint(g, ink / scale);
    g.getImageData(0, 0, side, side).data.forEach((v, i) => {
        const x = (i >> 2) % side, y = Math.floor((i >> 2) / side);
        if (i % 4 === 3) sums[Math.floor(y / block) * SIDE + Math.floor(x / block)] += v / 255 / block ** 2;
    });
    return sums.map(v => Math.min(1, Math.round(16 * v) / 15));
}
function read() {
    const drawn = strokes.length || example >= 0, seen = drawn ? pixels() : new Float32Array(PIXELS);
    picture(context($("seen"), SIDE, SIDE), 0, 0, seen, color("ink"));
    floats(net.page_drawn(), PIXELS).set(seen);
    const at = net.page_read();
    if (!at) return problem();
    const chances = drawn ? floats(at, CLASSES) : new Float32Array(CLASSES), best = chances.indexOf(Math.max(...chances));
    [...$("bars").children].forEach((bar, i) => {
        bar.classList.toggle("best", drawn && i === best);
        bar.style.setProperty("--part", chances[i]);
        bar.lastChild.textContent = percent(chances[i], 0);
    });
    const words = (drawn ? "It reads " + best + "." : "Draw a digit.") +
        (example < 0 ? "" : " The label says " + net.page_label(example) + ".");
    if ($("answer").textContent !== words) $("answer").textContent = words; // else it would be read out each frame
}
function showPaper() {
    const side = $("paper").clientWidth * devicePixelRatio, g = context($("paper"), side, side);
    g.scale(side / SIDE, side / SIDE);
    if (example >= 0) picture(g, 0, 0, pixels(), color("ink"));
    g.scale(SIDE, SIDE);
    Object.assign(g, { strokeStyle: color("ink"), globalAlpha: 1 });
    paint(g, 0.07);
    Object.assign(g, { strokeStyle: color("more"), lineWidth: 0.015 });
    if (pen) g.strokeRect(pen.x - 0.04, pen.y - 0.04, 0.08, 0.08);
    if (net) read();
}
function clear(digit = -1) {
    strokes = [];
    example = digit;
    showPaper();
}
function draw(begins, ...at) {
    if (begins && example >= 0) clear();
    if (begins) strokes.push([]);
    strokes[strokes.length - 1].push(at);
    showPaper();
}
const drawByPointer = (event, begins) => draw(begins, event.offsetX / $("paper").clientWidth, event.offsetY / $("paper").clientHeight);
function drawByKey(event) {
    const x = { ArrowLeft: -0.05, ArrowRight: 0.05 }[event.key] || 0, y = { ArrowUp: -0.05, ArrowDown: 0.05 }[event.key] || 0;
    const space = event.key === " ", wipes = event.key === "Delete", inside = v => Math.min(0.95, Math.max(0.05, v));
    if (!x && !y && !space && !wipes) return;
    event.preventDefault();
    pen = pen || { x: 0.5, y: 0.5, down: false };
    pen = { x: inside(pen.x + x), y: inside(pen.y + y), down: space ? !pen.down : pen.down && !wipes };
    if (wipes) clear();
    if (pen.down) draw(space, pen.x, pen.y);
    else showPaper();
}

// --- events ---------------------------------------------------------------------------------------

$("paper").addEventListener("pointerdown", event => {
    $("paper").setPointerCapture(event.pointerId);
    pen = null;
    drawByPointer(event, true);
});
$("paper").addEventListener("pointermove", event => {
    if ($("paper").hasPointerCapture(event.pointerId)) drawByPointer(event, false);
});
$("paper").addEventListener("keydown", drawByKey);
$("clear").addEventListener("click", () => clear());
$("example").addEventListener("click", () => clear(Math.floor(Math.random() * net.page_held())));
$("train").addEventListener("click", () => run(!running));
$("restart").addEventListener("click", restart);
$("rate").addEventListener("input", showAll);
addEventListener("resize", showAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showAll);
for (let i = 0; i < CLASSES; i++) $("bars").insertAdjacentHTML("beforeend", `<li><span>${i}</span><i></i><span>0 %</span></li>`);
showAll();
load().catch(error => problem("The page cannot start: " + error.message));
