/* objects_files.h - objects.c: what comes from files, on disk and in memory. */
#ifndef TESTS_EDGES_OBJECTS_FILES_H
#define TESTS_EDGES_OBJECTS_FILES_H

static void make_files(thing *a) {
    static const unsigned char idx[] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 6, 7};
    tn_named one = {"x", NULL};
    FILE *f;
    one.tensor = counting(2, 2);
    CHECK(tn_safetensors_save(file, &one, 1));
    a->list = tn_safetensors_load(file);
    a->f = tn_safetensors_open(file);
    a->t[0] = tn_take(tn_safetensors_get(a->f, "x"));
    a->t[1] = tn_take(tn_load_bytes(file));
    a->t[3] = a->list.n ? a->list.at[0].tensor : NULL;
    f = fopen(file, "wb");
    CHECK(f && fwrite(idx, 1, sizeof idx, f) == sizeof idx && fclose(f) == 0);
    a->t[2] = tn_take(tn_load_idx(file));
    CHECK(!tn_dataset_idx(file, file, 0, 1) && tn_error_take(NULL)); /* labels have one dimension */
    CHECK(!tn_load_csv(file, .header = TN_CSV_NO_NAMES) && tn_error_take(NULL));
    CHECK(tn_safetensors_load_index(file).n < 0 && tn_error_take(NULL));
    CHECK(tn_save_npy(file, a->t[0]));
    a->t[4] = tn_take(tn_load_npy(file));
    one.tensor = a->t[0];
    CHECK(tn_save_npz(file, &one, 1));
    tn_named_free(tn_load_npz(file));
}
static void end_files(thing *a) {
    stands(a);
    CHECK(tn_numel(a->t[2]) == 2 && a->list.n == 1 && a->list.owned);
    CHECK(tn_safetensors_count(a->f) == 1);
    CHECK_TEXT(tn_safetensors_name(a->f, 0), "x");
    tn_named_free(a->list);
    tn_safetensors_close(a->f);
    for (int k = 0; k < 3; k++) tn_free(a->t[k]);
    tn_free(a->t[4]);
}
/* Files in memory: tensors that were copied from one stay when its bytes are freed. */
static void make_memory(thing *a) {
    tn_named one = {"x", NULL};
    tn_module *other = tn_nn_linear(2, 3);
    tn_bytes saved, parts, state, npy, npz;
    tn_safetensors *f;
    tn_state s;
    one.tensor = counting(2, 2);
    tn_free(tn_take(tn_tensor_of(TN_DIMS(2), 1, 2.5)));
    saved = tn_save_memory(&one, 1);
    a->list = tn_load_memory(saved.at, saved.n);
    f = tn_safetensors_open_memory(saved.at, saved.n);
    a->t[0] = tn_take(tn_safetensors_get(f, "x"));
    a->t[1] = a->list.n ? a->list.at[0].tensor : NULL;
    npy = tn_save_npy_memory(one.tensor);
    npz = tn_save_npz_memory(&one, 1);
    a->t[4] = tn_take(tn_load_npy_memory(npy.at, npy.n));
    tn_named_free(tn_load_npz_memory(npz.at, npz.n));
    tn_bytes_free(npy), tn_bytes_free(npz);
    tn_safetensors_close(f);
    tn_bytes_free(saved);
    a->m = tn_nn_linear(2, 3);
    parts = tn_module_save_memory(other);
    CHECK(tn_module_load_memory(a->m, parts.at, parts.n));
    CHECK(tn_module_copy_from(a->m, other, 0.5));
    tn_bytes_free(parts);
    memset(&s, 0, sizeof s);
    s.model = a->m;
    state = tn_checkpoint_save_memory(&s);
    CHECK(state.n && tn_checkpoint_load_memory(state.at, state.n, &s));
    tn_bytes_free(state);
    tn_module_free(other);
    a->t[2] = tn_module_tensor(a->m, "weight");
}
static void end_memory(thing *a) {
    stands(a);
    CHECK(tn_numel(a->t[0]) == 4 && a->list.n == 1 && tn_numel(a->t[2]) == 6);
    tn_named_free(a->list);
    tn_free(a->t[0]);
    tn_free(a->t[4]);
    tn_module_free(a->m);
}

#endif
