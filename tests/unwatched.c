/* unwatched.c - for programs over the library of the sanitizers whose failed calls may keep memory
 * (TN_CHECK keeps freed headers): they define what tests/watch.c would. */
void __cyg_profile_func_enter(void *function, void *from) __attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *function, void *from) __attribute__((no_instrument_function));
void __cyg_profile_func_enter(void *function, void *from) { (void)function, (void)from; }
void __cyg_profile_func_exit(void *function, void *from) { (void)function, (void)from; }
