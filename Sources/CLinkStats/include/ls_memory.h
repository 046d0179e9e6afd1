// Memory that is known by a descriptor, which the C library's module does not show to Swift.
#ifndef LS_MEMORY_H
#define LS_MEMORY_H

// An empty file in memory, closed on exec; a negative errno where there can be none. The name is for people.
int ls_memory_create(const char *name);

#endif
