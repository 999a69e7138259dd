/* stopwatch.c - `stopwatch COMMAND...` runs a command and prints the seconds of processor time that
 * it and its children took: unlike the clock on the wall this hardly depends on what else is
 * running. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct rusage used;
    int status = 1;
    pid_t child = argc > 1 ? fork() : -1;
    if (child == 0) {
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || getrusage(RUSAGE_CHILDREN, &used)) return 1;
    printf("%.3f\n", (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec));
    return status != 0;
}
