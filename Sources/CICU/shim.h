#pragma once
#include <unicode/ucol.h>
#include <unicode/upluralrules.h>
#include <unicode/uenum.h>
