// CInih: libinih's INI parser over lines that the caller supplies, so that the caller can count and refuse lines.
#ifndef CINIH_H
#define CINIH_H

#include <stdbool.h>
#include <stddef.h>

/// Writes the next line into `line` (`capacity` bytes, its NUL included) and answers true, or answers false at the end.
typedef bool (*cinih_read_line)(void *context, char *line, size_t capacity);

/// Takes one `name=value` line. The strings live until it returns; `section` is "" before any section.
typedef void (*cinih_take_entry)(void *context, const char *section, const char *name, const char *value);

/// Parses lines until `read_line` answers false. Lines that are no entry, section or comment are passed over without a
/// word: `take_entry` not having been called for a line is the sign.
/// @return 0, or -ENOMEM.
int cinih_parse(cinih_read_line read_line, cinih_take_entry take_entry, void *context);

#endif
