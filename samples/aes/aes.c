/* SPDX-License-Identifier: MIT */
/* Encrypts a picture with AES and decrypts it again. */
#include "../picture.h"

static long size = 2048, channels = 3, key_bits = 128, group = 64;
static const struct sample_option options[] = {
    {"size", "rows and columns of the picture", &size, 1, 32768, NULL},
    {"channels", "bytes of a pixel: 1, 3 or 4", &channels, 1, 4, NULL},
    {"key-bits", "length of the key: 128, 192 or 256", &key_bits, 128, 256, NULL},
    {"group", "work-items of a work-group, each a block of 16 bytes", &group, 1, 1024, NULL},
    {0},
};

enum { BLOCK = 16, MAX_ROUNDS = 14 };

static uint8_t substitution[256];

static uint8_t multiply(uint8_t a, uint8_t b)
{
    unsigned product = 0, factor = a;
    for (; b; b >>= 1, factor = (factor << 1) ^ (factor & 0x80 ? 0x11b : 0))
        product ^= b & 1 ? factor : 0;
    return (uint8_t)product;
}

/* FIPS 197, section 5.1.1: the inverse in the field, then an affine map. */
static void make_substitution(void)
{
    for (unsigned a = 0; a < 256; a++) {
        unsigned inverse = 0;
        for (unsigned b = 1; b < 256 && a; b++)
            if (multiply((uint8_t)a, (uint8_t)b) == 1)
                inverse = b;
        const unsigned twice = inverse << 8 | inverse;
        substitution[a] = (uint8_t)(inverse ^ twice >> 7 ^ twice >> 6 ^ twice >> 5 ^ twice >> 4 ^ 0x63);
    }
}

/* FIPS 197, section 5.2. Returns the number of rounds. */
static cl_uint expand_key(const uint8_t *key, size_t words, uint8_t keys[][BLOCK])
{
    const cl_uint rounds = (cl_uint)words + 6;
    uint8_t *w = keys[0], factor = 1;
    memcpy(w, key, words * 4);
    for (size_t i = words; i < 4 * ((size_t)rounds + 1); i++) {
        uint8_t t[4];
        memcpy(t, w + 4 * i - 4, 4);
        if (i % words == 0) {
            const uint8_t first = t[0];
            t[0] = substitution[t[1]] ^ factor;
            t[1] = substitution[t[2]];
            t[2] = substitution[t[3]];
            t[3] = substitution[first];
            factor = multiply(factor, 2);
        } else if (words > 6 && i % words == 4) {
            for (size_t j = 0; j < 4; j++)
                t[j] = substitution[t[j]];
        }
        for (size_t j = 0; j < 4; j++)
            w[4 * i + j] = w[4 * (i - words) + j] ^ t[j];
    }
    return rounds;
}

/* The cipher of FIPS 197, section 5.1, byte by byte. */
static void encrypt_block(const uint8_t *in, uint8_t *out, uint8_t keys[][BLOCK], cl_uint rounds)
{
    uint8_t s[BLOCK], t[BLOCK];
    for (size_t i = 0; i < BLOCK; i++)
        s[i] = in[i] ^ keys[0][i];
    for (cl_uint round = 1; round <= rounds; round++) {
        for (size_t column = 0; column < 4; column++)
            for (size_t row = 0; row < 4; row++)
                t[4 * column + row] = substitution[s[4 * ((column + row) % 4) + row]];
        for (size_t i = 0; i < BLOCK; i++) {
            const uint8_t *c = t + i / 4 * 4;
            const uint8_t a = t[i], b = c[(i + 1) % 4];
            const uint8_t twice = (uint8_t)((a ^ b) << 1 ^ ((a ^ b) & 0x80 ? 0x1b : 0));
            s[i] = round == rounds ? a : (uint8_t)(twice ^ b ^ c[(i + 2) % 4] ^ c[(i + 3) % 4]);
            s[i] ^= keys[round][i];
        }
    }
    memcpy(out, s, BLOCK);
}

