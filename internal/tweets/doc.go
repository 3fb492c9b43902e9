// Package tweets makes examples of tweets: the text without its emojis is to
// tell which emoji was there (Stoikos and Izbicki 2020, and the Twitter
// experiment of Wang and Izbicki 2022).
//
//	JSON lines of Twitter's API v1.1
//	    |  Reader    lines that are no tweets skipped and counted
//	    |  Clean     emojis, user names and addresses out of the text
//	    v
//	Example{Text, Emoji, Language, Part}, one for each emoji of a tweet
//
// A tweet with two different emojis is two examples with one text; one that has
// the same emoji twice is one. All tweets of a user fall into the same part,
// training, validation or test, so that no one's manner of writing is known from
// training.
//
// # What is an emoji
//
// Sequences of Unicode's emoji standard (UTS 51): single characters, with skin
// tones, joined ones such as families, flags, keycaps. The label is the sequence
// without U+FE0F, which asks for the coloured form and is typed by some phones
// only. Characters below U+2300 that are also ordinary signs, such as the
// copyright sign and the arrows, count only when U+FE0F follows; without it they
// stay in the text. A sign with U+FE0E, which asks for the plain form, is no label,
// but it is taken out of the text as well, and so are skin tones, parts of flags
// and joiners that stand alone: nothing is left that gives the label away.
package tweets
