// Gives back memory that only the start needed: pages of a file are read again where they are needed after all.
#define _GNU_SOURCE
#include "clinux.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

/// An object with relocations in its code would lose them.
static int has_relocated_code(const struct dl_phdr_info *object)
{
    for (int index = 0; index < object->dlpi_phnum; index++) {
        if (object->dlpi_phdr[index].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[index].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL)))
                return 1;
    }
    return 0;
}

/// Code and constants: nothing was written there, so the page cache can supply every page again.
static int release_code(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    (void)context;
    if (has_relocated_code(object))
        return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || (part->p_flags & PF_W))
            continue;
        uintptr_t start = (object->dlpi_addr + part->p_vaddr + page) & ~page;
        uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_filesz) & ~page;
        if (start < end)
            madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void clinux_release_startup_memory(void)
{
    malloc_trim(0);
    dl_iterate_phdr(release_code, NULL);
}
