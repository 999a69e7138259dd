// main.cpp - a game whose creatures learn while it runs: fireflies look for lights and learn to flee
// from the bat, which is the mouse. Each frame takes a decision for each firefly and a step of
// learning. library.c is README's, compiled once.
//
//     cc -O2 -I. -c library.c
//     c++ -O2 -I. examples/fireflies/main.cpp library.o $(sdl2-config --cflags --libs) -lm -pthread
//     ./a.out                     play
//     ./a.out 3600 picture.bmp    3,600 frames without waiting, then a picture; the bat flies by itself
#include "brain.h"

#include <SDL.h>
#include <cstdio>
#include <cstring>

static const int width = 640, height = 640;

static void disc(SDL_Renderer *r, point p, int radius, SDL_Color c, Uint8 glow) {
    const int x = int(p.x * width), y = int(p.y * height);
    SDL_SetRenderDrawBlendMode(r, SDL_BLENDMODE_BLEND);
    for (int ring = glow ? 3 : 1; ring >= 1; ring--) {
        const int size = radius * ring;
        SDL_SetRenderDrawColor(r, c.r, c.g, c.b, ring == 1 ? 255 : Uint8(glow / ring));
        for (int dy = -size; dy <= size; dy++) {
            const int dx = int(std::sqrt(float(size * size - dy * dy)));
            SDL_RenderDrawLine(r, x - dx, y + dy, x + dx, y + dy);
        }
    }
}

static void draw(SDL_Renderer *r, const world &w, const int *history, int seconds) {
    SDL_SetRenderDrawColor(r, 14, 18, 38, 255);
    SDL_RenderClear(r);
    for (int i = 0; i < seconds; i++) { // lights eaten in each second
        const SDL_Rect bar = {4 + 10 * (i % 63), height - 4 - 2 * history[i], 8, 2 * history[i]};
        SDL_SetRenderDrawColor(r, 52, 66, 110, 255);
        SDL_RenderFillRect(r, &bar);
    }
    for (point p : w.light) disc(r, p, 4, SDL_Color{255, 214, 102, 255}, 70);
    for (point p : w.fly) disc(r, p, 3, SDL_Color{154, 255, 158, 255}, 50);
    disc(r, w.bat, 10, SDL_Color{196, 84, 110, 255}, 0);
    disc(r, point{w.bat.x - 0.02f, w.bat.y - 0.01f}, 7, SDL_Color{196, 84, 110, 255}, 0);
    disc(r, point{w.bat.x + 0.02f, w.bat.y - 0.01f}, 7, SDL_Color{196, 84, 110, 255}, 0);
}

// Moves the bat: the mouse, or a path of its own. False at the end of the game.
static bool steer(world &w, int frame, int frames) {
    SDL_Event e;
    while (SDL_PollEvent(&e))
        if (e.type == SDL_QUIT || (e.type == SDL_KEYDOWN && e.key.keysym.sym == SDLK_ESCAPE))
            return false;
    if (frames) {
        w.bat.x = 0.5f + 0.35f * std::sin(float(frame) * 0.013f);
        w.bat.y = 0.5f + 0.35f * std::sin(float(frame) * 0.017f);
        return frame < frames;
    }
    int x, y;
    SDL_GetMouseState(&x, &y);
    w.bat.x = float(x) / width;
    w.bat.y = float(y) / height;
    return true;
}

// One frame of the game and of learning; false with an error.
static bool play(world &w, brain &b) {
    long long move[fireflies];
    float before[fireflies][senses];
    b.choose(w, move);
    std::memcpy(before, w.sense, sizeof before);
    w.step(move);
    b.remember(before, move, w);
    b.learn();
    return tn_ok();
}

// What the run has shown, counted in parts of 600 frames.
struct results {
    int first, last, frames;
    int64_t allocations;
    double all, slowest; // milliseconds of deciding and learning after the first second
};

static void report(const results &r, const world &w) {
    std::printf(
        "%d frames: lights eaten in the first 600: %d, in the last 600: %d; caught %d times\n",
        r.frames, r.first, r.last, w.caught);
    std::printf("deciding and learning take %.3f ms a frame, the slowest %.3f\n",
                r.all / (r.frames > 60 ? r.frames - 60 : 1), r.slowest);
    std::printf("allocations after the first second: %lld\n", (long long)r.allocations);
}

static void game(SDL_Window *window, SDL_Renderer *renderer, int frames) {
    world w;
    brain b;
    results r = {0, 0, 0, 0, 0, 0};
    int history[63] = {0}, begin = 0;
    int64_t warm = 0;
    for (; steer(w, r.frames, frames); r.frames++) {
        const int eaten = w.eaten, second = r.frames / 60;
        const Uint64 begun = SDL_GetPerformanceCounter();
        if (r.frames == 60) warm = tn_memory().allocations;
        if (!play(w, b)) break;
        const double ms = 1e3 * double(SDL_GetPerformanceCounter() - begun) /
                          double(SDL_GetPerformanceFrequency());
        if (r.frames >= 60) r.all += ms, r.slowest = ms > r.slowest ? ms : r.slowest;
        if (r.frames % 60 == 0) history[second % 63] = 0;
        history[second % 63] += w.eaten - eaten;
        if (r.frames == 599) r.first = w.eaten;
        if (r.frames == frames - 601) begin = w.eaten;
        if (frames && r.frames + 1 < frames)
            continue; // a run without waiting draws its last frame alone
        draw(renderer, w, history, second < 63 ? second + 1 : 63);
        SDL_UpdateWindowSurface(window);
        if (!frames) SDL_Delay(16);
    }
    r.last = w.eaten - begin;
    r.allocations = tn_memory().allocations - warm;
    report(r, w);
}

int main(int n, char **arguments) {
    const int frames = n > 1 ? std::atoi(arguments[1]) : 0;
    if (n > 3 || (n > 1 && frames < 1201)) {
        std::fprintf(stderr, "usage: %s [FRAMES [PICTURE.bmp]]     FRAMES: at least 1201\n",
                     arguments[0]);
        return 1;
    }
    if (SDL_Init(SDL_INIT_VIDEO)) {
        std::fprintf(stderr, "SDL: %s\n", SDL_GetError());
        return 1;
    }
    SDL_Window *window = SDL_CreateWindow("fireflies", SDL_WINDOWPOS_CENTERED,
                                          SDL_WINDOWPOS_CENTERED, width, height, 0);
    SDL_Surface *surface = window ? SDL_GetWindowSurface(window) : nullptr;
    SDL_Renderer *renderer = surface ? SDL_CreateSoftwareRenderer(surface) : nullptr;
    bool failed = !renderer;
    if (renderer) {
        tn_manual_seed(1);
        game(window, renderer, frames);
        failed = n > 2 && SDL_SaveBMP(surface, arguments[2]);
    }
    if (failed) std::fprintf(stderr, "SDL: %s\n", SDL_GetError());
    SDL_Quit();
    return tn_error_print() || failed;
}
