/* guard.c - runs a program that may do anything: spin, hang, eat memory, fill the disk, leave
 * children.
 *
 *     guard WALL CPU MEGABYTES COMMAND [ARGUMENT ...]
 *
 * Ends with 0 when the command did within its limits (seconds of both clocks, address space; 0:
 * none) and 1 otherwise. The command has a process group of its own, which is killed at the end;
 * nothing to read; what it prints goes where the guard's does. Prints the seconds of processor
 * time it took to the file named in GUARD_TIME, where that is set. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

static void out_of_time(int sign) {
    (void)sign;
    kill(-child, SIGKILL);
}

static struct rlimit most; /* for LIMIT, in the child */
#define LIMIT(what, n) (most.rlim_cur = most.rlim_max = (n), setrlimit(what, &most))

static void run(char **argv) {
    int nothing = open("/dev/null", O_RDONLY);
    long cpu = atol(argv[2]), megabytes = atol(argv[3]);
    setpgid(0, 0);
    if (nothing >= 0) dup2(nothing, 0);
    LIMIT(RLIMIT_CORE, 0);
    LIMIT(RLIMIT_FSIZE, (rlim_t)256 << 20);
    if (cpu) LIMIT(RLIMIT_CPU, (rlim_t)cpu);
    if (megabytes) LIMIT(RLIMIT_AS, (rlim_t)megabytes << 20);
    execvp(argv[4], argv + 4);
    _exit(127);
}

static void write_time(const char *path) {
    struct rusage u;
    FILE *f = path ? fopen(path, "w") : NULL;
    if (!f) return;
    getrusage(RUSAGE_CHILDREN, &u);
    fprintf(f, "%.2f\n",
            (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6);
    fclose(f);
}

int main(int argc, char **argv) {
    struct itimerval wall = {{0, 0}, {0, 0}};
    int status = 1;
    if (argc < 5) return 2;
    child = fork();
    if (child < 0) return 2;
    if (child == 0) run(argv);
    setpgid(child, child);
    wall.it_value.tv_sec = atol(argv[1]);
    signal(SIGALRM, out_of_time);
    setitimer(ITIMER_REAL, &wall, NULL);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 2;
    kill(-child, SIGKILL);
    write_time(getenv("GUARD_TIME"));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
