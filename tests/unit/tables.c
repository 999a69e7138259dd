/* tables.c - promises about tables as text: what is a cell, a row, a number, a header, and what is
 * an error of which line and column. */
#define _XOPEN_SOURCE 700 /* mkdtemp */
#include "../../src/api/io.h"
#include "../../src/api/ops.h"
#include "../refused.h"

#include <locale.h>
#include <math.h>
#include <unistd.h>

static char folder[64], path[96];

static void write_text(const char *text) {
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(text, 1, strlen(text), f) == strlen(text) && fclose(f) == 0);
}

static void tables_are_read(void) {
    static const struct {
        const char *text;
        int rows, columns, names;
        double first, last;
    } c[] = {{"1,2\n3,4\n", 2, 2, 0, 1, 4},
             {"1,2\r\n3,4", 2, 2, 0, 1, 4},
             {"x,y\n1,2\n", 1, 2, 2, 1, 2},
             {"\xef\xbb\xbf\"x\",\"y, z\"\n1e3,-.5", 1, 2, 2, 1000, -0.5},
             {"\n\n 7 , \"8\" \n\n 9\t,\t10 \r\n\n", 2, 2, 0, 7, 10},
             {"7\n8\n9", 3, 1, 0, 7, 9},
             {"a\n7\n8", 2, 1, 1, 7, 8},
             {"\"a \"\"b\"\"\nc\",d\n5,6\n", 1, 2, 2, 5, 6},
             {"inf,-inf\n1,2", 2, 2, 0, HUGE_VAL, 2}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        TN_SCOPE {
            tn_named_list names = {NULL, 7, 0, false};
            double v[8];
            write_text(c[i].text);
            tn_tensor *t = tn_load_csv(path, .dtype = TN_F64, .columns = &names);
            if (!CHECK(t && tn_ndim(t) == 2 && tn_dtype_of(t) == TN_F64)) continue;
            CHECK(tn_size(t, 0) == c[i].rows && tn_size(t, 1) == c[i].columns);
            CHECK(tn_read_f64(t, v, tn_numel(t)));
            CHECK(v[0] == c[i].first && v[tn_numel(t) - 1] == c[i].last);
            CHECK_EQ(names.n, c[i].names);
            if (i == 3) CHECK_TEXT(names.at[1].name, "y, z");
            if (i == 7) CHECK_TEXT(names.at[0].name, "a \"b\"\nc");
            if (names.n) CHECK(!names.at[0].tensor && !names.owned);
            tn_named_free(names);
        }
}

static void options_of_tables(void) {
    TN_SCOPE {
        double v[3];
        tn_named_list names;
        tn_tensor *t;
        write_text("1;2;\n3;;4\n");
        t = tn_load_csv(path, .delimiter = ';');
        CHECK(t && tn_size(t, 0) == 2 && tn_size(t, 1) == 3 && tn_dtype_of(t) == TN_F32);
        CHECK_EQ(tn_item(tn_sum(tn_isnan(t))), 2);
        t = tn_load_csv(path, .delimiter = ';', .header = TN_CSV_NAMES, .columns = &names);
        CHECK(t && tn_size(t, 0) == 1 && names.n == 3);
        CHECK_TEXT(names.at[0].name, "1");
        tn_named_free(names);
        write_text("9223372036854775807\n-9223372036854775808\n");
        t = tn_load_csv(path, .dtype = TN_I64);
        CHECK(t && ((int64_t *)tn_data(t))[0] == INT64_MAX);
        CHECK(t && ((int64_t *)tn_data(t))[1] == INT64_MIN);
        write_text("18446744073709551615\n");
        t = tn_load_csv(path, .dtype = TN_U64);
        CHECK(t && ((uint64_t *)tn_data(t))[0] == UINT64_MAX);
        write_text("-128,127\n");
        t = tn_load_csv(path, .dtype = TN_I8);
        CHECK(t && tn_read_f64(t, v, 2) && v[0] == -128 && v[1] == 127);
        write_text("");
        t = tn_load_csv(path);
        CHECK(t && tn_size(t, 0) == 0 && tn_size(t, 1) == 0);
        write_text("a,b\n");
        t = tn_load_csv(path);
        CHECK(t && tn_size(t, 0) == 0 && tn_size(t, 1) == 2);
    }
}

static void errors_name_line_and_column(void) {
    static const struct {
        const char *text;
        tn_dtype dtype;
        const char *said;
    } c[] = {{"1,2\n3,x\n", TN_F32, "line 2, column 2: 'x' is no float32"},
             {"\n1,2\n\n3,4 5\n", TN_F32, "line 4, column 2: '4 5' is no float32"},
             {"1,2\n3\n", TN_F32, "line 2: it has 1 cells, the first row 2"},
             {"\"a\nb\",c\n1,2,3\n", TN_F32, "line 3: it has 3 cells, the first row 2"},
             {"1,\"2\n", TN_F32, "line 1, column 2: '2\n' has no closing quote"},
             {"1,\"2\"3\n", TN_F32, "column 2: '2' is followed by text behind its quote"},
             {"1,\n", TN_I32, "line 1, column 2: '' is no int32"},
             {"1,1.5\n", TN_I32, "column 2: '1.5' is no int32"},
             {"1,128\n", TN_I8, "column 2: '128' is no int8"},
             {"1,-129\n", TN_I8, "column 2: '-129' is no int8"},
             {"1,-1\n", TN_U8, "column 2: '-1' is no uint8"},
             {"1,4294967296\n", TN_U32, "column 2: '4294967296' is no uint32"},
             {"1,-1\n", TN_U64, "column 2: '-1' is no uint64"},
             {"1,9223372036854775808\n", TN_I64, "is no int64"},
             {"1,18446744073709551616\n", TN_U64, "is no uint64"},
             {"1,0000000000000000000000000000000000000000000000000000000000000000\n", TN_F32,
              "'0000000000000000000000000000000000000000' is no float32"}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        write_text(c[i].text);
        REFUSED(tn_load_csv(path, .header = TN_CSV_NO_NAMES, .dtype = c[i].dtype), TN_FORMAT,
                c[i].said);
    }
    REFUSED(tn_load_csv(path, .dtype = TN_C64), TN_TYPE, "got complex64");
    REFUSED(tn_load_csv(path, .dtype = TN_BOOL), TN_TYPE, "got bool");
    REFUSED(tn_load_csv(path, .delimiter = '.'), TN_INVALID, "'.' cannot be a delimiter");
    REFUSED(tn_load_csv(NULL), TN_FILE, "the file name is empty");
    REFUSED(tn_load_csv_at(NULL, 0, NULL), TN_INVALID, "the arguments are NULL");
    write_text("\xff\xff,b\n1,2\n");
    tn_named_list names;
    REFUSED(tn_load_csv(path, .columns = &names), TN_FORMAT, "is not UTF-8");
    CHECK(names.n == 0 && !names.at);
}

static void the_locale_does_not_matter(void) {
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C"};
    for (int i = 0; i < 3; i++) {
        if (!setlocale(LC_NUMERIC, locales[i])) continue;
        write_text("1.5,2\n");
        TN_SCOPE
            CHECK_EQ(tn_item(tn_sum(tn_load_csv(path))), 3.5);
        setlocale(LC_NUMERIC, "C");
    }
}

static const check_test tests[] = {
    CHECK_TEST(tables_are_read),
    CHECK_TEST(options_of_tables),
    CHECK_TEST(errors_name_line_and_column),
    CHECK_TEST(the_locale_does_not_matter),
};

int main(int argc, char **argv) {
    strcpy(folder, "/tmp/tn_tables_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/file", folder);
    int status = CHECK_MAIN(tests, argc, argv);
    remove(path);
    rmdir(folder);
    return status;
}
