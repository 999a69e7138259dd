/* main.c - calls what other files of the program define and adds up what went wrong. */
#ifdef __cplusplus
extern "C" {
#endif
int FIRST(void);
int SECOND(void);
#ifdef __cplusplus
}
#endif

int main(void) { return FIRST() + SECOND(); }
