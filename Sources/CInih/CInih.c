// The shim over libinih: its fgets-shaped reader and its handler become two plain callbacks with one context.
#include "CInih.h"

#include <errno.h>
#include <ini.h>

struct parse {
    cinih_read_line read_line;
    cinih_take_entry take_entry;
    void *context;
};

static char *read_line(char *line, int capacity, void *stream)
{
    struct parse *parse = stream;

    if (capacity <= 0)
        return NULL;
    return parse->read_line(parse->context, line, (size_t)capacity) ? line : NULL;
}

static int take_entry(void *user, const char *section, const char *name, const char *value)
{
    struct parse *parse = user;

    if (section && name && value)
        parse->take_entry(parse->context, section, name, value);
    return 1;
}

int cinih_parse(cinih_read_line read, cinih_take_entry take, void *context)
{
    struct parse parse = {.read_line = read, .take_entry = take, .context = context};

    /* Positive results are line numbers of what libinih could not read; the caller has seen those lines itself. */
    return ini_parse_stream(read_line, &parse, take_entry, &parse) == -2 ? -ENOMEM : 0;
}
