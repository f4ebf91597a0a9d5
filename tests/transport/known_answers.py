#!/usr/bin/env python3
"""Handshake and seal in plain Python, written from docs/security.md: what other programs must compute, too.

    known_answers.py            compares known_answers.hpp, which known_answer_test.cpp checks the library against
    known_answers.py --write    writes it

Python has BLAKE2b; X25519 (RFC 7748), ChaCha20 and Poly1305 (RFC 8439), AES (FIPS 197) and GCM (NIST SP 800-38D) are
here, for these few bytes alone.
"""

import hashlib
import pathlib
import struct
import sys

HEADER = pathlib.Path(__file__).with_name("known_answers.hpp")
PRIME = 2**255 - 19


def x25519(scalar, point):
    """The Montgomery ladder of RFC 7748, section 5."""
    k = int.from_bytes(scalar, "little") & ~7 & ~(1 << 255) | 1 << 254
    x1 = int.from_bytes(point, "little") & ~(1 << 255)
    x2, z2, x3, z3 = 1, 0, x1, 1
    for bit in reversed(range(255)):
        if swap := k >> bit & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb = d * a % PRIME, c * b % PRIME
        x3, z3 = (da + cb)**2 % PRIME, x1 * (da - cb)**2 % PRIME
        aa, bb = a * a % PRIME, b * b % PRIME
        x2, z2 = aa * bb % PRIME, (aa - bb) * (aa + 121665 * (aa - bb)) % PRIME
        if swap:
            x2, z2, x3, z3 = x3, z3, x2, z2
    return (x2 * pow(z2, PRIME - 2, PRIME) % PRIME).to_bytes(32, "little")


def quarter(s, a, b, c, d):
    for first, second, third, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[first] = s[first] + s[second] & 0xffffffff
        turned = s[third] ^ s[first]
        s[third] = (turned << by | turned >> (32 - by)) & 0xffffffff


def chacha_block(key, last_words):
    """`last_words`: counter and nonce, 16 bytes."""
    start = list(struct.unpack("<16I", b"expand 32-byte k" + key + last_words))
    s = list(start)
    for _ in range(10):
        for one in ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
                    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)):
            quarter(s, *one)
    return struct.pack("<16I", *(a + b & 0xffffffff for a, b in zip(s, start)))


def poly1305(key, text):
    r = int.from_bytes(key[:16], "little") & 0x0ffffffc0ffffffc0ffffffc0fffffff
    total = 0
    for i in range(0, len(text), 16):
        total = (total + int.from_bytes(text[i:i + 16] + b"\1", "little")) * r % (2**130 - 5)
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")


