int here(int a);
extern int elsewhere(int a);
int plain_elsewhere(int a);
#define TWICE(x) ((x) + (x))
