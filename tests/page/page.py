"""page.py FOLDER NATIVE - loads FOLDER/index.html in headless Chromium, and checks what it shows.

NATIVE is tests/page/native.c, built for this machine. Prints FAILED lines and, at last, the numbers of checks that
passed and failed. Leaves screenshots in FOLDER."""

import functools
import http.server
import os
import subprocess
import sys
import threading

from browser import Browser

folder, native = sys.argv[1:]
counts = {True: 0, False: 0}

# Digits as a hand draws them, as lists of strokes on paper of side 1.
DIGITS = {
    0: [[(.5, .15), (.33, .25), (.27, .5), (.33, .77), (.5, .87), (.67, .77), (.73, .5), (.67, .25), (.5, .15)]],
    1: [[(.38, .3), (.52, .15), (.52, .85)]],
    2: [[(.3, .3), (.4, .17), (.6, .17), (.68, .32), (.58, .52), (.28, .85), (.74, .85)]],
    3: [[(.3, .2), (.5, .14), (.68, .25), (.62, .42), (.45, .48), (.66, .56), (.7, .74), (.52, .87), (.28, .8)]],
    4: [[(.55, .14), (.26, .56), (.75, .56)], [(.62, .38), (.58, .87)]],
    5: [[(.7, .15), (.36, .15), (.33, .46), (.56, .43), (.7, .58), (.66, .77), (.48, .87), (.28, .8)]],
    6: [[(.6, .14), (.4, .32), (.31, .6), (.37, .82), (.56, .86), (.67, .72), (.6, .57), (.42, .56), (.33, .66)]],
    7: [[(.27, .16), (.72, .16), (.55, .5), (.46, .86)], [(.36, .5), (.66, .5)]],
    8: [[(.62, .24), (.5, .14), (.36, .24), (.42, .4), (.58, .54), (.66, .72), (.5, .87), (.34, .74), (.42, .56), (.6, .4), (.62, .24)]],
    9: [[(.66, .3), (.5, .15), (.35, .28), (.42, .46), (.6, .44), (.66, .28), (.65, .55), (.58, .86)]],
}


def check(name, holds, found=""):
    counts[bool(holds)] += 1
    if not holds:
        print("FAILED", name, found)


def scribble(b, digit, scale=1.0, left=0.0, top=0.0):
    """Draws a digit by the mouse."""
    b.js("document.getElementById('paper').scrollIntoView({block: 'center'})")
    x, y, side = b.js("(r => [r.left, r.top, r.width])(document.getElementById('paper').getBoundingClientRect())")
    b.js("document.getElementById('clear').click()")
    for stroke in DIGITS[digit]:
        points = [(x + side * (left + scale * u), y + side * (top + scale * v)) for u, v in stroke]
        b.mouse("Pressed", *points[0])
        for (u0, v0), (u1, v1) in zip(points, points[1:]):
            for k in range(1, 6):
                b.mouse("Moved", u0 + (u1 - u0) * k / 5, v0 + (v1 - v0) * k / 5)
        b.mouse("Released", *points[-1])


def text(b, name):
    return b.js("document.getElementById('%s').textContent" % name)


def learns(b):
    """Nobody touches the page: it learns, and stays in step with the native program to the last bit."""
    b.wait("typeof net === 'object' && losses.length > 0")
    check("it began to learn by itself", text(b, "train") == "Pause")
    b.wait("losses.length >= 100", 300)
    memory = b.js("net.memory.buffer.byteLength")
    b.wait("losses.length >= STEPS && !running", 300)
    check("its memory does not grow", b.js("net.memory.buffer.byteLength") == memory)
    steps, rate = b.js("[losses.length, String(10 ** document.getElementById('rate').value)]")
    check("it stops after 900 steps", steps == 900, steps)
    part = float(text(b, "accuracy").split()[0])
    check("it reads at least 95 % of the held-out digits", part >= 95, part)
    first, last = b.js("[losses.slice(0, 10), losses.slice(-10)].map(a => a.reduce((x, y) => x + y) / 10)")
    check("the loss began near ln 10 and fell below a tenth of it", 1.5 < first < 3 and last < 0.23, (first, last))
    check("kernels for SIMD ran", b.js("(at => String.fromCharCode(...new Uint8Array(net.memory.buffer, at, 7)))(net.page_set())") == "wasm128")
    here = subprocess.run([native, rate, str(steps)], capture_output=True, text=True, check=True).stdout.split()
    there = b.js("""(() => {
        let h = 2166136261;
        for (const word of new Uint32Array(net.memory.buffer, net.page_weights(), net.page_hidden() * PIXELS))
            h = Math.imul(h ^ word, 16777619);
        return [(h >>> 0).toString(16).padStart(8, "0"), net.page_test().toFixed(6)];
    })()""")
    check("weights and accuracy are those of the native program, bit for bit", here == there, (here, there))
    wrong = int(text(b, "wrong-title").rsplit(" ", 1)[1])
    check("misread digits are counted", wrong == round(359 * (1 - part / 100)), wrong)
    check("and shown", b.js("document.getElementById('wrong').children.length") == min(12, wrong))
    return part


