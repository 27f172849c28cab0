/* SPDX-License-Identifier: MIT
 * The short known answers of gw_init, as hexadecimal text. The long lists are in tests/vectors.
 */
#ifndef GW_CRYPTO_KNOWN_ANSWERS_DATA_H
#define GW_CRYPTO_KNOWN_ANSWERS_DATA_H

typedef struct gw_known_answer {
	const char *alg, *key, *iv, *aad, *in, *out, *tag;
} gw_known_answer;

/* clang-format off */
static const gw_known_answer gw_known_answer_rows[] = {
    /* FIPS 197, appendix C, AES-128 */
    {.alg = "ecb(aes)",
     .key = "000102030405060708090a0b0c0d0e0f",
     .in = "00112233445566778899aabbccddeeff",
     .out = "69c4e0d86a7b0430d8cdb78070b4c55a"},
    /* FIPS 197, appendix C, AES-192 */
    {.alg = "ecb(aes)",
     .key = "000102030405060708090a0b0c0d0e0f1011121314151617",
     .in = "00112233445566778899aabbccddeeff",
     .out = "dda97ca4864cdfe06eaf70a0ec0d7191"},
    /* FIPS 197, appendix C, AES-256 */
    {.alg = "ecb(aes)",
     .key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
     .in = "00112233445566778899aabbccddeeff",
     .out = "8ea2b7ca516745bfeafc49904b496089"},
    /* SP 800-38A, F.2.1 */
    {.alg = "cbc(aes)",
     .key = "2b7e151628aed2a6abf7158809cf4f3c",
     .iv = "000102030405060708090a0b0c0d0e0f",
     .in = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef"
          "f69f2445df4f9b17ad2b417be66c3710",
     .out = "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b273bed6b8e3c1743b7116e69e22229516"
           "3ff1caa1681fac09120eca307586e1a7"},
    /* SP 800-38A, F.2.3 */
    {.alg = "cbc(aes)",
     .key = "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
     .iv = "000102030405060708090a0b0c0d0e0f",
     .in = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef"
          "f69f2445df4f9b17ad2b417be66c3710",
     .out = "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a571b242012fb7ae07fa9baac3df102e0"
           "08b0e27988598881d920a9e64f5615cd"},
    /* SP 800-38A, F.2.5 */
    {.alg = "cbc(aes)",
     .key = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     .iv = "000102030405060708090a0b0c0d0e0f",
     .in = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef"
          "f69f2445df4f9b17ad2b417be66c3710",
     .out = "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e26304231461"
           "b2eb05e2c39be9fcda6c19078c6a9d1b"},
    /* SP 800-38A, F.5.1 */
    {.alg = "ctr(aes)",
     .key = "2b7e151628aed2a6abf7158809cf4f3c",
     .iv = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
     .in = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef"
          "f69f2445df4f9b17ad2b417be66c3710",
     .out = "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff5ae4df3edbd5d35e5b4f09020db03eab"
           "1e031dda2fbe03d1792170a0f3009cee"},
    /* SP 800-38A, F.5.3 */
    {.alg = "ctr(aes)",
     .key = "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
     .iv = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
     .in = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef"
          "f69f2445df4f9b17ad2b417be66c3710",
     .out = "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e941e36b26bd1ebc670d1bd1d665620abf7"
           "4f78a7f6d29809585a97daec58c6b050"},
    /* SP 800-38A, F.5.5 */
    {.alg = "ctr(aes)",
     .key = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
     .iv = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
     .in = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef"
          "f69f2445df4f9b17ad2b417be66c3710",
     .out = "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c52b0930daa23de94ce87017ba2d84988d"
           "dfc9c58db67aada613c2dd08457941a6"},
    /* SP 800-38D (GCM submission), test case 4 */
    {.alg = "gcm(aes)",
     .key = "feffe9928665731c6d6a8f9467308308",
     .iv = "cafebabefacedbaddecaf888",
     .aad = "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     .in = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
           "b16aedf5aa0de657ba637b39",
     .out = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa05"
            "1ba30b396a0aac973d58e091",
     .tag = "5bc94fbc3221a5db94fae95ae7121a47"},
    /* test case 6: 60-byte IV */
    {.alg = "gcm(aes)",
     .key = "feffe9928665731c6d6a8f9467308308",
     .iv = "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728c3c0c95156809539fcf0e2429a6b5254"
           "16aedbf5a0de6a57a637b39b",
     .aad = "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     .in = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
           "b16aedf5aa0de657ba637b39",
     .out = "8ce24998625615b603a033aca13fb894be9112a5c3a211a8ba262a3cca7e2ca701e4a9a4fba43c90ccdcb281d48c7c6f"
            "d62875d2aca417034c34aee5",
     .tag = "619cc5aefffe0bfa462af43c1699d050"},
    /* test case 7: nothing */
    {.alg = "gcm(aes)",
     .key = "000000000000000000000000000000000000000000000000",
     .iv = "000000000000000000000000",
     .aad = "",
     .in = "",
     .out = "",
     .tag = "cd33b28ac773f74ba00ed1f312572435"},
    /* test case 16 */
    {.alg = "gcm(aes)",
     .key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     .iv = "cafebabefacedbaddecaf888",
     .aad = "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     .in = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
           "b16aedf5aa0de657ba637b39",
     .out = "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
            "c5f61e6393ba7a0abcc9f662",
     .tag = "76fc6ece0f4e1768cddf8853bb2d551b"},
    /* test case 17: 8-byte IV */
    {.alg = "gcm(aes)",
     .key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
     .iv = "cafebabefacedbad",
     .aad = "feedfacedeadbeeffeedfacedeadbeefabaddad2",
     .in = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
           "b16aedf5aa0de657ba637b39",
     .out = "c3762df1ca787d32ae47c13bf19844cbaf1ae14d0b976afac52ff7d79bba9de0feb582d33934a4f0954cc2363bc73f78"
            "62ac430e64abe499f47c9b1f",
     .tag = "3a337dbf46a792c45e454913fe2ea8f2"},
    /* IEEE 1619, vector 2 */
    {.alg = "xts(aes)",
     .key = "1111111111111111111111111111111122222222222222222222222222222222",
     .iv = "33333333330000000000000000000000",
     .aad = "",
     .in = "4444444444444444444444444444444444444444444444444444444444444444",
     .out = "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
     .tag = ""},
    /* IEEE 1619, vector 17: ciphertext stealing */
    {.alg = "xts(aes)",
     .key = "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
     .iv = "9a785634120000000000000000000000",
     .aad = "",
     .in = "000102030405060708090a0b0c0d0e0f101112",
     .out = "e5df1351c0544ba1350b3363cd8ef4beedbf9d",
     .tag = ""},
    /* FIPS 180-4 example: abc */
    {.alg = "sha256",
     .in = "616263",
     .tag = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    /* FIPS 180-4 example: two blocks */
    {.alg = "sha256",
     .in = "6162636462636465636465666465666765666768666768696768696a68696a6b696a6b6c6a6b6c6d6b6c6d6e6c6d6e6f"
          "6d6e6f706e6f7071",
     .tag = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    /* RFC 4231, case 1 */
    {.alg = "hmac(sha256)",
     .key = "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
     .in = "4869205468657265",
     .tag = "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
    /* RFC 4231, case 2 */
    {.alg = "hmac(sha256)",
     .key = "4a656665",
     .in = "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
     .tag = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    /* RFC 4231, case 6: key longer than a block */
    {.alg = "hmac(sha256)",
     .key = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     .in = "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579"
          "204669727374",
     .tag = "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    /* FIPS 180 example: abc */
    {.alg = "sha1",
     .in = "616263",
     .tag = "a9993e364706816aba3e25717850c26c9cd0d89d"},
    /* RFC 2202 / RFC 4231 */
    {.alg = "hmac(sha1)",
     .key = "4a656665",
     .in = "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
     .tag = "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
    /* key longer than a block */
    {.alg = "hmac(sha1)",
     .key = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     .in = "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579"
          "204669727374",
     .tag = "90d0dace1c1bdc957339307803160335bde6df2b"},
    /* FIPS 180 example: abc */
    {.alg = "sha512",
     .in = "616263",
     .tag = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd"
           "454d4423643ce80e2a9ac94fa54ca49f"},
    /* RFC 2202 / RFC 4231 */
    {.alg = "hmac(sha512)",
     .key = "4a656665",
     .in = "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
     .tag = "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd"
           "caeab1a34d4a6b4b636e070a38bce737"},
    /* key longer than a block */
    {.alg = "hmac(sha512)",
     .key = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     .in = "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579"
          "204669727374",
     .tag = "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e52"
           "95e64f73f63f0aec8b915a985d786598"},
    /* Linux's table, first 64 bytes */
    {.alg = "xts(speck128)",
     .key = "271828182845904523536028747135266249775724709369995957496696762731415926535897932384626433832795"
           "02884197169399375105820974944592",
     .iv = "ff000000000000000000000000000000",
     .in = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
          "303132333435363738393a3b3c3d3e3f",
     .out = "c5852a4b73e4f6f17ef9f6e9a37336cbaab622b0246e3d739299ded376edcd63643a2257c14349d47936311962ae107e"
           "7dcf7ae26bce27fadc3dd983d3424ce0"},
    /* Linux's table, first 64 bytes */
    {.alg = "xts(speck64)",
     .key = "2718281828459045235360287471352662497757247093699959574966967627",
     .iv = "ff00000000000000",
     .in = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
          "303132333435363738393a3b3c3d3e3f",
     .out = "55ed71d3028e153bc671292d3e899f59686acc8a5697f3954e5108da2af86f3c7816ea80db337594f929c42b767597c7"
           "f2982cf9ffc8d52b18f1afcf7cc50bee"},
    /* RFC 8439, 2.8.2 */
    {.alg = "rfc7539(chacha20,poly1305)",
     .key = "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
     .iv = "070000004041424344454647",
     .aad = "50515253c0c1c2c3c4c5c6c7",
     .in = "4c616469657320616e642047656e746c656d656e206f662074686520636c617373206f66202739393a20496620492063"
          "6f756c64206f6666657220796f75206f6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73"
          "637265656e20776f756c642062652069742e",
     .out = "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b"
           "1a71de0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
           "3ff4def08e4b7a9de576d26586cec64b6116",
     .tag = "1ae10b594f09e26a7e902ecbd0600691"},
};
/* clang-format on */

#endif
