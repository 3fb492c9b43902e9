"""Made-up words, for the scripts that write texts."""

SYLLABLES = [a + b for a in ["b", "ch", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v"] for b in ["a", "ai", "e", "i", "o", "u"]]


def made_up(rng, n):
    """Returns n different words of one to four syllables, so that n-grams of letters repeat."""
    words = {}
    while len(words) < n:
        words["".join(rng.choices(SYLLABLES, k=rng.choices([1, 2, 3, 4], [1, 4, 4, 2])[0]) + rng.choices(["", "n", "s", "t"], k=1))] = None
    return list(words)
