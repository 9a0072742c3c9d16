// Calls functions of ICU and none of its data: an undefined function is found by lazy binding once the library is loaded.
#include "CICU.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unicode/ucol.h>
#include <unicode/uenum.h>
#include <unicode/upluralrules.h>

bool concord_icu_load(void) {
    char name[64];
    snprintf(name, sizeof name, "libicuuc.so.%d", U_ICU_VERSION_MAJOR_NUM);
    if (!dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return false;
    snprintf(name, sizeof name, "libicui18n.so.%d", U_ICU_VERSION_MAJOR_NUM);
    return dlopen(name, RTLD_NOW | RTLD_GLOBAL) != NULL;
}

concord_collator *concord_collator_open(void) {
    UErrorCode status = U_ZERO_ERROR;
    UCollator *collator = ucol_open("", &status);
    if (U_FAILURE(status)) return NULL;
    ucol_setAttribute(collator, UCOL_NUMERIC_COLLATION, UCOL_ON, &status);
    ucol_setAttribute(collator, UCOL_ALTERNATE_HANDLING, UCOL_NON_IGNORABLE, &status);
    ucol_setAttribute(collator, UCOL_STRENGTH, UCOL_TERTIARY, &status);
    ucol_setAttribute(collator, UCOL_CASE_FIRST, UCOL_LOWER_FIRST, &status);
    if (U_FAILURE(status)) { ucol_close(collator); return NULL; }
    return (concord_collator *)collator;
}

int concord_collate(const concord_collator *collator, const char *a, int a_count, const char *b, int b_count) {
    UErrorCode status = U_ZERO_ERROR;
    return ucol_strcollUTF8((const UCollator *)collator, a, a_count, b, b_count, &status);
}

unsigned concord_plural_categories(const char *language) {
    static const char *const names[] = {"zero", "one", "two", "few", "many", "other"};
    UErrorCode status = U_ZERO_ERROR;
    UPluralRules *rules = uplrules_openForType(language, UPLURAL_TYPE_CARDINAL, &status);
    if (U_FAILURE(status)) return 0;
    unsigned found = 0;
    UEnumeration *keywords = uplrules_getKeywords(rules, &status);
    if (U_SUCCESS(status)) {
        int32_t length;
        const char *word;
        while ((word = uenum_next(keywords, &length, &status)) != NULL && U_SUCCESS(status))
            for (unsigned i = 0; i < 6; i++)
                if (!strcmp(word, names[i])) found |= 1u << i;
        uenum_close(keywords);
    }
    uplrules_close(rules);
    return found;
}

unsigned concord_plural_categories_of_integers(const char *language) {
    static const char *const names[] = {"zero", "one", "two", "few", "many", "other"};
    UErrorCode status = U_ZERO_ERROR;
    UPluralRules *rules = uplrules_openForType(language, UPLURAL_TYPE_CARDINAL, &status);
    if (U_FAILURE(status)) return 0;
    unsigned found = 0;
    for (int number = 0; number <= 1000; number++) {
        UChar word[16];
        int32_t length = uplrules_select(rules, number, word, 16, &status);
        if (U_FAILURE(status)) break;
        for (unsigned i = 0; i < 6; i++) {
            int32_t k = 0;
            while (k < length && names[i][k] && word[k] == (UChar)names[i][k]) k++;
            if (k == length && !names[i][k]) found |= 1u << i;
        }
    }
    uplrules_close(rules);
    return found;
}