def reads(b):
    right = []
    for digit in DIGITS:
        scribble(b, digit)
        if text(b, "answer") == "It reads %d." % digit:
            right.append(digit)
    print("drawn digits that it reads:", *right)
    check("it reads at least 9 of 10 digits drawn by the mouse", len(right) >= 9, right)
    scribble(b, 0)
    check("a drawn 0 is read as 0", text(b, "answer") == "It reads 0.", text(b, "answer"))
    seen = b.js("[...pixels()]")
    scribble(b, 0, 0.4, 0.5, 0.05)
    small = b.js("[...pixels()]")
    check("a small 0 in a corner is read as 0", text(b, "answer") == "It reads 0.", text(b, "answer"))
    check("scaled and centred, it is nearly the same picture", max(abs(u - v) for u, v in zip(seen, small)) < 0.3)
    bars = b.js("[...document.querySelectorAll('#bars li')].map(l => parseFloat(l.lastChild.textContent))")
    check("ten bars add up to 100 %", len(bars) == 10 and 97 <= sum(bars) <= 103, bars)
    b.js("document.getElementById('clear').click()")
    check("clear takes the drawing away", text(b, "answer") == "Draw a digit." and b.js("strokes.length") == 0)
    b.js("document.getElementById('example').click()")
    check("a held-out digit is read, with its label", " The label says " in text(b, "answer"), text(b, "answer"))
    # a 1 by keys alone: up, pen down, down ten times, pen up
    b.js("document.getElementById('paper').focus()")
    for key in ["ArrowUp"] * 6 + [" "] + ["ArrowDown"] * 12 + [" ", "ArrowLeft"]:
        b.key(key, "Space" if key == " " else key)
    check("a line drawn by keys is a 1", text(b, "answer") == "It reads 1.", text(b, "answer"))
    check("the line is straight", b.js("strokes.length === 1 && strokes[0].every(p => p[0] === 0.5)"))


def controls(b):
    b.js("document.getElementById('restart').click()")
    b.wait("losses.length > 5 && losses.length < 400")
    b.js("document.getElementById('train').click()")
    paused = b.js("new Promise(go => setTimeout(() => { const n = losses.length; setTimeout(() => go([n, losses.length]), 300); }, 100))")
    check("pause stops the steps", paused[0] == paused[1], paused)
    b.js("document.getElementById('train').click()")
    b.wait("losses.length > %d" % paused[1])
    most = b.js("""new Promise(go => {
        let most = 0, before = losses.length, left = 30;
        const look = () => {
            most = Math.max(most, losses.length - before);
            before = losses.length;
            --left ? requestAnimationFrame(look) : go(most);
        };
        requestAnimationFrame(look);
    })""")
    check("a frame takes one step or two, so the page stays responsive", 1 <= most <= 2, most)
    check("every control has a name", b.js("""[...document.querySelectorAll("button, input, canvas[role]")].every(e =>
        e.textContent.trim() || e.getAttribute("aria-label") || e.labels && e.labels.length)"""))


def pictures(b):
    b.js("run(false)")
    scribble(b, 3)
    for name, width, dark, scale in (("light", 1100, False, 1), ("dark", 1100, True, 1), ("phone", 390, False, 2), ("narrow", 320, True, 1)):
        b.screen(width, 900, dark, scale)
        wide = b.js("document.documentElement.scrollWidth")
        check("nothing is cut off on the side: " + name, wide <= width, wide)
        b.js("scrollTo(0, 0)")
        b.picture(os.path.join(folder, name + ".png"))


def refused(b, url):
    """Browsers that lack something say so."""
    script = b.command("Page.addScriptToEvaluateOnNewDocument", source="WebAssembly.validate = () => false")["identifier"]
    b.open(url)
    b.wait("!document.getElementById('problem').hidden")
    check("without SIMD it says so", "WebAssembly SIMD" in text(b, "problem"), text(b, "problem"))
    check("and offers no training", b.js("document.getElementById('train').disabled"))
    b.command("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def quiet(b, name):
    said = [str(s["params"]) for s in b.said if s["method"] != "Network.requestWillBeSent"]
    asked = [s["params"]["request"]["url"] for s in b.said if s["method"] == "Network.requestWillBeSent"]
    check(name + ": no error in the console", not said, said)
    check(name + ": it asks for itself alone", len([u for u in asked if not u.startswith("data:")]) == 1, asked)


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


page = "file://" + os.path.abspath(os.path.join(folder, "index.html"))
with Browser() as b:
    b.screen(1100, 900)
    b.open(page)
    part = learns(b)
    reads(b)
    pictures(b)
    controls(b)
    quiet(b, "from a file")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = "http://127.0.0.1:%d/index.html" % server.server_address[1]
    b.open(url)
    b.wait("typeof net === 'object' && losses.length > 0")
    quiet(b, "from a server")
    refused(b, url)
    server.shutdown()
print("held-out digits read after 900 steps: %.1f %%" % part)
print(counts[True], counts[False])
