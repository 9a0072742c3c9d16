// What is needed of ICU, without its headers: Foundation brings an ICU of its own, and the two may not meet in one module.
#pragma once
#include <stdbool.h>

/// Loads ICU; false where it is not installed. Functions only are found by lazy binding once the library is there:
/// `concord merge` of most files never needs it, and loading it costs half its run time.
bool concord_icu_load(void);

/// An order of texts; opaque.
typedef struct concord_collator concord_collator;

/// The order in which Xcode writes keys: CLDR root, numeric, punctuation not ignored, lower case first. NULL on failure.
concord_collator *concord_collator_open(void);

/// -1, 0 or 1 as the first text sorts before, with or after the second. Both are UTF-8.
int concord_collate(const concord_collator *collator, const char *a, int a_count, const char *b, int b_count);

/// The cardinal plural categories that CLDR has for a language, as bits: zero one two few many other from bit 0 up.
/// 0 where ICU does not know the language.
unsigned concord_plural_categories(const char *language);

/// The categories among them that some whole number from 0 to 1000 has: what a text with a count cannot do without.
unsigned concord_plural_categories_of_integers(const char *language);
