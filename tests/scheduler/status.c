/* SPDX-License-Identifier: MIT */
/* The state that the daemon tells: a piece at a time, however many clients and requests there are, and whatever clients
 * say of themselves. */
#include <jansson.h>
#include <unistd.h>

#include "tests/scheduler/desk.h"

enum { MANY = 100, A_PIECE = 4, MOST_TOLD = 32 };

static json_t *read_state(const struct bench *b)
{
    const struct gs_status_file *f = &b->core->status[b->core->status_made % GS_STATUS_FILES];
    lseek(f->file, 0, SEEK_SET);
    json_t *j = json_loadfd(f->file, 0, NULL);
    assert_non_null(j);
    return j;
}

static json_int_t number_of(const json_t *j, const char *list, size_t i, const char *key)
{
    return json_integer_value(json_object_get(json_array_get(json_object_get(j, list), i), key));
}

static void ask_for_state(struct bench *b, struct desk *d)
{
    const struct gs_msg m = message(GS_MSG_STATUS);
    d->answer.type = 0;
    assert_int_equal(say(b, d, &m), 0);
}

static void fill(struct bench *b, struct desk d[MANY])
{
    for (unsigned i = 0; i < MANY; i++) {
        sit_down(b, &d[i], 1002, "");
        assert_int_equal(hello(b, &d[i], "", 2), 0);
        for (uint32_t slot = 0; slot < GS_MAX_SLOTS; slot++)
            assert_int_equal(request(b, &d[i], slot, 1 + slot % 2), 0);
    }
}

/* Hundred clients with 64 requests each: between two pieces the daemon may do other things. */
static void test_a_piece_at_a_time(void **state)
{
    struct bench *b = start_large(TASKS);
    struct desk d[MANY], task, who;
    fill(b, d);
    join(b, &task, "slow", 2);
    work_off(b);
    analyse(b);
    request(b, &task, 0, 1);
    sit_down(b, &who, 1003, "");
    ask_for_state(b, &who);
    assert_int_equal(who.answer.type, 0);
    unsigned pieces = 0;
    for (; gs_core_has_work(b->core, GS_WORK_ANSWERS); pieces++)
        gs_core_work(b->core, GS_WORK_ANSWERS, b->now);
    assert_in_range(pieces, (MANY + 1) / A_PIECE, MANY);
    assert_int_equal(who.answer.type, GS_MSG_ANSWER);
    json_t *j = read_state(b);
    assert_int_equal(json_array_size(json_object_get(j, "clients")), MANY + 1);
    assert_int_equal(json_array_size(json_object_get(j, "tasks")), 3);
    assert_int_equal(json_array_size(json_object_get(j, "resources")), 3);
    json_t *gpu = json_array_get(json_object_get(j, "resources"), 1), *waiting = json_object_get(gpu, "waiting");
    assert_in_range(json_integer_value(json_object_get(gpu, "clients_waiting")), MANY - 1, MANY + 1);
    /* Not all who wait are told of, but a task is. */
    assert_int_equal(json_array_size(waiting), MOST_TOLD);
    assert_string_equal(json_string_value(json_object_get(json_array_get(waiting, 0), "task")), "slow");
    json_decref(j);
    stop(b);
}

/* Clients leave and the config is read again while it is put together; who asks leaves, too. */
static void test_what_changes_meanwhile(void **state)
{
    struct bench *b = start_large(TASKS);
    struct desk d[MANY], who[2];
    fill(b, d);
    for (unsigned i = 0; i < 2; i++) {
        sit_down(b, &who[i], 1003 + i, "");
        ask_for_state(b, &who[i]);
    }
    for (unsigned i = 0; i < MANY / A_PIECE / 2; i++)
        gs_core_work(b->core, GS_WORK_ANSWERS, b->now);
    get_up(b, &who[0]);
    for (unsigned i = 0; i < MANY; i += 2)
        get_up(b, &d[i]);
    assert_int_equal(configure(b, "[system]\ngpus = 2\n[task slow]\nperiod = 1s\n"), 0); /* works all off */
    assert_int_equal(who[1].answer.type, GS_MSG_ANSWER);
    assert_int_equal(who[1].answer.u.text.code, 0);
    json_t *j = read_state(b);
    assert_int_equal(json_array_size(json_object_get(j, "tasks")), 1);
    json_decref(j);
    stop(b);
}

