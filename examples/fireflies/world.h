// world.h - the rules: fireflies eat lights and flee from the bat. Plain C++; knows no network.
#ifndef WORLD_H
#define WORLD_H

#include <cmath>
#include <cstdlib>

const int fireflies = 24, lights = 24, senses = 8, moves = 5;

struct point {
    float x, y;
};

struct world {
    point fly[fireflies], speed[fireflies], light[lights], bat;
    float sense[fireflies][senses]; // what each firefly feels; written by look()
    float reward[fireflies];        // what its last move was worth; written by step()
    int eaten, caught;

    world() : eaten(0), caught(0) {
        bat.x = bat.y = 0.5f;
        for (point &p : fly) p = anywhere();
        for (point &p : speed) p.x = p.y = 0;
        for (point &p : light) p = anywhere();
        look();
    }

    // One frame: each firefly pushes left, right, up, down or not at all.
    void step(const long long *move) {
        static const point push[moves] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
        for (int i = 0; i < fireflies; i++) {
            const point before = fly[i];
            const float food = nearest(i).d, safe = safety(i);
            const point way = push[move[i]];
            speed[i].x = 0.85f * speed[i].x + 0.002f * way.x;
            speed[i].y = 0.85f * speed[i].y + 0.002f * way.y;
            fly[i].x = inside(before.x + speed[i].x);
            fly[i].y = inside(before.y + speed[i].y);
            reward[i] = 20 * (food - nearest(i).d + safety(i) - safe);
            eat(i);
        }
        look();
    }

  private:
    struct found {
        int which;
        float d;
    };

    static point anywhere() {
        const point p = {float(std::rand()) / float(RAND_MAX),
                         float(std::rand()) / float(RAND_MAX)};
        return p;
    }
    static float inside(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }
    static float gap(point a, point b) {
        return std::sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
    }
    float safety(int i) const {
        return std::fmin(gap(fly[i], bat), 0.2f);
    } // farther away is no safer
    found nearest(int i) const {
        found f = {0, 2};
        for (int k = 0; k < lights; k++)
            if (gap(fly[i], light[k]) < f.d) f.which = k, f.d = gap(fly[i], light[k]);
        return f;
    }
    void eat(int i) {
        const found f = nearest(i);
        if (f.d < 0.025f) light[f.which] = anywhere(), reward[i] += 1, eaten++;
        if (gap(fly[i], bat) < 0.03f) fly[i] = anywhere(), reward[i] -= 1, caught++;
    }
    void look() {
        for (int i = 0; i < fireflies; i++) {
            const point food = light[nearest(i).which];
            const float all[senses] = {5 * (food.x - fly[i].x), 5 * (food.y - fly[i].y),
                                       5 * (bat.x - fly[i].x),  5 * (bat.y - fly[i].y),
                                       60 * speed[i].x,         60 * speed[i].y,
                                       2 * fly[i].x - 1,        2 * fly[i].y - 1};
            for (int k = 0; k < senses; k++) sense[i][k] = all[k];
        }
    }
};

#endif
