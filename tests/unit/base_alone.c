/* base_alone.c - src/base in a program that has no tensor: a small game's frame, linked with the
 * objects of that room and nothing else (Makefile). */
#include "../check.h"
#include "../../src/base/base.h"

#ifdef TNI_API_TENSOR_H
#error "src/base includes the public text of tensors"
#endif

/* --- what this program adds to contexts and blocks -------------------------------------------- */

typedef struct game_context {
    tn_context context;
    int64_t frames;
} game_context;
typedef struct game_block {
    tni_block block;
    int64_t sprites;
} game_block;
static int games_ended;
static void game_end(tn_context *c) { games_ended += ((game_context *)(void *)c)->frames == 3; }
static bool game_ready(tn_context *c) {
    tni_context_at_end(c, game_end);
    return true;
}
static void game_adopt(tni_block *b) { ((game_block *)(void *)b)->sprites = 0; }
TN_PRIV const tni_rooms *tni_rooms_above(void) {
    static const tni_rooms rooms = {(int64_t)sizeof(game_context),
                                    (int64_t)sizeof(game_block),
                                    game_ready,
                                    game_adopt,
                                    NULL,
                                    NULL};
    return &rooms;
}

/* --- a frame of the game ---------------------------------------------------------------------- */

enum { SPRITES = 1000 };
static void sprite_move(void *sprites, int64_t i) { ((int32_t *)sprites)[i] += (int32_t)i; }

static bool frame_draw(game_context *game) {
    tni_block *b = tni_here();
    int32_t *sprites = (int32_t *)tni_need(b, SPRITES * 4);
    if (!sprites) return false;
    ((game_block *)(void *)b)->sprites += SPRITES;
    memset(sprites, 0, SPRITES * 4);
    for (int k = 0; k < 2; k++) tni_parallel(b->context, SPRITES, sprite_move, sprites);
    for (int32_t i = 0; i < SPRITES; i++) CHECK_EQ(sprites[i], 2 * i);
    tni_put(b, b, sprites, SPRITES * 4);
    game->frames++;
    return tn_ok();
}

static void a_program_without_tensors_has_contexts_memory_and_threads(void) {
    tn_context_options o;
    memset(&o, 0, sizeof o);
    o.threads = 2;
    games_ended = 0;
    tn_context *c = tn_context_new(&o);
    tn_context_use(c);
    for (int i = 0; i < 3; i++) CHECK(frame_draw((game_context *)(void *)c));
    CHECK_EQ(((game_block *)(void *)tni_here())->sprites, 3 * SPRITES);
    CHECK(tn_now() > 0 && tn_memory().live_tensors == 0);
    tn_context_free(c);
    CHECK_EQ(games_ended, 1);
}

static void a_program_without_tensors_has_errors_with_its_lines(void) {
    tn_error_info e;
    bool exists = true;
    tni_block *b = tni_here();
    CHECK(tni_file_exists(b, "/no/such/save", &exists) && !exists);
    CHECK(tni_enter(b, "game.c", 7) && !tni_error(b, TN_FILE, "no save of level %d", 3));
    CHECK(tn_error_take(&e) && e.code == TN_FILE && e.line == 7);
    CHECK_TEXT(e.message, "no save of level 3");
    CHECK_TEXT(e.file, "game.c");
    tn_context_free(NULL);
}

static const check_test tests[] = {
    CHECK_TEST(a_program_without_tensors_has_contexts_memory_and_threads),
    CHECK_TEST(a_program_without_tensors_has_errors_with_its_lines),
};
int main(int argc, char **argv) { return CHECK_MAIN(tests, argc, argv); }
