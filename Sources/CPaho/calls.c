// Replaces one entry of the table from which a loaded library takes the addresses of its calls.
#define _GNU_SOURCE
#include "calls.h"

#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// ELF64_R_SYM or ELF32_R_SYM.
#define SYMBOL_OF(information) _ElfW(ELF, __ELF_NATIVE_CLASS, R_SYM)(information)

struct redirection {
    const void *inside;
    const char *name;
    void *instead;
    bool is_done;
};

struct symbols {
    const ElfW(Sym) *all;
    const char *names;
};

/// Relocations of one section.
struct entries {
    const ElfW(Rela) *first;
    size_t bytes;
};

static const ElfW(Phdr) *segment(const struct dl_phdr_info *library, ElfW(Word) type) {
    for (int at = 0; at < library->dlpi_phnum; at++) {
        if (library->dlpi_phdr[at].p_type == type) return &library->dlpi_phdr[at];
    }
    return NULL;
}

static bool contains(const struct dl_phdr_info *library, const void *place) {
    for (int at = 0; at < library->dlpi_phnum; at++) {
        const ElfW(Phdr) *loaded = &library->dlpi_phdr[at];
        uintptr_t begin = library->dlpi_addr + loaded->p_vaddr;
        if (loaded->p_type == PT_LOAD && (uintptr_t) place - begin < loaded->p_memsz) return true;
    }
    return false;
}

/// Whether the loader has made the page read-only, which it does only with whole pages.
static bool is_read_only(const struct dl_phdr_info *library, uintptr_t page, uintptr_t size) {
    const ElfW(Phdr) *sealed = segment(library, PT_GNU_RELRO);
    if (sealed == NULL) return false;
    uintptr_t begin = library->dlpi_addr + sealed->p_vaddr, end = begin + sealed->p_memsz;
    return page >= (begin & ~(size - 1)) && page + size <= (end & ~(size - 1));
}

/// Leaves a page that was read-only read-only again.
static bool store(const struct dl_phdr_info *library, void **place, void *value) {
    uintptr_t size = (uintptr_t) sysconf(_SC_PAGESIZE), page = (uintptr_t) place & ~(size - 1);
    bool was_read_only = is_read_only(library, page, size);
    if (was_read_only && mprotect((void *) page, size, PROT_READ | PROT_WRITE) != 0) return false;
    __atomic_store_n(place, value, __ATOMIC_RELEASE);
    return !was_read_only || mprotect((void *) page, size, PROT_READ) == 0;
}

static void redirect(const struct dl_phdr_info *library, const struct symbols *symbols, struct entries entries,
                     struct redirection *wanted) {
    for (size_t at = 0; at < entries.bytes / sizeof *entries.first; at++) {
        const ElfW(Rela) *entry = &entries.first[at];
        const ElfW(Sym) *symbol = &symbols->all[SYMBOL_OF(entry->r_info)];
        if (symbol->st_shndx != SHN_UNDEF || strcmp(symbols->names + symbol->st_name, wanted->name) != 0) continue;
        if (store(library, (void **) (library->dlpi_addr + entry->r_offset), wanted->instead)) wanted->is_done = true;
    }
}

/// A called function has an entry in DT_JMPREL, or in DT_RELA where the compiler calls it through its address.
static int redirect_in(struct dl_phdr_info *library, size_t size, void *context) {
    (void) size;
    struct redirection *wanted = context;
    const ElfW(Phdr) *dynamic = segment(library, PT_DYNAMIC);
    if (dynamic == NULL || !contains(library, wanted->inside)) return 0;
    struct symbols symbols = {0};
    struct entries calls = {0}, others = {0};
    const ElfW(Dyn) *item = (const ElfW(Dyn) *) (library->dlpi_addr + dynamic->p_vaddr);
    for (; item->d_tag != DT_NULL; item++) {
        switch (item->d_tag) {
        case DT_SYMTAB: symbols.all = (const ElfW(Sym) *) item->d_un.d_ptr; break;
        case DT_STRTAB: symbols.names = (const char *) item->d_un.d_ptr; break;
        case DT_JMPREL: calls.first = (const ElfW(Rela) *) item->d_un.d_ptr; break;
        case DT_PLTRELSZ: calls.bytes = item->d_un.d_val; break;
        case DT_RELA: others.first = (const ElfW(Rela) *) item->d_un.d_ptr; break;
        case DT_RELASZ: others.bytes = item->d_un.d_val; break;
        }
    }
    if (symbols.all == NULL || symbols.names == NULL) return 1;
    redirect(library, &symbols, calls, wanted);
    redirect(library, &symbols, others, wanted);
    return 1;
}

bool wake_redirect_calls(const void *inside, const char *name, void *instead) {
    struct redirection wanted = {.inside = inside, .name = name, .instead = instead};
    dl_iterate_phdr(redirect_in, &wanted);
    return wanted.is_done;
}