/* The example of FIPS 197, appendix C.1: the check itself is right. */
static bool check_reference(void)
{
    static const uint8_t expected[BLOCK] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                            0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};
    uint8_t key[BLOCK], plain[BLOCK], keys[MAX_ROUNDS + 1][BLOCK], cipher[BLOCK];
    for (size_t i = 0; i < BLOCK; i++) {
        key[i] = (uint8_t)i;
        plain[i] = (uint8_t)(i * 0x11);
    }
    const cl_uint rounds = expand_key(key, 4, keys);
    encrypt_block(plain, cipher, keys, rounds);
    return sample_same(cipher, expected, BLOCK);
}

static bool check(const uint8_t *plain, const uint8_t *cipher, const uint8_t *again, cl_uint blocks,
                  uint8_t keys[][BLOCK], cl_uint rounds)
{
    bool pass = check_reference() && sample_same(again, plain, (size_t)blocks * BLOCK);
    for (size_t i = 0; i < blocks && pass; i++) {
        uint8_t want[BLOCK];
        encrypt_block(plain + i * BLOCK, want, keys, rounds);
        pass = sample_same(cipher + i * BLOCK, want, BLOCK);
    }
    return pass;
}

static void set_arguments(cl_kernel kernel, cl_mem in, cl_mem out, cl_mem keys, cl_uint rounds, cl_uint blocks)
{
    ARGS(kernel, A(in), A(out), A(keys), A(rounds), A(blocks));
}

static void cipher_on_device(const uint8_t *plain, uint8_t *cipher, uint8_t *again, cl_uint blocks,
                             uint8_t keys[][BLOCK], cl_uint rounds)
{
    const size_t bytes = (size_t)blocks * BLOCK, local = (size_t)group, global = sample_round_up(blocks, local);
    cl_program program = sample_program("aes.cl", "");
    cl_kernel encrypt = sample_kernel(program, "aes_encrypt"), decrypt = sample_kernel(program, "aes_decrypt");
    cl_mem dplain = sample_buffer(CL_MEM_READ_ONLY, bytes), dcipher = sample_buffer(CL_MEM_READ_WRITE, bytes);
    cl_mem dagain = sample_buffer(CL_MEM_WRITE_ONLY, bytes);
    cl_mem dkeys = sample_buffer(CL_MEM_READ_ONLY, (MAX_ROUNDS + 1) * BLOCK);
    set_arguments(encrypt, dplain, dcipher, dkeys, rounds, blocks);
    set_arguments(decrypt, dcipher, dagain, dkeys, rounds, blocks);

    while (sample_next()) {
        sample_write(dplain, plain, bytes);
        sample_write(dkeys, keys, (MAX_ROUNDS + 1) * BLOCK);
        sample_lap(SAMPLE_WRITE);
        LAUNCH(encrypt, 1, &global, &local);
        LAUNCH(decrypt, 1, &global, &local);
        sample_lap(SAMPLE_KERNEL);
        sample_read(dcipher, cipher, bytes);
        sample_read(dagain, again, bytes);
        sample_lap(SAMPLE_READ);
    }
}

int main(int argc, char **argv)
{
    sample_open(argc, argv, "Encrypts a picture with AES and decrypts it again.", options);
    if (key_bits % 64 != 0 || channels == 2)
        sample_die(2, "a key has 128, 192 or 256 bits and a pixel 1, 3 or 4 channels; see --help");
    const size_t side = (size_t)size, picture_bytes = side * side * (size_t)channels;
    const cl_uint blocks = (cl_uint)((picture_bytes + BLOCK - 1) / BLOCK);
    uint8_t *picture = picture_load(side, side, (size_t)channels), *plain = sample_alloc((size_t)blocks * BLOCK);
    uint8_t *cipher = sample_alloc((size_t)blocks * BLOCK), *again = sample_alloc((size_t)blocks * BLOCK);
    memcpy(plain, picture, picture_bytes);

    uint8_t key[32], keys[MAX_ROUNDS + 1][BLOCK] = {{0}};
    for (size_t i = 0; i < sizeof(key); i++)
        key[i] = (uint8_t)sample_random();
    make_substitution();
    const cl_uint rounds = expand_key(key, (size_t)key_bits / 32, keys);
    cipher_on_device(plain, cipher, again, blocks, keys, rounds);
    const bool pass = sample.no_check || check(plain, cipher, again, blocks, keys, rounds);
    sample_output(cipher, (size_t)blocks * BLOCK);
    sample_output(again, (size_t)blocks * BLOCK);
    return sample_end(pass, "%ldx%ldx%ld", size, size, channels);
}
