# fireflies.sh - the game in C++, in a window of a display without a screen; read by run.sh.
need sdl2-config:libsdl2-dev xvfb-run:xvfb,xauth
quiet() { run quiet "$@" && [ ! -s "$log" ]; }
fireflies=$out/fireflies
if [ -z "$have_cxx" ] || ! command -v sdl2-config > /dev/null; then
    echo "no C++ compiler or no SDL2 (libsdl2-dev): fireflies is left out"
else
    if command -v xvfb-run > /dev/null; then show="xvfb-run -a"; else
        echo "no xvfb-run: fireflies runs without a display" && show="env SDL_VIDEODRIVER=dummy"
    fi
    packed # sets object, also where the other programs have a library of their own
    check "fireflies compiles without a warning" quiet $cxx examples/fireflies/main.cpp "$object" $(sdl2-config --cflags) \
        -o "$fireflies" $(sdl2-config --libs) -lm -pthread
    check "fireflies ends with 0" run fireflies $show "$fireflies" 3600 "$out/fireflies.bmp"
    check "fireflies: 3600 frames" grep -q '^3600 frames: ' "$log"
    check "fireflies: they learn: the last 600 frames bring twice as many lights as the first" awk '
        /^3600 frames/ { first = $9 + 0; last = $14 + 0 } END { exit !(first > 0 && last > 2 * first) }' "$log"
    check "fireflies: no allocation after the first second" grep -q '^allocations after the first second: 0$' "$log"
    check "fireflies: it prints its time" grep -q '^deciding and learning take [0-9.]* ms a frame' "$log"
    check "fireflies: a picture of 640 x 640" test "$(wc -c < "$out/fireflies.bmp" | tr -d ' ')" -gt 1000000
    check "fireflies refuses too few frames" fails 1 "usage:" "$fireflies" 3
fi