def encrypt(key, last_words_of, text):
    """Returns the cipher text, and the Poly1305 key, which is the first block."""
    stream = b"".join(chacha_block(key, last_words_of(1 + i)) for i in range((len(text) + 63) // 64))
    return bytes(a ^ b for a, b in zip(text, stream)), chacha_block(key, last_words_of(0))[:32]


def aead_ietf(key, sequence, text, covered):
    """RFC 8439; the nonce is four zeros and the number."""
    cipher, once = encrypt(key, lambda block: struct.pack("<IIQ", block, 0, sequence), text)
    padded = b"".join(part + bytes(-len(part) % 16) for part in (covered, cipher))
    return cipher + poly1305(once, padded + struct.pack("<QQ", len(covered), len(cipher)))


def times_x(byte):
    return (byte << 1 ^ (0x11b if byte & 0x80 else 0)) & 0xff


def s_box():
    """FIPS 197, 5.1.1: the inverse in GF(2^8), then an affine map. The powers of 3 give all inverses."""
    power, value = [], 1
    for _ in range(255):
        power.append(value)
        value ^= times_x(value)
    box = []
    for byte in range(256):
        inverse = power[-power.index(byte) % 255] if byte else 0
        turned = inverse | inverse << 8
        box.append((turned ^ turned >> 7 ^ turned >> 6 ^ turned >> 5 ^ turned >> 4) & 0xff ^ 0x63)
    return box


S_BOX = s_box()


def aes_round_keys(key):
    """FIPS 197, 5.2, for 8 words of key and 14 rounds."""
    words = [list(key[i:i + 4]) for i in range(0, 32, 4)]
    constant = 1
    while len(words) < 60:
        word = words[-1]
        if len(words) % 8 == 0:
            word = [S_BOX[byte] for byte in word[1:] + word[:1]]
            word[0] ^= constant
            constant = times_x(constant)
        elif len(words) % 8 == 4:
            word = [S_BOX[byte] for byte in word]
        words.append([a ^ b for a, b in zip(word, words[-8])])
    return [sum(words[i:i + 4], []) for i in range(0, 60, 4)]


def aes(key, block):
    keys = aes_round_keys(key)
    state = [a ^ b for a, b in zip(block, keys[0])]
    for number, round_key in enumerate(keys[1:], 1):
        state = [S_BOX[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]  # bytes substituted, rows shifted
        if number < 14:
            columns = [state[i:i + 4] for i in range(0, 16, 4)]
            state = [times_x(c[i]) ^ times_x(c[(i + 1) % 4]) ^ c[(i + 1) % 4] ^ c[(i + 2) % 4] ^ c[(i + 3) % 4]
                     for c in columns for i in range(4)]
        state = [a ^ b for a, b in zip(state, round_key)]
    return bytes(state)


def ghash(key, text):
    """SP 800-38D, 6.4. The leftmost bit is the coefficient of x^0."""
    total = 0
    for i in range(0, len(text), 16):
        total ^= int.from_bytes(text[i:i + 16], "big")
        product, factor = 0, int.from_bytes(key, "big")
        for bit in reversed(range(128)):
            if total >> bit & 1:
                product ^= factor
            factor = factor >> 1 ^ (0xe1 << 120 if factor & 1 else 0)
        total = product
    return total.to_bytes(16, "big")


def aes_gcm(key, sequence, text, covered):
    """Returns the cipher text, and the tag; the nonce is four zeros and the number."""
    nonce = struct.pack("<IQ", 0, sequence)
    stream = b"".join(aes(key, nonce + struct.pack(">I", 2 + i)) for i in range((len(text) + 15) // 16))
    cipher = bytes(a ^ b for a, b in zip(text, stream))
    padded = b"".join(part + bytes(-len(part) % 16) for part in (covered, cipher))
    mac = ghash(aes(key, bytes(16)), padded + struct.pack(">QQ", 8 * len(covered), 8 * len(cipher)))
    return cipher, bytes(a ^ b for a, b in zip(mac, aes(key, nonce + struct.pack(">I", 1))))


def derive(key, number, context, size=32):
    """crypto_kdf."""
    return hashlib.blake2b(key=key, digest_size=size, salt=struct.pack("<QQ", number, 0),
                           person=context + bytes(8)).digest()


def keyed(key, *parts):
    return hashlib.blake2b(b"".join(parts), key=key, digest_size=32).digest()


def head(kind, size):
    return b"tailrace" + struct.pack("<HHI", 1, kind, size)


def exchange(first):
    """Returns nonce, secret and public key from a generator that counts."""
    nonce, seed = bytes(range(first, first + 32)), bytes(range(first + 32, first + 64))
    secret = hashlib.blake2b(seed, digest_size=32).digest()
    return nonce, secret, x25519(secret, b"\x09" + bytes(31))


def handshake(psk):
    """Returns the messages, and the keys of both directions."""
    name = derive(psk, 1, b"tr.key.1")[:8]
    nonce, secret, public = exchange(0x00)
    hello = head(1, 192) + struct.pack("<HHI", 1, 3, 0) + name + nonce + public + b"c" * 64
    hello += keyed(derive(psk, 2, b"tr.key.1"), hello)
    nonce, own, other = exchange(0x80)
    answer = head(2, 184) + struct.pack("<HHHH", 2, 5, 3, 0) + nonce + other + b"s" * 64
    product = x25519(secret, other)
    assert product == x25519(own, public)
    shared = hashlib.blake2b(product + public + other).digest()
    to_client, to_server = shared[:32], shared[32:]
    session = keyed(derive(psk, 4, b"tr.key.1"), to_server, to_client, hello, answer)
    answer += derive(session, 1, b"tr.sess1")
    proof = head(3, 48) + derive(session, 2, b"tr.sess1")
    return name, hello, answer, proof, derive(session, 3, b"tr.sess1"), derive(session, 4, b"tr.sess1")


def refusal(psk, hello):
    """A server with the versions 8 to 9 refuses the hello."""
    text = head(4, 64) + struct.pack("<HHHH", 2, 8, 9, 0) + derive(psk, 1, b"tr.key.1")[:8]
    return text + keyed(derive(psk, 3, b"tr.key.1"), hello, text)


def sealed(key, sequence, flags, body, bulk, tag):
    covered = struct.pack("<IIQQ", 2, flags, sequence, len(bulk))
    return covered + aead_ietf(derive(key, 1, b"tr.seal1"), sequence, body + tag, covered)


def answers():
    psk = bytes(range(0x40, 0x60))
    name, hello, answer, proof, to_server, to_client = handshake(psk)
    bulk = bytes(range(256))
    _, open_tag = aes_gcm(derive(to_server, 2, b"tr.seal1"), 1, b"", bulk)
    hidden, tag = aes_gcm(derive(to_client, 3, b"tr.seal1"), 0, bulk, b"")
    return {
        "name": name, "hello": hello, "answer": answer, "proof": proof, "refusal": refusal(psk, hello),
        "to_server": to_server, "to_client": to_client,
        "message_0": sealed(to_server, 0, 0, b"a body alone", b"", bytes(16)),
        "message_1": sealed(to_server, 1, 0, b"a body with bulk data", bulk, open_tag),
        "hidden_message": sealed(to_client, 0, 1, b"", bulk, tag),
        "hidden_bulk": hidden,
    }


def header():
    lines = ["// Results of known_answers.py, in hexadecimal digits; known_answers.py --write writes this file.",
             "#pragma once", "", "namespace tailrace::impl::known {", ""]
    for name, value in answers().items():
        digits = value.hex()
        whole = f'inline constexpr char {name}[] = "{digits}";'
        parts = [f'    "{digits[i:i + 96]}"' for i in range(0, len(digits), 96)]
        lines += [whole] if len(whole) <= 118 else [f"inline constexpr char {name}[] =", *parts[:-1], parts[-1] + ";"]
    return "\n".join([*lines, "", "}  // namespace tailrace::impl::known", ""])


def main():
    if sys.argv[1:] == ["--write"]:
        HEADER.write_text(header(), encoding="utf-8")
        return 0
    if HEADER.read_text(encoding="utf-8") == header():
        return 0
    print(f"{HEADER.name}: not what known_answers.py computes (--write writes it)")
    return 1


if __name__ == "__main__":
    sys.exit(main())
