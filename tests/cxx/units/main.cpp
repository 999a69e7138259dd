// main.cpp - one program of files with and without TN_EXCEPTIONS, and one in C.
#include "../show.h"
#include "shared.h"

static void files_hand_each_other_tensors() {
    tn::tensor x = tn::tensor({1.0, 2.0});
    CHECK_SHOWS(tn::tensor::take(from_c(x.get())), "float32[1] 5");
    CHECK_SHOWS(tn::tensor::take(from_throwing_file(x.get())), "float32[2] 3 6");
    CHECK(!from_throwing_file(nullptr));
    CHECK_FAILS(TN_INVALID, "mul");
}
static void each_file_fails_in_its_way() {
    CHECK(throwing_file_catches(tn::zeros({3}).get()));
    CHECK(quiet_file_reports(tn::zeros({3}).get(), tn::zeros({4}).get()));
    CHECK(throwing_file_catches(tn::zeros({3}).get()));
    CHECK(!tn::zeros({3}).add(tn::zeros({4})).defined());
    CHECK_FAILS_AT(__LINE__ - 1, TN_INVALID, "add");
}

static const check_test tests[] = {CHECK_TEST(files_hand_each_other_tensors), CHECK_TEST(each_file_fails_in_its_way)};

int main(int argc, char **argv) {
    const int failed = CHECK_MAIN(tests, argc, argv);
    tn_context_free(nullptr);
    return failed;
}