/* Who has no privileges gets what is a twentieth of a second old, root what is so now. */
static void test_who_gets_the_last_one(void **state)
{
    struct bench *b = start_large(TASKS);
    struct desk other, who, root;
    sit_down(b, &who, 1003, "");
    sit_down(b, &root, 0, "");
    ask_for_state(b, &who);
    work_off(b);
    sit_down(b, &other, 1004, "");
    hello(b, &other, "", 1);
    const size_t clients[] = {0, 1, 1};
    for (unsigned i = 0; i < 3; i++) {
        struct desk *d = i == 1 ? &root : &who;
        b->now += 20 * MS;
        ask_for_state(b, d);
        work_off(b);
        assert_int_equal(d->answer.type, GS_MSG_ANSWER);
        json_t *j = read_state(b);
        assert_int_equal(json_array_size(json_object_get(j, "clients")), clients[i]);
        json_decref(j);
    }
    stop(b);
}

/* What clients say of their memory is a number together, too. */
static void test_sums_are_numbers(void **state)
{
    struct bench *b = start_large(TASKS);
    struct desk d[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        sit_down(b, &d[i], 1002, "");
        hello(b, &d[i], "", 2);
        atomic_store(&page_of(&d[i])->memory[0], i % 2 ? INT64_MAX : INT64_MIN);
        atomic_store(&page_of(&d[i])->lease[1].taken, UINT64_MAX);
        atomic_store(&page_of(&d[i])->lease[1].busy_ns, UINT64_MAX);
    }
    b->now += 1000 * MS;
    ask_for_state(b, &d[0]);
    work_off(b);
    json_t *j = read_state(b);
    static const char *const keys[] = {"memory_bytes", "taken", "busy_ns"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(number_of(j, "resources", 1, keys[i]) > 0);
    for (unsigned i = 0; i < MANY; i++)
        assert_true(number_of(j, "clients", i, "since_ns") >= 0);
    json_decref(j);
    stop(b);
}

/* A hundred questions within a second are a flood, for ten seconds; as many in two seconds aren't. */
static void test_who_floods(void **state)
{
    const uint64_t second = 1000 * MS;
    struct gs_users users = {0};
    uint64_t now = 5 * second;
    for (unsigned i = 0; i < 99; i++)
        gs_users_count(&users, 1002, GS_USER_ASKED, now + i);
    gs_users_count(&users, 1003, GS_USER_ASKED, now + 99);
    gs_users_count(&users, 1002, GS_USER_ASKED, now + second);
    assert_false(gs_user_floods(&users.user[0], now + second));
    for (unsigned i = 0; i < 99; i++)
        gs_users_count(&users, 1002, GS_USER_CONNECTED, now + second + i);
    assert_true(gs_user_floods(&users.user[0], now + second + 98));
    assert_true(gs_user_floods(&users.user[0], now + 10 * second));
    assert_false(gs_user_floods(&users.user[0], now + 12 * second));
    assert_false(gs_user_floods(&users.user[1], now + second + 98));
    gs_users_count(&users, 1003, GS_USER_TURNED_AWAY, now + 20 * second);
    assert_true(gs_user_floods(&users.user[1], now + 20 * second));
    assert_int_equal(users.user[0].count[GS_USER_ASKED], 100);
    /* Of many the last ones are kept. */
    for (uid_t uid = 0; uid < 2 * GS_USERS_KEPT; uid++)
        gs_users_count(&users, 5000 + uid, GS_USER_ASKED, now + 30 * second + uid);
    assert_int_equal(users.n, GS_USERS_KEPT);
    for (unsigned i = 0; i < users.n; i++)
        assert_in_range(users.user[i].uid, 5000 + GS_USERS_KEPT, 5000 + 2 * GS_USERS_KEPT - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_piece_at_a_time),
        cmocka_unit_test(test_what_changes_meanwhile),
        cmocka_unit_test(test_who_gets_the_last_one),
        cmocka_unit_test(test_sums_are_numbers),
        cmocka_unit_test(test_who_floods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
